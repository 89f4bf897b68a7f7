"""Classes of the program that are lists: an object of one holds a list beside its attributes."""

from __future__ import annotations

from typing import Any

from device_lens.domain.heap import Instance, ListObject
from device_lens.domain.kinds import gathered
from device_lens.domain.values import NONE, Const, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.numbers import is_number, number

HELD = "<listed items>"
"""The field that has the list."""
CLASSES = ("builtins.list", "typing.List")


def hold(value: Instance, node: Any) -> None:
    """Gives a new object its list, if its class is a list."""
    if not set(CLASSES).isdisjoint(value.cls.foreign):
        value.fields[HELD] = ListObject((), None, "list", node)


def sequence(value: Value) -> Value:
    """The list that an object holds, else the value."""
    found = value.fields.get(HELD) if type(value) is Instance else None
    return found if type(found) is ListObject else value


def _of_held(model: Model) -> Model:
    """A method of the list for one of the object that holds it. An object that was made with
    symbols holds any items: nothing is known of them."""

    def of_object(call: Call) -> Value:
        receiver, args = call.receiver, call.args
        if receiver is None and args:
            receiver, args = args[0], args[1:]
        target = sequence(receiver)
        if type(target) is not ListObject:
            return Unknown()
        return model(
            Call(call.name, target, args, call.kwargs, call.site, call.services, call.complete)
        )

    return of_object


def _iterate(call: Call) -> Value:
    return call.receiver


def _get_item(call: Call) -> Value:
    return call.services.item(call.receiver, call.args[0]) if call.args else Unknown()


def _set_item(call: Call) -> Value:
    if len(call.args) != 2:
        return NONE
    (index, value), target = call.args, call.receiver
    position, items = constant(index), target.items
    if isinstance(position, int) and -len(items) <= position < len(items) and target.rest is None:
        changed = list(items)
        changed[position] = value
        call.write(target.fields, "items", tuple(changed))
        return NONE
    rest = gathered((*items, value), target.rest) if is_number(index) else Unknown()
    call.write(target.fields, "items", ())
    call.write(target.fields, "rest", rest)
    return NONE


def _length(call: Call) -> Value:
    target = call.receiver
    return Const(len(target.items)) if target.rest is None else number("a length")


def _initialise(call: Call) -> Value:
    """`list.__init__(self, items)`."""
    items, rest = call.services.iterate(call.args[0]) if call.args else ((), None)
    call.write(call.receiver.fields, "items", items)
    call.write(call.receiver.fields, "rest", rest if call.complete else Unknown())
    return NONE


def _added_in_place(call: Call) -> Value:
    """`self += items`: the object itself."""
    target, extend = sequence(call.receiver), registry.function("list.extend")
    if type(target) is ListObject and extend is not None:
        extend(Call("list.extend", target, call.args, {}, call.site, call.services))
    return call.receiver


def register() -> None:
    """Fills the registry."""
    models: dict[str, Model] = {
        "__iter__": _iterate,
        "__getitem__": _get_item,
        "__setitem__": _set_item,
        "__len__": _length,
        "__init__": _initialise,
    }
    for name in "append extend insert pop clear copy reverse sort remove".split():
        model = registry.function("list." + name)
        if model is not None:
            models[name] = model
    models["__delitem__"] = models["remove"]
    for owner in CLASSES:
        for name, model in models.items():
            registry.FUNCTIONS[f"{owner}.{name}"] = _of_held(model)
        registry.FUNCTIONS[f"{owner}.__iadd__"] = _added_in_place
