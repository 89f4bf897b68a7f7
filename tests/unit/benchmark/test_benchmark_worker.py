"""The real worker, in a real interpreter with torch, on its CPU."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from device_lens.benchmark.job import OperationJob, OperationTiming, TransferJob, TransferTiming
from device_lens.benchmark.problem import Problem
from device_lens.benchmark.runner import WORKER, Measured, Probe, ProbeResult, Runner
from device_lens.cost.bytes import item_size, known_dtypes
from device_lens.cost.route import Memory, Route
from device_lens.cost.work import OPERATIONS

HOST = Route("cpu", "cpu", Memory.PAGEABLE)
SHAPES: dict[str, tuple[tuple[int, ...], ...]] = {
    "matmul": ((2, 8, 4), (4, 5)),
    "linear": ((7, 16), (3, 16)),
    "conv2d": ((2, 4, 9, 9), (6, 2, 3, 3)),
    "add": ((3, 1), (1, 4)),
    "mul": ((3,), (3,)),
}


@pytest.fixture(scope="module")
def runner(torch_python: str) -> Iterator[Runner]:
    made = Runner(torch_python)
    yield made
    made.close()


def test_the_machine_describes_itself(runner: Runner) -> None:
    result = runner.submit(Probe()).result()
    assert isinstance(result, ProbeResult)
    assert result.machine.devices[0].device == "cpu"
    assert result.machine.torch[0].isdigit()
    assert (result.notice is None) == bool(result.machine.accelerators)


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_a_copy_in_host_memory(runner: Runner, size: int) -> None:
    result = runner.submit(TransferJob(HOST, size, budget_ms=10)).result()
    assert isinstance(result, Measured)
    assert isinstance(result.timing, TransferTiming)
    timing = result.timing.timing
    assert 0 < timing.p20 <= timing.p50 <= timing.p80
    assert timing.samples >= 1


def test_a_thousand_times_the_bytes_take_longer(runner: Runner) -> None:
    small, large = (
        runner.submit(TransferJob(HOST, size, budget_ms=20)).result() for size in (1 << 12, 1 << 25)
    )
    assert isinstance(small, Measured)
    assert isinstance(large, Measured)
    assert isinstance(small.timing, TransferTiming)
    assert isinstance(large.timing, TransferTiming)
    assert small.timing.timing.p50 < large.timing.timing.p50


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_runs(runner: Runner, name: str) -> None:
    job = OperationJob(name, SHAPES.get(name, ((5, 6),)), "float32", "cpu", 1, 1, budget_ms=5)
    result = runner.submit(job).result()
    assert isinstance(result, Measured), result
    assert isinstance(result.timing, OperationTiming)
    assert result.timing.accelerator is None


def test_more_than_a_quarter_of_the_memory_is_not_taken(runner: Runner) -> None:
    result = runner.submit(TransferJob(HOST, 1 << 40)).result()
    assert isinstance(result, Problem)
    assert result.code == "too-large"


def test_what_torch_cannot_do_is_said(runner: Runner) -> None:
    result = runner.submit(OperationJob("softmax", ((4,),), "int64", "cpu")).result()
    assert isinstance(result, Problem)
    assert result.code == "unsupported"


def test_a_device_that_is_not_there(runner: Runner) -> None:
    probed = runner.submit(Probe()).result()
    assert isinstance(probed, ProbeResult)
    job = TransferJob(Route("cpu", "cuda:99", Memory.PAGEABLE), 1024)
    result = runner.submit(job).result()
    assert isinstance(result, Problem)
    expected = "no-such-device" if probed.notice is None else probed.notice.code
    assert result.code == expected
    assert runner.state == "warm"


def test_what_libraries_print_does_not_disturb_the_conversation(
    torch_python: str, tmp_path: Path
) -> None:
    """A `torch` that prints, also past Python's own stream, before it is itself."""
    noisy = tmp_path / "torch.py"
    noisy.write_text(
        "import os, sys, importlib\n"
        "print('a banner'); os.write(1, b'from C\\n'); sys.stdout.flush()\n"
        f"sys.path.remove({str(tmp_path)!r}); del sys.modules['torch']\n"
        "sys.modules['torch'] = importlib.import_module('torch')\n"
    )
    done = subprocess.run(
        [torch_python, str(WORKER)],
        input=b"",
        capture_output=True,
        env={"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 1
    assert json.loads(lines[0])["devices"][0]["device"] == "cpu"
    assert b"a banner" in done.stderr
    assert b"from C" in done.stderr


def test_item_sizes_are_those_of_torch(torch_python: str) -> None:
    """Every dtype name that this torch has is known, with its size."""
    script = (
        "import json, torch\n"
        "found = {n: getattr(torch, n) for n in dir(torch)}\n"
        "print(json.dumps({n: d.itemsize if hasattr(d, 'itemsize') else None\n"
        "  for n, d in found.items() if isinstance(d, torch.dtype)}))"
    )
    done = subprocess.run([torch_python, "-c", script], capture_output=True, check=True)
    sizes = json.loads(done.stdout)
    assert set(sizes) <= known_dtypes()
    for name, size in sizes.items():
        assert size is None or item_size(name) == size, name
