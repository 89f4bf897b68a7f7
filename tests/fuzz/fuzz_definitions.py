"""Draws the definitions of programs: functions of all forms, classes of objects and of modules."""

from __future__ import annotations

from fuzz_expressions import Class, Function
from fuzz_statements import Statements


class Definitions(Statements):
    """Writes definitions at the top level."""

    globals: list[str]
    """Tensors of the module that functions change."""

    def _enter(self, result: str, *tensors: str, **more: list[str]) -> None:
        """The names of a function that begins."""
        self.names = {kind: list(more.get(kind, ())) for kind in "tsldofvngb"}
        self.names["t"] = list(tensors)
        self.fixed, self.loops, self.result = set(), 0, result
        self.indent += 1

    def _body(self, most: int = 4) -> None:
        for _ in range(self.random.randint(1, most)):
            self.statement(1)

    def _outside(self) -> tuple[dict[str, list[str]], set[str], int, str]:
        return self.names, self.fixed, self.loops, self.result

    def _leave_to(self, before: tuple[dict[str, list[str]], set[str], int, str]) -> None:
        self.names, self.fixed, self.loops, self.result = before
        self.indent -= 1
        self.write("")
        self.write("")

    def define(self) -> None:
        """A definition of any form."""
        self.random.choice(
            [
                self._function,
                self._function,
                self._generator,
                self._recursive,
                self._decorated,
                self._global,
                self._class,
                self._class,
                self._class,
                self._module,
                self._module,
                self._module,
                self._module,
            ]
        )()

    def _readable(self) -> dict[str, list[str]]:
        """What a function may call and make of what is there before it."""
        return {"f": list(self.names["f"]), "g": list(self.names["g"])}

    def _function(self) -> None:
        name, before = self.new("f"), self._outside()
        form = self.pick("plain", "rest", "options")
        default = self.pick("None", "torch.ones(2)", "torch.ones(2, device='cuda')")
        more = {"plain": "", "rest": ", *rest", "options": ", **more"}[form]
        self.write(f"def {name}(a, b={default}{more}):")
        self._enter("return", "a", **self._readable())
        if default == "None":
            self.write(self.pick("b = a if b is None else b", "if b is None:\n        b = a"))
        self.names["t"].append("b")
        if form == "rest":
            self.write("for each in rest:")
            self.write(f"    {self.pick('a', 'b')} = {self.pick('each', 'each.to(a.device)')}")
        elif form == "options":
            self.write(f'z = more.{self.pick("get", "pop")}("z", a)')
            self.names["t"].append("z")
        self._body()
        self.write(f"return {self.tensor(1)}")
        self._leave_to(before)
        self._known(name, form)

    def _known(self, name: str, form: str) -> None:
        self.names["f"].append(name)
        self.functions[name] = Function(form)

    def _generator(self) -> None:
        name, before = self.new("g"), self._outside()
        self.write(f"def {name}(x):")
        self._enter("yield", "x", **self._readable())
        self._body()
        self.write(f"yield {self.tensor(1)}")
        self._body(2)
        if self.chance(0.3):
            self.write(f"yield from [{self.tensor(1)}, {self.tensor(1)}]")
        self._leave_to(before)
        self.names["g"].append(name)

    def _recursive(self) -> None:
        name, before = self.new("f"), self._outside()
        self.write(f"def {name}(x, n=2):")
        self._enter("return", "x", **self._readable())
        self.write(self.pick("if n == 0:", "if coin():", "if n <= 0 or coin():"))
        self.write("    return x")
        self._body(3)
        self.write(f"return {name}({self.tensor(1)}, n - 1)")
        self._leave_to(before)
        self._known(name, "one")

    def _decorated(self) -> None:
        """A decorator, and a function with it."""
        name, before = self.new("w"), self._outside()
        self.write(f"def {name}(function):")
        self.write("    @functools.wraps(function)")
        self.write("    def inner(x):")
        self._enter("return", "x")
        self.indent += 1
        self._body(2)
        self.write(f"y = function({self.tensor(1)})")
        self.names["t"].append("y")
        self._body(2)
        self.write(f"return {self.tensor(1)}")
        self.indent -= 1
        self.write("return inner")
        self._leave_to(before)
        function = self.new("f")
        self.write(f"@{name}")
        self.write(f"def {function}(x):")
        self._enter("return", "x")
        self._body(2)
        self.write(f"return {self.tensor(1)}")
        self._leave_to(before)
        self._known(function, "one")

    def _global(self) -> None:
        """A tensor of the module, and a function that changes it."""
        name, function, before = self.new("T"), self.new("f"), self._outside()
        self.write(f"{name} = torch.ones(2{self.where()})")
        self.write(f"def {function}(x):")
        self._enter("return", name, "x", **self._readable())
        self.write(f"    global {name}"[4:])
        self._body(3)
        self.write(f"{name} = {self.tensor(1)}")
        self.write(f"return {self.tensor(1)}")
        self._leave_to(before)
        self._known(function, "one")
        self.globals.append(name)

    # Classes.

    def _class(self) -> None:
        bases = [each for each in self.classes.values() if each.name and not each.module]
        base = self.random.choice(bases) if bases and self.chance(0.5) else None
        known = Class(self.new("C"), "t", [".x"], [], [".x"], [], moved=True)
        before = self._outside()
        if base is None and self.chance(0.25):
            self.write("@dataclasses.dataclass")
            self.write(f"class {known.name}:")
            self.write("    x: torch.Tensor")
            self.write("    items: list = dataclasses.field(default_factory=list)")
            known.tensors.append(".x")
        elif base is None:
            self.write(f"class {known.name}:")
            self.write(f"    shared = torch.zeros(2{self.where()})")
            self.write("    def __init__(self, x):")
            self.write(f"        self.x = x{self.pick('', '.cuda()', '.cpu()')}")
            self.write("        self.items = [x]")
            known.tensors += [".shared", ".items[0]"]
            known.holders += [".shared", ".items[0]"]
        else:
            self.write(f"class {known.name}({base.name}):")
            known.tensors, known.holders = list(base.tensors), list(base.holders)
            known.methods = [each for each in base.methods if each not in (".read", ".made")]
            if self.chance(0.5):
                self.write("    def __init__(self, x):")
                self.write(f"        super().__init__(x{self.pick('', '.cuda()', '.cpu()')})")
                self.write(f"        self.extra = x{self.pick('', '.cuda()', '.cpu()')}")
                known.tensors.append(".extra")
                known.holders.append(".extra")
        self.classes["self"] = known
        self._move(base)
        self._members(known, before)
        del self.classes["self"]
        self.classes[known.name] = known
        self.write("")

    def _move(self, base: Class | None) -> None:
        self.write("    def move(self, device):")
        if base is not None and self.chance(0.6):
            self.write("        if coin():")
            self.write("            return super().move(device)")
        self.write(f"        self.x = {self.pick('self.x.to(device)', 'self.x')}")
        self.write("        return self")

    def _members(
        self, known: Class, before: tuple[dict[str, list[str]], set[str], int, str]
    ) -> None:
        """Methods of objects and modules alike."""
        for _ in range(self.random.randint(1, 3)):
            form = self.pick(
                "method", "method", "property", "static", "class_method", "setter", "items"
            )
            if known.module and form == "setter":
                form = "method"
            self.indent += 1
            getattr(self, f"_{form}")(known)
            self.names, self.fixed, self.loops, self.result = before
            self.indent -= 2

    def _method(self, known: Class) -> None:
        name = self.new("m")
        overridden = [each[1:] for each in known.methods if each[1] == "m"]
        if overridden and self.chance(0.3):
            name = self.random.choice(overridden)
        self.write(f"def {name}(self, x):")
        self._enter("return", "x", o=["self"])
        self._body(3)
        self.write(f"return {self.tensor(1)}")
        if f".{name}" not in known.methods:
            known.methods.append(f".{name}")

    def _property(self, known: Class) -> None:
        name = self.new("r")
        self.write("@property")
        self.write(f"def {name}(self):")
        self.write("    x = torch.ones(2)")
        self._enter("return", "x", o=["self"])
        self._body(2)
        self.write(f"return {self.tensor(1)}")
        known.tensors.append(f".{name}")

    def _setter(self, known: Class) -> None:
        self._property(known)
        self.indent -= 1
        name = known.tensors[-1][1:]
        self.write(f"@{name}.setter")
        self.write(f"def {name}(self, x):")
        self._enter("", "x", o=["self"])
        self._body(2)
        self.write(f"self.x = {self.tensor(1)}")
        known.holders.append(f".{name}")

    def _static(self, known: Class) -> None:
        name = self.new("m")
        self.write("@staticmethod")
        self.write(f"def {name}(x):")
        self._enter("return", "x")
        self._body(2)
        self.write(f"return {self.tensor(1)}")
        known.methods.append(f".{name}")

    def _class_method(self, known: Class) -> None:
        name = self.new("m")
        self.write("@classmethod")
        self.write(f"def {name}(cls, x):")
        self._enter("return", "x")
        self._body(2)
        if not known.module and ".shared" in known.tensors:
            self.write(f"cls.shared = {self.tensor(1)}")
            self.names["t"].append("cls.shared")
        self.write(f"return {self.tensor(1)}")
        known.methods.append(f".{name}")

    def _items(self, known: Class) -> None:
        """`x[y]` as the program means it."""
        self.write("def __getitem__(self, x):")
        self._enter("return", "x", o=["self"])
        self._body(2)
        self.write(f"return {self.tensor(1)}")
        known.methods.append(".__getitem__")

    def _module(self) -> None:
        bases = [each for each in self.classes.values() if each.name and each.module]
        base = self.random.choice(bases) if bases and self.chance(0.4) else None
        known = Class(self.new("M"), "", [], [], [], [], module=True)
        if base is not None:
            known.tensors, known.layers = list(base.tensors), list(base.layers)
            known.holders = list(base.holders)
            known.methods = [each for each in base.methods if each[1] != "_"]
        self.write(f"class {known.name}({base.name if base else 'nn.Module'}):")
        self.write("    def __init__(self):")
        self.write("        super().__init__()")
        self.indent += 2
        if base is None:
            self.write("self.fc = nn.Linear(2, 2)")
            known.layers.append(".fc")
            known.tensors.append(".fc.weight[0]")
        for _ in range(self.random.randint(0 if base else 1, 3)):
            self._part(known)
        self.indent -= 2
        before = self._outside()
        self.classes["self"] = known
        self.indent += 1
        self.write("def forward(self, x):")
        self._enter("return", "x", o=["self"])
        if base is not None and self.chance(0.5):
            self.write(f"x = super().forward({self.tensor(1)})")
        self._body(3)
        self.write(f"return {self.tensor(1)}")
        self.names, self.fixed, self.loops, self.result = before
        self.indent -= 2
        self._members(known, before)
        del self.classes["self"]
        self.classes[known.name] = known
        self.write("")

    def _part(self, known: Class) -> None:
        """A part of a module, registered or not."""
        name = self.new("p")
        layers = [f"nn.{self.pick('Linear(2, 2)', 'LayerNorm(2)', 'Identity()', 'ReLU()')}"]
        inner = [each.name for each in self.classes.values() if each.name and each.module]
        layers += [f"{each}()" for each in inner]
        one, other = self.random.choice(layers), self.random.choice(layers)
        if self.chance(0.2):
            one += self.pick(".cuda()", ".cuda(1)")
        options: list[tuple[str, list[str], list[str], list[str]]] = [
            (f"self.{name} = {one}", [f".{name}"], [], []),
            (f"self.{name} = nn.Sequential({one}, {other})", [f".{name}", f".{name}[1]"], [], []),
            (f"self.{name} = nn.ModuleList([{one}, {other}])", [f".{name}[0]"], [], []),
            (f'self.{name} = nn.ModuleDict({{"a": {one}}})', [f'.{name}["a"]'], [], []),
            (f"self.{name} = [{one}, {other}]", [f".{name}[0]"], [], []),
            (f'self.{name} = {{"a": {one}}}', [f'.{name}["a"]'], [], []),
            (f"self.add_module('{name}', {one})", [f".{name}"], [], []),
            (f'self.register_buffer("{name}", torch.zeros(2))', [], [f".{name}"], [f".{name}"]),
            (f"self.{name} = torch.ones(2{self.where_now()})", [], [f".{name}"], [f".{name}"]),
            (f"self.{name} = nn.Parameter(torch.ones(2))", [], [f".{name}"], []),
            (f"self.{name} = nn.ParameterList([torch.ones(2)])", [], [f".{name}[0]"], []),
        ]
        text, called, tensors, holders = self.random.choice(options)
        self.write(text)
        known.layers += called
        known.tensors += tensors
        known.holders += holders

    def where_now(self) -> str:
        return self.pick("", "", ", device='cuda'")
