"""`torch.save` and `torch.load`: what one program writes it can read again."""

from __future__ import annotations

from typing import Any

from device_lens.domain.code import BoundMethod, Function
from device_lens.domain.device import (
    ANY_INDEX,
    CPU,
    UNKNOWN_DEVICE,
    Agreement,
    Device,
    DeviceTree,
    agree,
    is_unknown,
    parse_device,
    widen_device,
)
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import DictObject, ModuleObject, Parameter
from device_lens.domain.join import join_blind
from device_lens.domain.values import NONE, Const, External, Partial, Tensor, TupleValue, Unknown
from device_lens.models.call import Call, Value, device_of, is_none, tensor_of
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.collation import map_tensors
from device_lens.models.torch.construction import opaque
from device_lens.models.torch.copying import deep_copy
from device_lens.models.torch.module import move
from device_lens.models.torch.objects import first, nothing, register_names
from device_lens.models.torch.target import asked, present
from device_lens.models.wording import loaded

_SAVED = "torch.save"
_CALLABLE = (Function, BoundMethod, Partial)


def _saved(call: Call) -> dict[Any, Value]:
    """What the program saved, by path. The same in all branches: a file is written or it is not
    there to be read."""
    shared: dict[str, Any] = getattr(call.services, "shared", {})
    found: dict[Any, Value] = shared.setdefault(_SAVED, {})
    return found


def _key(path: Value) -> Any:
    """What tells a file from others: its name, or the very value that names it."""
    return ("path", path.value) if type(path) is Const else ("value", id(path))


def _save(call: Call) -> Value:
    path, value = call.get(1, "f", NONE), call.get(0, "obj", NONE)
    copied = deep_copy(value, {})
    saved, key = _saved(call), _key(path)
    before = saved.get(key)
    content = copied if before is None else join_blind(before[1], copied)
    saved[key] = (path, content)
    return NONE


def _load(call: Call) -> Value:
    """Tensors come back on the devices that they were saved from, unless `map_location` says
    otherwise."""
    path, where = call.get(0, "f", NONE), call.get(1, "map_location", NONE)
    found = _saved(call).get(_key(path))
    content = Unknown("torch.load(…)") if found is None else deep_copy(found[1], {})
    if is_none(where):
        return content
    if isinstance(content, ModuleObject):
        move(call.services, content, _mapped(call, where, UNKNOWN_DEVICE), None)
        return content
    return map_tensors(content, lambda leaf: _relocated(call, leaf, where))


def _relocated(call: Call, leaf: Value, where: Value) -> Value:
    if type(leaf) is Tensor:
        device = _mapped(call, where, leaf.device)
        trail = call.trail("loaded", loaded(device), leaf.trail)
        return leaf.with_(device=device, trail=trail, pinned=False)
    if type(leaf) is Unknown:
        return Unknown(leaf.label, _mapped(call, where, leaf.device))
    if type(leaf) is Parameter:
        moved = leaf.tensor.with_(device=_mapped(call, where, leaf.tensor.device))
        return Parameter(moved, leaf.site)
    if isinstance(leaf, ModuleObject):
        move(call.services, leaf, _mapped(call, where, UNKNOWN_DEVICE), None)
    return leaf


def _mapped(call: Call, where: Value, saved: DeviceTree) -> DeviceTree:
    """Where a tensor lands that was saved from `saved`."""
    if type(where) is Guarded:
        return combine(lambda leaf: _mapped_leaf(call, leaf, saved), where)  # type: ignore[no-any-return]
    return _mapped_leaf(call, where, saved)


def _mapped_leaf(call: Call, where: Value, saved: DeviceTree) -> DeviceTree:
    if is_none(where):
        return saved
    if type(where) is DictObject:
        found: DeviceTree = combine(lambda leaf: _by_table(where, leaf), saved)
        return found
    if type(where) in _CALLABLE or type(where) is External:
        placed: DeviceTree = combine(lambda leaf: _by_function(call, where, leaf), saved)
        return widen_device(placed)
    return present(call.services, asked(call.services, where, saved))


def _by_table(table: DictObject, saved: DeviceTree) -> DeviceTree:
    """`{"cuda:0": "cuda:1"}`; any other device stays."""
    if is_unknown(saved) or table.rest is not None:
        return UNKNOWN_DEVICE
    for key, value in table.entries.items():
        source = parse_device(key) if isinstance(key, str) else None
        matches = Agreement.MAYBE if source is None else agree(source, saved)
        if matches is not Agreement.DIFFERENT:
            mapped = device_of(value) if matches is Agreement.SAME else None
            return mapped or UNKNOWN_DEVICE
    return saved


def _by_function(call: Call, function: Value, saved: DeviceTree) -> DeviceTree:
    """A function gets each storage in host memory with the name of where it was saved, and moves it
    or leaves it there; None brings it back to where it was."""
    location: Value = Unknown("location")
    if isinstance(saved, Device) and saved.index != ANY_INDEX:
        location = Const(saved.type if saved is CPU else f"{saved.type}:{saved.index or 0}")
    result = call.services.invoke(function, (Tensor(CPU), location), {})

    def place(leaf: Value) -> DeviceTree:
        tensor = tensor_of(leaf)
        return saved if is_none(leaf) else UNKNOWN_DEVICE if tensor is None else tensor.device

    placed: DeviceTree = combine(place, result)
    return placed


def _hub_model(call: Call) -> Value:
    """`torch.hub.load`: a model, on the host."""
    return opaque(call, "torch.hub.Model", CPU)


def _jit_load(call: Call) -> Value:
    where = call.get(1, "map_location", NONE)
    device = UNKNOWN_DEVICE if is_none(where) else _mapped(call, where, UNKNOWN_DEVICE)
    return opaque(call, "torch.jit.ScriptModule", device)


def _state_dict_from_url(call: Call) -> Value:
    where = call.kwargs.get("map_location", call.get(2, "map_location", NONE))
    device = UNKNOWN_DEVICE if is_none(where) else _mapped(call, where, UNKNOWN_DEVICE)
    return DictObject({}, Tensor(device), call.site.node)


def _module_of(call: Call) -> Value:
    """`torch.jit.script(model)`: the model, as far as devices go."""
    return first(call)


def _traced(call: Call) -> Value:
    """`torch.jit.trace(model, examples)`: the model, which has run with the examples."""
    _run_with(call, call.get(1, "example_inputs", NONE))
    return first(call)


def _exported(call: Call) -> Value:
    """`torch.onnx.export(model, args, path)`: runs the model with what it is given."""
    _run_with(call, call.get(1, "args", NONE))
    return Unknown(call.name)


def _run_with(call: Call, examples: Value) -> None:
    """Calls what is looked at with one example or a tuple of them."""
    if not call.args or not call.complete or is_none(examples):
        return
    given = examples.items if type(examples) is TupleValue else (examples,)
    call.services.invoke(call.args[0], given, {})


def register_all() -> None:
    FUNCTIONS["torch.save"] = _save
    FUNCTIONS["torch.load"] = _load
    ALIASES["torch.serialization.load"] = "torch.load"
    ALIASES["torch.serialization.save"] = "torch.save"
    FUNCTIONS["torch.hub.load"] = _hub_model
    FUNCTIONS["torch.hub.load_state_dict_from_url"] = _state_dict_from_url
    FUNCTIONS["torch.utils.model_zoo.load_url"] = _state_dict_from_url
    FUNCTIONS["torch.jit.load"] = _jit_load
    register_names("torch.jit", "script freeze optimize_for_inference ignore", _module_of)
    register_names("torch.jit", "save export unused", nothing)
    FUNCTIONS["torch.jit.export"] = FUNCTIONS["torch.jit.unused"] = first
    FUNCTIONS["torch.jit.trace"] = _traced
    FUNCTIONS["torch.onnx.export"] = FUNCTIONS["torch.export.export"] = _exported
