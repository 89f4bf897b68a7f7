"""Lightning Fabric: `setup` moves a model, and loaders that it sets up give batches on its device.

With several processes it also wraps models in `DistributedDataParallel`, which moves their inputs.
"""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.guard import combine
from device_lens.domain.heap import Instance, ListObject, ModuleObject
from device_lens.domain.values import NONE, Const, DeviceValue, External, TupleValue, Unknown
from device_lens.models.call import Call, Value, constant, is_none
from device_lens.models.libraries.accelerate import PREPARED_LOADER, backward, moved_along
from device_lens.models.libraries.lightning import accelerator_of
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.data import LOADER
from device_lens.models.torch.module import MAY_CARRY, move
from device_lens.models.torch.objects import class_model, first, nothing, register_names
from device_lens.models.words import words

NAME = "lightning.fabric.Fabric"
_NAMESPACES = words(
    "lightning lightning_fabric lightning_fabric.fabric lightning.fabric.fabric lightning.fabric"
)
_ALONE = "<alone>"
"""The field that tells whether models run in one process, on one device."""
_SILENT = "print barrier log log_dict call save seed_everything"


def _fabric(call: Call) -> Value:
    made = Instance(External(NAME), call.site.node)
    made.fields["device"] = DeviceValue(_device(call))
    strategy = constant(call.kwargs.get("strategy", Const("auto")))
    alone = call.named_complete and strategy == "auto"
    made.fields[_ALONE] = Const(alone and constant(call.kwargs.get("devices")) == 1)
    return made


def _device(call: Call) -> DeviceTree:
    """What `accelerator=` asks for, else the accelerator that is there, else the host."""
    asked = call.kwargs.get("accelerator", Const("auto" if call.named_complete else None))
    return accelerator_of(call, asked, UNKNOWN_DEVICE)


def _place(call: Call, moving: bool = False) -> DeviceTree | None:
    """Where the receiver puts what it is given; None where it is told not to (`moving`)."""
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    held = fields.get("device")
    if moving and "move_to_device" in call.kwargs:
        move_there = constant(call.kwargs["move_to_device"])
        if move_there is not True:
            return None if move_there is False else UNKNOWN_DEVICE
    return held.device if type(held) is DeviceValue else UNKNOWN_DEVICE


def _setup(call: Call) -> Value:
    """`setup(module, *optimizers)`: the module, with the optimizers behind it if there are any."""
    module = call.get(0, "module", NONE)
    device = _place(call, moving=True)
    if device is not None:
        combine(lambda leaf: _moved_module(call, leaf, device), module)
    others = list(call.args[1:]) if call.name.endswith(".setup") else []
    scheduler = call.kwargs.get("scheduler", NONE)
    if others and not is_none(scheduler):
        others.append(scheduler)
    return TupleValue((module, *others)) if others else module


def _moved_module(call: Call, module: Value, device: DeviceTree) -> Value:
    if isinstance(module, ModuleObject):
        move(call.services, module, device, None, call.trail("moved", "is moved by Fabric"))
        fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
        if constant(fields.get(_ALONE)) is not True and not call.name.endswith(".to_device"):
            call.write(module.own, MAY_CARRY, device)
    return module


def _setup_optimizers(call: Call) -> Value:
    return call.args[0] if len(call.args) == 1 else TupleValue(call.args)


def _setup_loaders(call: Call) -> Value:
    device = _place(call, moving=True)
    made = tuple(combine(lambda leaf: _loader(call, leaf, device), each) for each in call.args)
    return made[0] if len(made) == 1 else ListObject(made, None, "list", call.site.node)


def _loader(call: Call, loader: Value, device: DeviceTree | None) -> Value:
    if device is None:
        return loader
    if not isinstance(loader, Instance) or loader.cls != External(LOADER):
        return Unknown("a loader")
    made = Instance(External(PREPARED_LOADER), call.site.node)
    made.fields.update(loader.fields)
    made.fields["<device>"] = device
    return made


def _to_device(call: Call) -> Value:
    """`to_device(module)` moves it in place, of anything else it moves what is in it."""
    value = call.get(0, "obj", call.get(0, "data", NONE))
    device = _place(call)
    assert device is not None
    if isinstance(value, ModuleObject):
        return _moved_module(call, value, device)
    return moved_along(call, value, device, "is moved by Fabric")


def _gathered(call: Call) -> Value:
    """What all processes have: on the device of each, of a shape that hangs on how many are."""
    device = _place(call)
    return Unknown("what processes have", UNKNOWN_DEVICE if device is None else device)


def _here(call: Call) -> Value:
    """A context in which tensors are made on the device."""
    device = _place(call)
    return DeviceValue(UNKNOWN_DEVICE if device is None else device)


def _launch(call: Call) -> Value:
    """Runs a function that gets the fabric itself."""
    function = call.get(0, "function", NONE)
    if is_none(function):
        return NONE
    kwargs = {name: value for name, value in call.kwargs.items() if name != "function"}
    return call.services.invoke(function, (call.receiver, *call.args[1:]), kwargs)


def register_all() -> None:
    FUNCTIONS[NAME] = _fabric
    for namespace in _NAMESPACES:
        if f"{namespace}.Fabric" != NAME:
            ALIASES[f"{namespace}.Fabric"] = NAME
    for name in words("setup setup_module"):
        FUNCTIONS[f"{NAME}.{name}"] = _setup
    FUNCTIONS[f"{NAME}.setup_optimizers"] = _setup_optimizers
    FUNCTIONS[f"{NAME}.setup_dataloaders"] = _setup_loaders
    FUNCTIONS[f"{NAME}.to_device"] = _to_device
    FUNCTIONS[f"{NAME}.backward"] = backward
    FUNCTIONS[f"{NAME}.launch"] = _launch
    for name in words("all_gather all_reduce"):
        FUNCTIONS[f"{NAME}.{name}"] = _gathered
    for name in words("init_module init_tensor"):
        FUNCTIONS[f"{NAME}.{name}"] = _here
    register_names(NAME, _SILENT, nothing)
    register_names(NAME, "broadcast", first)
    for name in words("autocast no_backward_sync rank_zero_first"):
        FUNCTIONS[f"{NAME}.{name}"] = class_model("contextlib.nullcontext")
