"""Lists whose items came under conditions, held against what Python does in every case."""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from device_lens.ide.cases import read
from device_lens.interpreter.facts import Expression
from device_lens.ide.project import Project

FLAGS = ("A", "B", "C")
DEVICES = ("cpu", "cuda:0", "cuda:1")
HEAD = (
    "import os\nimport torch\n"
    + "".join(f'{name} = os.environ.get("{name}") == "1"\n' for name in FLAGS)
    + 'xs = ["cpu"]\n'
)


def a_step(chance: random.Random) -> str:
    """A statement that changes a list, where there is enough in it."""
    device = chance.choice(DEVICES)
    return chance.choice(
        [
            f'xs.append("{device}")',
            f'xs.append("{device}")',
            f'xs += ["{device}"]',
            f'xs = xs + ["{device}"]',
            f'xs = ["{device}"] + xs',
            f'xs.insert(0, "{device}")',
            f'xs.extend(["{device}", "cpu"])',
            "if xs:\n    xs.pop()",
            "if len(xs) > 1:\n    xs.pop()",
            "if len(xs) > 1:\n    xs.pop(0)",
            "xs = xs[1:] or xs",
            "xs = list(xs)",
            "xs = [each for each in xs]",
            f'xs = [each for each in xs if each != "{device}"]',
            "xs.reverse()",
            f'if len(xs) > 1:\n    xs[1] = "{device}"',
            "first, *xs = xs or ['cpu']",
            f'for each in xs:\n    if each == "{device}":\n        last = each',
            "for number in range(2):\n    xs.append('cpu')",
            f'for number in range(2):\n    if A:\n        xs.append("{device}")',
        ]
    )


def under(condition: str, text: str) -> str:
    return f"if {condition}:\n" + "".join(f"    {line}\n" for line in text.split("\n"))


def a_program(chance: random.Random) -> str:
    text = HEAD
    for _ in range(chance.randint(2, 6)):
        step = a_step(chance)
        is_plain = chance.random() < 0.3
        text += step + "\n" if is_plain else under(chance.choice(FLAGS), step)
    for size in range(6):
        for place in (0, size - 1, -1, -size):
            if -size <= place < size:
                text += under(f"len(xs) == {size}", f"v = torch.ones(1, device=xs[{place}])")
    text += under("all(each == xs[0] for each in xs) and xs", "v = torch.ones(1, device=xs[-1])")
    text += under("len({*xs}) == 1", "v = torch.ones(1, device=xs[-1])")
    return text + "for each in xs:\n    v = torch.ones(1, device=each)\n"


def what_runs(text: str) -> dict[int, set[str]]:
    """For each line that makes a tensor, where it was made, over all values of the flags."""
    found: dict[int, set[str]] = defaultdict(set)
    text = text.replace("import os\n", "\n").replace("import torch\n", "\n")
    numbered = re.sub(
        r"torch\.ones\(1, device=(.*)\)",
        lambda match: f"ones({text[: match.start()].count(chr(10))}, {match[1]})",
        text,
    )
    for values in itertools.product("01", repeat=len(FLAGS)):
        environment = dict(zip(FLAGS, values, strict=True))
        names = {
            "os": SimpleNamespace(environ=environment),
            "ones": lambda line, device: found[line].add(device),
        }
        try:
            exec(numbered, names)
        except IndexError:
            continue  # a list that is empty there: what comes after is not reached
    return found


def claims(expression: Expression) -> set[str] | None:
    """The devices that an expression may have; None where one is not known."""
    cases = read(expression.device)
    found = [cases.device, *(other.device for other in cases.alternatives)]
    return None if None in found else {str(each) for each in found}


def is_among(device: str, said: set[str]) -> bool:
    """Whether a device is one of some; `cuda` is any GPU."""
    return device in said or device.partition(":")[0] in said


@pytest.mark.parametrize("seed", [*range(120), 167, 1137])
def test_no_item_is_elsewhere(seed: int, tmp_path: Path) -> None:
    text = a_program(random.Random(seed))
    path = tmp_path / "main.py"
    path.write_text(text, encoding="utf-8")
    project = Project(str(tmp_path))
    project.index([str(path)])
    (analysis,) = (
        each
        for group in project.groups([str(path)])
        for each in project.analyse_together(group.targets, group.entries)
    )
    ran = what_runs(text)
    lines = text.splitlines()
    for expression in analysis.facts.expressions:
        line = expression.site.node.lineno - 1
        if "torch.ones" not in lines[line] or not ran.get(line):
            continue
        said = claims(expression) if expression.kind.name == "TENSOR" else None
        wrong = [] if said is None else [each for each in ran[line] if not is_among(each, said)]
        assert not wrong, f"line {line + 1} of\n{text}"
