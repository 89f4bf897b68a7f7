"""Draws loops that do some things in some turns only, and holds the errors that are told of them
against what Python does when they run: every so many steps, where a result is the best one so far,
in functions that are given the number of the turn."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any

from fuzz_checks import MAIN, check_understood, snapshot_of
from fuzz_edits import Step

from device_lens.ide.project import Project
from device_lens.interpreter.facts import Certainty

RUNS = 40
"""Times that a program is run, each with other results."""
NAMES = "xyz"
DEVICES = ("cpu", "cuda")
HEAD = "import torch\nfrom elsewhere import measure\nbest0 = best1 = loss = float('inf')\nj = 0\n"
_REMAINDERS = (
    "{n} % {k} == {r}",
    "({n} + 1) % {k} == 0",
    "not {n} % {k}",
    "{n} > 0 and {n} % {k} == 0",
)
_PLACES = ("{n} == 0", "{n} > 0", "{n} == {k}", "{n} >= {k}")
_ADDITION = re.compile(r"\b[xyz] \+ [xyz]\b")
_EDITS = (
    "{a} = {a}.to('cuda')",
    "{a} = {a}.to('cpu')",
    "{a} + {b}",
    "best0 = loss",
    "best1 = min(loss, best1)",
    "loss = measure()",
    "if i % 3 == 0: {a} = {a}.to('cuda')",
    "if loss < best1: {a} = {b}",
    "if i > 0: {a} = {a}.to('cpu')",
    "if j: {a} = {b}",
)


@dataclass
class _Draft:
    """A program that is being drawn: its functions, and what has been asked of each number. A test
    of one number that hangs on another one of it is not drawn: nobody tells that both exclude each
    other."""

    random: Random
    functions: list[str] = field(default_factory=list)
    named: int = 0
    asked: set[str] = field(default_factory=set)

    def body(self, depth: int, number: str) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 4)):
            lines += self._statement(depth, number)
        return lines

    def _statement(self, depth: int, number: str) -> list[str]:
        random = self.random
        a, b = random.choice(NAMES), random.choice(NAMES)
        drawn = random.random()
        if drawn < 0.4 or (drawn >= 0.75 and not depth):
            return [f"{a} + {b}"]
        if drawn < 0.75:
            return [f"{a} = {a}.to('{random.choice(DEVICES)}')"]
        if drawn < 0.92:
            return self._test(depth, number)
        if drawn < 0.96:
            return self._call(number)
        turns = random.choice((2, 7, 20))
        inner = self.body(depth - 1, random.choice((number, "j")))
        return [f"for j in range({turns}):", *_indented(inner)]

    def _test(self, depth: int, number: str) -> list[str]:
        random = self.random
        if number in "ij" and random.random() < 0.2 and "loss" not in self.asked:
            self.asked.add("loss")
            inner = ["best0 = loss", *self.body(depth - 1, number)]
            return ["loss = measure()", "if loss < best0:", *_indented(inner)]
        if number in self.asked:
            return [f"{random.choice(NAMES)} + {random.choice(NAMES)}"]
        self.asked.add(number)
        text = random.choice(_REMAINDERS + _PLACES)
        test = text.format(n=number, k=random.choice((2, 3)), r=random.choice((0, 0, 1, 2)))
        lines = [f"if {test}:", *_indented(self.body(depth - 1, number))]
        if random.random() < 0.3:
            lines += ["else:", *_indented(self.body(depth - 1, number))]
        return lines

    def _call(self, number: str) -> list[str]:
        self.named += 1
        name, own = f"step{self.named}", f"n{self.named}"
        given = number in self.asked
        self.asked.add(number)
        body = self.body(1, own) if not given else [f"{NAMES[0]} + {NAMES[1]}"]
        head = f"def {name}({own}, {', '.join(NAMES)}):"
        left = self.random.choice(NAMES)
        self.functions.append("\n".join([head, *_indented([*body, f"return {left}"]), ""]))
        return [f"{left} = {name}({number}, {', '.join(NAMES)})"]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def turns(random: Random, corpus: Sequence[str]) -> str:
    """A program with one loop, which may have others in it."""
    draft = _Draft(random)
    first = [f"{name} = torch.ones(1, device='{random.choice(DEVICES)}')" for name in NAMES]
    loop = f"for i in range({random.choice((8, 30))}):"
    lines = [*first, loop, *_indented(draft.body(2, "i"))]
    return HEAD + "".join(draft.functions) + "\n".join(lines) + "\n"


def turns_edited(random: Random, corpus: Sequence[str]) -> list[Step]:
    """A few changes of such a program, within a function or at the top level."""
    text = turns(random, corpus)
    if random.random() < 0.5:
        head, loop = text.removeprefix(HEAD).split(f"{NAMES[0]} = torch", 1)
        within = [*HEAD.splitlines()[2:], *f"{NAMES[0]} = torch{loop}".splitlines()]
        text = "\n".join(
            [*HEAD.splitlines()[:2], head, "def main():", *_indented(within), "main()", ""]
        )
    steps = [Step({MAIN: text}, MAIN)]
    for _ in range(random.randint(2, 5)):
        text = _edited(random, text)
        steps.append(Step({MAIN: text}, MAIN))
    return steps


def _edited(random: Random, text: str) -> str:
    """One plain statement in the place of another, or a new one before it, or none."""
    lines = text.splitlines()
    plain = [at for at, line in enumerate(lines) if " + " in line or " = " in line]
    at = random.choice([each for each in plain if not lines[each].rstrip().endswith(":")])
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    typed = random.choice(_EDITS).format(a=random.choice(NAMES), b=random.choice(NAMES))
    is_replaced = random.random() < 0.6
    lines[at : at + is_replaced] = [indent + typed]
    return "\n".join(lines) + "\n"


def check_turns(text: str) -> None:
    """Raises AssertionError where an addition is told to raise that runs and never does. Those that
    do raise are taken out first, since nothing is asked of a program after they have."""
    while True:
        ran, raised = _all_runs(text)
        said = _said_to_raise(text)
        if not said & raised:
            break
        lines = text.splitlines(keepends=True)
        for number in said & raised:
            lines[number - 1] = _ADDITION.sub("pass", lines[number - 1])
        text = "".join(lines)
    for number in sorted(said & ran):
        shown = text.splitlines()[number - 1].strip()
        raise AssertionError(f"line {number}: `{shown}` never raises, as it is said to:\n{text}")


def _said_to_raise(text: str) -> set[int]:
    """The lines of the additions that are told to raise."""
    facts = Project("/device-lens-fuzz").analyse(MAIN, snapshot_of({MAIN: text})).facts
    check_understood(facts)
    sure = (each for each in facts.conflicts if each.certainty is Certainty.SURE)
    return {each.site.node.lineno for each in sure}  # type: ignore[attr-defined]


class _Tensor:
    """A stand-in that writes down which additions ran, and which of them would have raised."""

    def __init__(self, device: str, ran: set[int], raised: set[int]) -> None:
        self.device, self.ran, self.raised = device, ran, raised

    def to(self, device: str) -> _Tensor:
        return self if device == self.device else _Tensor(device, self.ran, self.raised)

    def __add__(self, other: _Tensor) -> _Tensor:
        number = sys._getframe(1).f_lineno
        self.ran.add(number)
        if other.device != self.device:
            self.raised.add(number)
        return self


def _all_runs(text: str) -> tuple[set[int], set[int]]:
    """The lines whose additions ran, and those of them that met two devices."""
    plain = text.replace("import torch\nfrom elsewhere import measure\n", "\n\n")
    code = compile(plain, "program", "exec")
    ran: set[int] = set()
    raised: set[int] = set()
    for seed in range(RUNS):
        names: dict[str, Any] = {
            "torch": SimpleNamespace(ones=lambda size, device: _Tensor(device, ran, raised)),
            "measure": _measure(Random(seed)),
        }
        exec(code, names)
    return ran, raised


def _measure(random: Random) -> Any:
    """Results that get better from call to call, more or less."""
    drift = random.choice((0.0, 0.0, 0.005, 0.02))
    calls = 0

    def measure() -> float:
        nonlocal calls
        calls += 1
        return random.random() - drift * calls

    return measure
