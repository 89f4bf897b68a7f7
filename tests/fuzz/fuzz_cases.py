"""Draws programs that put names of devices into lists, dicts and objects as flags decide, under
keys and at places of which some are not known, and holds what is said of them against what Python
does for all values of the flags."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any

from fuzz_checks import MAIN, check_understood, snapshot_of

from device_lens.ide.cases import read
from device_lens.ide.project import Project
from device_lens.interpreter.facts import Expression, Kind

FLAGS = ("A", "B", "C")
DEVICES = ("cpu", "cuda:0", "cuda:1")
PLAIN = 0.35
"""How many of the statements hang on no flag."""
ELSEWHERE = "from elsewhere import key, number"
"""What gives a key and a number that nobody knows; a number is at least 1."""
OUTCOMES = 5
"""Runs for the same flags, each with other keys and numbers."""
HEAD = f"import collections\nimport copy\nimport os\nimport torch\n{ELSEWHERE}\n" + "".join(
    f'{name} = os.environ.get("{name}") == "1"\n' for name in FLAGS
)
LISTS = (
    "xs.append({d})",
    "xs.append({e})",
    "xs += [{d}]",
    "xs = xs + [{d}]",
    "xs = [{d}] + xs",
    "xs.insert(0, {d})",
    'xs.extend([{d}, "cpu"])',
    "if xs:\n    xs.pop()",
    "if len(xs) > 1:\n    xs.pop()",
    "if len(xs) > 1:\n    xs.pop(0)",
    "xs = xs[1:] or xs",
    "xs = list(xs)",
    "xs = copy.copy(xs)",
    "xs = [each for each in xs]",
    "xs = [each for each in xs if each != {d}]",
    "xs.reverse()",
    "xs = list(reversed(xs))",
    "xs = [each for _, each in enumerate(xs)]",
    "if len(xs) > 1:\n    xs[1] = {d}",
    "first, *xs = xs or ['cpu']",
    "if xs:\n    xs[number() % len(xs)] = {d}",
    "xs.insert(number(), {d})",
    "xs = xs[number():] or [{d}]",
    "xs[:number()] = [{d}]",
    "if xs:\n    xs.pop(number() % len(xs))",
    "for _ in range(number()):\n    xs.append({d})",
    "while len(xs) < number():\n    xs.append({d})",
    "xs += [{d}] * number()",
    "if number() == 1:\n    xs.append({d})",
    "if {d} in xs:\n    xs[xs.index({d})] = {e}",
    "xs.sort()",
    "xs = sorted(xs, reverse={f})",
    "for each in xs:\n    if each == {d}:\n        last = each",
    "for number in range(2):\n    xs.append('cpu')",
    "for number in range(2):\n    if {f}:\n        xs.append({d})",
    "for number in range(2 if {f} else 0):\n    xs.append({d})",
)
DICTS = (
    "m[{k}] = {d}",
    "m[{k}] = {e}",
    "m.pop({k}, None)",
    "x = m.setdefault({k}, {d})",
    "m.update({{{k}: {d}, {j}: {e}}})",
    "if {k} in m:\n    del m[{k}]",
    "if {k} in m:\n    m[{j}] = m[{k}]",
    "if {k} not in m:\n    m[{k}] = {d}",
    "m = dict(m)",
    "m = {{**m, {k}: {d}}}",
    "m = {{k: v for k, v in m.items() if v != {d}}}",
    "m = {{k: {d} if v == {e} else v for k, v in m.items()}}",
    "for k in list(m):\n    if k == {k}:\n        m[k] = {d}",
    "m = m | {{{k}: {d}}}",
    "m |= {{{k}: {d}}}",
    "m = m.copy()",
    "if len(m) > 2:\n    m.popitem()",
    "x = m.get({k}, {d})",
    "n = m\nn[{k}] = {d}",
    "m.clear()",
    "m = dict(zip(m, m.values()))",
    "m = dict.fromkeys(m, {d})",
    "m = collections.OrderedDict(m)",
    "m = dict(collections.ChainMap({{{k}: {d}}}, m))",
    "try:\n    x = m[{k}]\nexcept KeyError:\n    m[{k}] = {d}",
    "x = next(iter(m.values()), {d})",
    "x = sorted(m.values())[0] if m else {d}",
    "m = dict(collections.defaultdict(lambda: {d}, m))",
    "x = collections.defaultdict(lambda: {d}, m)[{k}]",
    "m[key()] = {d}",
    "m.update({{key(): {d}}})",
    "m.pop(key(), None)",
    "x = m.get(key(), {d})",
    "x = m.setdefault(key(), {d})",
    "if (k := key()) in m:\n    x = m[k]",
    "if (k := key()) not in m:\n    m[k] = {d}",
    "m = {{**m, key(): {d}}}",
    "n = dict.fromkeys([key(), {k}], {d})\nm.update(n)",
    "m = dict(zip([key(), {k}], [{d}, {e}]))",
    "if key() == {k}:\n    m[{k}] = {d}",
    "try:\n    del m[key()]\nexcept KeyError:\n    m[{k}] = {d}",
)
OBJECTS = (
    "{o}.{a} = {d}",
    "{o} = Thing({d})",
    "o, s = s, o",
    "o = s",
    "{o}.swap()",
    "{o}.put({d})",
    "Thing.shared = {d}",
    "{o}.shared = {d}",
    'setattr({o}, "{a}", {d})',
    'if hasattr({o}, "extra"):\n    {o}.{a} = {o}.extra\nelse:\n    {o}.extra = {d}',
    "s = copy.copy(o)",
    "o = copy.deepcopy(s)",
    "if o is s:\n    o.p = {d}",
    "if o is not s:\n    s.p = {d}",
    'vars({o})["{a}"] = {d}',
    'o.__dict__["{a}"] = {d}',
    "x = {o}.pick({f})",
    "{o} = {o}.chain({d})",
)
CLASS = """class Thing:
    shared = "cpu"
    def __init__(self, p):
        self.p = p
        self.q = "cpu"
    def swap(self):
        self.p, self.q = self.q, self.p
    def put(self, device):
        if A:
            self.p = device
        else:
            self.q = device
    def pick(self, flag):
        return self.p if flag else self.q
    def chain(self, device):
        if self.p == device:
            return self
        self.p = device
        return Thing(device)
"""
ABOUT_LISTS = (
    *(
        f"if len(xs) == {size}:\n    PROBE(xs[{place}])"
        for size in range(1, 6)
        for place in dict.fromkeys((0, size - 1, -1, -size))
    ),
    "if xs and all(each == xs[0] for each in xs):\n    PROBE(xs[-1])",
    "if len({*xs}) == 1:\n    PROBE(xs[-1])",
    "for each in xs:\n    PROBE(each)",
    "if xs:\n    PROBE(xs[number() % len(xs)])",
)
ABOUT_DICTS = (
    *(f'if "{key}" in m:\n    PROBE(m["{key}"])' for key in "abc"),
    *(f'PROBE(m.get("{key}", "cuda:1"))' for key in "abc"),
    "PROBE(x)",
    "for each in m.values():\n    PROBE(each)",
    "if m:\n    PROBE(next(iter(m.values())))\n    PROBE(list(m.values())[-1])",
    "if len(m) > 1:\n    PROBE(list(m.values())[1])",
    "if not m:\n    PROBE(x)",
    'PROBE(m.get(key(), "cpu"))',
)
ABOUT_OBJECTS = (
    *(f"PROBE({name}.{part})" for name in "os" for part in ("p", "q", "shared")),
    *(f'if hasattr({name}, "extra"):\n    PROBE({name}.extra)' for name in "os"),
    *(f"if {name}.p == {name}.q:\n    PROBE({name}.q)" for name in "os"),
    "PROBE(x)",
)
TOPICS = (
    ('xs = ["cpu"]\n', LISTS, ABOUT_LISTS),
    ('m = {"a": "cpu", "b": "cuda:0"}\nx = "cpu"\n', DICTS, ABOUT_DICTS),
    (f'{CLASS}o = Thing("cpu")\ns = Thing("cuda:0")\nx = "cpu"\n', OBJECTS, ABOUT_OBJECTS),
)
_PROBE = re.compile(r"PROBE\((.*)\)$", re.MULTILINE)


def by_flags(random: Random, corpus: Sequence[str]) -> str:
    """A program of one topic: some statements, most of them under a flag, and then what is asked of
    what they leave."""
    begin, steps, about = random.choice(TOPICS)
    text = HEAD + begin
    for _ in range(random.randint(2, 7)):
        drawn = {"d": DEVICES, "e": DEVICES, "k": "abc", "j": "abc", "o": "os", "a": "pq"}
        given = {name: random.choice(values) for name, values in drawn.items()}
        quoted = {name: f'"{given[name]}"' for name in "dekj"}
        step = random.choice(steps).format(**{**given, **quoted, "f": random.choice(FLAGS)})
        text += step if random.random() < PLAIN else _under(random.choice(FLAGS), step)
        text += "\n"
    return text + _PROBE.sub(r"v = torch.ones(1, device=\1)", "\n".join(about)) + "\n"


def _under(condition: str, text: str) -> str:
    return f"if {condition}:\n" + "\n".join(f"    {line}" for line in text.split("\n"))


def check_by_flags(text: str) -> None:
    """Raises AssertionError where a tensor is made on a device that is none of those it is said to
    be on."""
    facts = Project("/device-lens-fuzz").analyse(MAIN, snapshot_of({MAIN: text})).facts
    check_understood(facts)
    ran, lines = _all_runs(text), text.splitlines()
    for expression in facts.expressions:
        number = expression.site.node.lineno  # type: ignore[attr-defined]
        if expression.kind is Kind.TENSOR and number in ran:
            said = _said(expression)
            wrong = (
                [] if said is None else [each for each in ran[number] if not _is_among(each, said)]
            )
            if wrong:
                shown = lines[number - 1].strip()
                raise AssertionError(f"line {number}: `{shown}` was on {wrong}, not on {said}")


def _all_runs(text: str) -> dict[int, set[str]]:
    """For each line that makes a tensor, where it was made, over all values of the flags."""
    made = [
        re.sub(r"torch\.ones\(1, device=(.*)\)$", rf"ones({number}, \1)", line)
        for number, line in enumerate(text.splitlines(), 1)
        if line not in ("import os", "import torch", ELSEWHERE)
    ]
    code = compile("\n".join(made), "program", "exec")
    found: dict[int, set[str]] = defaultdict(set)
    outcomes = range(OUTCOMES if "key()" in text or "number()" in text else 1)
    for *values, outcome in itertools.product(*["01"] * len(FLAGS), outcomes):
        drawn = Random(outcome)
        names: dict[str, Any] = {
            "__name__": "__main__",
            "os": SimpleNamespace(environ=dict(zip(FLAGS, values, strict=True))),
            "ones": lambda number, device: found[number].add(device),
            "key": partial(drawn.choice, "abcd"),
            "number": partial(drawn.randint, 1, 4),
        }
        try:
            exec(code, names)
        except Exception:
            continue  # what comes after is not reached with these flags
    return found


def _said(expression: Expression) -> set[str] | None:
    """The devices that an expression may have; None where one is not known."""
    cases = read(expression.device)
    found = [cases.device, *(other.device for other in cases.alternatives)]
    return None if None in found else {str(each) for each in found}


def _is_among(device: str, said: set[str]) -> bool:
    """Whether a device is one of some; `cuda` is any GPU."""
    return device in said or device.partition(":")[0] in said
