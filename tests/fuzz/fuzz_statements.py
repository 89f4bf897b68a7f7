"""Draws the statements of programs: what they bind, what they change, and how they go on."""

from __future__ import annotations

from dataclasses import replace

from fuzz_expressions import DEEPEST, PLACES, Function
from fuzz_idioms import Idioms

ONE = Function("one")


class Statements(Idioms):
    """Writes statements, one line after the other."""

    lines: list[str]
    indent: int
    loops: int
    made: int
    result: str
    """What leaves the function: `return`, `yield` (of a generator) or nothing."""

    def write(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def new(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def bind(self, kind: str, value: str) -> str:
        name = self.new(kind)
        self.write(f"{name} = {value}")
        self.names[kind].append(name)
        return name

    def own(self, kind: str) -> str:
        """A name that may be bound anew."""
        names = [name for name in self.names[kind] if name not in self.fixed]
        return self.random.choice(names) if names else self.bind(kind, self.tensor(1))

    def block(self, depth: int, *bound: str) -> None:
        kept = {kind: list(names) for kind, names in self.names.items()}
        self.names["t"] += [name for name in bound if name[0] != "n"]
        self.names["n"] += [name for name in bound if name[0] == "n"]
        self.indent += 1
        before = len(self.lines)
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth + 1)
        if len(self.lines) == before:
            self.write("pass")
        self.indent -= 1
        self.names = kept

    def statement(self, depth: int) -> None:
        simple = [self._assign] * 6 + [self._bind] * 3 + [self._change] * 3
        simple += [self._swap, self._unpack, self._delete]
        nested = [self._if] * 4 + [self._for] * 2
        nested += [self._while, self._with, self._try, self._match, self._nested]
        leave = [self._leave] * 2 if depth else []
        self.random.choice([*simple, *leave, *(nested if depth < DEEPEST else ())])(depth)

    # What binds and changes.

    def _assign(self, depth: int) -> None:
        if self.chance(0.4):
            self.bind("t", self.tensor())
        elif self.chance(0.2):
            one = self.own("t")
            other = self.tensor(1)
            if not self.chance(self.apart):
                other = f"{other}.to({one}.device)"
            self.write(f"{one} {self.pick('+=', '*=')} {other}")
        else:
            self.write(f"{self.own('t')} = {self.tensor()}")

    def _bind(self, depth: int) -> None:
        if self.flagged and self.chance(0.3):
            self.bind("b", self.pick("coin()", self.flag(), f"not {self.flag()}"))
            return
        kind = self.pick("l", "d", "o", "o", "s", "v", "m", *("f" * self.idiomatic))
        if kind == "l":
            self.bind("l", self.list())
        elif kind == "d":
            self.bind("d", self.dict())
        elif kind == "s":
            self.bind("s", self.scalar(1))
        elif kind == "v":
            self.bind("v", self.device())
        elif kind == "o":
            self.bind_object()
        elif kind == "f":
            self.functions[self.bind("f", self.random.choice(self.late_bindings()))] = ONE
        else:
            name = self.bind("t", f"maybe({self.tensor(1)}, {self.device()})")
            self.write(
                f"if {self.pick(f'{name} is None', f'not isinstance({name}, torch.Tensor)')}:"
            )
            self.write(f"    {name} = {self.known('t')}")

    def bind_object(self) -> None:
        if self.names["o"] and self.chance(0.3):
            old = self.known("o")
            value = self.pick(old, f"copy.copy({old})", f"copy.deepcopy({old})")
            known = self.classes[old]
        else:
            made = [each for each in self.classes.values() if each.name]
            if not made:
                return
            known = self.random.choice(made)
            value = f"{known.name}({', '.join(self.tensor(1) for _ in known.make)})"
            if known.module:
                value += self.pick("", "", ".cuda()", f".to({self.device()})", ".eval()")
        name = self.bind("o", value)
        self.classes[name] = replace(known, name="")  # an instance makes none

    def _change(self, depth: int) -> None:
        options = []
        one = self.tensor(1)
        for each in self.names["l"][-2:]:
            options += [
                f"{each}.append({one})",
                f"{each}[{self.pick('0', '-1')}] = {one}",
                f"{each}.insert(0, {one})",
                f"{each}.reverse()",
                f"{each}.extend({self.list()})",
                f"{each} += [{one}]",
                f"{each}[1:] = [{one}]",
                f"{each}[0], {each}[-1] = {each}[-1], {each}[0]",
                f"{each}.sort(key=lambda e: e.is_cuda)",
                f"{each}[0] += 1",
            ]
        for each in self.names["d"][-2:]:
            options += [
                f'{each}["{self.pick("a", "c")}"] = {one}',
                f"{each}.update(a={one})",
                f"{each}.update({self.dict()})",
                f'{each}.setdefault("{self.pick("a", "c")}", {one})',
                f'{each}["a"], {each}["b"] = {each}["b"], {each}["a"]',
                f'{each} |= {{"b": {one}}}',
            ]
        for each in self.names["o"][-3:]:
            options += self._changes_of(each)
        if self.idiomatic:
            options += self.late_changes()
        options = options or [f"{self.known('t')}.copy_({one})"]
        self.write(self.random.choice(options))

    def _changes_of(self, name: str) -> list[str]:
        known = self.classes[name]
        options = [f"{name}{each} = {self.tensor(1)}" for each in known.holders]
        options += [f"{name}{each}({self.tensor(1)})" for each in known.methods[-2:]]
        if known.moved:
            options += [f"{name}.move({self.device()})"] * 2
        if known.module:
            options += [f"{name}.to({self.device()})", f"{name}.cuda()", f"{name}.cpu()"]
            for layer in known.layers:
                options.append(f"{name}{layer}.{self.pick('cuda()', 'cpu()', 'cuda(1)')}")
                options.append(f"{name}{layer} = nn.Linear(2, 2{self.where()})")
            options.append(f"{name}.apply(lambda m: m.{self.pick('cuda()', 'cpu()', 'eval()')})")
        return options

    def _swap(self, depth: int) -> None:
        one, other = self.own("t"), self.own("t")
        self.write(f"{one}, {other} = {other}, {self.tensor(1)}")

    def _unpack(self, depth: int) -> None:
        one, other = self.own("t"), self.own("t")
        options = [f"{one} = {self.new('t')} = {self.tensor(1)}"]
        options += [f"({one}, (*_, {other})) = {self.tensor(1)}, ({self.tensor(1)}, {one})"]
        for each in self.names["l"][-2:]:
            options += [f"{one}, *_ = {each}", f"*_, {one} = {each}"]
            options += [f"[{one}, {other}] = {each}[:2]", f"{one}, {other} = {each}[0], {each}[-1]"]
        for each in self.names["d"][-1:]:
            options += [f"_, {one} = next(iter({each}.items()))"]
            options += [f"{one}, *_ = {each}.values()"]
        self.write(self.random.choice(options))

    def _delete(self, depth: int) -> None:
        if self.names["l"] and self.chance(0.5):
            each, one = self.known("l"), self.own("t")
            deleted = (f"del {each}[0]", f"del {each}[1:2]")
            popped = (f"{one} = {each}.pop()", f"{one} = {each}.pop(0)")
            self.write(f"if len({each}) > 2:")
            self.write("    " + self.pick(*deleted, *popped))
        elif self.names["d"]:
            each = self.known("d")
            left = f'{self.own("t")} = {each}.pop("c", {self.tensor(1)})'
            self.write(self.pick(left, f'if "c" in {each}:'))
            if self.lines[-1].endswith(":"):
                self.write(f'    del {each}["c"]')

    # Where it goes on.

    def _if(self, depth: int) -> None:
        condition = self.condition()
        if self.chance(0.1):
            condition = f"({self.own('t')} := {self.tensor(1)}).is_cuda"
        self.write(f"if {condition}:")
        self.block(depth)
        if self.chance(0.5):
            if self.chance(0.4):
                self.write(f"elif {self.condition()}:")
                self.block(depth)
            self.write("else:")
            self.block(depth)

    def _for(self, depth: int) -> None:
        number, e, k = self.new("n"), self.new("e"), self.new("k")
        heads: list[tuple[str, tuple[str, ...]]] = [
            (f"for {number} in range({self.random.randint(1, 2)}):", (number,)),
            (f"for {k} in ({self.pick(*PLACES)}, {self.pick(*PLACES)}):", ()),
            (f"for {e} in ({self.tensor(1)}, {self.tensor(1)}):", (e,)),
        ]
        for each in self.names["l"][-2:]:
            heads += [
                (f"for {e} in {each}:", (e,)),
                (f"for {number}, {e} in enumerate({each}):", (e,)),
                (f"for {e} in passed_on({each}):", (e,)),
                (f"for {e}, {e}b in zip({each}, {each}[::-1]):", (e, f"{e}b")),
                (f"for {e} in reversed({each}):", (e,)),
                (f"for {number}, ({e}, {e}b) in enumerate(zip({each}, {each})):", (e, f"{e}b")),
                (f"for {e} in (e.cuda() for e in {each} if coin()):", (e,)),
                (f"for {e} in torch.stack([e.cpu() for e in {each}]):", (e,)),
            ]
        for each in self.names["d"][-1:]:
            heads += [(f"for {k}, {e} in {each}.items():", (e,))] * 2
            heads += [(f"for {e} in {each}.values():", (e,))]
        for each in self.names["g"][-2:]:
            heads += [(f"for {e} in {each}({self.tensor(1)}):", (e,))] * 3
        for each in self.objects(True)[-1:]:
            heads += [(f"for {e} in [p[0] for p in {each}.parameters()]:", (e,))]
        head, bound = self.random.choice(heads)
        self.write(head)
        self.loops += 1
        self.block(depth, *bound)
        if head.startswith(f"for {k}, ") and self.chance(0.5):
            self.write(f"    {head.split(' in ')[1].split('.')[0]}[{k}] = {self.tensor(1)}")
        self.loops -= 1
        if self.chance(0.2):
            self.write("else:")
            self.block(depth)

    def _while(self, depth: int) -> None:
        counted = self.new("n")
        endless = self.chance(0.5)
        if endless:
            self.write(f"while {self.pick('coin()', 'True')}:")
        else:
            self.write(f"{counted} = 0")
            self.write(f"while {counted} < {self.random.randint(1, 2)}:")
            self.write(f"    {counted} += 1")
        self.loops += 1
        self.block(depth)
        self.loops -= 1
        if endless:
            self.write("    if coin():")
            self.write("        break")
        if self.chance(0.2):
            self.write("else:")
            self.block(depth)

    def _with(self, depth: int) -> None:
        bound = self.new("e")
        options = [
            (f"with torch.device({self.pick(*PLACES)}):", ()),
            ("with torch.no_grad():", ()),
            (f"with torch.no_grad(), torch.device({self.pick(*PLACES)}):", ()),
            (f"with torch.cuda.device({self.pick('0', '1')}):", ()),
            (f"with kept({self.known('t')}) as {bound}:", (bound,)),
            (f"with Kept({self.known('t')}) as {bound}:", (bound,)),
            (f"with contextlib.nullcontext({self.known('t')}) as {bound}:", (bound,)),
        ]
        if self.result == "yield":
            options = options[4:]  # what it sets while its consumer runs is not followed
        head, names = self.random.choice(options)
        self.write(head)
        self.block(depth, *names)

    def _try(self, depth: int) -> None:
        """Nothing leaves its body: that `finally` runs then too is not followed."""
        result, loops, self.result, self.loops = self.result, self.loops, "", 0
        self.write("try:")
        self.block(depth)
        self.result, self.loops = result, loops
        self.write("finally:")
        self.block(depth)

    def _match(self, depth: int) -> None:
        one, bound = self.known("t"), self.new("e")
        self.write(self.pick(f"match {one}.device.type:", f"match str({one}.device):"))
        self.indent += 1
        self.write(f"case {self.pick(*PLACES)}:")
        self.block(depth)
        if self.chance(0.5):
            self.write(f"case {self.pick(*PLACES)} | {self.pick(*PLACES)} if coin():")
            self.block(depth)
        if self.chance(0.5):
            self.write(f"case {bound}:")
            self.block(depth)
        self.indent -= 1
        for each in self.names["l"][-1:] * self.chance(0.5):
            self.write(f"match {each}:")
            self.write(f"    case [{bound}]:")
            self.write(f"        {self.own('t')} = {bound}")
            self.write(f"    case [{bound}, *_]:")
            self.write(f"        {self.own('t')} = {bound}")

    def _nested(self, depth: int) -> None:
        """A function in a function, which may bind a name of the outer one."""
        name = self.new("f")
        kept, fixed, loops, result = self.names, self.fixed, self.loops, self.result
        outer = [
            each for each in self.names["t"] if each not in self.fixed and self._is_local(each)
        ]
        # Its default is drawn with the names of the function around it.
        self.write(f"def {name}(a, b={self.tensor(1)}):")
        self.indent += 1
        self.names = {kind: [] for kind in kept}
        self.names["t"] = [*kept["t"][:3], "a", "b"]
        self.names["l"], self.names["o"] = kept["l"][:2], kept["o"][:2]
        self.fixed, self.loops, self.result = {*kept["t"], *kept["l"], *kept["o"]}, 0, "return"
        self.write("if coin():")
        self.write("    return a")
        if outer and self.indent > 1 and not self.at_top() and self.chance(0.5):
            self.lines.insert(len(self.lines) - 2, "    " * self.indent + f"nonlocal {outer[0]}")
            self.fixed.discard(outer[0])
            self.names["t"].append(outer[0])
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth + 1)
        self.write(f"return {self.tensor(1)}")
        self.indent -= 1
        self.names, self.fixed, self.loops, self.result = kept, fixed, loops, result
        self.names["f"].append(name)
        self.functions[name] = Function()

    def _is_local(self, name: str) -> bool:
        """Whether a name is one of the running function's, and not a parameter of the inner one."""
        return name.isidentifier() and name not in ("a", "b") and not name.startswith("T")

    def at_top(self) -> bool:
        return False

    def _leave(self, depth: int) -> None:
        ways = []
        if self.result == "return":
            ways.append(f"return {self.tensor(1)}")
        elif self.result == "yield":
            ways += [f"yield {self.tensor(1)}", "return"]
        if self.loops:
            ways += ["break", "continue"] * 3
        if ways:
            self.write(f"if {self.condition()}:")
            self.write(f"    {self.random.choice(ways)}")
