"""The device map: which parts of a file it offers, and what the graph of one says."""

from __future__ import annotations

from pathlib import Path

from ide_programs import analysed

from device_lens.ide.device_map import DeviceMap, Edge, Node, device_map
from device_lens.ide.map_trim import MOST_VALUES

TRAINING = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def train(epochs):
    model = nn.Sequential(nn.Linear(10, 2)).to(device)
    data = TensorDataset(torch.randn(640, 10), torch.zeros(640, dtype=torch.int64))
    loader = DataLoader(data, batch_size=64, drop_last=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for inputs, target in loader:
            inputs, target = inputs.to(device), target.to(device)
            output = model(inputs)
            loss = nn.functional.cross_entropy(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item())


train(3)
"""

PIPELINE = """\
import torch
from torch import nn

first = nn.Linear(8, 8).to("cuda:0")
second = nn.Linear(8, 4).to("cuda:1")
for step in range(10):
    x = torch.randn(16, 8, device="cuda:0")
    hidden = first(x)
    hidden = hidden.to("cuda:1")
    loss = second(hidden).sum()
    loss.backward()
"""

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.act = nn.ReLU()
        self.outer = nn.Linear(8, 2)

    def forward(self, x):
        x = self.inner(x)
        x = self.act(x)
        mask = torch.ones(2)
        return self.outer(x) * mask.to(x.device)
"""


def mapped(folder: Path, text: str, part: str | None = None) -> DeviceMap:
    found = analysed(folder, text)
    return device_map(found.facts, found.findings, found.costs, part)


def node(drawn: DeviceMap, label: str, device: str | None = None) -> Node:
    (found,) = (
        each
        for each in drawn.nodes
        if each.label == label and (device is None or each.device == device)
    )
    return found


def edge(drawn: DeviceMap, source: Node, target: Node) -> Edge:
    (found,) = (
        each for each in drawn.edges if (each.source, each.target) == (source.id, target.id)
    )
    return found


def flows(drawn: DeviceMap) -> set[tuple[str, str]]:
    """The edges as labels with devices."""
    names = {each.id: f"{each.label}@{each.device}" for each in drawn.nodes}
    return {(names[each.source], names[each.target]) for each in drawn.edges}


def test_a_training_loop_shows_how_batches_move(tmp_path: Path) -> None:
    drawn = mapped(tmp_path, TRAINING)
    assert flows(drawn) == {
        ("loader@", "inputs@cpu"),
        ("loader@", "target@cpu"),
        ("inputs@cpu", "inputs@cuda"),
        ("target@cpu", "target@cuda"),
        ("inputs@cuda", "model@cuda"),
        ("model@cuda", "output@cuda"),
        ("output@cuda", "loss@cuda"),
        ("target@cuda", "loss@cuda"),
        ("loss@cuda", "loss.item()@cpu"),
    }
    moved = edge(drawn, node(drawn, "inputs", "cpu"), node(drawn, "inputs", "cuda"))
    assert moved.kind == "transfer"
    assert moved.label.startswith("2.56 kB · ≈ ")
    assert moved.range.start.line == 14
    wait = edge(drawn, node(drawn, "loss"), node(drawn, "loss.item()"))
    assert (wait.kind, wait.label) == ("wait", "waits")
    assert drawn.remark.startswith("Each iteration moves 3.07 kB in ≈ ")
    assert drawn.remark.endswith(" (2 transfers), and waits for the device once.")
    assert "The map shows the case: torch.cuda.is_available()." in drawn.notes


def test_the_innermost_training_loop_comes_first_and_others_can_be_asked_for(
    tmp_path: Path,
) -> None:
    drawn = mapped(tmp_path, TRAINING)
    titles = [each.title for each in drawn.parts]
    assert titles == [
        "train(): for inputs, target in loader",
        "train(): for epoch in range(epochs)",
        "train()",
    ]
    whole = mapped(tmp_path, TRAINING, drawn.parts[2].id)
    assert whole.part == drawn.parts[2].id
    assert ("nn.Sequential(nn.Linear(10,…@cpu", "model@cuda") in flows(whole)
    assert whole.remark.startswith("This part moves ")
    gone = mapped(tmp_path, TRAINING, "a part of an older text")
    assert gone.part == drawn.part


def test_a_pipeline_shows_each_device_and_what_goes_between(tmp_path: Path) -> None:
    drawn = mapped(tmp_path, PIPELINE)
    sent, received = node(drawn, "hidden", "cuda:0"), node(drawn, "hidden", "cuda:1")
    assert {("first@cuda:0", "hidden@cuda:0"), ("hidden@cuda:1", "second@cuda:1")} <= flows(drawn)
    assert edge(drawn, sent, received).kind == "transfer"
    assert edge(drawn, sent, received).label.startswith("512 B")
    assert (sent.place, received.place) == ("accelerator", "accelerator")
    assert sent.colour != received.colour


def test_a_forward_is_its_modules_and_what_is_made_on_the_way(tmp_path: Path) -> None:
    drawn = mapped(tmp_path, MODEL)
    assert [each.title for each in drawn.parts] == ["Net.forward()"]
    labels = [each.label for each in drawn.nodes]
    assert "self.act" not in labels, "a module without parameters is but a step"
    names = {
        (source.partition("@")[0], target.partition("@")[0]) for source, target in flows(drawn)
    }
    assert {("x", "self.inner"), ("self.inner", "self.outer"), ("self.outer", "return")} <= names
    assert node(drawn, "self.inner").place == "symbol"
    assert node(drawn, "mask").device == "cpu"


def test_findings_mark_what_they_are_about(tmp_path: Path) -> None:
    text = TRAINING.replace("inputs, target = inputs.to(device), ", "inputs.to(device); target = ")
    drawn = mapped(tmp_path, text)
    lost = node(drawn, "inputs.to(device)")
    assert lost.detail == "result thrown away"
    marks = edge(drawn, node(drawn, "inputs"), lost).problems
    assert [each.rule for each in marks] == ["discarded-transfer"]
    assert marks[0].severity in ("error", "warning")


def test_a_function_of_the_file_that_moves_is_walked_through(tmp_path: Path) -> None:
    text = TRAINING.replace(
        "inputs, target = inputs.to(device), target.to(device)",
        "features, target = place(inputs, target)",
    ).replace("model(inputs)", "model(features)")
    text = text.replace(
        "def train(", "def place(x, y):\n    return x.to(device), y.to(device)\n\n\ndef train("
    )
    drawn = mapped(tmp_path, text)
    assert {
        ("inputs@cpu", "features@cuda"),
        ("target@cpu", "target@cuda"),
        ("features@cuda", "model@cuda"),
    } <= flows(drawn)
    assert not any(each.label == "x" for each in drawn.nodes)


def test_both_sides_of_a_branch_are_shown(tmp_path: Path) -> None:
    text = (
        "import torch\nimport sys\n\nx = torch.randn(4)\n"
        "if len(sys.argv) > 1:\n    y = x.cuda()\nelse:\n    y = x.abs()\nz = y * 2\n"
    )
    drawn = mapped(tmp_path, text)
    into = {source for source, target in flows(drawn) if target.startswith("z@")}
    assert len(into) == 2


def test_a_move_without_a_transfer_call_is_said(tmp_path: Path) -> None:
    text = "import torch\n\nx = torch.randn(4)\ny = x.type(torch.cuda.FloatTensor)\nz = y + 1\n"
    drawn = mapped(tmp_path, text)
    assert edge(drawn, node(drawn, "x"), node(drawn, "y")).label == "changes device"
    assert "1 value changes device by something else" in drawn.remark


def test_a_call_that_moves_is_a_transfer_though_it_may_be_none(tmp_path: Path) -> None:
    text = (
        "import argparse\n\nimport torch\nfrom data import load\n\n"
        'parser = argparse.ArgumentParser()\nparser.add_argument("--real", action="store_true")\n'
        "args = parser.parse_args()\n"
        "for step in range(9):\n    x = load() if args.real else torch.randn(4)\n"
        "    x = x.cuda()\n    (x * 2).sum().backward()\n"
    )
    drawn = mapped(tmp_path, text)
    found = [each for each in drawn.edges if each.kind == "transfer"]
    assert [(each.label, each.detail) for each in found] == [
        ("size not known", "cpu → cuda, as far as it is a tensor")
    ]
    assert drawn.remark == "Each iteration makes 1 transfer of a size that is not known."


def test_a_transfer_of_another_case_names_it(tmp_path: Path) -> None:
    text = (
        "import os\n\nimport torch\n\n"
        "for step in range(9):\n    x = torch.randn(4)\n"
        '    if int(os.environ.get("RANK", -1)) != -1:\n        y = x.cuda(1)\n'
        "    (y * 2).sum().backward()\n"
    )
    (found,) = [each for each in mapped(tmp_path, text).edges if each.kind == "transfer"]
    assert found.detail.endswith(" (only when RANK is set in the environment)")


def test_a_large_part_is_cut_down_and_says_so(tmp_path: Path) -> None:
    steps = "\n".join(f"v{n + 1} = v{n} + {n}" for n in range(MOST_VALUES + 20))
    text = f"import torch\n\nv0 = torch.ones(4)\n{steps}\nlast = v{MOST_VALUES + 20}.cuda()\n"
    drawn = mapped(tmp_path, text)
    assert len(drawn.nodes) == MOST_VALUES
    assert any("22 values are left out" in note for note in drawn.notes)
    assert sum(each.kind == "transfer" for each in drawn.edges) == 1
    ends = {each.id for each in drawn.nodes}
    assert all(each.source in ends and each.target in ends for each in drawn.edges)


def test_a_file_without_tensors_says_so(tmp_path: Path) -> None:
    drawn = mapped(tmp_path, "import torch\n\nprint(torch.__version__)\n")
    assert (drawn.parts, drawn.nodes) == ((), ())
    assert drawn.remark == "No tensors, modules or transfers are known in this file."
