"""A `try` that tries an accelerator out: `torch.zeros(1).cuda()`, or else the CPU. Its handler runs
where there is none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import Guarded
from device_lens.domain.values import FALSE
from device_lens.models.torch.availability import assumed_accelerator, availability
from device_lens.models.torch.creation import FACTORIES
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_CAUGHT = frozenset("RuntimeError AssertionError Exception BaseException".split())
_MAKERS = frozenset(name.rpartition(".")[2] for name in FACTORIES) | {"tensor"}
_HARMLESS = frozenset("print str device to cuda".split()) | _MAKERS
"""What a body may call besides: nothing of it raises where there is an accelerator."""
_ANSWERING = frozenset("is_available device_count is_initialized empty_cache manual_seed".split())
"""Functions of `torch.cuda` that do not raise without one."""


def needs_accelerator(machine: Machine, node: ast.Try) -> Any:
    """The condition under which the body gets through, else the handler runs: that there is CUDA,
    where it does nothing but use that; None of any other body."""
    if len(node.handlers) != 1 or not _catches(node.handlers[0].type):
        return None
    if machine.gpus_hidden() != FALSE or not all(map(_is_simple, node.body)):
        return None
    calls = [each for part in node.body for each in walk(part) if isinstance(each, ast.Call)]
    if not any(map(_uses_cuda, calls)) or not all(map(_is_harmless, calls)):
        return None
    if any(map(_asks_for_another, calls)):
        return None  # there may be too few GPUs
    return machine.decide(Guarded(availability("cuda", assumed_accelerator(machine)), True, False))


def _is_simple(statement: ast.stmt) -> bool:
    return isinstance(
        statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return | ast.Pass
    ) and not any(isinstance(each, ast.Subscript | ast.Await) for each in walk(statement))


def _is_harmless(call: ast.Call) -> bool:
    return last_name(call.func) in _HARMLESS or _is_of_cuda(call)


def _is_of_cuda(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="torch"), attr="cuda")):
            return True
    return False


def _uses_cuda(call: ast.Call) -> bool:
    """Whether a call raises where there is no CUDA."""
    name = last_name(call.func)
    if _is_of_cuda(call):
        return name not in _ANSWERING
    if name == "cuda" and isinstance(call.func, ast.Attribute):
        return True
    if name == "to":
        return bool(call.args) and _names_cuda(call.args[0])
    return name in _MAKERS and any(
        each.arg == "device" and _names_cuda(each.value) for each in call.keywords
    )


def _asks_for_another(call: ast.Call) -> bool:
    """Whether a call may name a GPU besides the first one."""
    values = (*call.args, *(each.value for each in call.keywords))
    named = [each.value for each in values if isinstance(each, ast.Constant)]
    if any(isinstance(each, str) and each.startswith("cuda:") for each in named):
        return "cuda:0" not in named
    placing = _is_of_cuda(call) or last_name(call.func) in ("cuda", "device")
    numbers = [each for each in named if isinstance(each, int)]
    return placing and any(number > 0 for number in numbers)


def _names_cuda(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and last_name(node.func) == "device" and node.args:
        node = node.args[0]
    return isinstance(node, ast.Constant) and str(node.value).partition(":")[0] == "cuda"


def _catches(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(each, ast.Name) and each.id in _CAUGHT for each in kinds)
