"""Whatever is done to a project between runs, what is kept changes no answer."""

from __future__ import annotations

import random
import shutil

import pytest
from cli_runs import QUIET, CommandLine
from recall_runs import check, fresh, recalled, statistics

STEPS = 25
KINDS = (*["write"] * 6, "remove", "remove folder", "leave out", "set up")
NAMES = ("main.py", "a.py", "b.py", "pkg/__init__.py", "pkg/a.py", "pkg/deep.py", "src/b.py")
TEXTS = (
    "",
    "import torch\nx = torch.ones(2)\nx.to('cuda')\n",
    "import torch\nfrom a import move\nx = move(torch.ones(2))\nprint(x @ torch.ones(2))\n",
    "import torch\nimport pkg.a\nx = pkg.a.move(torch.ones(2))\nprint(x @ torch.ones(2))\n",
    "import b\nif __name__ == '__main__':\n    b.move(b.make())\n",
    "def move(x):\n    return x\n",
    "def move(x):\n    return x.to('cuda')\n",
    "def move(x):\n    x.to('cuda')\n    return x  # device-lens: ignore[round-trip]\n",
    "from b import *\n",
    "from .deep import move\n",
    "import torch\n\ndef make():\n    return torch.ones(2, device='cuda')\n",
    "import torch\nx = (\n",
)
CONFIGURATIONS = (
    QUIET,
    QUIET + 'ignore = ["discarded-transfer"]\n',
    QUIET + 'assume-accelerator = "mps"\n',
    QUIET + 'exclude = ["pkg"]\n',
    QUIET + 'per-file-ignores = {"a.py" = ["unused-ignore"]}\n',
    "",
)


def _change(run: CommandLine, draw: random.Random) -> str:
    """Does one thing to the project, and says what."""
    name, text = draw.choice(NAMES), draw.choice(TEXTS)
    path = run.folder / name
    kind = draw.choice(KINDS)
    if kind == "write":
        run.write({name: text})
    elif kind == "remove":
        path.unlink(missing_ok=True)
    elif kind == "remove folder" and path.parent != run.folder:
        shutil.rmtree(path.parent, ignore_errors=True)
    elif kind == "leave out":
        run.write({".gitignore": f"{draw.choice(NAMES)}\n"})
    else:
        run.write({"pyproject.toml": draw.choice(CONFIGURATIONS)})
    return f"{kind} {name}: {text!r}"


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_no_sequence_of_changes_is_answered_from_the_past(run: CommandLine, seed: int) -> None:
    draw = random.Random(seed)
    run.write({name: draw.choice(TEXTS) for name in NAMES})
    done, taken, answers = [], 0, set()
    for _ in range(STEPS):
        asked = draw.choice([(), (), ("main.py",), ("pkg",)])
        if not all((run.folder / each).exists() for each in asked):
            asked = ()
        expected = fresh(run, *asked)
        assert check(run, *asked) == expected, (asked, done)
        again = statistics(run, *asked)
        assert again.json == expected, (asked, done)
        taken += recalled(again)
        answers.add(again.out)
        done.append(_change(run, draw))
    assert taken > STEPS  # else nothing was put to the test
    assert len(answers) > 5
