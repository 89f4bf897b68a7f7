"""`collections.ChainMap`: dicts of which the first one that has a key gives what is there."""

from __future__ import annotations

from device_lens.domain.heap import MISSING, DictObject, Instance, ListObject
from device_lens.domain.presence import presence
from device_lens.domain.values import NONE, Unknown
from device_lens.models.call import Call, Value, constant, is_none
from device_lens.models.python import dict_classes
from device_lens.models.python.builtins import listing
from device_lens.models.python.dict_classes import CHAIN_MAP
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.objects import instance, register_names


def _made(call: Call) -> Value:
    maps = call.args or (DictObject(site=call.site.node),)
    return _of(call, maps, None if call.complete else Unknown())


def _of(call: Call, maps: tuple[Value, ...], rest: Value) -> Value:
    return instance(call, CHAIN_MAP, maps=listing(call, maps, rest))


def _maps(call: Call) -> ListObject:
    held = call.receiver.fields.get("maps") if isinstance(call.receiver, Instance) else None
    return held if type(held) is ListObject else ListObject((), Unknown())


def _get(call: Call) -> Value:
    """`chain[key]`, `chain.get(key, default)`."""
    key, maps = constant(call.get(0, "key"), MISSING), _maps(call)
    for each in map(dict_classes.mapping, maps.items):
        there = presence(each.entries, key) if type(each) is DictObject else None
        if there is True:
            return each.entries[key]
        if there is not False or each.rest is not None or key is MISSING:
            return Unknown()
    is_get = maps.rest is None and call.name.endswith(".get")
    return call.get(1, "default", NONE) if is_get else Unknown()


def _first(call: Call) -> Value:
    """What is stored goes into the first dict."""
    items = _maps(call).items
    first = dict_classes.mapping(items[0]) if items else None
    if type(first) is not DictObject:
        return NONE
    name = "dict." + call.name.rpartition(".")[2]
    return FUNCTIONS[name](
        Call(name, first, call.args, call.kwargs, call.site, call.services, call.complete)
    )


def _child(call: Call) -> Value:
    given, maps = call.get(0, "m", NONE), _maps(call)
    new = DictObject(dict(call.kwargs), None, call.site.node) if is_none(given) else given
    return _of(call, (new, *maps.items), maps.rest)


def _lose(call: Call) -> Value:
    if isinstance(call.receiver, Instance):
        call.write(call.receiver.fields, "maps", Unknown())
    return Unknown()


def register() -> None:
    """Fills the registry, after the methods of dicts are there."""
    FUNCTIONS[CHAIN_MAP] = _made
    FUNCTIONS[f"{CHAIN_MAP}.new_child"] = _child
    register_names(CHAIN_MAP, "get __getitem__", _get)
    register_names(CHAIN_MAP, "update __setitem__", _first)
    register_names(CHAIN_MAP, "setdefault pop popitem clear __delitem__", _lose)
