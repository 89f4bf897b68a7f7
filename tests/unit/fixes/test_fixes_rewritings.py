"""One table of before and after for the rewritings of expressions and statements."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from fix_snippets import find, rewritten

from device_lens.fixes.arguments import add_keyword, remove_keyword
from device_lens.fixes.availability import fall_back
from device_lens.fixes.create_on_device import create_on_device, leaf_on_device
from device_lens.fixes.cuda_context import use_torch_device
from device_lens.fixes.device_keyword import create_there, move_part
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.host_copy import host_copy
from device_lens.fixes.keep_leaf import move_detached, move_inside
from device_lens.fixes.map_container import map_container
from device_lens.fixes.module_container import module_container
from device_lens.fixes.move_operand import move_operand
from device_lens.fixes.ordinals import renumber
from device_lens.fixes.read_value import accumulate_on_device, drop_graph
from device_lens.fixes.rebuild_container import loop_fix
from device_lens.fixes.refill import Known
from device_lens.fixes.register_buffer import register_buffer
from device_lens.fixes.remove_transfer import remove_transfer
from device_lens.fixes.reorder import put_above, put_below
from device_lens.fixes.round_trip import stay_on_device
from device_lens.fixes.single_precision import single_precision
from device_lens.fixes.wrapper_call import call_wrapper, reach_through
from device_lens.syntax.source import SourceFile

Rewrite = Callable[[SourceFile], Fix | None]


def _on_call(text: str, make: Callable[..., Fix | None], *arguments: object) -> Rewrite:
    return lambda source: make(find(source, text, ast.Call), *arguments)


def _on(text: str, make: Callable[..., Fix | None], *arguments: object) -> Rewrite:
    return lambda source: make(find(source, text), *arguments)


def _only(edit: Edit | None) -> Fix | None:
    return None if edit is None else Fix("", Safety.SAFE, (edit,))


def _operand(text: str, device: str, kind: type[ast.AST] = ast.expr) -> Rewrite:
    return lambda source: move_operand([find(source, text, kind)], device)


def _loop(variable: str, moved: str, kind: str | None = None) -> Rewrite:
    known = Known(lambda _: kind)
    return lambda source: loop_fix(find(source, "for", ast.For), variable, moved, known)


def _accumulated(text: str) -> Rewrite:
    return lambda source: accumulate_on_device(
        find(source, text, ast.Call), find(source, "for", ast.For), "float32", True
    )


_CLASS = (
    "from torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n"
)
_DICT = _on("self.a = {", module_container, "a", "dict-of-modules")

CASES: list[tuple[str, Rewrite, str | None]] = [
    # Operands
    ("y = p == q\n", _operand("q", "p.device"), "y = p == q.to(p.device)\n"),
    ("y = (a - b) / c\n", _operand("a - b", "d"), "y = (a - b).to(d) / c\n"),
    ("y = f((a - b))\n", _operand("a - b", "d"), "y = f((a - b).to(d))\n"),
    ("y = f(a - b)\n", _operand("a - b", "d"), "y = f((a - b).to(d))\n"),
    ("y = (\n    a - b  # why\n)\n", _operand("a - b", "d"),
     "y = (\n    (a - b).to(d)  # why\n)\n"),
    ("f(*xs)\n", _operand("*xs", "d", ast.Starred), None),
    ("total += x\n", _operand("total", "d", ast.Name), None),
    # Factories
    ("x = torch.zeros(n)\n", _on_call("torch.zeros(n)", create_there, "torch.zeros", "y.device"),
     "x = torch.zeros(n, device=y.device)\n"),
    ("x = torch.zeros(\n    n,\n    (m),\n)\n",
     _on_call("torch.zeros(", create_there, "torch.zeros", "d"),
     "x = torch.zeros(\n    n,\n    (m),\n    device=d,\n)\n"),
    ("x = torch.zeros()\n", _on_call("torch.zeros()", create_there, "torch.zeros", "d"),
     "x = torch.zeros(device=d)\n"),
    ("x = torch.from_numpy(a) == 0\n",
     _on_call("torch.from_numpy(a)", create_there, "torch.from_numpy", "d"),
     "x = torch.from_numpy(a).to(d) == 0\n"),
    # Created, then moved
    ("z = torch.zeros(n).cuda()\n",
     _on_call("torch.zeros(n).cuda()", create_on_device, "torch.zeros"),
     'z = torch.zeros(n, device="cuda")\n'),
    ("z = torch.zeros(n).cuda(1)\n",
     _on_call("torch.zeros(n).cuda(1)", create_on_device, "torch.zeros"),
     'z = torch.zeros(n, device="cuda:1")\n'),
    ("z = torch.ones(2).to(r.device, r.dtype)\n",
     _on_call("torch.ones(2).to(", create_on_device, "torch.ones"),
     "z = torch.ones(2, device=r.device).to(r.dtype)\n"),
    ("z = (torch.arange(n)\n     .to(d, non_blocking=True)\n     .view(-1))\n",
     _on_call("torch.arange(n)\n     .to(d, non_blocking=True)", create_on_device, "torch.arange"),
     "z = (torch.arange(n, device=d)\n     .view(-1))\n"),
    ("z = torch.ones(2, dtype=t).to(device=d)\n",
     _on_call("torch.ones(2, dtype=t).to(", create_on_device, "torch.ones"),
     "z = torch.ones(2, dtype=t, device=d)\n"),
    ("z = torch.zeros(*s, **kw).to(d)\n",
     _on_call("torch.zeros(*s, **kw).to(d)", create_on_device, "torch.zeros"), None),
    # Leaves
    ("x = torch.ones(2, requires_grad=True).to(d)\n",
     _on_call("torch.ones(2, requires_grad=True).to(d)", leaf_on_device, "torch.ones"),
     "x = torch.ones(2, requires_grad=True, device=d)\n"),
    ("x = torch.rand(2, requires_grad=True).to(d)\n",
     _on_call("torch.rand(2, requires_grad=True).to(d)", leaf_on_device, "torch.rand"),
     "x = torch.rand(2).to(d).requires_grad_()\n"),
    ("w = nn.Parameter(t + 1).to(d)\n", _on_call("nn.Parameter(t + 1).to(d)", move_inside),
     "w = nn.Parameter((t + 1).to(d))\n"),
    ("x = x.to(d)\n", _on_call("x.to(d)", move_detached),
     "x = x.detach().to(d).requires_grad_(x.requires_grad)\n"),
    # Nothing to move
    ("x = x.to(d)\ny = 1\n", _on_call("x.to(d)", remove_transfer), "y = 1\n"),
    ("f(x); x = x.to(d)\n", _on_call("x.to(d)", remove_transfer), "f(x)\n"),
    ("x = x.to(d); f(x)\n", _on_call("x.to(d)", remove_transfer), "f(x)\n"),
    ("if a:\n    x = x.to(d)  # c\n", _on_call("x.to(d)", remove_transfer),
     "if a:\n    pass  # c\n"),
    ("y = (a + b).to(d).sum()\n", _on_call("(a + b).to(d)", remove_transfer),
     "y = (a + b).sum()\n"),
    ("y = f((a + b).to(d))\n", _on_call("(a + b).to(d)", remove_transfer), "y = f(a + b)\n"),
    ("y = (a + b).to(d)\n", _on_call("(a + b).to(d)", remove_transfer), "y = a + b\n"),
    ("y = (a +\n     b).to(d)\n", _on_call("(a +\n     b).to(d)", remove_transfer),
     "y = (a +\n     b)\n"),
    ("y = 2 * (a + b).to(d)\n", _on_call("(a + b).to(d)", remove_transfer), "y = 2 * (a + b)\n"),
    ("y = x.to(  # why\n    d\n)\n", _on_call("x.to(  # why", remove_transfer), None),
    ("y = x.to(d, torch.half)\n", _on_call("x.to(d, torch.half)", remove_transfer), None),
    # Containers
    ("xs = xs.to(d)\n", _on_call("xs.to(d)", map_container, ("list",)),
     "xs = [t.to(d) for t in xs]\n"),
    ("b.to(v)\n", _on_call("b.to(v)", map_container, ("dict",)),
     "b = {k: v2.to(v) for k, v2 in b.items()}\n"),
    ("p = p.cuda()\n", _on_call("p.cuda()", map_container, ("tuple",)),
     "p = tuple(t.cuda() for t in p)\n"),
    ("for v in xs:\n    v = v.to(d)\n", _loop("v", "v.to(d)"), "xs = [v.to(d) for v in xs]\n"),
    ("for v in xs:\n    v = v.to(d)\n", _loop("v", "v.to(d)", "list"),
     "xs[:] = [v.to(d) for v in xs]\n"),
    ("for v in xs:\n    v = v.to(d)\n", _loop("v", "v.to(d)", "tensor"), "xs = xs.to(d)\n"),
    ("for v in xs:\n    v = v.to(d)\n", _loop("v", "v.to(d)", "iterator"), None),
    ("for v in xs:  # a\n    # b\n    v = v.to(d)  # c\n", _loop("v", "v.to(d)"),
     "# a\n# b\nxs = [v.to(d) for v in xs]  # c\n"),
    ("for v in xs:\n    v = v.to(d)\n", _loop("v", "v.to(d)", "tuple"),
     "xs = tuple(v.to(d) for v in xs)\n"),
    ("for k, v in b.items():\n    v = v.to(d)\n", _loop("v", "v.to(d)"),
     "b.update({k: v.to(d) for k, v in b.items()})\n"),
    ("for v in b.values():\n    v = v.to(d)\n", _loop("v", "v.to(d)"),
     "b.update({k: v.to(d) for k, v in b.items()})\n"),
    ("for i, v in enumerate(xs):\n    v = v.to(d)\n", _loop("v", "v.to(d)"),
     "xs = [v.to(d) for v in xs]\n"),
    ("for k, v in b.items():\n    n += 1\n    v = v.to(d)\n", _loop("v", "v.to(d)"),
     "for k, v in b.items():\n    n += 1\n    v = b[k] = v.to(d)\n"),
    ("for v in xs:\n    n += 1\n    v = v.to(d)\n", _loop("v", "v.to(d)"),
     "xs = [v.to(d) for v in xs]\nfor v in xs:\n    n += 1\n"),
    ("for v in f():\n    v = v.to(d)\n", _loop("v", "v.to(d)"), None),
    ("for n, m, v in xs:\n    v = v.to(d)\n", _loop("v", "v.to(d)"), None),
    ("for n, m, v in xs:\n    n += 1\n    v.to(d)\n", _loop("v", "v.to(d)"), None),
    ("for n, [m, v] in xs:\n    v = v.to(d)\n", _loop("v", "v.to(d)"), None),
    # The host
    ("a = x.numpy()\n", _on("x", host_copy, None, False, True), "a = x.cpu().numpy()\n"),
    ("a = np.asarray(p + q)\n", _on("p + q", host_copy, None, True, True),
     "a = np.asarray((p + q).detach().cpu())\n"),
    ("a = np.mean(h)\n", _on("h", host_copy, "list", False, True),
     "a = np.mean([t.cpu() for t in h])\n"),
    ("total = 0.0\nfor x in xs:\n    total += loss.item()\n", _accumulated("loss.item()"),
     "total = 0.0\nfor x in xs:\n    total += loss.detach()\ntotal = float(total)\n"),
    ("total += loss.item()\nfor x in xs:\n    pass\n", _accumulated("loss.item()"), None),
    ("for x in xs:\n    print(loss.item())\n", _accumulated("loss.item()"), None),
    ("total += a * b\n", _on("a * b", drop_graph), "total += (a * b).detach()\n"),
    # Devices
    ('d = "cuda"\nimport torch\n', _on('"cuda"', fall_back), None),
    ('import torch\nd = "cuda"\n', _on('"cuda"', fall_back),
     'import torch\nd = "cuda" if torch.cuda.is_available() else "cpu"\n'),
    ('import torch as t\nd = "cuda:1" + x\n', _on('"cuda:1"', fall_back),
     'import torch as t\nd = ("cuda:1" if t.cuda.is_available() else "cpu") + x\n'),
    ("import torch\nnet.cuda()\n", _on_call("net.cuda()", fall_back),
     'import torch\nnet.to("cuda" if torch.cuda.is_available() else "cpu")\n'),
    ('d = "cuda"\n', _on('"cuda"', fall_back), None),
    ("import torch\nd = 'cuda'\n", _on("'cuda'", fall_back),
     "import torch\nd = 'cuda' if torch.cuda.is_available() else 'cpu'\n"),
    ("import torch\nprint('a')\nnet.cuda()\n", _on_call("net.cuda()", fall_back),
     "import torch\nprint('a')\nnet.to('cuda' if torch.cuda.is_available() else 'cpu')\n"),
    ("import torch\nwith torch.cuda.device(0): f()\n",
     _on_call("torch.cuda.device(0)", use_torch_device, False),
     'import torch\nwith torch.device("cuda:0"): f()\n'),
    ("import torch\nreturn_ = torch.cuda.device(i)\n",
     _on_call("torch.cuda.device(i)", use_torch_device, False),
     'import torch\nreturn_ = torch.device("cuda", i)\n'),
    ("import torch\nwith torch.cuda.device(gpu): f()\n",
     _on_call("torch.cuda.device(gpu)", use_torch_device, True),
     "import torch\nwith torch.device(gpu): f()\n"),
    ('d = torch.device("cuda:3")\n', _on_call("torch.device(", renumber, 3, ("2", "3")),
     'd = torch.device("cuda:1")\n'),
    ("net.cuda(3)\n", _on_call("net.cuda(3)", renumber, 3, ("3",)), "net.cuda(0)\n"),
    ("net.cuda(5)\n", _on_call("net.cuda(5)", renumber, 5, ("3",)), None),
    ("x = torch.arange(3, dtype=torch.float64, device=d)\n",
     _on_call("torch.arange", single_precision),
     "x = torch.arange(3, dtype=torch.float32, device=d)\n"),
    ("y = x.double()\n", _on_call("x.double()", single_precision), "y = x.float()\n"),
    # Modules
    ("m.fc = nn.Linear(3, 5)\n", _on_call("nn.Linear(3, 5)", move_part, "d"),
     "m.fc = nn.Linear(3, 5).to(d)\n"),
    ("m.p = nn.Parameter(torch.zeros(3))\n", _on_call("nn.Parameter(", move_part, "d"),
     "m.p = nn.Parameter(torch.zeros(3).to(d))\n"),
    ("from torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
     "        super().__init__()\n        self.a = []\n",
     _on("self.a = []", module_container, "a", "modules"),
     "from torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
     "        super().__init__()\n        self.a = nn.ModuleList()\n"),
    ("import torch\nclass A(torch.nn.Module):\n    def __init__(self):\n"
     "        super().__init__()\n        self.a = [f(i) for i in n]\n",
     _on("self.a = [", module_container, "a", "parameters"),
     "import torch\nclass A(torch.nn.Module):\n    def __init__(self):\n"
     "        super().__init__()\n        self.a = torch.nn.ParameterList([f(i) for i in n])\n"),
    (f"{_CLASS}        self.a = {{'x': f(1)}}\n", _DICT,
     f"{_CLASS}        self.a = nn.ModuleDict({{'x': f(1)}})\n"),
    (f"{_CLASS}        self.a = {{'train': f(1)}}\n", _DICT, None),
    (f"{_CLASS}        self.a = {{'x.y': f(1)}}\n", _DICT, None),
    (f"{_CLASS}        self.a = {{}}\n        for i in range(3):\n            self.a[i] = f(i)\n",
     _DICT, None),
    (f"{_CLASS}        self.a = {{}}\n        self.a['x'] = f(0)\n", _DICT,
     f"{_CLASS}        self.a = nn.ModuleDict()\n        self.a['x'] = f(0)\n"),
    (f"{_CLASS}        self.a = {{i: f(n) for i, n in enumerate(s)}}\n", _DICT, None),
    ("ddp.module(x)\n", _on_call("ddp.module(x)", call_wrapper, None), "ddp(x)\n"),
    ("m = DDP(net)\nraw(x)\n",
     lambda s: call_wrapper(find(s, "raw(x)", ast.Call), find(s, "DDP(net)", ast.Call)),
     "m = DDP(net)\nm(x)\n"),
    ("m.set_grid(4)\n", _on_call("m.set_grid(4)", reach_through), "m.module.set_grid(4)\n"),
    # Order
    ("a = 1\nopt = f(net)  # c\nnet.cuda()\ng(opt)\n",
     lambda s: put_below(find(s, "opt = f(net)"), find(s, "net.cuda()", ast.Expr), ""),
     "a = 1\nnet.cuda()\nopt = f(net)  # c\ng(opt)\n"),
    ("opt = f(net)\ng(opt)\nnet.cuda()\n",
     lambda s: put_below(find(s, "opt = f(net)"), find(s, "net.cuda()", ast.Expr), ""), None),
    ("import os\nstart()\n# mask\nos.e = 1\n",
     lambda s: put_above(find(s, "os.e = 1"), find(s, "start()", ast.Expr), ""),
     "import os\n# mask\nos.e = 1\nstart()\n"),
    # Down and up again
    ("n = x.argmax(-1).tolist()\nt = torch.tensor(n, device=d)\n",
     lambda s: stay_on_device(find(s, "x.argmax(-1).tolist()"), find(s, "torch.tensor(")),
     "n = x.argmax(-1).detach()\nt = n\n"),
    ("y = (a + b).cpu().to(d)\n",
     lambda s: stay_on_device(find(s, "(a + b).cpu()"), find(s, "(a + b).cpu().to(d)")),
     "y = (a + b)\n"),
    ("n = x.tolist()\nprint(n)\nt = torch.tensor(n, device=d)\n",
     lambda s: stay_on_device(find(s, "x.tolist()"), find(s, "torch.tensor(")), None),
    # Arguments
    ("f(a, k=1)\n", lambda s: _only(add_keyword(find(s, "f(", ast.Call), "k", "2")), "f(a, k=2)\n"),
    ("f(x for x in y)\n", lambda s: _only(add_keyword(find(s, "f(", ast.Call), "k", "2")), None),
    ("f(k=1, a=2)\n", lambda s: _only(remove_keyword(find(s, "f(", ast.Call), "k")), "f(a=2)\n"),
    ("f(a, k=(1), b=2)\n", lambda s: _only(remove_keyword(find(s, "f(", ast.Call), "k")),
     "f(a, b=2)\n"),
    ("f(k=1)\n", lambda s: _only(remove_keyword(find(s, "f(", ast.Call), "k")), "f()\n"),
    ("(f)(k=1,)\n", lambda s: _only(remove_keyword(find(s, "(f)(", ast.Call), "k")), "(f)()\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "rewrite", "after"), CASES, ids=[case[0] for case in CASES])
def test_rewriting(before: str, rewrite: Rewrite, after: str | None) -> None:
    assert rewritten(before, rewrite) == after


CLASS = """\
class A(nn.Module):
    def __init__(self):
        {first}
        {second}
"""


@pytest.mark.parametrize("annotation", ["", ": Tensor"])
def test_buffer(annotation: str) -> None:
    before = CLASS.format(first="super().__init__()", second=f"self.m{annotation} = f(1)  # c")
    after = CLASS.format(
        first="super().__init__()",
        second='self.register_buffer("m", f(1), persistent=False)  # c',
    )

    def rewrite(source: SourceFile) -> Fix | None:
        return register_buffer(find(source, "self.m", ast.stmt), "m", Safety.SAFE, lambda _: True)[
            0
        ]

    assert rewritten(before, rewrite) == after


def test_line_ends_of_text_that_is_used_again() -> None:
    before = CLASS.format(first="super().__init__()", second="self.m = f(\n1)  # c")

    def rewrite(source: SourceFile) -> Fix | None:
        assignment = find(source, "self.m", ast.stmt)
        return move_operand([assignment.at(assignment.node.value)], "d\n")

    after = before.replace("\n1)", "\n1).to(d\n)").replace("\n", "\r\n")
    assert rewritten(before, rewrite, newline="\r\n") == after


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("self.m = f(1)", "super().__init__()"),
        ("super().__init__()", "self.m = f(1); self.m = f(2)"),
        ("super().__init__()", "self.m = self.n = f(1)"),
    ],
    ids=["before the set-up", "set twice, once to what is no tensor", "two targets"],
)
def test_no_buffer(first: str, second: str) -> None:
    def rewrite(source: SourceFile) -> Fix | None:
        fixes = register_buffer(find(source, "self.m", ast.stmt), "m", Safety.SAFE, lambda _: False)
        return fixes[0] if fixes else None

    assert rewritten(CLASS.format(first=first, second=second), rewrite) is None


def test_random_factories_are_not_rewritten_silently() -> None:
    source = "x = torch.randn(3).to(d)\n"
    found: list[Fix | None] = []

    def rewrite(file: SourceFile) -> Fix | None:
        found.append(create_on_device(find(file, "torch.randn(3).to(d)"), "torch.randn"))
        return found[0]

    assert rewritten(source, rewrite) == "x = torch.randn(3, device=d)\n"
    assert found[0] is not None
    assert found[0].safety is Safety.UNSAFE


def test_of_operands_in_one_another_the_inner_one_moves() -> None:
    def move(source: SourceFile) -> Fix | None:
        return move_operand([find(source, "h", ast.Name), find(source, "net(h)", ast.Call)], "d")

    assert rewritten("y = net(h) + bias", move) == "y = net(h.to(d)) + bias"


@pytest.mark.parametrize(
    ("kept", "is_given"),
    [
        ("val", True),
        ("val * n", True),
        ("-self.val[0] / 2", True),
        ("item", True),
        ("loss", False),
        ("val * loss", False),
        ("val.mean()", False),
    ],
)
def test_a_graph_is_not_dropped_silently_where_a_caller_may_give_a_number(
    kept: str, is_given: bool
) -> None:
    source = (
        "def update(self, val, n=1):\n    loss = f(val)\n"
        f"    for i, item in enumerate(val):\n        self.sum += {kept}\n"
    )
    found: list[Fix | None] = []

    def rewrite(file: SourceFile) -> Fix | None:
        found.append(drop_graph(find(file, kept, ast.expr, -1)))
        return found[0]

    rewritten(source, rewrite)
    assert found[0] is not None
    assert found[0].safety is (Safety.UNSAFE if is_given else Safety.SAFE)
