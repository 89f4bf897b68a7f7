"""Whether a loop trains what some names stand for: numbers change there that no text writes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from device_lens.syntax.names import LIBRARIES, last_name, root_name
from device_lens.syntax.sharing import Definitions, names_of
from device_lens.syntax.walking import walk

_STATISTICS = frozenset("running_mean running_var num_batches_tracked".split())
"""Buffers that the forward pass of a module writes."""
_OUT_OF_THE_GRAPH = frozenset({"detach", "data"})
"""What gives the memory of a parameter without its graph."""


_ALIKE = frozenset(
    "to view reshape flatten unsqueeze squeeze permute transpose expand type".split()
)
"""Methods that run no module, whatever has them: they give the same values, moved or arranged."""


def may_train(
    loop: ast.AST, names: Iterable[str], scope: Iterable[ast.AST], known: Definitions
) -> bool:
    """Whether the loop runs a module whose statistics are among the names, or steps an optimizer
    while one of them is bound to the memory of what may be a parameter."""
    wanted = set(names)
    calls = [node for node in walk(loop) if isinstance(node, ast.Call)]
    if any(each.rpartition(".")[2] in _STATISTICS for each in wanted):
        return any(_may_run_module(each, known) for each in calls)
    inside = (node for each in calls for node in _run_by(each, known))
    return any(map(_is_step, (*calls, *inside))) and any(
        isinstance(node, ast.Assign)
        and any(map(_is_out_of_graph, walk(node.value)))
        and not wanted.isdisjoint(name for each in node.targets for name in names_of(each))
        and any(names_of(node.value))
        for each in scope
        for node in walk(each)
    )


def _may_run_module(call: ast.Call, known: Definitions) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        defined = known.get(function.id)
        if defined is not None and type(defined.node) is ast.FunctionDef and not defined.owner:
            inside = (node for node in _run_by(call, known) if isinstance(node, ast.Call))
            return any(_may_run_module(each, {}) for each in inside)
        return not hasattr(builtins, function.id)
    if last_name(function) in _ALIKE:
        return False
    root = root_name(function)
    return root == "self" or (bool(call.args) and root not in LIBRARIES)


def _run_by(call: ast.Call, known: Definitions) -> Iterable[ast.AST]:
    """The nodes of the function of the file that a call runs."""
    defined = known.get(last_name(call.func))
    return () if defined is None else walk(defined.node)


def _is_step(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "step"


def _is_out_of_graph(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _OUT_OF_THE_GRAPH
