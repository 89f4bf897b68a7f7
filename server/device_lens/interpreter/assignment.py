"""Assignment to names, attributes, subscripts and patterns of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain import by_number, objects, optional_items
from device_lens.domain.code import BoundMethod, ClassValue, Function, Namespace, Scope
from device_lens.domain.device import same_everywhere
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import HeapObject, Instance, ListObject, ModuleObject, Parameter
from device_lens.domain.join import join_all, join_blind
from device_lens.domain.kinds import opened
from device_lens.domain.lengths import is_unplaced
from device_lens.domain.narrowing import where
from device_lens.domain.objects import any_of_these, keep_any, may_hold
from device_lens.domain.parameters import set_tensor
from device_lens.domain.values import NONE, Const, External, Tensor, Unknown
from device_lens.interpreter import (
    aliases,
    descriptors,
    dimensions,
    item_choices,
    library_names,
    of_many,
    private_names,
    reports,
    scan,
)
from device_lens.interpreter.dispatch import NEXT
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.iteration import that_is_filled
from device_lens.models.call import tensor_of
from device_lens.models.python import dict_classes
from device_lens.models.torch import module as torch_module
from device_lens.models.torch.parts import all_parts
from device_lens.syntax.pairing import parts_of

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def assign(machine: Machine, target: ast.expr, value: Any, frame: Frame, source: Any) -> None:
    """`target = value`; `source` is the expression that the value comes from (None: none)."""
    if isinstance(target, ast.Name):
        value = opened(value)
        assign_name(machine, target.id, value, frame)
        machine.show(target, value, frame)
    elif isinstance(target, ast.Attribute):
        receiver = machine.evaluate(target.value, frame)
        if type(receiver) is Tensor:
            set_on_tensor(machine, target.value, target.attr, receiver, value, target, frame)
        else:
            set_attribute(machine, receiver, target.attr, value, target, frame, source)
            if _transforms(receiver, target.attr):
                from device_lens.interpreter import attributes

                value = attributes.read(machine, receiver, target.attr, target, frame)
        machine.show(target, value, frame)
    elif isinstance(target, ast.Subscript):
        from device_lens.interpreter.item_stores import store

        store(machine, target, value, frame)
    elif isinstance(target, ast.Tuple | ast.List):
        unpack(machine, target.elts, value, frame, source)
    elif isinstance(target, ast.Starred):
        assign(machine, target.value, value, frame, source)


def _transforms(receiver: Any, name: str) -> bool:
    """Whether what is assigned goes through code of the program's own class."""
    if not isinstance(receiver, Instance) or type(receiver.cls) is not ClassValue:
        return False
    if receiver.cls.lookup("__setattr__") is not None:
        return True
    if descriptors.property_setter(receiver.cls, name) is not None:
        return True
    return descriptors.setter(receiver, name) is not None


def assign_name(machine: Machine, name: str, value: Any, frame: Frame) -> None:
    scope = frame.scope
    if name in scope.outer:
        scope = owner_of(name, frame)
        machine.journal.outside += 1  # to whoever calls it, the function changed something
    machine.journal.write(scope.names, name, value)


def is_global(name: str, frame: Frame) -> bool:
    """Whether the function that runs has declared a name to be the module's."""
    return frame.function is not None and name in scan.global_names(frame.function.node)


def owner_of(name: str, frame: Frame) -> Scope:
    """The scope that a `global` or `nonlocal` name belongs to."""
    if is_global(name, frame):
        return frame.namespace.scope
    scope = frame.scope.parent
    while scope is not None:
        if name in scope.names:
            return scope
        scope = scope.parent
    return frame.namespace.scope


def unpack(
    machine: Machine, targets: list[ast.expr], value: Any, frame: Frame, source: Any
) -> None:
    """`a, *b, c = value`."""
    star = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    if type(value) is Guarded and star is None:
        value = machine.merge_items(value, len(targets))
    elif type(value) is Guarded and len(targets) > 1:
        value = that_is_filled(value)  # nothing unpacks nowhere
    if type(value) is ListObject and (star is None or len(targets) > 1):
        dimensions.unpacked(machine, source, frame)
    items, rest = machine.iterate(value)
    if is_unplaced(value):
        items, rest = optional_items.by_place(value, items, rest)
    held = may_hold(value, items, rest) if any_of_these(value) else ()
    placed = by_number.first_items(value)

    def item_for(index: int, target: ast.expr) -> Any:
        if index < len(items):
            return items[index]
        if index < len(placed):
            return placed[index]
        told = optional_items.at(value, index)
        if told is not None:
            return told
        found = item_choices.item_choice(machine, held, Unknown(), target, frame) if held else None
        known = rest if found is None else found
        return Unknown() if known is None else known

    if star is None:
        parts = parts_of(targets, source)
        for index, target in enumerate(targets):
            assign(machine, target, item_for(index, target), frame, parts[index])
        return
    tail = len(targets) - star - 1
    if rest is None and len(items) >= len(targets) - 1:
        middle: Any = ListObject(items[star : len(items) - tail], None, "list", source)
        ends = items[len(items) - tail :] if tail else ()
    else:
        known = [*items[star:], *([] if rest is None else [rest])]
        joined = join_all(known) if known else Unknown()
        middle = keep_any(ListObject((), joined, "list", source), held, picked=True)
        if not tail:
            optional_items.keep_after(machine.journal, value, star, middle)
        if placed[star:]:
            by_number.keep_places(middle, placed[star:])
        ends = tuple(joined for _ in range(tail))
    for index, target in enumerate(targets[:star]):
        assign(machine, target, item_for(index, target), frame, None)
    assign(machine, targets[star], middle, frame, None)
    for target, item in zip(targets[star + 1 :], ends, strict=False):
        assign(machine, target, item_for(len(items), target) if held else item, frame, None)


def set_attribute(
    machine: Machine, receiver: Any, name: str, value: Any, node: Any, frame: Frame, source: Any
) -> None:
    """`receiver.name = value`."""
    if type(receiver) is Guarded:
        _set_in_tree(machine, receiver, name, value, node, frame, source)
        return
    kind = type(receiver)
    write = machine.journal.write
    if name[:2] == "__":
        name = private_names.set_as(receiver, name, frame)
    if through_own_setter(machine, receiver, name, value, node, frame):
        return
    if name[:2] == "__" and isinstance(receiver, Instance):
        from device_lens.interpreter.whole_objects import set_whole

        if set_whole(machine, receiver, name, value, source):
            return
    if kind is ModuleObject:
        _set_in_module(machine, receiver, name, value, node, frame, source)
    elif kind is Instance and dict_classes.takes_attribute(receiver):
        from device_lens.interpreter.keys import put

        put(machine, dict_classes.mapping(receiver), Const(name), value)
    elif kind is Instance:
        if not _set_property(machine, receiver, name, value, node, frame):
            value = of_many.attribute(receiver, name, value, node, frame)
            write(receiver.fields, name, value)
            for each in objects.stands_for(receiver):
                write(each.fields, name, join_blind(each.fields.get(name, value), value))
    elif kind is Parameter:
        if name == "grad":
            reports.gradient_assigned(machine, receiver, value, node, frame)
        every = of_many.does_to_each(receiver, node, frame)
        _set_in_parameter(machine, receiver, name, value, every)
    elif kind is Namespace:
        write(receiver.scope.names, name, value)
    elif kind is ClassValue:
        write(receiver.fields, name, value)
    elif kind is External:
        library_names.bind(machine, receiver, name, value)
    elif kind is Tensor and name == "data":
        aliases.lose_others(machine, receiver, _with_data(receiver, value))
    elif kind is Unknown:
        torch_module.part_set(machine, receiver, name, value)
        if name not in receiver.parts():
            receiver.derive(name, Unknown())  # which it is wherever this is not set
        write(receiver.parts(), name, value)
        torch_module.hold(machine, receiver, value)
    elif isinstance(receiver, HeapObject) and name not in receiver.fields:
        write(receiver.fields, "." + name, value)


def through_own_setter(
    machine: Machine, receiver: Any, name: Any, value: Any, node: Any, frame: Frame
) -> bool:
    """Runs the `__setattr__` of the program's own class, unless it is what runs, or the `__set__`
    of the descriptor that the class has by that name; `name` is a value where it is not known."""
    if not isinstance(receiver, Instance) or type(receiver.cls) is not ClassValue:
        return False
    from device_lens.interpreter import calls

    setter = receiver.cls.lookup("__setattr__")
    if type(setter) is Function and not any(
        f.function and f.function.node is setter.node for f in machine.stack
    ):
        given = Const(name) if isinstance(name, str) else name
        calls.call(machine, BoundMethod(receiver, setter), (given, value), {}, node, frame)
        return True
    if not isinstance(name, str):
        return False
    if type(receiver) is ModuleObject and type(value) in (ModuleObject, Parameter):
        return False
    described = descriptors.setter(receiver, name)
    if described is None:
        return False
    calls.call(machine, described, (receiver, value), {}, node, frame)
    return True


def _set_in_tree(
    machine: Machine, tree: Guarded, name: str, value: Any, node: Any, frame: Frame, source: Any
) -> None:
    if NONE in (tree.yes, tree.no):
        kept = tree.no if tree.yes == NONE else tree.yes
        set_attribute(machine, kept, name, value, node, frame, source)
        return

    def side(leaf: Any, holds: bool) -> int:
        given = where(value, ((tree.atom, holds),))
        set_attribute(machine, leaf, name, given, node, frame, source)
        return NEXT

    machine.fork(
        Guarded(tree.atom, True, False),
        frame,
        lambda: side(tree.yes, True),
        lambda: side(tree.no, False),
    )


def _set_property(
    machine: Machine, receiver: Instance, name: str, value: Any, node: Any, frame: Frame
) -> bool:
    """Runs the setter of a property, if there is one."""
    from device_lens.interpreter import calls

    if type(receiver.cls) is not ClassValue:
        return False
    setter = descriptors.property_setter(receiver.cls, name)
    if setter is None:
        return False
    calls.call(machine, BoundMethod(receiver, setter), (value,), {}, node, frame)
    return True


def _set_in_module(
    machine: Machine,
    receiver: ModuleObject,
    name: str,
    value: Any,
    node: Any,
    frame: Frame,
    source: Any,
) -> None:
    if _set_property(machine, receiver, name, value, node, frame):
        return
    value = reports.module_attribute(machine, receiver, name, value, node, frame, source)
    value = of_many.attribute(receiver, name, value, node, frame)
    # What each forward pass sets anew is kept up without an optimizer: a moving average.
    passing = any(each.function and each.function.name == "forward" for each in machine.stack)
    site = None if passing else machine.site(node, frame)
    part = objects.as_part(value)
    torch_module.set_attribute(machine, receiver, name, part, site)
    if type(part) is Unknown:
        torch_module.hold(machine, receiver, part)


def _set_in_parameter(
    machine: Machine, receiver: Parameter, name: str, value: Any, every: bool
) -> None:
    tensor = receiver.tensor
    if name == "data":
        set_tensor(machine.journal, receiver, _with_data(tensor, value), every)
        reports.parameter_set(machine)
    elif name == "requires_grad" and type(value) is Const:
        changed = tensor.with_(requires_grad=bool(value.value))
        set_tensor(machine.journal, receiver, changed, every)
    elif name == "grad" and value == NONE:
        machine.journal.delete(receiver.fields, name)
        if tensor.grad_apart and every:
            set_tensor(machine.journal, receiver, tensor.with_(grad_apart=False))
    else:
        machine.journal.write(receiver.fields, name, value)


def _with_data(old: Tensor, value: Any) -> Tensor:
    """A tensor whose data is another one's: it is wherever that is, also where nobody knows."""
    new = tensor_of(value) or Tensor()
    apart = old.grad_apart or not same_everywhere(old.device, new.device)
    return new.with_(requires_grad=old.requires_grad, leaf=old.leaf, grad_apart=apart)


def delete(machine: Machine, target: ast.expr, frame: Frame) -> None:
    if isinstance(target, ast.Name):
        machine.journal.delete(frame.scope.names, target.id)
    elif isinstance(target, ast.Attribute):
        receiver = machine.evaluate(target.value, frame)
        delete_attribute(machine, receiver, private_names.set_as(receiver, target.attr, frame))
    elif isinstance(target, ast.Subscript):
        from device_lens.interpreter.item_stores import remove

        remove(machine, target, frame)
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            delete(machine, item, frame)


def delete_attribute(machine: Machine, receiver: Any, name: str) -> None:
    """`del receiver.name`."""
    if isinstance(receiver, ModuleObject):
        for table in (receiver.modules, receiver.parameters, receiver.buffers):
            machine.journal.delete(table, name)
    if isinstance(receiver, HeapObject):
        machine.journal.delete(receiver.fields, name)


def set_on_tensor(
    machine: Machine, held: Any, name: str, old: Tensor, value: Any, node: Any, frame: Frame
) -> None:
    """`x.data = value`, `x.requires_grad = True` on a tensor held by a name: the name holds a
    changed tensor from here on."""
    changed: Tensor | None = None
    if name == "data":
        changed = _with_data(old, value)
        _set_in_buffers(machine, old, changed, frame)
        aliases.lose_others(machine, old, changed)
    elif name == "grad":
        reports.gradient_assigned(machine, old, value, node, frame)
    elif name == "requires_grad" and type(value) is Const:
        changed = old.with_(requires_grad=bool(value.value))
        aliases.lose_gradient(machine, old, changed)
    if changed is not None and isinstance(held, ast.Name | ast.Attribute):
        assign(machine, held, changed, frame, None)


def _set_in_buffers(machine: Machine, old: Tensor, changed: Tensor, frame: Frame) -> None:
    """A buffer that a name stands for as well, as in `for b in net.buffers(): b.data = …`, is one
    tensor with it."""
    scope: Scope | None = frame.scope
    while scope is not None:
        for value in list(scope.names.values()):
            for part in all_parts(value) if type(value) is ModuleObject else ():
                if part.table.get(part.key) is old:
                    machine.journal.write(part.table, part.key, changed)
        scope = scope.parent
