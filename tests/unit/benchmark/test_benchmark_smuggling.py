"""Nothing from a program gets past the jobs' checks, nor past the worker's own.

Each test tries to bring code or a path along where a shape, a name or a number belongs.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.benchmark.job import (
    DTYPES,
    InvalidAnswer,
    InvalidJob,
    OperationJob,
    TransferJob,
    answer,
    operation_job,
    request,
    transfer_job,
    without_accelerator,
)
from device_lens.benchmark.problem import CODES, WARNINGS, Problem
from device_lens.benchmark.runner import WORKER, Runner
from device_lens.cost.route import Memory, Route
from device_lens.cost.work import OPERATIONS
from device_lens.ide.hover import hover
from device_lens.ide.operations import MeasurableOperation
from device_lens.ide.places import range_of
from device_lens.ide.project import Project

CODE = "__import__('os').system('touch smuggled')"
NAMES = [CODE, "cuda:0; " + CODE, "cpu\n", "../../x", "eval", "__class__", "", None, 0, ["cpu"]]
NUMBERS = [CODE, "1", 1.0, True, None, -1, 0, 1 << 80, [1], {"a": 1}, float("nan")]
GOOD = OperationJob("matmul", ((3, 4), (4, 5)), "float32", "cuda:0")


class Evil(int):
    """A number that would run code wherever it is turned into text."""

    def __repr__(self) -> str:
        raise AssertionError("a job's value was turned into text")

    __str__ = __repr__


def _operation(**changes: object) -> OperationJob:
    values: dict[str, Any] = {**vars(GOOD), **changes}
    return OperationJob(**values)


@pytest.mark.parametrize("field", ["operation", "dtype", "device"])
@pytest.mark.parametrize("value", NAMES)
def test_names_are_from_fixed_sets(field: str, value: object) -> None:
    with pytest.raises(InvalidJob):
        request(_operation(**{field: value}))


@pytest.mark.parametrize("value", [*NUMBERS, pytest.param(Evil(3), id="evil")])
def test_dimensions_are_plain_numbers(value: object) -> None:
    with pytest.raises(InvalidJob):
        request(_operation(shapes=((value, 4), (4, 5))))


@pytest.mark.parametrize(
    "shapes", [CODE, [[3, 4], [4, 5]], ((3, 4), CODE), ((3,) * 9,) * 2, ((3, 4),) * 9, None, {}]
)
def test_shapes_are_tuples_of_tuples(shapes: object) -> None:
    with pytest.raises(InvalidJob):
        request(_operation(shapes=shapes))


@pytest.mark.parametrize("field", ["stride", "padding", "budget_ms"])
@pytest.mark.parametrize(
    "value", [CODE, 1.0, True, -1, 1 << 40, None, pytest.param(Evil(1), id="evil")]
)
def test_options_are_small_numbers(field: str, value: object) -> None:
    with pytest.raises(InvalidJob):
        request(_operation(**{field: value}))


@pytest.mark.parametrize("value", NUMBERS)
def test_sizes_are_numbers_in_range(value: Any) -> None:
    with pytest.raises(InvalidJob):
        request(TransferJob(Route("cpu", "cuda:0", Memory.PAGEABLE), value))


@pytest.mark.parametrize("value", [*NAMES[:-3], "cuda", "meta", "cuda:100"])
def test_routes_are_between_known_devices(value: Any) -> None:
    for path in (Route("cpu", value, Memory.PINNED), Route(value, "cpu", Memory.PINNED)):
        with pytest.raises(InvalidJob):
            request(TransferJob(path, 1024))
    with pytest.raises(InvalidJob):
        request(TransferJob(Route("cpu", "cuda:0", value), 1024))
    with pytest.raises(InvalidJob):
        request(TransferJob(value, 1024))


def test_operations_that_would_run_for_minutes_are_refused() -> None:
    with pytest.raises(InvalidJob, match="too large"):
        request(_operation(shapes=((1 << 20, 1 << 20), (1 << 20, 1 << 20))))
    with pytest.raises(InvalidJob, match="too large"):
        request(_operation(operation="add", shapes=((1 << 30, 1), (1, 1 << 30))))


@given(
    st.sampled_from([*OPERATIONS, CODE]) | st.text(max_size=9),
    st.lists(st.lists(st.integers(-2, 1 << 45), max_size=9).map(tuple), max_size=4).map(tuple),
    st.sampled_from([*DTYPES, CODE]) | st.text(max_size=9),
    st.sampled_from(["cuda", "cuda:1", "cpu", "mps", "cuda:0; x"]) | st.text(max_size=9),
    st.integers(-1, 99),
)
def test_whatever_a_program_says_becomes_a_checked_job_or_none(
    name: str, shapes: tuple[tuple[int, ...], ...], dtype: str, device: str, option: int
) -> None:
    job = operation_job(name, shapes, dtype, device, option, option)
    if job is None:
        return
    assert job.operation in OPERATIONS
    assert job.dtype in DTYPES
    assert job.device in ("cuda:0", "cuda:1", "cpu", "mps")
    instead = without_accelerator(job)
    assert (instead is None) == (job.device == "cpu")
    assert instead is None or request(instead) == {**request(job), "device": "cpu"}


HOSTILE = f"""\
import torch
import torch.nn as nn
import torch.nn.functional as F

evil = {CODE!r}
a = torch.randn(3, 3)
class matmul(nn.Module):
    def forward(self, x):
        return x @ x
{{}}
"""


@pytest.mark.parametrize(
    "line",
    [
        "b = a @ a",
        "b = a.to('cuda')",
        "b = torch.randn(3, 3, device='cuda:0; ' + evil) @ a",
        "b = torch.randn(3, 3, device=evil) @ torch.randn(3, 3, device=evil)",
        "b = torch.randn(3, 3, dtype=evil) @ a",
        "b = torch.randn(evil, 3) @ a",
        "b = torch.randn(int(evil), 3) @ a",
        "b = torch.einsum(evil, a, a)",
        f"b = torch.einsum({CODE!r} + '->', a, a)",
        "b = F.conv2d(a[None, None], a[None, None], stride=evil, padding=evil)",
        "b = nn.Conv2d(1, 1, 3, stride=evil)(a[None, None])",
        "b = matmul()(a)",
        "b = nn.Sequential(nn.Linear(3, 3), nn.ReLU())(a)",
    ],
)
def test_nothing_of_a_program_is_in_the_requests_of_its_hovers(tmp_path: Path, line: str) -> None:
    path = tmp_path / "main.py"
    path.write_text(HOSTILE.format(line), encoding="utf-8")
    found = Project(str(tmp_path)).analyse(str(path))
    allowed = {*OPERATIONS, *DTYPES, "cpu", "cuda:0", "operation", "transfer", "pageable", "pinned"}
    for expression in found.facts.expressions:
        at = range_of(found.facts.source, expression.site).start
        shown = hover(found.facts, at, found.costs, found.sources)
        wanted = None if shown is None else shown.measurable
        if wanted is None:
            continue
        if isinstance(wanted, MeasurableOperation):
            job: OperationJob | TransferJob | None = operation_job(
                wanted.operation, wanted.shapes, wanted.dtype, wanted.device,
                wanted.stride, wanted.padding,
            )  # fmt: skip
        else:
            job = transfer_job(wanted.source, wanted.target, wanted.bytes, wanted.memory)
        if job is not None:
            strings = re.findall(r'"([^"]*)"(?!:)', json.dumps(request(job)))
            assert set(strings) <= allowed


def test_the_caller_gets_a_problem_and_no_exception() -> None:
    runner = Runner("/nonexistent/python")
    hostile: list[Any] = [
        _operation(shapes=[[3]]),
        TransferJob(Route("cpu", CODE, Memory.PINNED), 1),
    ]
    for job in hostile:
        result = runner.submit(job).result()
        assert isinstance(result, Problem)
        assert result.code == "invalid-request"
        assert CODE not in result.sentence
    runner.close()


def test_the_interpreter_is_never_given_to_a_shell(tmp_path: Path) -> None:
    mark = tmp_path / "smuggled"
    runner = Runner(f"{sys.executable}; touch {mark}")
    result = runner.submit(TransferJob(Route("cpu", "cpu", Memory.PAGEABLE), 1)).result()
    runner.close()
    assert isinstance(result, Problem)
    assert not mark.exists()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["timing", "p20", "p50", "p80", "host", "samples", "warnings", "cpu"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_answers_are_promised_or_refused(data: object) -> None:
    for job in (GOOD, TransferJob(Route("cpu", "cpu", Memory.PAGEABLE), 1)):
        with pytest.raises(InvalidAnswer):
            answer(job, data)


TIMING: dict[str, object] = {
    "p20": 1.0, "p50": 2.0, "p80": 3.0, "host": 1.0, "samples": 9, "warnings": ["wide-spread"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("p50", "2"),
        ("p50", True),
        ("p50", 0.5),
        ("p50", 10**400),
        ("host", float("nan")),
        ("host", -1),
        ("samples", 0),
        ("samples", 1.5),
        ("warnings", ["[x](command:y)"]),
        ("warnings", [[]]),
        ("warnings", ["wide-spread"] * 1000),
        ("warnings", "wide-spread"),
    ],
)
def test_every_field_of_an_answer_is_checked(field: str, value: object) -> None:
    job = TransferJob(Route("cpu", "cpu", Memory.PAGEABLE), 1)
    answer(job, {"timing": TIMING})
    with pytest.raises(InvalidAnswer):
        answer(job, {"timing": {**TIMING, field: value}})


# The worker checks for itself: it is talked to directly here, as by a supervisor gone wrong.

_TRANSFER = {
    "kind": "transfer", "source": "cpu", "target": "cpu", "size": 1024, "memory": "pageable",
    "later": 0, "budget_ms": 1,
}  # fmt: skip
_OPERATION = {
    "kind": "operation", "operation": "relu", "shapes": [[4]], "dtype": "float32", "device": "cpu",
    "needed": 32, "stride": 1, "padding": 0, "budget_ms": 1,
}  # fmt: skip


def _hostile_requests() -> list[object]:
    lines: list[object] = [[], "x", None, {}, {"id": 1}, {"id": 1, "kind": CODE}]
    for good in (_TRANSFER, _OPERATION):
        lines.append({**good, "extra": CODE})
        lines.append({key: value for key, value in good.items() if key != "budget_ms"})
        for field, value in good.items():
            wrong = NUMBERS if isinstance(value, int) else [*NAMES, "cuda:0", "float128", {}]
            lines += [
                {**good, field: bad}
                for bad in wrong
                if not (field in ("later", "padding") and bad == 0 and type(bad) is int)
            ]
    shapes = [[[CODE]], [[4.0]], [[True]], [["4"]], [4], [[4], [4]], [{"a": 1}], CODE, [CODE]]
    return lines + [{**_OPERATION, "shapes": each} for each in shapes]


def test_the_worker_refuses_what_is_not_a_number_or_a_known_name(
    torch_python: str, tmp_path: Path
) -> None:
    hostile = _hostile_requests()
    lines = [
        {"id": n, **each} if isinstance(each, dict) else each for n, each in enumerate(hostile)
    ]
    sent = "".join(json.dumps(line) + "\n" for line in [*lines, {"id": 9999, **_TRANSFER}])
    # Its input stays open until it has answered: once that ends, so does a worker that is slow.
    with subprocess.Popen(
        [torch_python, str(WORKER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(sent.encode())
        worker.stdin.flush()
        answers = [json.loads(worker.stdout.readline()) for _ in range(len(hostile) + 2)][1:]
        worker.stdin.close()
    assert answers[-1]["id"] == 9999
    assert "timing" in answers[-1]
    for line, reply in zip(lines, answers[:-1], strict=True):
        assert reply.get("problem") in CODES, (line, reply)
        assert CODE not in json.dumps(reply)
    assert list(tmp_path.iterdir()) == []


def _constants() -> dict[str, Any]:
    """The worker's named constants, read without running it."""
    tree = ast.parse(WORKER.read_text(encoding="utf-8"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def test_both_sides_know_the_same_names() -> None:
    constants = _constants()
    assert set(constants["DTYPES"]) == DTYPES
    assert constants["OPERATIONS"] == {
        name: (operation.operands, operation.moved) for name, operation in OPERATIONS.items()
    }


def test_the_worker_uses_only_codes_and_warnings_that_the_supervisor_knows() -> None:
    text = WORKER.read_text(encoding="utf-8")
    strings = {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    dashed = {each for each in strings if re.fullmatch(r"[a-z]+(-[a-z]+)+", each)}
    assert dashed
    assert dashed <= CODES | set(WARNINGS)


def test_the_worker_needs_only_the_standard_library_of_python_3_7() -> None:
    tree = ast.parse(WORKER.read_text(encoding="utf-8"), feature_version=(3, 7))
    imported = {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {
        (node.module or "").partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }
    assert imported <= set(sys.stdlib_module_names)
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"eval", "exec", "compile", "__import__", "open_code"}
