"""`collections.UserDict` and `MutableMapping`: their methods read and store items by those of the
program's own class."""

from __future__ import annotations

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import MISSING, DictObject, Instance
from device_lens.domain.join import join
from device_lens.domain.presence import presence
from device_lens.domain.torch_keys import value_of
from device_lens.domain.values import NONE, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.python.dict_classes import USER_DICT, held

_SETTER, _GETTER = "__setitem__", "__getitem__"
_READING = ("get", "values", "items", "pop", "setdefault")
_OTHERS = ("update", "__init__", "copy")
_MAPPINGS = ("collections.abc.MutableMapping", "typing.MutableMapping")


def _own(receiver: Value, method: str) -> BoundMethod | None:
    cls = receiver.cls if isinstance(receiver, Instance) else None
    found = cls.lookup(method) if type(cls) is ClassValue else None
    return BoundMethod(receiver, found) if type(found) is Function else None


def _by_own_items(name: str, model: Model) -> Model:
    """A method of `UserDict` for an object whose class may have items of its own."""

    def of_object(call: Call) -> Value:
        receiver = call.receiver if call.receiver is not None else next(iter(call.args), None)
        args = call.args if call.receiver is not None else call.args[1:]
        setter, getter = _own(receiver, _SETTER), _own(receiver, _GETTER)
        items = held(receiver)
        if items is None or not (setter or getter):
            return model(call)
        if setter is not None and name in ("update", "__init__"):
            _store_each(call, setter, args)
            return NONE
        if name == "copy":
            return Unknown("a copy")
        if name == "setdefault":
            return _set_default(call, items, args)
        if getter is not None and name in _READING:
            return _read(call, name, items, getter, args)
        return model(call)

    return of_object


def _store_each(call: Call, setter: BoundMethod, args: tuple[Value, ...]) -> None:
    """Stores what is given, one by one."""
    given = DictObject({}, None, call.site.node)
    _of_dict(call, "update", given, args)
    for key, value in list(given.entries.items()):
        call.services.invoke(setter, (value_of(key), value), {})
    if given.rest is not None:
        call.services.invoke(setter, (Unknown("a key"), given.rest), {})


def _set_default(call: Call, items: DictObject, args: tuple[Value, ...]) -> Value:
    """`d.setdefault(key, value)`: `d[key]`, unless it has to be set; then the value."""
    key, value = args[0] if args else NONE, args[1] if len(args) > 1 else NONE
    known = constant(key, MISSING)
    there = known is not MISSING and presence(items.entries, known)
    if there is True:
        return call.services.item(call.receiver, key)
    setter = _own(call.receiver, _SETTER)
    if there is not False or items.rest is not None or known is MISSING:
        if setter is not None:
            call.services.invoke_beside(setter, (key, value), {}, False)
        else:
            _of_dict(call, "setdefault", items, args)
        return Unknown("an item")
    if setter is not None:
        call.services.invoke(setter, (key, value), {})
    else:
        _of_dict(call, "setdefault", items, args)
    return value


def _read(
    call: Call, name: str, items: DictObject, getter: BoundMethod, args: tuple[Value, ...]
) -> Value:
    """What a method gives that reads items by the class's own method."""
    if name in ("values", "items"):
        seen = DictObject({}, None, call.site.node)
        for key in list(items.entries):
            seen.entries[key] = call.services.invoke(getter, (value_of(key),), {})
        if items.rest is not None:
            seen.fields["rest"] = call.services.invoke(getter, (Unknown("a key"),), {})
        return _of_dict(call, name, seen, ())
    known = constant(args[0], MISSING) if args else MISSING
    if known is MISSING:
        return Unknown("an item")
    there = True if items.rest is not None else presence(items.entries, known)
    if items.rest is not None and known not in items.entries:
        return Unknown("an item")
    value = args[1] if len(args) > 1 else NONE
    if there is not False:
        read = call.services.invoke(getter, (args[0],), {})
        value = join(there, read, value) if type(there) is Guarded else read
    if name == "pop":
        _of_dict(call, "pop", items, args)
    return value


def _of_dict(call: Call, name: str, target: DictObject, args: tuple[Value, ...]) -> Value:
    model = registry.function("dict." + name)
    if model is None:
        return Unknown()
    kwargs = call.kwargs if name == "update" else {}
    return model(
        Call("dict." + name, target, args, kwargs, call.site, call.services, call.complete)
    )


def _updated(call: Call) -> Value:
    """`update` of a class that has nothing but items of its own."""
    setter = _own(call.receiver, _SETTER)
    if setter is not None:
        _store_each(call, setter, call.args)
    return NONE


def _perhaps_set(call: Call) -> Value:
    setter = _own(call.receiver, _SETTER)
    if setter is not None and len(call.args) == 2:
        call.services.invoke_beside(setter, call.args, {}, False)
    return Unknown("an item")


def _popped(call: Call) -> Value:
    deleter = _own(call.receiver, "__delitem__")
    if deleter is not None and call.args:
        call.services.invoke(deleter, call.args[:1], {})
    return Unknown("an item")


def register() -> None:
    """Fills the registry, after the methods of dicts are there."""
    for name in (*_READING, *_OTHERS):
        known = registry.FUNCTIONS[f"{USER_DICT}.{name}"]
        registry.FUNCTIONS[f"{USER_DICT}.{name}"] = _by_own_items(name, known)
    for owner in _MAPPINGS:
        registry.FUNCTIONS[f"{owner}.update"] = _updated
        registry.FUNCTIONS[f"{owner}.setdefault"] = _perhaps_set
        registry.FUNCTIONS[f"{owner}.pop"] = _popped
