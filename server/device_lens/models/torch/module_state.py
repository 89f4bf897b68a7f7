"""What an `nn.Module` saves of itself, and how it takes that in again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.device import DeviceTree
from device_lens.domain.guard import combine
from device_lens.domain.heap import ORDERED, DictObject, ListObject, ModuleObject, Parameter
from device_lens.domain.join import join_all
from device_lens.domain.parameters import set_tensor
from device_lens.domain.values import FALSE, TRUE, Tensor, Unknown
from device_lens.models.call import Call, Value, constant, single_device
from device_lens.models.torch.handles import registers
from device_lens.models.torch.module_parts import receiver
from device_lens.models.torch.parts import (
    OpaqueFields,
    Part,
    all_parts,
    is_many,
    tensor_in,
    walk,
)
from device_lens.models.words import words

NOT_SAVED = "not saved"
"""What a module's `own` holds of the names of buffers that are not `persistent`."""
_SAVING, _LOADED = "state_dict_hooks", "load_state_dict_post_hooks"
"""What it holds of hooks that may change what is saved, and of those that run after loading."""
_BEFORE_SAVING, _LOADING = "state_dict_pre_hooks", "load_state_dict_pre_hooks"
"""What it holds of those that run before."""
_OF_LOADING = words(
    "state_dict prefix local_metadata strict missing_keys unexpected_keys error_msgs"
)
"""What a hook is given before loading: of a copy of the state nothing is known."""


@dataclass(frozen=True, slots=True, eq=False)
class _WithoutModule:
    """A hook that does not get the module."""

    hook: Value


def _register_loading(call: Call) -> Value:
    """`module._register_load_state_dict_pre_hook(hook, with_module=False)`."""
    given = constant(call.get(1, "with_module", FALSE)) is True
    hook = call.get(0, "hook", Unknown())
    kept = Call(
        call.name,
        call.receiver,
        (hook if given else _WithoutModule(hook),),
        {},
        call.site,
        call.services,
    )
    return registers(_LOADING)(kept)


def _not_saved(module: ModuleObject) -> frozenset[str]:
    """The qualified names of the buffers that are no part of the module's state."""
    return frozenset(
        f"{prefix}.{name}" if prefix else name
        for prefix, owner in walk(module)
        for name in owner.own.get(NOT_SAVED, ())
    )


def _state_dict(call: Call) -> Value:
    module = receiver(call)
    if module is None:
        return call.unknown()
    left_out = _not_saved(module)
    entries: dict[Any, Value] = {}
    more: list[Value] = []
    itself = constant(call.kwargs.get("keep_vars", FALSE)) is True
    changed = _has_own(module, "_save_to_state_dict", _SAVING)
    for part in all_parts(module):
        if part.name in left_out:
            continue
        tensor = tensor_in(part.value)
        value = part.value
        if changed:
            value = Unknown(part.name)
        elif tensor is not None and not itself:
            value = tensor.with_(requires_grad=False, leaf=True)
        if is_many(part.name):
            more.append(value)
        else:
            entries[part.name] = value
    if changed or _has_own(module, "get_extra_state"):
        more.append(Unknown("what the program saves"))
    found = DictObject(entries, join_all(more) if more else None, call.site.node)
    found.fields[ORDERED] = True
    _run_hooks(call, module, _BEFORE_SAVING, Unknown("a prefix"), Unknown("keep_vars"))
    _run_hooks(call, module, _SAVING, found, Unknown("a prefix"), Unknown("metadata"))
    return found


def _run_hooks(call: Call, module: ModuleObject, key: str, *given: Value) -> None:
    """Runs the hooks that a module and those in it have under a key."""
    for _, each in list(walk(module)):
        hooks = each.own.get(key)
        for hook in hooks if isinstance(hooks, tuple) else ():
            if type(hook) is _WithoutModule:
                call.services.invoke(hook.hook, given, {})
            else:
                call.services.invoke(hook, (each, *given), {})


def _has_own(module: ModuleObject, method: str, hooks: str | None = None) -> bool:
    return next(_with_own(module, method, hooks), None) is not None


def _with_own(
    module: ModuleObject, method: str, hooks: str | None = None
) -> Iterator[ModuleObject]:
    """The modules of a module whose class has its own `method`, or which have hooks."""
    for _, each in walk(module):
        cls = each.cls
        own = type(cls) is ClassValue and type(cls.lookup(method)) is Function
        if own or hooks in each.own:
            yield each


def _load_state_dict(call: Call) -> Value:
    """Copies into what is there. With `assign=True` other parameters and buffers take its place:
    whoever holds the former ones has those still."""
    module, state = receiver(call), call.get(0, "state_dict")
    if module is not None and constant(call.get(2, "assign", FALSE)) is True:
        left_out = _not_saved(module)
        for part in all_parts(module):
            former = tensor_in(part.value)
            if former is not None and part.name not in left_out:
                trail = call.trail("loaded", "is loaded")
                given = state.entries.get(part.name) if type(state) is DictObject else None
                if type(given) is Parameter and type(part.value) is Parameter:
                    _replace(call, part, given)
                    continue
                new = former.with_(device=_device_in(state, part.name), trail=trail)
                _replace(call, part, new)
    if module is not None:
        _run_own(call, module, state)
    return Unknown("incompatible keys")


def _run_own(call: Call, module: ModuleObject, state: Value) -> None:
    """What the program's own classes and hooks do when a module is loaded."""
    services, site = call.services, call.site.node
    further = [Unknown(name) for name in _OF_LOADING]
    _run_hooks(call, module, _LOADING, *further)
    for each in list(_with_own(module, "_load_from_state_dict")):
        lists = [ListObject((), None, "list", site) for _ in range(3)]
        given = (state, Unknown("a prefix"), DictObject({}, None, site), TRUE, *lists)
        services.invoke(services.attribute(each, "_load_from_state_dict"), given, {})
    for each in list(_with_own(module, "set_extra_state")):
        extra = Unknown("what the program has saved")
        services.invoke(services.attribute(each, "set_extra_state"), (extra,), {})
    _run_hooks(call, module, _LOADED, Unknown("incompatible keys"))


def _replace(call: Call, part: Part, new: Tensor | Parameter) -> None:
    """Puts a tensor in the place of a part. A parameter takes that place itself."""
    former = part.value
    if type(former) is Parameter and isinstance(former.fields, OpaqueFields):
        tensor = tensor_in(new)
        if tensor is not None:
            set_tensor(call.services.journal, former, tensor)
        return
    value = new
    if type(former) is Parameter and type(new) is Tensor:
        value = Parameter(new, call.site.node)
    tree = part.table.get(part.key)
    call.write(part.table, part.key, combine(lambda leaf: value if leaf is former else leaf, tree))


def _device_in(state: Value, name: str) -> DeviceTree:
    if type(state) is DictObject:
        return single_device(state.entries.get(name, state.rest))
    return single_device(state)


STATE: dict[str, Callable[[Call], Value]] = {
    "state_dict": _state_dict,
    "load_state_dict": _load_state_dict,
    "register_state_dict_pre_hook": registers(_BEFORE_SAVING),
    "register_load_state_dict_pre_hook": registers(_LOADING),
    "_register_load_state_dict_pre_hook": _register_loading,
    "register_state_dict_post_hook": registers(_SAVING),
    "_register_state_dict_hook": registers(_SAVING),
    "register_load_state_dict_post_hook": registers(_LOADED),
}
"""Models of methods by name."""
