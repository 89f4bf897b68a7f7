"""accelerate: `prepare` moves models, and makes loaders whose batches arrive on the device.

With several processes it also wraps models in `DistributedDataParallel`, which moves their inputs.
"""

from __future__ import annotations

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.guard import combine
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.domain.values import (
    FALSE,
    TRUE,
    Const,
    DeviceValue,
    External,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models.call import Call, Value, constant
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.collation import map_tensors
from device_lens.models.torch.copying import mark_fresh
from device_lens.models.torch.data import LOADER, batch_of
from device_lens.models.torch.module import MAY_CARRY, move
from device_lens.models.torch.module_parts import listing
from device_lens.models.torch.objects import class_model, first, nothing, register_names
from device_lens.models.torch.target import accelerator_or_host
from device_lens.models.words import words

NAME = "accelerate.Accelerator"
PREPARED_LOADER = "accelerate.data_loader.DataLoaderShard"
_SILENT = """wait_for_everyone print log init_trackers end_training save_state load_state save
    save_model register_for_checkpointing free_memory clear clip_grad_value_ unscale_gradients"""
_SAME = """unwrap_model gather gather_for_metrics reduce pad_across_processes prepare_scheduler
    prepare_optimizer"""


_PLACES = "<places>"
"""The field that tells whether an accelerator moves what it prepares."""


def _accelerator(call: Call) -> Value:
    made = Instance(External(NAME), call.site.node)
    made.fields["device"] = DeviceValue(_device(call))
    made.fields[_PLACES] = Const(_asks_to_place(call))
    return made


def _asks_to_place(call: Call) -> bool:
    """Whether nothing says that things are to stay where they are."""
    return constant(call.kwargs.get("device_placement", TRUE)) is True


def _device(call: Call) -> DeviceTree:
    """The accelerator that is there, else the host."""
    if constant(call.kwargs.get("cpu")) is True:
        return CPU
    return accelerator_or_host(call.services)


def _place(call: Call) -> DeviceTree:
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    device = fields.get("device")
    if fields.get(_PLACES) == FALSE or not _asks_to_place(call):
        return UNKNOWN_DEVICE
    return device.device if type(device) is DeviceValue else _device(call)


def _prepare(call: Call) -> Value:
    prepared = tuple(_prepared(call, value) for value in call.args)
    return prepared[0] if len(prepared) == 1 else TupleValue(prepared)


def _prepared(call: Call, value: Value) -> Value:
    return combine(lambda leaf: _prepared_leaf(call, leaf), value)


def _prepared_leaf(call: Call, value: Value) -> Value:
    if isinstance(value, ModuleObject):
        trail = call.trail("moved", "is moved by `accelerator.prepare`")
        device = _place(call)
        move(call.services, value, device, None, trail)
        call.write(value.own, MAY_CARRY, device)
        return value
    if isinstance(value, Instance) and "dataset" in value.fields:
        made = Instance(External(PREPARED_LOADER), call.site.node)
        made.fields.update(value.fields)
        made.fields["<device>"] = _place(call)
        return made
    return value


def _batches(call: Call) -> Value:
    """Batches of a prepared loader are on the accelerator's device."""
    loader = call.receiver
    device = loader.fields.get("<device>", CPU)
    batch = moved_along(call, batch_of(call, loader), device, "is moved by the prepared loader")
    return listing(call, [], mark_fresh(batch))


def moved_along(call: Call, value: Value, device: DeviceTree, told: str) -> Value:
    """A tensor, or what holds some, with these on the device; `told` says what has moved them."""

    def moved(leaf: Value) -> Value:
        if type(leaf) is Tensor:
            trail = call.trail("moved", told, leaf.trail)
            return leaf.with_(device=device, pinned=False, trail=trail)
        if type(leaf) is not Unknown:
            return leaf
        there = Unknown(leaf.label, device)
        there.tensor_evidence = leaf.tensor_evidence
        return there

    return map_tensors(value, moved)


def backward(call: Call) -> Value:
    """`accelerator.backward(loss)`."""
    loss = call.args[0] if call.args else call.kwargs.get("loss", call.kwargs.get("tensor"))
    if loss is not None:
        call.services.invoke(call.services.attribute(loss, "backward"), (), {})
    return call.unknown()


def register_all() -> None:
    FUNCTIONS[NAME] = _accelerator
    ALIASES["accelerate.accelerator.Accelerator"] = NAME
    for name in words("prepare prepare_model prepare_data_loader"):
        FUNCTIONS[f"{NAME}.{name}"] = _prepare
    FUNCTIONS[f"{NAME}.backward"] = backward
    FUNCTIONS[f"{NAME}.clip_grad_norm_"] = FUNCTIONS["torch.nn.utils.clip_grad_norm_"]
    register_names(NAME, _SILENT, nothing)
    register_names(NAME, _SAME, first)
    for name in words("autocast accumulate main_process_first local_main_process_first no_sync"):
        FUNCTIONS[f"{NAME}.{name}"] = class_model("contextlib.nullcontext")
    FUNCTIONS[f"{PREPARED_LOADER}.__iter__"] = _batches
    FUNCTIONS[f"{PREPARED_LOADER}.__len__"] = FUNCTIONS[f"{LOADER}.__len__"]
    FUNCTIONS["accelerate.utils.set_seed"] = nothing
