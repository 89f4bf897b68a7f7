"""A name that gets another model than the one whose parameters an optimizer was made for.

Where nothing else holds the former model, a step of that optimizer trains nothing that anybody can
reach, and the new one stays as it was made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function, Namespace, Scope
from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import (
    MEMBERS,
    HeapObject,
    Instance,
    ModuleObject,
    Parameter,
    Table,
)
from device_lens.domain.values import BoundExternal, Partial, TupleValue, Unknown
from device_lens.models.torch import replaced
from device_lens.models.torch.module import OPTIMIZERS
from device_lens.models.torch.parts import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

MODELS = frozenset({ModuleObject, Guarded, TupleValue})
"""What may be a model, one of several, or a row of them."""
_MOST = 5_000
"""Objects that are gone through for one name; with more, the former model counts as held."""


def assigned(machine: Machine, node: ast.Assign | ast.AnnAssign, value: Any, frame: Frame) -> None:
    """`net = …` is about to give one name or attribute a model, or several one each."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if len(targets) != 1:
        return
    names, values = targets, (value,)
    if isinstance(targets[0], ast.Tuple | ast.List) and type(value) is TupleValue:
        names, values = targets[0].elts, value.items
    if len(names) != len(values):
        return
    for target, given in zip(names, values, strict=True):
        place = _place(target, frame)
        former = None if place is None else place[0].get(place[1])
        if place is None or type(former) is not ModuleObject:
            continue
        optimizers = () if former.many is not None else _optimizers(former)
        if not optimizers or not _is_made_anew(former, given):
            continue
        if not _is_held(machine, former, value, place):
            replaced.replace(machine, optimizers, given, machine.site(node, frame))


def _is_made_anew(former: ModuleObject, given: Any) -> bool:
    """Whether a value is another model in each case, and one to be trained of which no optimizer
    has anything."""
    for each in leaves(given):
        if type(each) is not ModuleObject or each is former or each.many is not None:
            return False
        new = replaced.parameters(each)
        if not any(parameter.tensor.requires_grad for parameter in new):
            return False
        if any(OPTIMIZERS in parameter.fields for parameter in new):
            return False
    return True


def _place(target: ast.expr, frame: Frame) -> tuple[Table, str] | None:
    """The table and the key that an assignment writes, of a name or of an object's attribute."""
    if isinstance(target, ast.Name):
        from device_lens.interpreter.assignment import owner_of

        scope = owner_of(target.id, frame) if target.id in frame.scope.outer else frame.scope
        return scope.names, target.id
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        holder = frame.scope.names.get(target.value.id)
        if type(holder) is Instance and target.attr in holder.fields:
            return holder.fields, target.attr
    return None


def _optimizers(module: ModuleObject) -> tuple[Instance, ...]:
    """The optimizers that have parameters of a module and no others, or that had those of the one
    that it has replaced."""
    held = replaced.parameters(module)
    found = {
        id(optimizer): optimizer
        for each in held
        for optimizer in each.fields.get(OPTIMIZERS, ())
        if type(optimizer) is Instance
    }
    known = set(map(id, held))
    alone = [
        each for each in found.values() if known.issuperset(map(id, each.fields.get(MEMBERS, ())))
    ]
    before = () if found else module.own.get(replaced.REPLACES, ())
    given = before if isinstance(before, tuple) else ()
    return (*alone, *(each for each in given if type(each) is Instance))


def _is_held(machine: Machine, former: ModuleObject, new: Any, place: tuple[Table, str]) -> bool:
    """Whether a part of a model can be reached without the place that is given another one."""
    sought = {id(each) for _, each in walk(former)}
    sought.update(id(each) for each in replaced.parameters(former))
    pending: list[Any] = [*leaves(new), *(frame.scope for frame in machine.stack)]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if id(value) in sought or len(seen) > _MOST:
            return True
        pending += _led_to(value, place)
    return False


def _led_to(value: Any, place: tuple[Table, str]) -> Iterable[Any]:
    """What one value leads to."""
    if isinstance(value, tuple | list):
        return [leaf for each in value for leaf in leaves(each)]
    if isinstance(value, TupleValue):
        return [leaf for each in value.items for leaf in leaves(each)]
    if isinstance(value, Scope):
        return [*_in_table(value.names, place), *([value.parent] if value.parent else [])]
    if isinstance(value, Namespace):
        return [value.scope]
    if isinstance(value, Function):
        return [value.scope, value.namespace, value.defaults, value.kw_defaults]
    if isinstance(value, BoundMethod):
        return [value.function, value.receiver]
    if isinstance(value, BoundExternal):
        return list(leaves(value.receiver))
    if isinstance(value, Partial):
        return [value.function, value.args, tuple(value.kwargs.values())]
    if isinstance(value, Unknown):
        return [] if value.fields is None else _in_table(value.fields, place)
    return _in_object(value, place) if isinstance(value, HeapObject) else []


def _in_object(value: HeapObject, place: tuple[Table, str]) -> list[Any]:
    if MEMBERS in value.fields:  # an optimizer, whose parameters nobody calls
        public = {key: each for key, each in value.fields.items() if key[:1] != "<"}
        public.pop("param_groups", None)
        return _in_table(public, place)
    if type(value) is Parameter:
        return []
    found = _in_table(value.fields, place)
    if isinstance(value, ModuleObject):
        for table in (value.parameters, value.buffers, value.modules, value.own):
            found += _in_table(table, place)
    entries = getattr(value, "entries", None)
    if isinstance(entries, dict):
        found += _in_table(entries, place)
    if isinstance(value, ClassValue):
        found.append(value.mro[1:])
        found.append(value.namespace)
    elif isinstance(value, Instance):
        found.append(value.cls)
    return found


def _in_table(table: Table, place: tuple[Table, str]) -> list[Any]:
    skipped = place[1] if table is place[0] else None
    return [
        leaf
        for key, each in list(table.items())
        if skipped is None or key != skipped
        for leaf in leaves(each)
    ]


def run_backward(machine: Machine, seen: LibraryCall) -> None:
    """`loss.backward()`."""
    awaited = machine.globals[replaced.AWAITED]
    if awaited:
        replaced.trained(machine, awaited)


WATCHERS = {"torch.Tensor.backward": run_backward, "torch.autograd.backward": run_backward}
