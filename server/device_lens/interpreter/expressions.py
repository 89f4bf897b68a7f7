"""Expressions: names, literals, attributes, calls, conditionals."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Deferred, Function, Scope, Waiting
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import MISSING, RETURNED, DictObject, Instance, ListObject
from device_lens.domain.join import join_blind
from device_lens.domain.objects import any_of_these, holds_all
from device_lens.domain.optional_items import keep_presence, surely_or_perhaps
from device_lens.domain.presence import presence, put_all
from device_lens.domain.torch_keys import put_together
from device_lens.domain.values import (
    NONE,
    Const,
    DeviceValue,
    DtypeValue,
    External,
    SliceValue,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import (
    attributes,
    calls,
    every_item,
    imports,
    reports,
    scan,
    suspended,
    views,
)
from device_lens.interpreter.assignment import assign, is_global
from device_lens.interpreter.conditions import forget_narrowed, narrow, truth
from device_lens.interpreter.dispatch import EVALUATORS, INTRINSICS
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.keys import overwrite, put
from device_lens.models import registry
from device_lens.models.numbers import is_text, text_begun
from device_lens.models.python import dict_classes
from device_lens.models.python.builtins import string_of
from device_lens.models.python.picked import also_hold, keep_put_together
from device_lens.models.python.text_cases import by_cases

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

BUILTIN_CONSTANTS = {"True": True, "False": False, "None": None, "__debug__": True}
MAX_ITEMS = 64
"""Items of a literal kept one by one."""
MAX_LITERAL = 2_000
"""Items of a literal that are looked at."""


def lookup(machine: Machine, name: str, frame: Frame) -> Any:
    """The value of a name where it is read; `MISSING` where nothing defines it."""
    scope: Scope | None = frame.scope
    if name in frame.scope.outer and is_global(name, frame):
        scope = None
    while scope is not None:
        value = scope.names.get(name, MISSING)
        if value is not MISSING:
            return value
        scope = scope.parent
    value = frame.namespace.scope.names.get(name, MISSING)
    if value is MISSING:
        return machine.program.registries.missing(machine, frame.namespace, name)
    return value


_UNSETTLED = frozenset({Deferred, Waiting, Guarded, ListObject})
"""Values of names that may not stand for themselves, or not as they were."""


def _name(machine: Machine, node: ast.Name, frame: Frame) -> Any:
    names = frame.scope.names
    value = names.get(node.id, MISSING)
    if names.presence and value is not MISSING and not frame.try_depth:
        bound = machine.decide(presence(names, node.id))
        if bound is False:
            return Unknown(node.id)
        machine.path = machine.path.assume(bound)  # where nothing has bound it, reading it raises
    if value is MISSING:
        value = lookup(machine, node.id, frame)
        if machine.standalone:
            value = imports.or_set_later(machine, value, frame.namespace, node.id)
    if value is not MISSING:
        if type(value) in _UNSETTLED:
            if type(value) is ListObject:
                return views.present(machine, value, node, frame)
            return imports.settled(machine, value, frame.namespace.scope.names, node.id)
        return value
    if node.id == "__name__":
        return Const(frame.namespace.name)
    if node.id == "__file__":
        return Const(frame.namespace.path)
    found = imports.of_stars(machine, node, frame) or _builtin(node.id)
    if found is not None:
        return found
    for loop in frame.loops:
        if not isinstance(loop.node, ast.comprehension):
            loop.unbound |= node.id in scan.loop_info(loop.node).names
    return Unknown(node.id)


@lru_cache(maxsize=1024)
def _builtin(name: str) -> External | None:
    """The builtin of a name, if it is one that means something here."""
    builtin = "builtins." + name
    known = registry.function(builtin) is not None or builtin in INTRINSICS
    if known or name in attributes.BUILTIN_CLASSES or name == "super":
        return External(builtin)
    return None


def _constant(machine: Machine, node: ast.Constant, frame: Frame) -> Any:
    value = Const(node.value)
    if type(node.value) is str and node.value[:2] in ("cu", "mp", "xp"):
        reports.literal(machine, node, value, frame)
    return value


def _attribute(machine: Machine, node: ast.Attribute, frame: Frame) -> Any:
    receiver = machine.evaluate(node.value, frame)
    return attributes.read(machine, receiver, node.attr, node, frame)


def _tuple(machine: Machine, node: ast.Tuple, frame: Frame) -> Any:
    items, present, rest, sources = _displayed(machine, node.elts, frame)
    if rest is not None or not all(each is True for each in present):
        made = keep_presence(ListObject(items, rest, "tuple", node), present)
        return keep_put_together(made, sources)
    return TupleValue(items)


def _list(machine: Machine, node: ast.List, frame: Frame) -> Any:
    return _list_of(machine, node, "list", frame)


def _set(machine: Machine, node: ast.Set, frame: Frame) -> Any:
    return _list_of(machine, node, "set", frame)


def _list_of(machine: Machine, node: ast.List | ast.Set, kind: str, frame: Frame) -> Any:
    items, present, rest, sources = _displayed(machine, node.elts, frame)
    made = keep_presence(ListObject(items, rest, kind, node), present)
    return keep_put_together(made, sources)


def _displayed(
    machine: Machine, nodes: list[ast.expr], frame: Frame
) -> tuple[tuple[Any, ...], tuple[Any, ...], Any, list[Any]]:
    """Values of items that are written out, stars unpacked, with the condition under which each is
    there, and what any further one is; and where there are such, what the items are taken from."""
    items: list[Any] = []
    present: list[Any] = []
    sources: list[Any] = []
    rest: Any = None
    if len(nodes) > MAX_ITEMS and all(isinstance(n, ast.Constant) for n in nodes):
        return (), (), Unknown(), []
    if len(nodes) > MAX_LITERAL:
        machine.budget.note("very long literals were not looked at")
        return (), (), Unknown(), []
    for node in nodes:
        if isinstance(node, ast.Starred):
            source = machine.evaluate(node.value, frame)
            (known, there), more = surely_or_perhaps(source, *machine.iterate(source))
            sources.append(source)
            if rest is None:
                items.extend(known)
                present.extend(there)
            for value in () if rest is None else known:
                rest = join_blind(rest, value)
            if more is not None:
                rest = more if rest is None else join_blind(rest, more)
        else:
            value = machine.evaluate(node, frame)
            sources.append(TupleValue((value,)))
            if rest is None:
                items.append(value)
                present.append(True)
            else:
                rest = join_blind(rest, value)
    return tuple(items), tuple(present), rest, sources if rest is not None else []


def _dict(machine: Machine, node: ast.Dict, frame: Frame) -> Any:
    found = DictObject(site=node)
    if len(node.keys) > 4 * MAX_ITEMS:
        found.fields["rest"] = Unknown()
        return found
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = machine.evaluate(value_node, frame)
        if key_node is None:
            merge_mapping(machine, found, value)
            continue
        put(machine, found, machine.evaluate(key_node, frame), value)
    return found


def merge_mapping(machine: Machine, target: DictObject, value: Any) -> None:
    """`{**value}` and `target.update(value)`."""
    value = dict_classes.content(value)
    if type(value) is DictObject:
        put_all(machine.journal, value.entries, target.entries)
        more = value.rest
        also_hold(machine.journal, target, any_of_these(value))
    else:
        more = Unknown() if value != NONE else None
    if more is not None:
        overwrite(machine, target, Unknown(), more)
        rest = target.rest
        machine.journal.write(
            target.fields, "rest", more if rest is None else join_blind(rest, more)
        )


def _if_expression(machine: Machine, node: ast.IfExp, frame: Frame) -> Any:
    test = machine.evaluate(node.test, frame)
    reports.tested(machine, node.test, test, frame)
    condition = truth(test, text_of(node.test))

    def side(expression: ast.expr, positive: bool) -> Any:
        treated = narrow(machine, node.test, frame, positive)
        found = machine.evaluate(expression, frame)
        forget_narrowed(treated)
        sides.append(found)
        return found

    sides: list[Any] = []
    chosen = machine.choose(
        condition, frame, lambda: side(node.body, True), lambda: side(node.orelse, False)
    )
    return every_item.if_tensor(node, sides) or chosen


def text_of(node: ast.expr) -> str:
    """A short text of a condition, for a reader; longer ones have none."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Constant):
        return ast.unparse(node)
    return ""


def _call(machine: Machine, node: ast.Call, frame: Frame) -> Any:
    return calls.evaluate_call(machine, node, frame)


def _lambda(machine: Machine, node: ast.Lambda, frame: Frame) -> Any:
    function = Function(node, frame.chunk, frame.namespace, frame.closure(), "<lambda>")
    function.kind = "lambda"
    function.defaults = tuple(machine.evaluate(d, frame) for d in node.args.defaults)
    function.kw_defaults = tuple(
        MISSING if d is None else machine.evaluate(d, frame) for d in node.args.kw_defaults
    )
    return function


def _named(machine: Machine, node: ast.NamedExpr, frame: Frame) -> Any:
    """`name := value`, which binds the name around the comprehensions that it stands in."""
    value = machine.evaluate(node.value, frame)
    kept, where, repeats = value, frame, False
    while where.around is not None:
        repeats |= where.loops[-1].repeats if where.loops else False
        where = where.around
    if repeats:
        kept = join_blind(where.scope.names.get(node.target.id, MISSING), value)
    assign(machine, node.target, kept, where, node.value)
    return value


def _joined_string(machine: Machine, node: ast.JoinedStr, frame: Frame) -> Any:
    parts: list[Any] = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            found: Any = Const(value.value)
        elif isinstance(value, ast.FormattedValue):
            found = machine.evaluate(value.value, frame)
            reports.formatted(machine, value, found, frame)
            _describe(machine, found, value, frame)
            if value.format_spec is not None or value.conversion != -1:
                found = Unknown()
            elif type(found) in (DeviceValue, DtypeValue):
                found = string_of(found)
        else:
            found = Unknown()
        parts.append(found)
    if not all(type(part) is Const for part in parts):
        reports.string_made(machine, node, frame)
    unknown = _text_of(node)

    def joined(*parts: Any) -> Any:
        if all(type(part) is Const for part in parts):
            return Const("".join(str(part.value) for part in parts))
        if len(parts) == 1 and is_text(parts[0]):
            return parts[0]
        return put_together(unknown, parts)

    return by_cases(joined, parts, unknown)


def _describe(machine: Machine, value: Any, node: ast.FormattedValue, frame: Frame) -> None:
    """Runs what an object of the program's own says of itself in a text."""
    if not isinstance(value, Instance):
        return
    for name in ("__repr__",) if node.conversion == ord("r") else ("__str__", "__repr__"):
        if calls.call_special(machine, value, name, (), node, frame) is not None:
            return


def _text_of(node: ast.JoinedStr) -> Any:
    """A text of which no more is known than how it begins."""
    first = node.values[0] if node.values else None
    return text_begun(str(first.value) if isinstance(first, ast.Constant) else "", "")


def _slice(machine: Machine, node: ast.Slice, frame: Frame) -> Any:
    parts = [
        NONE if part is None else machine.evaluate(part, frame)
        for part in (node.lower, node.upper, node.step)
    ]
    return SliceValue(*parts)


def _await(machine: Machine, node: ast.Await, frame: Frame) -> Any:
    return machine.evaluate(node.value, frame)


def _yield(machine: Machine, node: ast.Yield, frame: Frame) -> Any:
    value = NONE if node.value is None else machine.evaluate(node.value, frame)
    if frame.yields is not None:
        frame.yields.append((value, _at_most(frame), _is_left_out(frame)))
        suspended.keep(machine, frame)
    return Unknown("the value sent")


def _at_most(frame: Frame) -> bool:
    """Whether a generator that runs to its end may come here not once, or more than once; of loops
    whose items are gone through one by one each pass is a place of its own."""
    return bool(
        frame.branch_depth
        or frame.exits
        or any(loop.repeats or loop.breaks or loop.continues for loop in frame.loops)
    )


def _is_left_out(frame: Frame) -> bool:
    """Whether a generator may leave this place out, or end before it."""
    ways_out = any(loop.breaks or loop.continues for loop in frame.loops)
    return bool(frame.branch_depth or frame.exits or ways_out)


def _yield_from(machine: Machine, node: ast.YieldFrom, frame: Frame) -> Any:
    source = machine.evaluate(node.value, frame)
    items, rest = machine.iterate(source)
    if frame.yields is not None:
        open_number, left_out = _at_most(frame), _is_left_out(frame)
        frame.yields.extend((item, open_number, left_out) for item in items)
        held = any_of_these(source) or (() if rest is None else (rest,))
        left_out = left_out or not holds_all(source)
        frame.yields.extend((each, True, left_out) for each in held)
    found = source.fields.get(RETURNED) if type(source) is ListObject else None
    return Unknown() if found is None else found


def _starred(machine: Machine, node: ast.Starred, frame: Frame) -> Any:
    return machine.evaluate(node.value, frame)


EVALUATORS.update(
    {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.Attribute: _attribute,
        ast.Tuple: _tuple,
        ast.List: _list,
        ast.Set: _set,
        ast.Dict: _dict,
        ast.IfExp: _if_expression,
        ast.Call: _call,
        ast.Lambda: _lambda,
        ast.NamedExpr: _named,
        ast.JoinedStr: _joined_string,
        ast.Slice: _slice,
        ast.Await: _await,
        ast.Yield: _yield,
        ast.YieldFrom: _yield_from,
        ast.Starred: _starred,
    }
)
