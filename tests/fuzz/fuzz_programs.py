"""Draws programs whose devices hang on what nobody can know before they run: on `coin()`.

None of them handles exceptions: what is so only after a failure does not count beside anything
else.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

HEAD = """\
import copy
import random

import torch
from torch import nn


def coin():
    return random.random() < 0.5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("buf", torch.zeros(2))
        self.plain = torch.ones(2)
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.fc(x) + self.buf


class Holder:
    def __init__(self, x):
        self.x = x
        self.items = [x]

    def move(self, device):
        self.x = self.x.to(device)
        return self

    def swap(self, other):
        self.x, other.x = other.x, self.x


class Lazy(Holder):
    def move(self, device):
        if coin():
            return super().move(device)
        return self


def either(x, y=None, *rest, flip=False, **more):
    if flip:
        return y if y is not None else x
    for each in rest:
        x = each
    return more.get("z", x)


def maybe(x, device):
    if coin():
        return None
    return x.to(device)


def passed_on(xs):
    for x in xs:
        yield x
    yield torch.ones(2)


"""
DEVICES = ('"cpu"', '"cuda"', '"cuda:0"', '"cuda:1"', 'torch.device("cuda")')
GIVEN = ("torch.ones(2)", 'torch.ones(2, device="cuda")', "torch.ones(2).cuda(1)")
DEEPEST = 3
"""Blocks within blocks, and expressions within expressions."""


def program(random: Random, corpus: Sequence[str] = ()) -> str:
    """A program of one function and its call."""
    return HEAD + Writer(random).function("case", random.randint(5, 14))


class Writer:
    """Writes statements about names of five kinds: tensors, lists, dicts, modules, holders."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names: dict[str, list[str]] = {kind: [] for kind in "tldmhf"}
        self.lines: list[str] = []
        self.indent = 1
        self.loops = 0
        self.made = 0

    def function(self, name: str, count: int) -> str:
        parameters = [f"p{number}" for number in range(self.random.randint(1, 2))]
        self.names["t"] += parameters
        for _ in range(count):
            self.statement(0)
        self.write(f"return {self.tensor()}")
        given = ", ".join(self.random.choice(GIVEN) for _ in parameters)
        head = f"def {name}({', '.join(parameters)}):\n"
        return head + "\n".join(self.lines) + f"\n\n\n{name}({given})\n"

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def known(self, kind: str) -> str:
        return self.random.choice(self.names[kind])

    def new(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def bind(self, kind: str, value: str) -> None:
        name = self.new(kind)
        self.write(f"{name} = {value}")
        self.names[kind].append(name)

    # Expressions.

    def device(self) -> str:
        options = [*DEVICES, *DEVICES, '("cuda" if coin() else "cpu")']
        options += [f"{name}.device" for name in self.names["t"][-2:]]
        options += [f"{name}.fc.weight.device" for name in self.names["m"][-1:]]
        options += [f"{name}.x.device" for name in self.names["h"][-1:]]
        return self.random.choice(options)

    def tensor(self, depth: int = 0) -> str:
        if depth >= DEEPEST or self.random.random() < 0.3:
            return self.known("t")

        def inner() -> str:
            return self.tensor(depth + 1)

        options = [
            "torch.ones(2)",
            f"torch.zeros(2, device={self.device()})",
            f"{inner()}.to({self.device()})",
            f"{inner()}.{self.pick('cpu()', 'cuda()', 'clone()', 'new_ones(2)')}",
            f"torch.{self.pick('zeros_like', 'relu')}({inner()})",
            f"({inner()} {self.pick('+', '*')} {self.pick('2', inner())})",
            f"({inner()} if coin() else {inner()})",
            f"torch.{self.pick('cat', 'stack')}([{inner()}, {inner()}])[0]",
            f"torch.where({inner()} > 0, {inner()}, {inner()})",
            f"either({inner()}, {inner()}{self.pick('', ', flip=True', ', flip=coin()')})",
            f"either({inner()}, {inner()}, {self.pick('z=', '')}{inner()})",
            f"copy.{self.pick('copy', 'deepcopy')}({inner()})",
            f"(lambda v: {self.pick('v', 'v.cuda()', 'v + 1')})({inner()})",
        ]
        for each in self.names["l"][-2:]:
            options += [f"{each}[{self.pick('0', '-1')}]", f"next(iter({each}))"]
            options.append(f"[e for e in {each} if {self.pick('e.is_cuda', 'coin()')}][0]")
        for each in self.names["d"][-2:]:
            options += [f'{each}["a"]', f'{each}.get("{self.pick("a", "c")}", {inner()})']
        for each in self.names["m"][-2:]:
            part = self.pick("fc.weight[0]", "buf", "plain", "layers[0].bias", f"fc({inner()})")
            options += [f"{each}({inner()})", f"{each}.{part}"]
        for each in self.names["h"][-2:]:
            options += [f"{each}.x", f"{each}.items[0]"]
        options += [f"{each}({inner()})" for each in self.names["f"][-2:]]
        return self.random.choice(options)

    def condition(self) -> str:
        one, other = self.known("t"), self.known("t")
        return self.pick(
            "coin()",
            "coin()",
            "coin() or coin()",
            f"{one}.is_cuda",
            f"not {one}.is_cuda and coin()",
            f'{one}.device.type == "cuda"',
            f"{one}.device == {other}.device",
            f"{one} is None",
            f"isinstance({one}, torch.Tensor)",
        )

    # Statements.

    def block(self, depth: int, *bound: str) -> None:
        kept = {kind: list(names) for kind, names in self.names.items()}
        self.names["t"] += bound
        self.indent += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth + 1)
        self.indent -= 1
        self.names = kept

    def statement(self, depth: int) -> None:
        simple = [self._assign, self._assign, self._assign, self._bind, self._change, self._swap]
        nested = [self._if, self._if, self._for, self._while, self._with, self._define]
        leave = [self._leave] if depth else []
        self.random.choice([*simple, *simple, *leave, *(nested if depth < DEEPEST else ())])(depth)

    def _assign(self, depth: int) -> None:
        if self.random.random() < 0.4:
            self.bind("t", self.tensor())
        else:
            self.write(f"{self.known('t')} {self.pick('=', '=', '=', '+=')} {self.tensor()}")

    def _bind(self, depth: int) -> None:
        kind = self.pick("l", "d", "m", "h", "t")
        copied = f"copy.{self.pick('copy', 'deepcopy')}"
        old = self.names[kind]
        fresh = {
            "l": f"[{self.tensor(1)}, {self.tensor(1)}]",
            "d": f'{{"a": {self.tensor(1)}, "b": {self.tensor(1)}}}',
            "m": f"Net(){self.pick('', '.cuda()', f'.to({self.device()})')}",
            "h": f"{self.pick('Holder', 'Lazy')}({self.tensor(1)})",
            "t": f"maybe({self.tensor(1)}, {self.device()})",
        }[kind]
        if kind != "t" and old and self.random.random() < 0.4:
            fresh = self.pick(f"{copied}({self.known(kind)})", self.known(kind))
        elif kind == "l" and old:
            each = self.known("l")
            fresh = self.pick(
                fresh,
                f"list(reversed({each}))",
                f"[*{each}, {self.tensor(1)}]",
                f"list(passed_on({each}))",
                f"[e.cuda() for e in {each}]",
            )
        self.bind(kind, fresh)
        if kind == "t":
            name = self.names["t"][-1]
            self.write(f"if {name} is None:")
            self.write(f"    {name} = {self.names['t'][0]}")

    def _change(self, depth: int) -> None:
        options = []
        for each in self.names["l"][-2:]:
            options += [
                f"{each}.append({self.tensor(1)})",
                f"{each}[0] = {self.tensor(1)}",
                f"{each}.insert(0, {self.tensor(1)})",
                f"{each}.reverse()",
            ]
        for each in self.names["d"][-2:]:
            options += [
                f'{each}["{self.pick("a", "c")}"] = {self.tensor(1)}',
                f"{each}.update(a={self.tensor(1)})",
            ]
        for each in self.names["m"][-2:]:
            options += [
                f"{each}.{self.pick('cuda()', 'cpu()', 'fc.cuda()', 'layers[0].cuda()')}",
                f"{each}.to({self.device()})",
                f"{each}.plain = {self.tensor(1)}",
                f"{each}.buf = {self.tensor(1)}",
                f"{each}.fc = nn.Linear(2, 2)",
            ]
        for each in self.names["h"][-2:]:
            options += [
                f"{each}.move({self.device()})",
                f"{each}.x = {self.tensor(1)}",
                f"{each}.swap({self.known('h')})",
            ]
        self.write(self.random.choice(options or [f"{self.known('t')}.copy_({self.tensor(1)})"]))

    def _swap(self, depth: int) -> None:
        one, other = self.known("t"), self.known("t")
        self.write(f"{one}, {other} = {other}, {self.tensor(1)}")

    def _if(self, depth: int) -> None:
        self.write(f"if {self.condition()}:")
        self.block(depth)
        if self.random.random() < 0.5:
            if self.random.random() < 0.4:
                self.write(f"elif {self.condition()}:")
                self.block(depth)
            self.write("else:")
            self.block(depth)

    def _for(self, depth: int) -> None:
        heads = [(f"for i in range({self.random.randint(1, 3)}):", ())]
        heads += [(f"for e in {each}:", ("e",)) for each in self.names["l"][-1:]]
        heads += [(f"for i, e in enumerate({each}):", ("e",)) for each in self.names["l"][-1:]]
        heads += [(f"for e in passed_on({each}):", ("e",)) for each in self.names["l"][-1:]]
        heads += [(f"for k, e in {each}.items():", ("e",)) for each in self.names["d"][-1:]]
        head, bound = self.random.choice(heads)
        self.write(head)
        self.loops += 1
        self.block(depth, *bound)
        self.loops -= 1

    def _while(self, depth: int) -> None:
        self.write(f"while {self.pick('coin()', 'True')}:")
        self.loops += 1
        self.block(depth)
        self.loops -= 1
        self.write("    if coin():")
        self.write("        break")

    def _with(self, depth: int) -> None:
        self.write(self.pick(f"with torch.device({self.pick(*DEVICES)}):", "with torch.no_grad():"))
        self.block(depth)

    def _define(self, depth: int) -> None:
        name, kept, loops = self.new("f"), dict(self.names), self.loops
        self.write(f"def {name}(a, b={self.tensor(1)}):")
        self.indent += 1
        if self.names["t"][0] == "p0" and self.random.random() < 0.5:
            self.write("nonlocal p0")
            self.names = {**{kind: [] for kind in kept}, "t": ["p0", "a", "b"]}
        else:
            self.names = {**{kind: [] for kind in kept}, "t": ["a", "b"]}
        self.loops = 0
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth + 1)
        self.write(f"return {self.known('t')}")
        self.indent -= 1
        self.names, self.loops = kept, loops
        self.names["f"].append(name)

    def _leave(self, depth: int) -> None:
        ways = [f"return {self.tensor(1)}"]
        if self.loops:
            ways += ["break", "continue"] * 3
        self.write(f"if {self.condition()}:")
        self.write(f"    {self.random.choice(ways)}")
