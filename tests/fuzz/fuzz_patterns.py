"""Programs built to be expensive: each is a shape that once is harmless, many times over.

`size` is about the number of lines, so that cost per line can be compared over sizes.
"""

from __future__ import annotations

from collections.abc import Callable

HEAD = "import argparse\nimport os\nimport torch\nfrom torch import nn\n\n"
DEVICE = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'


def deep_expression(size: int) -> str:
    return HEAD + "x = " + "(" * min(size, 190) + "1" + ")" * min(size, 190) + "\n" * size


def branches_on_flags(size: int) -> str:
    """Many `if`s, each on a flag of its own, each of which moves one tensor."""
    lines = ["x = torch.ones(3)", "args = object()"]
    for number in range(size // 2):
        lines += [f"if args.flag{number}:", '    x = x.to("cuda")']
    return HEAD + "\n".join(lines) + "\ny = x + torch.ones(3)\n"


def parsed_flags(size: int) -> str:
    """The same over command-line flags, which have names."""
    lines = ["parser = argparse.ArgumentParser()"]
    lines += [f'parser.add_argument("--f{n}", action="store_true")' for n in range(size // 3)]
    lines += ["args = parser.parse_args()", "x = torch.ones(3)"]
    for number in range(size // 3):
        lines += [f"if args.f{number}:", f"    x = x.cuda({number % 4})"]
    return HEAD + "\n".join(lines) + "\ny = x + torch.ones(3)\n"


def environment_devices(size: int) -> str:
    """A device that hangs on many environment variables at once."""
    lines = ['d = "cpu"']
    for number in range(size // 2):
        lines += [f'if os.environ.get("V{number}"):', f'    d = "cuda:{number % 7}"']
    return HEAD + "\n".join(lines) + "\nx = torch.ones(3, device=d) + torch.ones(3)\n"


def conditional_expressions(size: int) -> str:
    lines = [DEVICE, "x = torch.ones(3)", "def f(a, b):"]
    lines += [f"    x{n} = (a if b.f{n} else x{n - 1 if n else ''})" for n in range(1, size)]
    return HEAD + "\n".join(lines).replace("x1 = (a if b.f1 else x0)", "x1 = a") + "\n"


def boolean_conditions(size: int) -> str:
    """One condition of many parts."""
    parts = " and ".join(f'os.environ.get("V{n}")' for n in range(size))
    return HEAD + f'd = "cuda" if {parts} else "cpu"\nx = torch.ones(3, device=d)\n' + "\n" * size


def elif_chain(size: int) -> str:
    lines = ["def f(kind, x):", '    if kind == "a":', "        x = x.cuda()"]
    for number in range(size // 2):
        lines += [f'    elif kind == "k{number}":', f"        x = x.cuda({number % 8})"]
    return HEAD + "\n".join(lines) + "\n    return x + torch.ones(3)\n"


def dictionary(size: int) -> str:
    items = "".join(f'    "k{n}": torch.ones({n}),\n' for n in range(size))
    return HEAD + "table = {\n" + items + "}\nfor k, v in table.items():\n    v = v.cuda()\n"


def nested_dictionary(size: int) -> str:
    items = "".join(
        f'    "k{n}": {{"a": [1, 2, {{"b": {n}}}], "c": ({n},)}},\n' for n in range(size)
    )
    return HEAD + "table = {\n" + items + "}\nx = torch.tensor(table['k1']['c'])\n"


def long_list(size: int) -> str:
    items = "".join(f"    [{n}, {n}.5, 'x{n}'],\n" for n in range(size))
    return HEAD + "rows = [\n" + items + "]\nx = torch.tensor(rows)\nfor r in rows:\n    print(r)\n"


def chain_of_methods(size: int) -> str:
    chain = "".join(".to('cpu').view(-1)\n    " for _ in range(min(size, 300)))
    return HEAD + f"x = (torch.ones(3)\n    {chain})\n" + "\n" * size


def chain_of_names(size: int) -> str:
    lines = ["x0 = torch.ones(3)"] + [f"x{n} = x{n - 1}.cuda() + x{n - 1}" for n in range(1, size)]
    return HEAD + "\n".join(lines) + "\n"


def sum_of_names(size: int) -> str:
    return HEAD + "x = torch.ones(3)\ny = " + " + ".join(["x"] * min(size, 900)) + "\n" * size


def text_concatenation(size: int) -> str:
    lines = ['s = ""'] + [f's += "piece {n} " + str({n}) + s' for n in range(size)]
    return HEAD + "\n".join(lines) + "\nx = torch.ones(3, device=s)\n"


def doubling_text(size: int) -> str:
    return HEAD + 's = "ab"\n' + "s = s + s\n" * size + "x = torch.ones(3).to(s)\n"


def doubling_list(size: int) -> str:
    return HEAD + "s = [torch.ones(3)]\n" + "s = s + s\n" * size + "x = torch.stack(s)\n"


def doubling_nesting(size: int) -> str:
    """A list that holds the one before it twice: small in memory, huge when it is walked."""
    return (
        HEAD + "s = [torch.ones(3)]\n" + "s = [s, s]\n" * size + "x = model(s)\ny = s.to('cuda')\n"
    )


def doubling_modules(size: int) -> str:
    lines = ["m = nn.Linear(3, 3)"] + ["m = nn.Sequential(m, m)"] * size
    return HEAD + "\n".join(lines) + "\nm = m.cuda()\ny = m(torch.ones(3))\n"


def doubling_calls(size: int) -> str:
    """As many modules within modules as are followed, each of which calls the next one twice."""
    return doubling_modules(min(size, 40))


def own_container(size: int) -> str:
    lines = [
        "a = []",
        "a.append(a)",
        "d = {}",
        'd["d"] = d',
        "m = nn.Module()",
        "m.m = m",
        "m.cuda()",
    ]
    return (
        HEAD + "\n".join(lines) + "\nx = torch.stack(a)\nm(x)\nprint(d)\n" + "a.append(d)\n" * size
    )


def call_tree(size: int) -> str:
    """Each function calls the next twice: two to the power of `size` calls."""
    lines = ["def f0(x):", "    return x + torch.ones(3)"]
    for number in range(1, size // 2):
        lines += [f"def f{number}(x):", f"    return f{number - 1}(x) + f{number - 1}(x.cuda())"]
    return HEAD + "\n".join(lines) + f"\nf{size // 2 - 1}(torch.ones(3))\n"


def call_tree_with_state(size: int) -> str:
    """The same where each call changes something outside, so that none can be remembered."""
    lines = ["log = []", "def f0(x):", "    log.append(x)", "    return x + torch.ones(3)"]
    for number in range(1, size // 4):
        lines += [f"def f{number}(x):", f"    log.append({number})",
                  f"    a = f{number - 1}(x)",
                  f"    return a + f{number - 1}(x.cuda({number % 8}))"]  # fmt: skip
    return HEAD + "\n".join(lines) + f"\nf{size // 4 - 1}(torch.ones(3))\n"


def recursive_functions(size: int) -> str:
    lines = []
    for number in range(size // 4):
        other = (number * 7 + 1) % (size // 4)
        lines += [f"def f{number}(x, n):", "    if n:",
                  f"        return f{other}(x.cuda(), n - 1) + f{number}(x, n)",
                  "    return x"]  # fmt: skip
    return HEAD + "\n".join(lines) + "\nf0(torch.ones(3), 9)\n"


def mutual_methods(size: int) -> str:
    lines = ["class A(nn.Module):"]
    for number in range(size // 4):
        other = (number * 5 + 3) % (size // 4)
        lines += [f"    def m{number}(self, x):", f"        self.a{number} = x",
                  f"        return self.m{other}(x) + self.a{number}", ""]  # fmt: skip
    return HEAD + "\n".join(lines) + "\nA().m0(torch.ones(3))\n"


def nested_loops(size: int) -> str:
    depth = 18
    lines = ["x = torch.ones(3)"]
    for _ in range(max(1, size // (depth + 2))):
        lines += ["  " * level + f"for i{level} in range({level + 2}):" for level in range(depth)]
        lines += ["  " * depth + "x = x.cuda() + i3", "  " * depth + "y = x.cpu()"]
    return HEAD + "\n".join(lines) + "\n"


def nested_while(size: int) -> str:
    depth = 18
    lines = ["def f(a, x, y):"]
    for _ in range(max(1, size // (2 * depth))):
        for level in range(depth):
            lines += [
                " " * (level + 1) + f"while a.f{level}:",
                " " * (level + 2) + f"x, y = y, x.to(a.d{level})",
            ]
    return HEAD + "\n".join(lines) + "\n return x + y\n"


def nested_functions(size: int) -> str:
    depth = 60
    lines = []
    for number in range(max(1, size // depth)):
        lines += [" " * level + f"def f{number}_{level}(x):" for level in range(depth)]
        lines += [" " * depth + "return x.cuda() + torch.ones(3)"]
    return HEAD + "\n".join(lines) + "\n"


def nested_comprehensions(size: int) -> str:
    inner = "x"
    for level in range(15):
        inner = f"[{inner} for i{level} in range({level + 3})]"
    return HEAD + "x = torch.ones(3)\n" + f"y = {inner}\n" * max(1, size // 10) + "\n" * size


def try_ladder(size: int) -> str:
    lines = ["x = torch.ones(3)"]
    for number in range(size // 4):
        lines += ["try:", f"    x = x.cuda({number % 8})", f"except E{number}:", "    x = x.cpu()"]
    return HEAD + "\n".join(lines) + "\ny = x + torch.ones(3)\n"


def many_returns(size: int) -> str:
    lines = ["def f(a, x):"]
    for number in range(size // 2):
        lines += [f"    if a.f{number}:", f"        return x.cuda({number % 8})"]
    return HEAD + "\n".join(lines) + "\n    return x\ny = f(args, torch.ones(3)) + torch.ones(3)\n"


def many_breaks(size: int) -> str:
    lines = ["x = torch.ones(3)", "while True:"]
    for number in range(size // 3):
        lines += [f"    if a.f{number}:", f"        x = x.cuda({number % 8})", "        break"]
    return HEAD + "\n".join(lines) + "\ny = x + torch.ones(3)\n"


def many_attributes(size: int) -> str:
    lines = ["class Net(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    lines += [f"        self.l{n} = nn.Linear({n + 1}, 3)" for n in range(size // 2)]
    lines += ["    def forward(self, x):"]
    lines += [f"        x = self.l{n}(x)" for n in range(size // 2)]
    return HEAD + "\n".join(lines) + "\n        return x\nNet().cuda()(torch.ones(3))\n"


def many_kinds(size: int) -> str:
    """Layers of many kinds, each of which may have an attribute that a loop asks for."""
    lines = ["class Net(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    lines += [f"        self.a{n} = nn.Linear({n + 1}, 3)" for n in range(size // 4)]
    lines += [f"        self.b{n} = nn.Dropout(0.{n})" for n in range(size // 4)]
    lines += ["        for each in self.modules():",
              "            if hasattr(each, 'begin'):",
              "                each.begin()"]  # fmt: skip
    return HEAD + "\n".join(lines) + "\nNet().cuda()\n"


def many_classes(size: int) -> str:
    lines = ["class C0(nn.Module):", "    pass"]
    for number in range(1, size // 4):
        lines += [f"class C{number}(C{number - 1}):", "    def __init__(self):",
                  "        super().__init__()",
                  f"        self.a{number} = torch.ones(3)"]  # fmt: skip
    return HEAD + "\n".join(lines) + f"\nC{size // 4 - 1}().cuda()(torch.ones(3))\n"


def many_findings(size: int) -> str:
    return HEAD + DEVICE + "x = torch.ones(3)\n" + "x.to(device)\n" * size


def many_conflicts(size: int) -> str:
    lines = [f"a{n} = torch.ones(3, device='cuda') + torch.ones(3)" for n in range(size)]
    return HEAD + "\n".join(lines) + "\n"


def many_scripts_functions(size: int) -> str:
    """One helper, called from very many places with different arguments."""
    lines = ["def move(x, d):", "    y = x.to(d)", "    return y + x"]
    lines += [f"r{n} = move(torch.ones({n}), 'cuda:{n % 8}')" for n in range(size)]
    return HEAD + "\n".join(lines) + "\n"


def decorators(size: int) -> str:
    lines = [
        "def deco(f):",
        "    def inner(*a, **k):",
        "        return f(*a, **k)",
        "    return inner",
    ]
    lines += ["@deco"] * min(size, 400) + ["def g(x):", "    return x.cuda()", "g(torch.ones(3))"]
    return HEAD + "\n".join(lines) + "\n" * size


def one_long_line(size: int) -> str:
    return HEAD + "x = torch.ones(3); " + "y = x.to('cuda'); " * size + "\n" * size


def one_long_line_beyond_ascii(size: int) -> str:
    return HEAD + "é = torch.ones(3); " + "y = é.to('cuda'); " * size + "\n" * size


def long_comment(size: int) -> str:
    return (
        HEAD + "# device-lens: ignore[" + "a, " * size + "b]\n" + "# device-lens: ignore\n" * size
    )


def broken_everywhere(size: int) -> str:
    return HEAD + "def f(:\n    x = (\nif y\n  z = ]\n" * (size // 4)


def open_brackets(size: int) -> str:
    return HEAD + "x = f(\n" * size


def open_strings(size: int) -> str:
    return HEAD + "x = \"\"\" a\n''' b\n" * (size // 2)


def backslashes(size: int) -> str:
    return HEAD + "x = 1 + \\\n" * size + "\n"


def half_blocks(size: int) -> str:
    return HEAD + "".join(" " * (n % 90) + "if x:\n" for n in range(size))


def half_classes(size: int) -> str:
    return HEAD + "class A:\n    def f(self, x:\n        y = x.cuda(\n        return (y\n" * (
        size // 4
    )


def match_cases(size: int) -> str:
    lines = ["def f(a, x):", "    match a:"]
    for number in range(size // 2):
        lines += [f"        case [{number}, *rest]:", f"            x = x.cuda({number % 8})"]
    return HEAD + "\n".join(lines) + "\n    return x + torch.ones(3)\n"


def wide_with(size: int) -> str:
    return HEAD + "with torch.device('cuda'):\n" + "    x = torch.ones(3)\n" * size


def state_dicts(size: int) -> str:
    lines = ["m = nn.Linear(3, 3)", "s = m.state_dict()"]
    lines += [f's["k{n}"] = s["weight"].cuda() + {n}' for n in range(size)]
    return HEAD + "\n".join(lines) + "\nm.load_state_dict(s)\n"


def huge_ranges(size: int) -> str:
    lines = ["xs = [torch.ones(3)] * 10**9", "for i in range(10**12):", "    xs.append(i)"]
    lines += [
        "t = 10 ** 10 ** 10",
        "u = 1 << 10 ** 10",
        "v = 'a' * 10 ** 10",
        "w = 9 ** 9 ** 9 ** 9",
    ]
    lines += ["x = torch.zeros(10**10, 10**10, 10**10)", "y = torch.ones(*range(10**8))"]
    lines += ["z = list(range(10**9))", "s = '%1000000000d' % 3", "f = f'{3:1000000000}'"]
    lines += ["b = bytes(10**10)", "p = pow(9, 9**9)", "ll = [[0] * 10**5 for _ in range(10**5)]"]
    lines += [
        "fmt = '{:>1000000000}'.format(3)",
        "c = 'a'.ljust(10**10)",
        "e = 'ab'.replace('', 'x' * 10**9)",
    ]
    return HEAD + "\n".join(lines) + "\n" + "t = t * t\n" * size


def numbers_growing(size: int) -> str:
    return HEAD + "n = 3\n" + "n = n * n\n" * size + "x = torch.zeros(n)\n"


PATTERNS: dict[str, Callable[[int], str]] = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__
}
