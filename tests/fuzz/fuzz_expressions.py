"""Draws the expressions of programs: tensors, devices, containers of tensors, conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

PLACES = ('"cpu"', '"cuda"', '"cuda:0"', '"cuda:1"')
SPELT = (
    'torch.device("cuda")',
    'torch.device("cuda", 1)',
    'f"cuda:{len([0])}"',
    '"cuda:%d" % 1',
    '"cuda:" + str(0)',
    '"cuda:{}".format(1)',
    '("cuda" if torch.cuda.is_available() else "cpu")',
)
FLAGS = ("FIRST", "FIRST", "SECOND", 'OPTIONS["gpu"]', "SETTINGS.on")
DEEPEST = 3
"""Blocks within blocks, and expressions within expressions."""


@dataclass
class Class:
    """What can be asked of the instances of a class, each as it is written behind a name."""

    name: str
    make: str = ""
    """What its constructor takes: a letter for each argument, `t` for tensors."""
    tensors: list[str] = field(default_factory=list)
    """Attributes that are tensors."""
    layers: list[str] = field(default_factory=list)
    """Attributes that are modules which take a tensor and give one; empty for itself."""
    holders: list[str] = field(default_factory=list)
    """Attributes that are plain: any tensor may be put there."""
    methods: list[str] = field(default_factory=list)
    """Methods of one tensor that give a tensor."""
    module: bool = False
    moved: bool = False
    """Whether it has a `move` that takes a device."""


@dataclass
class Function:
    """How a function is called: `plain`, `rest` (`*rest`), `named` (`b=`), `options` (`**more`)."""

    form: str = "plain"


class Expressions:
    """Names by kind, and what can be written of them. The kinds: `t` tensors, `s` tensors without
    dimensions, `l` lists, `d` dicts, `o` objects and modules, `f` functions, `v` devices, `n` small
    numbers, `g` generators, `b` coins that were tossed."""

    random: Random
    names: dict[str, list[str]]
    fixed: set[str]
    """Names that are read only: those of an outer function."""
    classes: dict[str, Class]
    """Of the names of kind `o`."""
    functions: dict[str, Function]
    flagged: bool
    """Whether coins are tossed once and asked often."""
    apart: float
    """How often operands are drawn without regard to where they are."""

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def known(self, kind: str) -> str:
        """A name; the last ones more often."""
        names = self.names[kind]
        return self.random.choice(names[-4:] if self.chance(0.7) else names)

    def one_of(self, *options: Callable[[], str]) -> str:
        return self.random.choice(options)()

    def objects(self, module: bool | None = None) -> list[str]:
        return [
            name
            for name in self.names["o"]
            if module is None or self.classes[name].module is module
        ]

    # Devices.

    def device(self) -> str:
        return self.one_of(
            lambda: self.pick(*PLACES), lambda: self.pick(*PLACES), self._computed_device
        )

    def _computed_device(self) -> str:
        options = [*SPELT, '("cuda" if coin() else "cpu")', "DEVICE", 'CONFIG["device"]']
        options += [f"{name}.device" for name in self.names["t"][-3:]] * 2
        options += [f"str({name}.device)" for name in self.names["t"][-1:]]
        options += [f"{name}.device.type" for name in self.names["t"][-1:]]
        options += self.names["v"][-2:] * 2
        options += [f'f"cuda:{{{name}}}"' for name in self.names["n"][-1:]]
        options += [f'torch.device("cuda", {name})' for name in self.names["n"][-1:]]
        for name in self.objects(True)[-2:]:
            options.append(f"next({name}.parameters()).device")
        return self.random.choice(options)

    def where(self) -> str:
        """A device as an argument of a factory."""
        return self.pick("", f", device={self.device()}")

    # Tensors.

    def tensor(self, depth: int = 0) -> str:
        if depth >= DEEPEST or self.chance(0.35):
            return self.known("t")
        inner = depth + 1
        options = [
            self._factory,
            self._factory,
            lambda: self._moved(inner),
            lambda: self._moved(inner),
            lambda: self._unary(inner),
            lambda: self._together(inner),
            lambda: self._together(inner),
            lambda: f"({self.tensor(inner)} if {self.condition()} else {self.tensor(inner)})",
            lambda: f"copy.{self.pick('copy', 'deepcopy')}({self.tensor(inner)})",
            lambda: self._lambda(inner),
        ]
        for kind, read in (
            ("l", self._of_list),
            ("d", self._of_dict),
            ("o", self._of_object),
            ("f", self._called),
        ):
            if self.names[kind]:
                options += [lambda read=read: read(inner)] * 3  # type: ignore[misc]
        return self.random.choice(options)()

    def _factory(self) -> str:
        return self.one_of(
            lambda: "torch.ones(2)",
            lambda: f"torch.zeros(2{self.where()})",
            lambda: f"torch.tensor([1.0, 2.0]{self.where()})",
            lambda: f"torch.{self.pick('ones_like', 'zeros_like')}({self.known('t')})",
            lambda: f"{self.known('t')}.new_ones(2)",
        )

    def _moved(self, depth: int) -> str:
        inner = self.tensor(depth)
        return self.one_of(
            lambda: f"{inner}.to({self.device()})",
            lambda: f"{inner}.to({self.known('t')})",
            lambda: f"{inner}.to(device={self.device()})",
            lambda: f"{inner}.{self.pick('cpu()', 'cuda()', 'cuda(1)')}",
        )

    def _flagged(self, depth: int) -> str:
        one = self.tensor(depth)
        return self.one_of(
            lambda: f"chosen({one}, {self.tensor(depth)}, {self.flag()})",
            lambda: f"moved({one}, {self.flag()})",
            lambda: f"moved({one})",
            lambda: f"usual({one})",
            lambda: f"({one} if {self.flag()} else {self.tensor(depth)})",
        )

    def _unary(self, depth: int) -> str:
        if self.flagged and self.chance(0.5):
            return self._flagged(depth)
        inner = self.tensor(depth)
        return self.pick(
            f"{inner}.{self.pick('clone()', 'detach()', 'float()')}",
            f"torch.relu({inner})",
            f"({inner} * {self.pick('2', '0.5')})",
            f"either({inner})",
        )

    def beside(self, depth: int) -> tuple[str, str]:
        """Two tensors: mostly brought together, since a run ends where they are apart."""
        if self.chance(self.apart):
            return self.tensor(depth), self.tensor(depth)
        name = self.known("t")
        return name, self.pick(f"{self.tensor(depth)}.to({name}.device)", f"{name}", f"{name} * 2")

    def _together(self, depth: int) -> str:
        one, other = self.beside(depth)
        if self.chance(0.5):
            one, other = other, one
        return self.one_of(
            lambda: f"({one} {self.pick('+', '*', '-')} {other})",
            lambda: f"({one} * {self.scalar(depth)})",
            lambda: f"torch.stack([{one}, {other}])[0]",
            lambda: f"torch.{self.pick('add', 'mul')}({one}, {other})",
            lambda: f"torch.where({one} > 0, {one}, {other})",
            lambda: f"either({one}, {other}{self.pick('', ', flip=True', ', flip=coin()')})",
            lambda: f"either({one}, {other}, {self.pick('z=', '')}{self.tensor(depth)})",
        )

    def scalar(self, depth: int) -> str:
        """A tensor without dimensions, which may be a guest on the host."""
        options = [
            f"torch.tensor(1.0{self.where()})",
            f"{self.tensor(depth)}.{self.pick('sum()', 'mean()')}",
            f"{self.tensor(depth)}[0]",
            *self.names["s"][-2:],
        ]
        return self.random.choice(options)

    def _lambda(self, depth: int) -> str:
        outer = self.known("t")
        body = self.pick("v", "v.cuda()", "v + 1", f"v.to({outer}.device)", outer)
        return self.pick(
            f"(lambda v: {body})({self.tensor(depth)})",
            f"(lambda v, w={outer}: w)({self.tensor(depth)})",
            f"functools.partial(either, {self.tensor(depth)})({self.tensor(depth)})",
        )

    def _of_list(self, depth: int) -> str:
        each = self.known("l")
        return self.pick(
            f"{each}[{self.pick('0', '-1', f'len({each}) - 1')}]",
            f"next(iter({each}))",
            f"[e for e in {each} if {self.pick('e.is_cuda', 'coin()', 'e is not None')}][0]",
            f"next((e for e in {each} if {self.pick('e.is_cuda', 'coin()')}), {each}[0])",
            f"list(map(lambda e: e{self.pick('', '.cuda()', '.cpu()')}, {each}))[0]",
            f"sorted({each}, key=lambda e: {self.pick('e.is_cuda', 'random.random()')})[0]",
            f"[e for _, e in zip(range(1), {each})][-1]",
            f"{each}[{self.pick('1:', ':1', '::-1')}][0]",
            f"either(*{each})",
            f"functools.reduce(lambda a, b: {self.pick('a', 'b', 'b.to(a.device)')}, {each})",
            f"max({each}, key=lambda e: e.is_cuda)",
        )

    def _of_dict(self, depth: int) -> str:
        each = self.known("d")
        return self.pick(
            f'{each}["a"]',
            f'{each}.get("{self.pick("a", "c")}", {self.tensor(depth)})',
            f"list({each}.values())[{self.pick('0', '-1')}]",
            f'{{**{each}, "{self.pick("a", "b")}": {self.tensor(depth)}}}["a"]',
            f"{{k: v{self.pick('', '.cuda()', '.cpu()')} for k, v in {each}.items()}}["
            f'"{self.pick("a", "b")}"]',
            f"either({self.tensor(depth)}, **{{'z': {each}['a']}})",
            f'({each}["c"] if "c" in {each} else {each}["b"])',
        )

    def layer(self) -> str:
        """Something to call with a tensor: a module, or a part of one."""
        name = self.random.choice(self.objects(True))
        return name + self.random.choice(["", *self.classes[name].layers])

    def _of_object(self, depth: int) -> str:
        name = self.known("o")
        known = self.classes[name]
        options: list[Callable[[], str]] = []
        if known.tensors:
            options += [lambda: name + self.random.choice(known.tensors)]
        if known.module:
            options += [lambda: self._of_module(name, known, depth)] * 2
        if known.methods:
            options += [lambda: f"{name}{self.random.choice(known.methods)}({self.tensor(depth)})"]
        return self.random.choice(options)() if options else self.known("t")

    def _of_module(self, name: str, known: Class, depth: int) -> str:
        called = name + self.random.choice(["", *known.layers])
        if name == "self":
            called = name + self.random.choice([*known.layers, *known.layers, ""])
        given = self.tensor(depth)
        if not self.chance(self.apart):
            given = f"{given}.to(next({name}.parameters()).device)"
        return f"{called}({given})"

    def _called(self, depth: int) -> str:
        name = self.known("f")
        one, other = self.tensor(depth), self.tensor(depth)
        form = self.functions[name].form
        options = [f"{name}({one})", f"{name}({one}, {other})", f"{name}(b={one}, a={other})"]
        if form == "rest":
            options += [f"{name}({one}, {other}, {self.known('t')})"]
            options += [f"{name}(*{each})" for each in self.names["l"][-1:]]
        if form == "options":
            options += [f"{name}({one}, z={other})"]
        if form == "one":
            options = options[:1]
        return self.random.choice(options)

    # Containers.

    def list(self) -> str:
        one, other = self.tensor(1), self.tensor(1)
        options = [f"[{one}, {other}]", f"[{one}, {other}]", f"[{one}] * 2"]
        for each in self.names["l"][-2:]:
            options += [
                each,
                f"list(reversed({each}))",
                f"[*{each}, {one}]",
                f"[e{self.pick('.cuda()', '.cpu()', '')} for e in {each}]",
                f"[e for e in {each}] + [{one}]",
                f"list(passed_on({each}))",
                f"{each}[:]",
                f"list({each})",
                f"copy.{self.pick('copy', 'deepcopy')}({each})",
                f"sorted({each}, key=lambda e: e.is_cuda)",
                f"[b for a, b in zip({each}, {each}[::-1])]",
                f"list(filter(lambda e: e is not None, {each}))",
            ]
        for each in self.names["d"][-1:]:
            options += [f"list({each}.values())", f"[{each}[k] for k in sorted({each})]"]
        for each in self.names["g"][-1:]:
            options += [f"list({each}({one})) + [{other}]", f"[*{each}({one}), {other}]"]
        return self.random.choice(options)

    def dict(self) -> str:
        one, other = self.tensor(1), self.tensor(1)
        options = [f'{{"a": {one}, "b": {other}}}', f"dict(a={one}, b={other})"]
        for each in self.names["d"][-2:]:
            options += [
                each,
                f"dict({each})",
                f'{{**{each}, "b": {one}}}',
                f"{{k: v{self.pick('.cuda()', '.cpu()', '')} for k, v in {each}.items()}}",
                f"copy.{self.pick('copy', 'deepcopy')}({each})",
                f"dict(zip({each}, [{one}, {other}]))",
                f"{each}.copy()",
            ]
        for each in self.names["l"][-1:]:
            options += [f'dict(zip("ab", {each} * 2))', f'{{"a": {each}[0], "b": {one}}}']
        return self.random.choice(options)

    # Conditions.

    def flag(self) -> str:
        """A coin that was tossed before."""
        return self.pick(*FLAGS, *self.names["b"][-3:] * 2)

    def condition(self) -> str:
        if self.flagged and self.chance(0.6):
            flag = self.flag()
            return self.pick(flag, flag, f"not {flag}", f"{flag} and {self.flag()}")
        one, other = self.known("t"), self.known("t")
        return self.pick(
            "coin()",
            "coin()",
            "coin()",
            "coin() or coin()",
            "not coin()",
            f"{one}.is_cuda",
            f"not {one}.is_cuda and coin()",
            f'{one}.device.type == "{self.pick("cuda", "cpu")}"',
            f"{one}.device == {other}.device",
            f"{one}.device != {other}.device",
            f"{one} is {self.pick('None', other)}",
            f"isinstance({one}, torch.Tensor)",
            f"{one}.sum() > 0",
            f"{one}.device == torch.device({self.pick(*PLACES)})",
            f"str({one}.device) == {self.pick(*PLACES)}",
            f'str({one}.device).startswith("cuda")',
            f"{one}.device.index == 1",
            "torch.cuda.is_available()",
        )
