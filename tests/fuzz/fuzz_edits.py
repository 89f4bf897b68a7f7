"""Editing: after each change what is known equals what a new start on the same text knows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from fuzz_checks import (
    FOLDER,
    MAIN,
    Wrong,
    check_analysis,
    check_source,
    picture,
    snapshot_of,
)
from fuzz_mutations import MUTATIONS

from device_lens.ide.project import Content, Project
from device_lens.syntax.notebook import NotebookSource, notebook_of_texts, read_notebook

HELPER = f"{FOLDER}/helper.py"
NOTEBOOK = f"{FOLDER}/book.ipynb"
_MAGICS = [
    "%matplotlib inline\n",
    "!pip install x\n",
    "%%time\n",
    "%%bash\nls\n",
    "x?\n",
    "\x00",
    "",
]
_STATEMENTS = [
    "new = torch.ones(3).to(?)",
    "new = ? + torch.zeros(3)",
    "new = ?.cuda()",
    "?.to('cuda')",
    "? = ?.to(?)",
    "print(?, ?.item())",
    "for item in ?: new = item",
    "if ?: other = ?",
    "new, other = ?, ?.cpu()",
    "new = ?(?)",
    "? += ?",
    "? = ?",
    "?.append(?)",
    "self.new = ?",
    "# ?.to(?)",
    "return ?",
    "loss.backward()",
    "with torch.no_grad(): new = ?(?)",
    "def made(?): return ?",
    "count = 3",
]
"""What is typed; a question mark stands for a word of the file."""
_WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
Texts = tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """The contents of all open documents after a change."""

    contents: dict[str, Content]
    look_at: str


def editing(random: Random, corpus: Sequence[str]) -> list[Step]:
    """A few changes of two files, one of which may import the other."""
    main, helper = random.choice(corpus), random.choice(corpus)
    if random.random() < 0.6:
        main = random.choice(["import helper\n", "from helper import *\n"]) + main
    before: list[tuple[str, str]] = []
    steps = []
    for _ in range(random.randint(2, 5)):
        before.append((main, helper))
        if random.random() < 0.2:
            main, helper = random.choice(before)  # undone
        elif random.random() < 0.8:
            main = _edited(random, main, corpus)
        else:
            helper = _edited(random, helper, corpus)
        look_at = MAIN if random.random() < 0.8 else HELPER
        steps.append(Step({MAIN: main, HELPER: helper}, look_at))
    return steps


def typing(random: Random, corpus: Sequence[str]) -> list[Step]:
    """Statements typed at a few places of a script or of what it imports, letters at a time."""
    main, helper = random.choice(corpus), random.choice(corpus)
    if random.random() < 0.6:
        main = "from helper import *\n" + main
    in_main = random.random() < 0.6
    lines = (main if in_main else helper).split("\n")
    contents: dict[str, Content] = {MAIN: main, HELPER: helper}
    steps = [Step(contents, MAIN)]
    at, indent = _place(random, lines)
    for number in range(random.randint(1, 4)):
        if number and random.random() < 0.4:
            at, indent = _place(random, lines)
        words = _WORD.findall("\n".join(lines)) or ["x"]
        typed = "".join(
            random.choice(words) if part == "?" else part
            for part in re.split(r"(\?)", random.choice(_STATEMENTS))
        )
        lines.insert(at, " " * indent)
        while typed:
            count = random.randint(1, 8)
            lines[at] += typed[:count]
            typed = typed[count:]
            contents = {**contents, MAIN if in_main else HELPER: "\n".join(lines)}
            steps.append(Step(contents, MAIN if random.random() < 0.7 else HELPER))
        at += 1
    return steps


def _place(random: Random, lines: Sequence[str]) -> tuple[int, int]:
    """A line before which something is typed, mostly inside of a definition, and how far in."""
    depth = random.random() < 0.75
    inside = [at for at, line in enumerate(lines) if line.strip() and (line[0] == " ") == depth]
    at = random.choice(inside) if inside else random.randrange(len(lines))
    return at, len(lines[at]) - len(lines[at].lstrip())


def notebook_editing(random: Random, corpus: Sequence[str]) -> list[Step]:
    """A few changes of a notebook's cells."""
    cells: list[str | None] = []
    for _ in range(random.randint(1, 4)):
        cells += _cut(random, random.choice(corpus))
    steps = []
    for _ in range(random.randint(2, 5)):
        cells = _with_another(random, cells, corpus)
        steps.append(Step({NOTEBOOK: notebook_of_texts(cells)}, NOTEBOOK))
    return steps


def replay(steps: Sequence[Step], random: Random) -> None:
    """Analyses after each step, anew and as an editor would. Raises `Wrong` where they differ."""
    project = Project(FOLDER)
    project.fixes_wait = True
    for number, step in enumerate(steps):
        snapshot = snapshot_of(step.contents)
        # A document that changes is looked at in an editor: its imports count from then on.
        seen = [each for each in step.contents if _seen(steps[: number + 1], each)]
        project.index(seen, snapshot)
        mine = project.analyse(step.look_at, snapshot)
        text = step.contents[step.look_at]
        check_source(mine.facts.source, text if isinstance(text, str) else "")
        check_analysis(mine, random, with_words=False)
        fresh = Project(FOLDER)
        fresh.index(seen, snapshot)
        theirs = fresh.analyse(step.look_at, snapshot)
        state = random.getstate()
        one = picture(mine, random)
        json.dumps(one["explained"])
        random.setstate(state)
        other = picture(theirs, random)
        for key, value in one.items():
            if value != other[key]:
                raise Wrong(f"after step {number} {key} differ: {_difference(value, other[key])}")
        if mine.facts.source.cell_map is not None:
            _check_cells(mine)


def _seen(steps: Sequence[Step], path: str) -> bool:
    return any(step.look_at == path for step in steps)


def look_at_notebook_file(text: str) -> None:
    """An `.ipynb` file's text, whatever it holds, is a notebook or a sentence why not."""
    read = read_notebook(text)
    if isinstance(read, NotebookSource):
        analysis = Project(FOLDER).analyse(NOTEBOOK, snapshot_of({NOTEBOOK: read}))
        check_source(analysis.facts.source, "")
        _check_cells(analysis)


def notebook_file(random: Random, corpus: Sequence[str]) -> str:
    """The text of an `.ipynb` file with something odd about it."""
    cells = [
        {
            "cell_type": random.choice(["code", "code", "code", "markdown", 3]),
            "source": random.choice([part, part.splitlines(keepends=True), None, [1, part]]),
            "metadata": {},
        }
        for part in _cut(random, random.choice(corpus))
    ]
    text = json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}, indent=1)
    return random.choice(MUTATIONS)(random, text, corpus) if random.random() < 0.6 else text


def _check_cells(analysis: object) -> None:
    """What is shown lies within one cell."""
    source = analysis.facts.source  # type: ignore[attr-defined]
    for finding in analysis.findings:  # type: ignore[attr-defined]
        if source.cell_map.range_to_cell(finding.range) is None:
            raise Wrong(f"{finding.rule} spans cells: {finding.range}")


def _edited(random: Random, text: str, corpus: Sequence[str]) -> str:
    if random.random() < 0.5:
        return random.choice(MUTATIONS)(random, text, corpus)
    at = random.randint(0, len(text))
    if random.random() < 0.5:
        return text[:at] + random.choice(list("abx=.,:()[]'\"\n #\\\t")) + text[at:]
    return text[:at] + text[at + random.randint(1, 5) :]


def _cut(random: Random, text: str) -> list[str]:
    lines = text.split("\n")
    parts = []
    while lines:
        count = random.randint(1, 12)
        parts.append("\n".join(lines[:count]))
        lines = lines[count:]
    return parts


def _with_another(
    random: Random, cells: Sequence[str | None], corpus: Sequence[str]
) -> list[str | None]:
    changed = list(cells)
    at = random.randrange(len(changed)) if changed else 0
    choice = random.randrange(6)
    if choice == 0 or not changed:
        changed.insert(
            at, random.choice(_MAGICS) + random.choice(_cut(random, random.choice(corpus)))
        )
    elif choice == 1:
        changed.insert(random.randrange(len(changed)), changed.pop(at))
    elif choice == 2 and len(changed) > 1:
        del changed[at]
    elif choice == 3:
        changed[at] = None
    elif choice == 4:
        changed.insert(at, changed[at])
    else:
        changed[at] = _edited(random, changed[at] or "", corpus)
    return changed


def difference_of(one: object, other: object) -> str:
    return _difference(one, other)


def _difference(one: object, other: object) -> str:
    if isinstance(one, list) and isinstance(other, list):
        mine = [each for each in one if each not in other]
        theirs = [each for each in other if each not in one]
        return f"only incrementally {str(mine[:1])[:400]}; only afresh {str(theirs[:1])[:400]}"
    return f"{str(one)[:300]} / {str(other)[:300]}"
