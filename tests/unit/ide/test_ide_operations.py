"""What is computed at a place, and what a hover says of its cost."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from ide_programs import analysed, position_of

from device_lens.cost.operation import MeasuredOperation
from device_lens.cost.work import OPERATIONS
from device_lens.ide.hover import Hover, hover
from device_lens.ide.operations import MeasurableOperation
from device_lens.interpreter.computation import TRAFFIC, Operation, Step
from device_lens.interpreter.einsum import as_product
from device_lens.interpreter.operation_facts import WATCHERS

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
TENSORS = HEAD + (
    "a = torch.randn(3, 4)\nb = torch.randn(4, 5)\nv = torch.randn(4)\n"
    "x = torch.randn(8, 3, 32, 32)\nw = torch.randn(16, 3, 3, 3)\n"
    "m = torch.randn(2, 6, 3, 4)\n"
)


def computed(folder: Path, text: str) -> dict[str, Operation]:
    """The operations of a program by their source text."""
    found = analysed(folder, text).facts.operations
    return {ast.unparse(each.site.node): each for each in found}


def hovered(
    folder: Path,
    text: str,
    part: str,
    inside: int = 0,
    measured: MeasuredOperation | None = None,
) -> Hover:
    found = analysed(folder, text)
    costs = replace(found.costs, measured_operation=lambda wanted: measured)
    shown = hover(found.facts, position_of(text, part, inside), costs, found.sources)
    assert shown is not None
    return shown


def step(name: str, *shapes: tuple[int, ...], stride: int = 1, padding: int = 0) -> Step:
    return Step(name, shapes, "float32", stride, padding)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a @ b", step("matmul", (3, 4), (4, 5))),
        ("a.matmul(b)", step("matmul", (3, 4), (4, 5))),
        ("torch.mm(a, mat2=b)", step("matmul", (3, 4), (4, 5))),
        ("torch.addmm(a @ b, a, b)", step("matmul", (3, 4), (4, 5))),
        ("torch.addmm(input=b, mat1=a, mat2=b)", step("matmul", (3, 4), (4, 5))),
        ("torch.einsum('ij,jk->ik', a, b)", step("matmul", (3, 4), (4, 5))),
        ("torch.einsum('bhqd,bhkd->bhqk', m, m)", step("matmul", (2, 6, 3, 4), (2, 6, 4, 3))),
        ("F.linear(x, torch.ones(7, 32))", step("linear", (8, 3, 32, 32), (7, 32))),
        ("F.conv2d(x, w)", step("conv2d", (8, 3, 32, 32), (16, 3, 3, 3))),
        (
            "F.conv2d(x, w, None, (2, 2), padding=1)",
            step("conv2d", (8, 3, 32, 32), (16, 3, 3, 3), stride=2, padding=1),
        ),
        (
            "nn.Conv2d(3, 16, 3, stride=2)(x)",
            step("conv2d", (8, 3, 32, 32), (16, 3, 3, 3), stride=2),
        ),
        ("nn.Linear(4, 9)(a)", step("linear", (3, 4), (9, 4))),
        ("nn.ReLU()(a)", step("relu", (3, 4))),
        ("F.softmax(a, dim=-1)", step("softmax", (3, 4))),
        ("a.softmax(1)", step("softmax", (3, 4))),
        ("F.layer_norm(a, (4,))", step("layer_norm", (3, 4))),
        ("a + a", step("add", (3, 4), (3, 4))),
        ("a.mean()", step("mean", (3, 4))),
    ],
)
def test_single_operations(tmp_path: Path, expression: str, expected: Step) -> None:
    found = computed(tmp_path, f"{TENSORS}y = {expression}\n")
    assert found[ast.unparse(ast.parse(expression))].steps == ((expected, 1),)


@pytest.mark.parametrize(
    "expression",
    [
        "unknown(a) @ b",
        "a @ v",
        "a * 2",
        "a @ b.half()",
        "F.softmax(a, dim=0)",
        "F.layer_norm(a, (3, 4))",
        "a.sum(0)",
        "F.conv2d(x, w, dilation=2)",
        "F.conv2d(x, w, padding=(1, 0))",
        "F.conv2d(x, w, padding='same')",
        "torch.einsum('ij,jk', a, b)",
        "torch.einsum('ij,jk->i', a, b)",
        "torch.einsum('...j,jk->...k', a, b)",
        "torch.einsum('ii,ik->ik', a, b)",
        "nn.LSTM(4, 4)(a)",
    ],
)
def test_what_is_not_known_has_no_fact(tmp_path: Path, expression: str) -> None:
    found = computed(tmp_path, f"{TENSORS}y = {expression}\n")
    shown = found.get(ast.unparse(ast.parse(expression)))
    assert shown is None or not hovered(
        tmp_path, f"{TENSORS}y = {expression}\n", f"y = {expression}"
    ).answer.endswith("µs")


def test_activations_that_differ_leave_nothing_to_tell(tmp_path: Path) -> None:
    text = HEAD + "def f(x):\n    return x @ x\n\n\nf(torch.ones(2, 2))\nf(torch.ones(3, 3))\n"
    assert computed(tmp_path, text) == {}


NET = HEAD + (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.conv = nn.Conv2d(3, 8, 3, padding=1)\n"
    "        self.norm = nn.BatchNorm2d(8)\n"
    "        self.rest = nn.Sequential(nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10))\n"
    "        self.many = nn.ModuleList([nn.Linear(10, 10) for _ in range(3)])\n"
    "        self.lstm = nn.LSTM(10, 10)\n"
    "\n"
    "    def forward(self, x, flag=False):\n"
    "        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 4)\n"
    "        x = x.view(x.size(0), -1)\n"
    "        y = self.rest(x)\n"
    "        BODY\n"
    "        return y\n"
    "\n"
    "\n"
    "net = Net()\n"
    "out = net(torch.randn(16, 3, 32, 32))\n"
)
BASE = {
    step("conv2d", (16, 3, 32, 32), (8, 3, 3, 3), padding=1): 1,
    step("relu", (16, 8, 32, 32)): 1,
    step("linear", (16, 512), (32, 512)): 1,
    step("relu", (16, 32)): 1,
    step("linear", (16, 32), (10, 32)): 1,
}


@pytest.mark.parametrize(
    ("body", "more"),
    [
        ("pass", {}),
        ("if flag: y = y @ y", {}),
        ("if self.training: y = y @ y.t()", {step("matmul", (16, 10), (10, 16)): 1}),
        ("y = y @ y.t() @ y", {
            step("matmul", (16, 10), (10, 16)): 1, step("matmul", (16, 16), (16, 10)): 1
        }),
        ("for layer in self.many: y = layer(y)", {step("linear", (16, 10), (10, 10)): 3}),
        ("y = torch.stack([m(y) for m in self.many]).sum()", {
            step("linear", (16, 10), (10, 10)): 3, step("sum", (3, 16, 10)): 1
        }),
    ],
)  # fmt: skip
def test_a_model_is_the_sum_of_its_operations(
    tmp_path: Path, body: str, more: dict[Step, int]
) -> None:
    found = computed(tmp_path, NET.replace("BODY", body))["net(torch.randn(16, 3, 32, 32))"]
    assert {each: n for each, n in found.steps if each.name != TRAFFIC} == {**BASE, **more}
    assert found.inputs == (((16, 3, 32, 32), "float32"),)


@pytest.mark.parametrize(
    "body",
    [
        "for _ in range(torch.randint(9, (1,)).item()): y = self.many[0](y)",
        "if y.sum() > 0: y = self.many[0](y)",
        "y = self.lstm(y)[0]",
        "y = torch.linalg.inv(y @ y.t())",
        "y = y[y > 0]",
        "y = unknown(y)",
        "if y.sum() > 0: return x\n        y = self.many[0](y)",
    ],
)
def test_a_model_that_is_not_fully_known_has_no_cost(tmp_path: Path, body: str) -> None:
    found = computed(tmp_path, NET.replace("BODY", body))
    assert "net(torch.randn(16, 3, 32, 32))" not in found


def test_a_repeated_call_counts_each_time(tmp_path: Path) -> None:
    """The second is answered from memory; what it computes is not."""
    text = HEAD + (
        "class Inner(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.fc = nn.Linear(4, 4)\n"
        "    def forward(self, x):\n"
        "        return self.fc(x)\n"
        "class Outer(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.inner = Inner()\n"
        "    def forward(self, x):\n"
        "        y = self.inner(x)\n"
        "        z = self.inner(x)\n"
        "        return y @ z.t()\n"
        "outer = Outer()\n"
        "x = torch.randn(2, 4)\n"
        "first = outer(x)\n"
        "second = outer(x)\n"
    )
    found = analysed(tmp_path, text).facts.operations
    calls = [each for each in found if ast.unparse(each.site.node) == "outer(x)"]
    assert len(calls) == 2
    for call in calls:
        assert dict(call.steps) == {
            step("linear", (2, 4), (4, 4)): 2,
            step("matmul", (2, 4), (4, 2)): 1,
        }


def test_facts_name_operations_that_costs_know() -> None:
    names = {name.rpartition(".")[2] for name in WATCHERS}
    assert set(OPERATIONS) - {"matmul"} <= names
    assert {"matmul", "mm", "bmm", "__matmul__"} <= names


SIZES = {"b": 2, "i": 3, "j": 4, "k": 5}


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", ((3, 4), (4, 5))),
        ("ji,jk->ik", ((3, 4), (4, 5))),
        ("i,j->ij", ((3, 1), (1, 4))),
        ("bij,bjk->bik", ((2, 3, 4), (2, 4, 5))),
        ("bij,jk->bik", ((6, 4), (4, 5))),
        ("i,i->", ((1, 3), (3, 1))),
    ],
)
def test_einsum_is_a_product(equation: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    first, second = equation.partition("->")[0].split(",")
    left, right = (tuple(SIZES[letter] for letter in each) for each in (first, second))
    assert as_product(equation, left, right) == shapes


def test_a_small_product_stays_on_the_cpu(tmp_path: Path) -> None:
    found = hovered(tmp_path, HEAD + "a = torch.randn(3, 3)\nb = a @ a\n", "@")
    assert found.answer == "cpu · float32 [3, 3] · 36 B · ≈ 2.0 µs"
    assert "\n\nStay on the CPU: moving to cuda pays from about 320 × 320.\n\n" in found.markdown
    assert "| cpu (here) | cuda | moved to cuda first |" in found.markdown
    assert "| ≈ 2.0 µs | ≈ 12 µs | ≈ 27 µs |" in found.markdown
    assert "\n\nEstimated for typical PCIe 4.0 x16.\n\n" in found.markdown
    expected = MeasurableOperation("matmul", ((3, 3), (3, 3)), "float32", "cuda")
    assert found.measurable == expected


def test_a_large_product_is_worth_the_move(tmp_path: Path) -> None:
    found = hovered(tmp_path, HEAD + "a = torch.randn(4096, 4096)\nb = a @ a\n", "@")
    assert "Worth moving to cuda: that pays from about 320 × 320." in found.markdown


def test_on_the_gpu_a_small_one_is_too_small(tmp_path: Path) -> None:
    text = HEAD + "a = torch.randn(3, 3, device='cuda:1')\nb = a @ a\n"
    found = hovered(tmp_path, text, "@")
    assert found.answer == "cuda:1 · float32 [3, 3] · 36 B · ≈ 12 µs"
    assert "Too small for cuda:1: the CPU is faster" in found.markdown
    assert "| cpu | cuda:1 (here) | moved to cuda:1 first |" in found.markdown


def test_the_assumed_accelerator_is_compared_with(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, text := HEAD + "a = torch.randn(3, 3)\nb = a @ a\n")
    assert analysis.costs.accelerator == "cuda"
    costs = replace(analysis.costs, accelerator="mps")
    shown = hover(analysis.facts, position_of(text, "@"), costs, analysis.sources)
    assert shown is not None
    assert "Estimated for typical Apple unified memory." in shown.markdown


def test_dims_of_the_project_make_shapes_known(tmp_path: Path) -> None:
    found = analysed(tmp_path, text := HEAD + "a = torch.randn(3, 3)\nb = a @ a\n")
    operation = found.facts.operations[0]
    operation.steps = ((Step("matmul", (("B", 3), (3, "B")), "float32"), 1),)
    at = position_of(text, "@")
    unknown = hover(found.facts, at, found.costs, found.sources)
    assert unknown is not None
    assert "Estimated" not in unknown.markdown
    known = hover(found.facts, at, replace(found.costs, dims={"B": 8}), found.sources)
    assert known is not None
    assert known.measurable == MeasurableOperation("matmul", ((8, 3), (3, 8)), "float32", "cuda")


def test_a_model_is_told_at_its_call_and_at_its_name(tmp_path: Path) -> None:
    text = NET.replace("BODY", "pass")
    at_name = hovered(tmp_path, text, "net(torch")
    assert at_name.answer.startswith("module on cpu · ")
    assert ", as the sum of 7 operations." in at_name.markdown
    whole = hovered(tmp_path, text, "32, 32))", 7)
    assert whole.answer.startswith("cpu · float32 [16, 10] · 640 B · ≈ ")
    assert whole.measurable is None, "only single operations are measured"
    assert "Worth moving to cuda: that pays from a first dimension of about 11." in whole.markdown


MEASURED = MeasuredOperation(3.0, (2.0, 4.0), 5.0, 6.0, "a [GPU], 2026-01-02")


def test_measured_numbers_are_told_as_such(tmp_path: Path) -> None:
    text = HEAD + "a = torch.randn(3, 3)\nb = a @ a\n"
    found = hovered(tmp_path, text, "@", measured=MEASURED)
    assert found.answer.endswith(" · 3.0 µs measured")
    assert "Stay on the CPU: moving to cuda pays from about 320 × 320." in found.markdown
    assert "| 3.0 µs | 5.0 µs | 6.0 µs |" in found.markdown
    basis = "Measured on a \\[GPU\\], 2026-01-02: 2.0 µs to 4.0 µs on the CPU"
    assert basis in found.markdown
    assert "≈" not in found.markdown


def test_a_measurement_overrules_the_estimated_break_even(tmp_path: Path) -> None:
    text = HEAD + "a = torch.randn(3, 3)\nb = a @ a\n"
    fast = replace(MEASURED, cpu_us=30.0)
    assert "Worth moving to cuda." in hovered(tmp_path, text, "@", measured=fast).markdown


def test_without_an_accelerator_only_the_cpu_is_measured(tmp_path: Path) -> None:
    text = HEAD + "a = torch.randn(3, 3)\nb = a @ a\n"
    alone = replace(MEASURED, accelerator_us=None, with_transfer_us=None)
    found = hovered(tmp_path, text, "@", measured=alone)
    assert "| 3.0 µs | ≈ 12 µs | ≈ 27 µs |" in found.markdown
    assert "≈: estimated for typical PCIe 4.0 x16." in found.markdown
