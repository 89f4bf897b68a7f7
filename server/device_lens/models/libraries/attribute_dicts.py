"""Dicts whose items are attributes too: easydict, addict, munch, yacs and the like.

What a configuration file brings is not read: what the program itself sets is the primary case.
"""

from __future__ import annotations

from device_lens.domain.guard import Guarded
from device_lens.domain.heap import DictObject, Instance, ListObject
from device_lens.domain.values import NONE, Const, External, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.python.configuration import left_at_default
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.objects import itself
from device_lens.models.words import words

CLASSES = words(
    "easydict.EasyDict addict.Dict munch.Munch dotmap.DotMap attrdict.AttrDict box.Box "
    "ml_collections.ConfigDict yacs.config.CfgNode"
)
_DEEPEST = 6
"""Levels of dicts in dicts that become attributes of attributes."""


def _constructor(name: str) -> Model:
    def model(call: Call) -> Value:
        given = call.args[0] if call.args else NONE
        return _made(call, name, given, dict(call.kwargs), _DEEPEST)

    return model


def _made(call: Call, name: str, given: Value, named: dict[str, Value], deepest: int) -> Value:
    """A new object with the items of a dict, those that are dicts made alike."""
    made = Instance(External(name), call.site.node)
    entries = dict(given.entries) if type(given) is DictObject else {}
    for key, value in {**entries, **named}.items():
        if isinstance(key, str):
            inner = deepest and type(value) is DictObject
            made.fields[key] = _made(call, name, value, {}, deepest - 1) if inner else value
    return made


def _get(call: Call) -> Value:
    """`config["device"]`, `config.get("device", default)`."""
    receiver, key = call.receiver, constant(call.get(0, "key", NONE))
    if not isinstance(receiver, Instance) or not isinstance(key, str):
        return Unknown("an item")
    found = receiver.fields.get(key)
    return Unknown(key) if found is None else found


def _set(call: Call) -> Value:
    if isinstance(call.receiver, Instance) and len(call.args) == 2:
        key = constant(call.args[0])
        if isinstance(key, str):
            call.write(call.receiver.fields, key, call.args[1])
    return NONE


def _update(call: Call) -> Value:
    """`config.update({…}, key=value)`: of what is not known, any item may be another one."""
    receiver, given = call.receiver, call.args[0] if call.args else NONE
    if not isinstance(receiver, Instance):
        return NONE
    known = call.complete and (given == NONE or type(given) is DictObject)
    if not known or (type(given) is DictObject and given.rest is not None):
        _may_differ(call, receiver, "", _DEEPEST)
    entries = given.entries if type(given) is DictObject else {}
    for key, value in {**entries, **call.kwargs}.items():
        if isinstance(key, str):
            call.write(receiver.fields, key, value)
    return NONE


def _merge(call: Call) -> Value:
    """`cfg.merge_from_file(path)`: any item may be another one."""
    if isinstance(call.receiver, Instance):
        _may_differ(call, call.receiver, "", _DEEPEST)
    return NONE


def _may_differ(call: Call, config: Instance, lead: str, deepest: int) -> None:
    for key, value in list(config.fields.items()):
        name = f"{lead}{key}"
        if type(value) is Instance and deepest:
            _may_differ(call, value, f"{name}.", deepest - 1)
        elif type(value) is Const and isinstance(value.value, bool | str):
            other = Const(not value.value) if isinstance(value.value, bool) else Unknown(name)
            call.write(config.fields, key, Guarded(left_at_default(name), value, other))


def _copy(call: Call) -> Value:
    """`cfg.clone()`: another object with the same items."""
    if not isinstance(call.receiver, Instance):
        return call.unknown()
    return _copied(call, call.receiver, _DEEPEST)


def _copied(call: Call, config: Instance, deepest: int) -> Instance:
    made = Instance(config.cls, call.site.node)
    for key, value in config.fields.items():
        inner = deepest and type(value) is Instance and value.cls == config.cls
        made.fields[key] = _copied(call, value, deepest - 1) if inner else value
    return made


def _list(call: Call, items: tuple[Value, ...]) -> Value:
    return ListObject(items, None, "list", call.site.node)


def _own(call: Call) -> dict[str, Value]:
    return dict(call.receiver.fields) if isinstance(call.receiver, Instance) else {}


def _keys(call: Call) -> Value:
    return _list(call, tuple(map(Const, _own(call))))


def _values(call: Call) -> Value:
    return _list(call, tuple(_own(call).values()))


def _items(call: Call) -> Value:
    return _list(call, tuple(TupleValue((Const(key), each)) for key, each in _own(call).items()))


_METHODS: dict[str, Model] = {
    "__getitem__": _get,
    "get": _get,
    "__setitem__": _set,
    "update": _update,
    "merge_from_file": _merge,
    "merge_from_list": _merge,
    "merge_from_other_cfg": _merge,
    "keys": _keys,
    "values": _values,
    "items": _items,
    "__iter__": _keys,
    "clone": _copy,
    "copy": _copy,
    "freeze": itself,
    "defrost": itself,
}


def register_class(name: str) -> None:
    """A class of a library whose objects have their attributes as items too."""
    for method, model in _METHODS.items():
        FUNCTIONS[f"{name}.{method}"] = model


def register_all() -> None:
    for name in CLASSES:
        FUNCTIONS[name] = _constructor(name)
        register_class(name)
    ALIASES["ml_collections.config_dict.ConfigDict"] = "ml_collections.ConfigDict"
    ALIASES["ml_collections.config_dict.config_dict.ConfigDict"] = "ml_collections.ConfigDict"
    ALIASES["munch.DefaultMunch"] = "munch.Munch"
