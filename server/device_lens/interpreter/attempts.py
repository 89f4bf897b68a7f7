"""A `try` whose body does nothing but read a key or attributes, or take the first parameter of a
module: which way it goes is known where the dict is, or the object. And what is a `try` by another
name: `with suppress(…)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import combine, leaves
from device_lens.domain.heap import MISSING, DictObject, Parameter
from device_lens.domain.presence import presence
from device_lens.domain.torch_keys import told_apart
from device_lens.domain.values import Const, Tensor, Unknown
from device_lens.interpreter import having
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.scan import has_call
from device_lens.syntax.names import last_name

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_CAUGHT = frozenset("KeyError LookupError Exception BaseException".split())


def succeeds(machine: Machine, node: Any, frame: Frame) -> Any:
    """The condition under which the body gets through, else the handler runs; None where nobody
    knows."""
    statement = node.body[0]
    if _catches(node.handlers, "AttributeError"):
        return _attributes_are_there(machine, node.body, frame)
    if len(node.body) > 1 or not isinstance(statement, ast.Assign | ast.Return):
        return None
    read = _read(statement)
    if read is not None:
        return _key_is_there(machine, node, read, frame)
    parts = _first_of(statement.value)
    return None if parts is None else _has_first(machine, node, parts, frame)


def _attributes_are_there(machine: Machine, body: list[ast.stmt], frame: Frame) -> bool | None:
    """Whether attributes that a body asks for by `getattr(x, name)` are there, and the methods that
    it calls by name; it may return one of these or a constant after. None where that is not known
    of one before the first that is missing."""
    for statement in body:
        match statement:
            case ast.Return(value=ast.Constant() | None) | ast.Pass():
                return True
            case ast.Return(value=ast.Call() as value):
                return _is_there(machine, value, frame)
            case ast.Assign(targets=[ast.Name()], value=value) | ast.Expr(value=value) if (
                isinstance(value, ast.Call)
            ):
                there = _is_there(machine, value, frame)
            case _:
                return None
        if there is not True:
            return there
    return True


def _is_there(machine: Machine, call: ast.Call, frame: Frame) -> bool | None:
    match call:
        case ast.Call(func=ast.Name(id="getattr"), args=[whole, name], keywords=[]) if _is_plain(
            whole
        ) and not has_call(name):
            asked = machine.evaluate(name, frame)
            if type(asked) is Const and isinstance(asked.value, str):
                answer = having.has(machine.evaluate(whole, frame), asked.value)
                return bool(answer.value) if type(answer) is Const else None
        case ast.Call(func=ast.Attribute(value=whole, attr=name)) if _is_plain(whole):
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            if all(_reads_what_is_there(machine, each, frame) for each in given):
                return _has_method(machine.evaluate(whole, frame), name) or None
    return None


def _has_method(value: Any, name: str) -> bool:
    """Whether a value is a tensor, in all cases, of which that is a method."""
    if any(type(leaf) is not Tensor and type(leaf) is not Parameter for leaf in leaves(value)):
        return False
    return bool(having.has(value, name) == Const(True))


def _reads_what_is_there(machine: Machine, node: ast.expr, frame: Frame) -> bool:
    """Whether an expression is a name or a constant, or an attribute that an object has."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return bool(having.has(machine.evaluate(node.value, frame), node.attr) == Const(True))
    return isinstance(node, ast.Name | ast.Constant)


_STATE = ("parameters", "buffers", "named_parameters", "named_buffers")


def _first_of(node: ast.expr | None) -> ast.Call | None:
    """The call of `parameters()` in `next(module.parameters()).device`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    match node:
        case ast.Call(
            func=ast.Name(id="next"),
            args=[
                ast.Call(func=ast.Attribute(value=whole, attr=name), args=[], keywords=[]) as parts
            ],
        ) if name in _STATE and _is_plain(whole):
            return parts
    return None


def _has_first(machine: Machine, node: Any, parts: ast.Call, frame: Frame) -> bool | None:
    """Whether a module has any of what the body takes the first of."""
    if not _catches(node.handlers, "StopIteration"):
        return None
    items, rest = machine.iterate(machine.evaluate(parts, frame))
    return True if items else False if rest is None else None


def _key_is_there(machine: Machine, node: Any, read: ast.Subscript, frame: Frame) -> Any:
    """The condition under which the key that the body reads is there; None where nobody knows all
    keys."""
    if not _catches(node.handlers):
        return None
    from device_lens.interpreter.keys import key_of

    receiver = machine.evaluate(read.value, frame)
    if type(receiver) is not DictObject or receiver.rest is not None:
        return None
    sought = told_apart(machine.evaluate(read.slice, frame))
    if MISSING in map(key_of, leaves(sought)) or "default" in receiver.fields:
        return None
    there = combine(lambda leaf: presence(receiver.entries, key_of(leaf)), sought)
    return machine.decide(there)


def _read(statement: ast.Assign | ast.Return) -> ast.Subscript | None:
    """The key that a body reads if it does nothing else: `x = d[k]`, `return d[k]`."""
    if isinstance(statement, ast.Assign) and not all(
        isinstance(target, ast.Name) for target in statement.targets
    ):
        return None
    value = statement.value
    if isinstance(value, ast.Subscript) and _is_plain(value.value) and _is_plain_key(value.slice):
        return value
    return None


def _is_plain_key(node: ast.expr) -> bool:
    """The same for a key that is put together: `str(x.device)`, `f"{n}@{x.device}"`, a tuple."""
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[part], keywords=[]):
            return _is_plain(part)
        case ast.JoinedStr(values=parts) | ast.Tuple(elts=parts):
            return all(map(_is_plain_key, parts))
        case ast.FormattedValue(value=part, format_spec=None):
            return _is_plain(part)
    return _is_plain(node)


def _is_plain(node: ast.expr) -> bool:
    """Whether looking at it does nothing, and does not fail."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name | ast.Constant)


def _catches(handlers: list[ast.ExceptHandler], alone: str | None = None) -> bool:
    """Whether there is one handler, for a missing key, or for one exception `alone`."""
    if len(handlers) != 1:
        return False
    kind = handlers[0].type
    if alone is not None:
        return isinstance(kind, ast.Name) and kind.id == alone
    return kind is None or (isinstance(kind, ast.Name) and kind.id in _CAUGHT)


_TRIED = "_as_a_try"
"""The entry of a node under which it is kept as a `try`, for as long as it lives."""


def as_try(node: Any, item: ast.withitem, manager: Any) -> ast.Try | None:
    """`with suppress(KeyError): …` as the `try` with an empty handler that it is."""
    call = item.context_expr
    if type(manager) is not Unknown or not isinstance(call, ast.Call):
        return None
    if last_name(call.func) != "suppress" or not call.args:
        return None
    known: ast.Try | None = node.__dict__.get(_TRIED)
    if known is None:
        caught = call.args[0] if len(call.args) == 1 else ast.Tuple(call.args, ast.Load())
        known = ast.Try(node.body, [ast.ExceptHandler(caught, None, [])], [], [])
        node.__dict__[_TRIED] = known
    return known
