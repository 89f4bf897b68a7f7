"""Facts about loops: rebound loop variables."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, TypeGuard

from device_lens.domain.heap import Instance, contents
from device_lens.domain.values import TupleValue
from device_lens.interpreter import iteration, settable
from device_lens.interpreter.rarer_facts import LoopVariableTransfer
from device_lens.models.call import tensor_of
from device_lens.syntax.pairing import several, zipped

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_MOVES = frozenset({"to", "cuda", "cpu"})


def iterated(machine: Machine, node: Any, iterable: Any, frame: Frame) -> None:
    """A `for` whose body rebinds its own variable to the moved tensor and does not use it."""
    for index, (variable, container) in enumerate(ways := zipped(node)):
        _rebound(machine, node, iterable, frame, ("zip", variable, container), index)
    if ways:
        return
    taken = _form(node)
    part = 1 if taken[0] in ("items", "enumerate") else None
    _rebound(machine, node, iterable, frame, taken, part)


def _rebound(
    machine: Machine,
    node: Any,
    iterable: Any,
    frame: Frame,
    taken: tuple[str, str | None, Any],
    index: int | None,
) -> None:
    """The variable that holds one of the items, or part `index` of each, is rebound."""
    form, variable, container = taken
    if variable is None or container is None:
        return
    found = _rebinding(node.body, variable)
    if found is None:
        return
    statement, alone = found
    items, rest = iteration.iterate(machine, iterable)
    elements = [_element(item, index) for item in (*items, rest) if item is not None]
    if _is_comprehension(statement.value):
        elements = [part for element in elements for part in contents(element)]
    tensors = [t for t in map(tensor_of, elements) if t is not None]
    if not tensors:
        return
    fact = LoopVariableTransfer(
        machine.site(statement, frame),
        machine.site(node, frame),
        variable,
        machine.site(container, frame),
        form,
        machine.site(statement.value, frame),
        alone,
        settable=all(settable.takes_value(machine, part, frame) for part in several(container)),
        of_own_class=type(settable.value_of(machine, container, frame)) is Instance,
        of_leaves=any(each.requires_grad is True and each.leaf is True for each in tensors),
    )
    machine.findings.add(fact)
    for tensor in tensors:
        if tensor.trail is not None:
            machine.shared.setdefault(("loop-variable", id(tensor.trail)), fact.site)


def _form(node: Any) -> tuple[str, str | None, Any]:
    """How the loop takes its items: form, the variable that holds the tensor, the container."""
    target, iterable = node.target, node.iter
    method = ""
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Attribute):
        method = iterable.func.attr
    if isinstance(target, ast.Name):
        if method == "values":
            return "dict-values", target.id, iterable.func.value
        return "values", target.id, iterable
    if isinstance(target, ast.Tuple) and len(target.elts) == 2:
        last = target.elts[1]
        name = last.id if isinstance(last, ast.Name) else None
        if method == "items":
            return "items", name, iterable.func.value
        if isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") == "enumerate":
            return "enumerate", name, iterable.args[0] if iterable.args else None
    return "", None, None


def _element(item: Any, index: int | None) -> Any:
    if index is not None and type(item) is TupleValue and index < len(item.items):
        return item.items[index]
    return item


def _rebinding(body: list[ast.stmt], variable: str) -> tuple[ast.Assign, bool] | None:
    """The statement `v = v.to(d)` of a body, which may stand under tests (`if is_tensor(v):`), if
    nothing after it uses `v`; and whether it is all that there is."""
    for index, statement in enumerate(body):
        found: tuple[ast.Assign, bool] | None = None
        if _is_rebinding(statement, variable):
            found = statement, True
        elif isinstance(statement, ast.If):
            found = _rebinding(statement.body, variable)
        if found is not None:
            if any(_uses(later, variable) for later in body[index + 1 :]):
                return None
            return found[0], found[1] and len(body) == 1
    return None


def _is_rebinding(statement: ast.stmt, variable: str) -> TypeGuard[ast.Assign]:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or target.id != variable:
        return False
    return _is_moved(statement.value, variable) or _is_moved_inside(statement.value, variable)


def _is_moved(value: ast.expr, variable: str) -> bool:
    """`v.to(d)`."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in _MOVES
        and isinstance(value.func.value, ast.Name)
        and value.func.value.id == variable
    )


def _is_moved_inside(value: ast.expr, variable: str) -> bool:
    """`[t.to(d) for t in v]`, `{k: t.to(d) for k, t in v.items()}`."""
    match value:
        case ast.ListComp(elt=element, generators=[one]):
            source: ast.expr = one.iter
            target: ast.expr = one.target
        case ast.DictComp(
            value=element,
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[_, target]),
                    iter=ast.Call(func=ast.Attribute(value=source, attr="items")),
                )
            ],
        ):
            pass
        case _:
            return False
    if not isinstance(source, ast.Name) or source.id != variable:
        return False
    return isinstance(target, ast.Name) and _is_moved(element, target.id)


def _is_comprehension(value: ast.expr) -> bool:
    return isinstance(value, ast.ListComp | ast.DictComp)


def _uses(statement: ast.stmt, variable: str) -> bool:
    """Whether a statement needs the moved tensor: not one that only changes it, which is lost with
    it."""
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=given)
        ):
            if name == variable and method.endswith("_"):
                return any(_mentions(each, variable) for each in given)
    return _mentions(statement, variable)


def _mentions(statement: ast.AST, variable: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == variable for n in ast.walk(statement))
