"""Deep copies of modules and of what they hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.heap import (
    FRESH,
    DictObject,
    HeapObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
    contents,
)
from device_lens.domain.presence import carry
from device_lens.domain.values import External, Tensor, TupleValue, Unknown
from device_lens.models.call import Call, Services, Value
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.replaced import REPLACES

UNSHARED = ("representative", "unknowns", REPLACES)
"""What a module remembers of itself and no copy may share."""


Own = Callable[[Instance], Value | None]
"""What an object's own `__deepcopy__` gives; None where it has none that is followed."""


def deep_copy(value: Value, memo: dict[int, Any], own: Own | None = None) -> Value:
    """A copy that shares no heap object with `value`; `memo` keeps what is shared within it."""
    if type(value) is Guarded:
        return combine(lambda leaf: deep_copy(leaf, memo, own), value)
    if type(value) is TupleValue:
        return TupleValue(tuple(deep_copy(item, memo, own) for item in value.items), value.names)
    if not isinstance(value, HeapObject):
        return value
    if id(value) not in memo:
        made = own(value) if own is not None and isinstance(value, Instance) else None
        if made is not None:
            memo[id(value)] = made
            return made
        empty = _empty(value)
        memo[id(value)] = empty
        empty.many = value.many
        if empty is not value:
            _fill(value, empty, memo, own)
    return memo[id(value)]


def mark_fresh(value: Value) -> Value:
    """Tells that an iterator yields a new object like `value` each time."""
    for leaf in leaves(value):
        if isinstance(leaf, HeapObject):
            leaf.fields[FRESH] = True
    return value


def fresh(value: Value) -> Value:
    """What a loop's next turn gets: a new object where `value` stands for new ones, so that what
    a turn does to its object is not seen by the next."""
    if type(value) is Guarded:
        return combine(fresh, value)
    if type(value) is TupleValue:
        items = tuple(fresh(item) for item in value.items)
        same = all(a is b for a, b in zip(items, value.items, strict=True))
        return value if same else TupleValue(items, value.names)
    if isinstance(value, HeapObject) and FRESH in value.fields:
        return deep_copy(value, {})
    return value


def _empty(value: HeapObject) -> HeapObject:
    if isinstance(value, ModuleObject):
        return ModuleObject(value.cls, value.site)
    if type(value) is Instance:
        return Instance(value.cls, value.site)
    if type(value) is ListObject:
        return ListObject(kind=value.kind, site=value.site)
    if type(value) is DictObject:
        return DictObject(site=value.site)
    if type(value) is Parameter:
        return Parameter(value.tensor, value.site)
    return value


def _fill(source: HeapObject, target: HeapObject, memo: dict[int, Any], own: Own | None) -> None:
    if type(source) is Parameter:
        kept = {key: value for key, value in source.fields.items() if not key.startswith("<")}
        target.fields.update(kept)
        return
    _copy_table(source.fields, target.fields, memo, own)
    carry(source.fields, target.fields)
    if type(source) is DictObject and type(target) is DictObject:
        target.kind = source.kind
        _copy_table(source.entries, target.entries, memo, own)
        carry(source.entries, target.entries)
    if isinstance(source, ModuleObject) and isinstance(target, ModuleObject):
        for name in ("parameters", "buffers", "modules"):
            _copy_table(getattr(source, name), getattr(target, name), memo, own)
        kept = {key: value for key, value in source.own.items() if key not in UNSHARED}
        parent = kept.get("parent")
        if parent is not None:
            kept["parent"] = memo.get(id(parent), parent)
        target.own.update(kept)


def _copy_table(
    source: dict[Any, Any], target: dict[Any, Any], memo: dict[int, Any], own: Own | None
) -> None:
    for key, value in source.items():
        if type(value) is tuple:
            target[key] = tuple(deep_copy(item, memo, own) for item in value)
        else:
            target[key] = deep_copy(value, memo, own)


def copied_by_own(
    services: Services, value: Instance, method: str, of_state: Callable[[Value], Value]
) -> Value | None:
    """What an object's class has to say of its copies: `__copy__` or `__deepcopy__` by that name,
    or a state of its own, which `of_state` copies. None where it says nothing that is followed."""
    cls = value.cls
    if type(cls) is not ClassValue:
        return None
    if any(type(cls.lookup(each)) is Function for each in ("__reduce__", "__reduce_ex__")):
        return Unknown("a copy")
    copying, state = cls.lookup(method), cls.lookup("__getstate__")
    if isinstance(copying, Function):
        memo = () if method == "__copy__" else (Unknown("memo"),)
        made = services.invoke(BoundMethod(value, copying), memo, {})
        return None if type(made) is Unknown else made
    if not isinstance(state, Function) or type(value) is not Instance:
        return None
    kept = of_state(services.invoke(BoundMethod(value, state), (), {}))
    found = Instance(cls, value.site)
    setting = cls.lookup("__setstate__")
    if isinstance(setting, Function):
        services.invoke(BoundMethod(found, setting), (kept,), {})
        return found
    if type(kept) is not DictObject or kept.rest is not None:
        return None
    found.fields.update(kept.entries)
    return found


def _deepcopy(call: Call) -> Value:
    value = call.get(0, "x")
    if value is None or _may_be_given(call.get(1, "memo")):
        return call.unknown()
    return deep_copy(value, {}, _own_copies(call, "__deepcopy__"))


def _own_copies(call: Call, method: str) -> Own:
    running: set[int] = set()
    """The objects whose states are being copied: one may hold itself."""

    def own(each: Instance) -> Value | None:
        if id(each) in running:
            return Unknown("a copy")
        running.add(id(each))
        try:
            deeply = partial(deep_copy, memo={}, own=own)
            return copied_by_own(call.services, each, method, deeply)
        finally:
            running.discard(id(each))

    return own


def _may_be_given(memo: Value) -> bool:
    """Whether a program has put copies of its own where those that are made are kept."""
    kinds = (Tensor, Parameter, ModuleObject, Unknown)
    return type(memo) is DictObject and any(
        type(leaf) in kinds for each in contents(memo) for leaf in leaves(each)
    )


def _pickled(call: Call) -> Value:
    """`pickle.dumps(x)`: bytes that hold a copy, where that is now."""
    value = call.get(0, "obj")
    found = Instance(External("builtins.bytes"), call.site.node)
    if value is not None:
        found.fields[_PICKLED] = deep_copy(value, {}, _own_copies(call, _NO_METHOD))
    return found


def _unpickled(call: Call) -> Value:
    """`pickle.loads(data)`: what is in the bytes, another copy each time."""
    data = call.args[0] if call.args else None
    held = data.fields.get(_PICKLED) if isinstance(data, Instance) else None
    return call.unknown() if held is None else deep_copy(held, {})


_PICKLED = "<pickled>"
_NO_METHOD = "<no method>"
"""Pickles are made of an object's state: no method of its class for copies counts."""


def register_all() -> None:
    """Fills the registry with what makes deep copies."""
    FUNCTIONS["copy.deepcopy"] = _deepcopy
    for package in ("pickle", "_pickle", "cloudpickle", "dill"):
        FUNCTIONS[f"{package}.dumps"] = _pickled
        FUNCTIONS[f"{package}.loads"] = _unpickled
