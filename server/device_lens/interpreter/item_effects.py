"""Objects that the body of a loop moves in place: what it does to one must be done to each."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.heap import (
    ANY_OF,
    ListObject,
    ModuleObject,
    Parameter,
)
from device_lens.domain.objects import any_of_these, few_objects, holds_all
from device_lens.domain.parameters import members
from device_lens.domain.values import Const, Tensor, TupleValue, Unknown
from device_lens.interpreter import echoes, put_aside
from device_lens.interpreter.doings import CHANGERS, MOVERS, ONLY_READ
from device_lens.interpreter.effects import forget, objects
from device_lens.interpreter.frames import LoopRecord
from device_lens.interpreter.iteration import any_of
from device_lens.interpreter.passes_apart import PassesApart, tables
from device_lens.models import registry
from device_lens.models.numbers import is_number
from device_lens.models.torch.parts import all_parts
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MAX_OBJECTS = 64
"""Objects for which a body that changes them is run one by one."""
MAX_STAND_INS = 4
"""Kinds of parameters of which one stands for each."""
_CHANGES = "_changes_items"
_STRAIGHT = "_runs_straight"
_SWITCHES = "_switches_gradients"
"""The entries of a node under which answers are kept, for as long as the node lives."""
_SETTINGS = frozenset("requires_grad training momentum eps p inplace name lr".split())
"""Attributes that have nothing to do with where a module or parameter is."""
_CONDITIONAL = (ast.If, ast.IfExp, ast.While, ast.Try, ast.Match, ast.BoolOp, ast.For)


class Changes(NamedTuple):
    """What the text of a body may do to the objects that its loop goes through."""

    changes: bool
    """It assigns to an attribute, or hands one on."""
    moves: bool
    """It calls what moves modules in place."""
    stores: bool
    """It assigns to an item of what may be one of them, or hold it."""


def changes_items(
    node: Any, target: ast.expr, body: Sequence[ast.AST], items: tuple[Any, ...]
) -> bool:
    """Whether the body of a loop (or the element of a comprehension) may change what it goes
    through, or what holds it."""
    text = changes_of(node, target, body)
    if text.changes or text.stores:
        return True
    return text.moves and any(type(each) is not Parameter for each in objects(items))


def moves_items(
    node: Any, target: ast.expr, body: Sequence[ast.AST], items: tuple[Any, ...]
) -> bool:
    """Whether it may put what it goes through elsewhere: neither a move nor an assignment to an
    item does that to a parameter."""
    text = changes_of(node, target, body)
    if text.changes:
        return True
    others = text.moves or text.stores
    return others and any(type(each) is not Parameter for each in objects(items))


def changes_of(node: Any, target: ast.expr, body: Sequence[ast.AST]) -> Changes:
    """What a body may do to what its loop goes through."""
    known: Changes | None = node.__dict__.get(_CHANGES)
    if known is None:
        names = {each.id for each in walk(target) if isinstance(each, ast.Name)}
        inner = [each for part in body for each in walk(part)]
        known = node.__dict__[_CHANGES] = Changes(
            any(_changes(each, names) for each in inner),
            any(map(_moves_receiver, inner)),
            any(_stores(each, names) for each in inner),
        )
    return known


def _changes(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Assign):
        return not isinstance(node.value, ast.Constant) and any(map(_is_place, node.targets))
    if not isinstance(node, ast.Call):
        return False
    handed_on = any(isinstance(each, ast.Name) and each.id in names for each in node.args)
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in CHANGERS or _is_own_method(node.func, names)
    return handed_on and getattr(node.func, "id", "") not in ONLY_READ


def _is_place(target: ast.expr) -> bool:
    """Whether what is assigned to may decide where an object is: a setting does not."""
    return isinstance(target, ast.Attribute) and target.attr not in _SETTINGS


def _stores(node: ast.AST, names: set[str]) -> bool:
    """Whether a statement assigns to an item, but of a container that is a name of its own."""
    if not isinstance(node, ast.Assign) or isinstance(node.value, ast.Constant):
        return False
    containers = (each.value for each in node.targets if isinstance(each, ast.Subscript))
    return any(not isinstance(each, ast.Name) or each.id in names for each in containers)


def _moves_receiver(node: ast.AST) -> bool:
    """Whether a call moves its receiver in place if that is a module."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MOVERS
    )


def _is_own_method(function: ast.Attribute, names: set[str]) -> bool:
    """Whether the target's method is none that tensors, modules or strings have: the program's."""
    if not isinstance(function.value, ast.Name) or function.value.id not in names:
        return False
    if hasattr(str, function.attr):
        return False
    classes = ("torch.Tensor", "torch.nn.Module")
    return all(registry.function(f"{cls}.{function.attr}") is None for cls in classes)


def one_by_one(items: tuple[Any, ...]) -> bool:
    """Whether there are objects among the items, and not too many for a pass each."""
    return len(items) <= MAX_OBJECTS and any(True for _ in objects(items))


def runs_straight(node: Any, body: Sequence[ast.AST]) -> bool:
    """Whether nothing in a body hangs on a condition."""
    known: bool | None = node.__dict__.get(_STRAIGHT)
    if known is None:
        inner = (each for statement in body for each in walk(statement))
        known = node.__dict__[_STRAIGHT] = not any(isinstance(e, _CONDITIONAL) for e in inner)
    return known


def stand_ins(items: tuple[Any, ...]) -> list[Any] | None:
    """Items that stand for all, one of each kind: parameters by where they are and whether they
    ask for gradients, beside anything of what is beside them. None where items are something else
    than one parameter each, or of too many kinds."""
    found: dict[Any, Any] = {}
    beside: list[Any] = []
    at: int | None = None
    for item in items:
        parts = item.items if type(item) is TupleValue else (item,)
        held = [index for index, each in enumerate(parts) if type(each) is Parameter]
        if len(held) != 1 or at not in (None, held[0]) or "tensor" not in parts[held[0]].fields:
            return None
        if len([*objects((item,))]) != 1 or (beside and len(beside) != len(parts)):
            return None
        at = held[0]
        beside = beside or [[] for _ in parts]
        for values, part in zip(beside, parts, strict=True):
            values.append(part)
        tensor = parts[at].tensor
        found.setdefault((tensor.device, tensor.requires_grad), item)
        if len(found) > MAX_STAND_INS:
            return None
    anything = [any_of(tuple(each), None) if i != at else None for i, each in enumerate(beside)]
    return [_beside(item, anything) for item in found.values()]


def _beside(item: Any, anything: list[Any]) -> Any:
    if type(item) is not TupleValue:
        return item
    parts = zip(item.items, anything, strict=True)
    return TupleValue(tuple(own if other is None else other for own, other in parts))


class Watch(NamedTuple):
    """What stands for the items of a loop that may move them, and where it was before."""

    before: list[Any] | None
    """Where objects were; None where their passes do not tell what is done to each."""
    first: Sequence[Any] | None = None
    """What the loop goes through first; None: the first item, and then any other."""
    more: Sequence[Any] = ()
    """What it goes through then, any number of times."""
    each: bool = False
    """Whether every object has passes of its own."""

    def forget_moved(self, machine: Machine, items: tuple[Any, ...]) -> None:
        """After the passes: where objects are is not known, unless each had its own, or those which
        stand for all are where they were."""
        before = self.before
        if self.each:
            return
        if before is None or before != [_place(machine, item) for item, _ in before]:
            forget(machine, items)


def watch(machine: Machine, node: Any, items: tuple[Any, ...], rest: Any) -> Watch | None:
    """Looks at items before a loop; None where it moves none of them. `rest` is any item beyond
    those that are known (None: there is none)."""
    if not moves_items(node, node.target, node.body, items):
        return None
    more = [] if rest is None else [rest]
    if rest is not None and one_by_one(items):
        return Watch(None, items, more, True)
    instead = stand_ins(items)
    if instead is not None:
        return Watch(_places(machine, tuple(instead)), items[:1], [*instead, *more])
    straight = runs_straight(node, node.body)  # else something hangs on a condition
    return Watch(_places(machine, items[:1]) if straight else None)


def _places(machine: Machine, items: tuple[Any, ...]) -> list[Any]:
    return [_place(machine, each) for each in objects(items)]


def _place(machine: Machine, item: Any) -> Any:
    if isinstance(item, ModuleObject):
        return item, machine.recorder.module_device(item)
    if type(item) is Parameter:
        return item, item.tensor.device
    return item, None


def settle(
    machine: Machine,
    record: LoopRecord,
    iterable: Any,
    items: tuple[Any, ...],
    rest: Any,
    apart: PassesApart,
) -> None:
    """After passes that stood for many items, and perhaps for objects that are not among them."""
    node = record.node
    if _switches_gradients(node, node.body):
        _settle_gradients(machine, node, node.body, items)
    others = iterable.fields.get(ANY_OF) if type(iterable) is ListObject else None
    if others is not None:
        _lose(machine, node, others.items)
    stood_for = any_of_these(iterable)
    if untold(iterable, rest):
        return  # each pass had one of them
    if stood_for and rest is not None and _tells(rest, stood_for):
        second = another(node, iterable, rest)
        if _may_be_twice_in(rest, stood_for) and _are_touched(machine, record.start, rest):
            for each in stood_for:
                echoes.lose(machine, each)
        elif second is None:
            echoes.repeat(machine, record.start, rest, stood_for)
        elif apart.meet:  # nobody knows either which of them these two are
            for each in stood_for:
                echoes.lose(machine, each)
        else:
            echoes.repeat_surely(machine, record.start, rest, second, stood_for)
        if second is not None:
            put_aside.spread(machine, record.start, second, stood_for, True)
        put_aside.spread(machine, record.start, rest, stood_for, second is not None)
    elif stood_for:
        if any(changes_of(node, node.target, node.body)):
            for each in stood_for:
                echoes.lose(machine, each)
        put_aside.spread(machine, record.start, rest, stood_for, False)


def _may_be_twice_in(rest: Any, rows: tuple[Any, ...]) -> bool:
    """Whether a row may have one object in two places, so that what is done last to it counts."""
    if type(rest) is not TupleValue:
        return False
    seen: set[int] = set()
    for place in range(len(rest.items)):
        column = [row.items[place] for row in rows if type(row) is TupleValue]
        held = {id(each) for each in objects(tuple(column))}
        if held & seen:
            return True
        seen |= held
    return False


def _are_touched(machine: Machine, mark: int, value: Any) -> bool:
    """Whether something was done since a mark to what a value holds, even if it is as before."""
    written = {id(table) for table, _, _ in machine.journal.value_at(mark).values()}
    return not written.isdisjoint(tables(value, echoes.DEEPEST))


def another(node: Any, iterable: Any, rest: Any) -> Any:
    """Where a loop surely goes through all of some objects, in whatever order, and does the same
    with each by its text: one of them, beside the one that stands for all. None for others."""
    if rest is None or not holds_all(iterable) or not _tells(rest, any_of_these(iterable)):
        return None
    if not runs_straight(node, node.body) or _may_leave(node):
        return None
    found = next((each for each in any_of_these(iterable)[::-1] if each is not rest), None)
    if type(found) is not TupleValue or type(rest) is not TupleValue:
        return found
    pairs = zip(rest.items, found.items, strict=True)
    return TupleValue(tuple(own if [*objects((own,))] else any_ for any_, own in pairs))


def _may_leave(node: Any) -> bool:
    """Whether the body of a loop may leave it before its end."""
    inner = (each for statement in node.body for each in walk(statement))
    return any(isinstance(each, _WAYS_OUT) for each in inner)


_WAYS_OUT = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom)


def _settle_gradients(machine: Machine, node: Any, body: Sequence[ast.stmt], items: Any) -> None:
    """After passes that stood for many items, in which gradients were switched: each parameter is
    as the first is if the body does the same to each, else nobody knows which ones ask for one."""
    first = next(objects(items), None)
    same = type(first) is Parameter and runs_straight(node, body)
    flag = first.tensor.requires_grad if same and first is not None else None
    for item in objects(items):
        if type(item) is Parameter:
            _set_flag(machine, item, flag)
        elif isinstance(item, ModuleObject):
            for part in all_parts(item):
                if type(part.value) is Parameter:
                    _set_flag(machine, part.value, None)


def untold(iterable: Any, rest: Any) -> list[Any]:
    """The few objects of which a loop goes through any, where no one stands for all."""
    return [] if rest is None or _is_told(rest) else few_objects(any_of_these(iterable))


def _is_told(value: Any) -> bool:
    """Whether what a loop does to a value that stands for others is known."""
    if type(value) is TupleValue:
        return all(map(_is_told, value.items))
    return type(value) is not Unknown or is_number(value)


def _tells(rest: Any, stood_for: tuple[Any, ...]) -> bool:
    """Whether what a loop does to a value that stands for others is known of all in it that can be
    changed."""
    if type(rest) is not TupleValue or not all(type(row) is TupleValue for row in stood_for):
        return _is_told(rest)
    for place, part in enumerate(rest.items):
        column = [row.items[place] for row in stood_for if place < len(row.items)]
        if not _is_told(part) and not all(map(_is_constant, column)):
            return False
    return True


def _is_constant(value: Any) -> bool:
    return type(value) is Const or (type(value) is Unknown and is_number(value))


def _lose(machine: Machine, node: Any, others: tuple[Any, ...]) -> None:
    """A loop over what may be any of several objects may have done to each what it does."""
    if moves_items(node, node.target, node.body, others):
        forget(machine, others)
    if _switches_gradients(node, node.body):
        for item in objects(others):
            if type(item) is Parameter:
                _set_flag(machine, item, None)


def _set_flag(machine: Machine, parameter: Parameter, flag: bool | None) -> None:
    for each in members(parameter):
        tensor = each.fields.get("tensor")
        if type(tensor) is Tensor and tensor.requires_grad is not flag:
            machine.journal.write(each.fields, "tensor", tensor.with_(requires_grad=flag))


def _switches_gradients(node: Any, body: Sequence[ast.stmt]) -> bool:
    known: bool | None = node.__dict__.get(_SWITCHES)
    if known is None:
        inner = (each for statement in body for each in walk(statement))
        known = node.__dict__[_SWITCHES] = any(
            isinstance(each, ast.Attribute)
            and (each.attr == "requires_grad_" or _is_switched(each))
            for each in inner
        )
    return known


def _is_switched(node: ast.Attribute) -> bool:
    return node.attr == "requires_grad" and isinstance(node.ctx, ast.Store)
