"""Lightning: the trainer moves the module and its batches; `self.device` is where they are."""

from __future__ import annotations

from typing import Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.device import (
    ANY_INDEX,
    UNKNOWN_DEVICE,
    Device,
    DeviceTree,
    SymbolicDevice,
    is_unknown,
    widen_device,
)
from device_lens.domain.guard import combine
from device_lens.domain.heap import Instance, ListObject, ModuleObject
from device_lens.domain.values import NONE, Const, DeviceValue, External, TupleValue, Unknown
from device_lens.models.call import Call, Value, constant, is_none
from device_lens.models.libraries.accelerate import moved_along
from device_lens.models.numbers import COUNTED, counted
from device_lens.models.registry import ALIASES, ATTRIBUTES, BASES, FUNCTIONS
from device_lens.models.torch.availability import assumed_accelerator
from device_lens.models.torch.data import batch_of
from device_lens.models.torch.module import move
from device_lens.models.torch.objects import nothing, register_names
from device_lens.models.torch.parts import home_device
from device_lens.models.torch.target import CURRENT_CUDA, accelerator_or_host, present
from device_lens.models.words import words

MODULE = "lightning.pytorch.LightningModule"
DATA = "lightning.pytorch.LightningDataModule"
TRAINER = "lightning.pytorch.Trainer"
_NAMESPACES = words(
    "pytorch_lightning lightning pytorch_lightning.core lightning.pytorch.core "
    "pytorch_lightning.core.module lightning.pytorch.core.module"
)
_SILENT = """log log_dict save_hyperparameters print toggle_optimizer untoggle_optimizer
    manual_backward clip_gradients"""
_AHEAD = words("configure_optimizers on_fit_start on_train_start")
"""Methods that run once the module is moved, ahead of the first step."""
_STEPS = {
    "fit": (
        ("training_step", "train_dataloader", 1, "train_dataloaders"),
        ("validation_step", "val_dataloader", 2, "val_dataloaders"),
    ),
    "validate": (("validation_step", "val_dataloader", 1, "dataloaders"),),
    "test": (("test_step", "test_dataloader", 1, "dataloaders"),),
    "predict": (("predict_step", "predict_dataloader", 1, "dataloaders"),),
}
"""Of each task the steps, the method that gives the loader, and the argument that does."""
_STARTS = {
    "training_step": words("on_train_epoch_start"),
    "validation_step": words("on_validation_start on_validation_epoch_start"),
    "test_step": words("on_test_start on_test_epoch_start"),
    "predict_step": words("on_predict_start on_predict_epoch_start"),
}
"""Methods that run ahead of the first batch that a step gets."""
_SOMEWHERE = SymbolicDevice("the trainer's device")


def _device(call: Call) -> Value:
    """Where the module is; a symbol of its own where it has no parameters."""
    module = call.receiver
    if not isinstance(module, ModuleObject):
        return call.unknown()
    found = home_device(module)
    if found is not None and not is_unknown(found):
        return DeviceValue(found)
    memory = module.own.setdefault("unknowns", {})
    if "device" not in memory:
        memory["device"] = DeviceValue(SymbolicDevice("self.device"))
    return memory["device"]


_COUNTS = words("global_step current_epoch")


def _progress(call: Call) -> Value:
    """`self.global_step`, `self.trainer`: how far the run is. It is one number for all methods."""
    name, module = call.name.rpartition(".")[2], call.receiver
    if not isinstance(module, ModuleObject):
        return call.unknown()
    memory = module.own.setdefault("unknowns", {})
    if "trainer" not in memory:
        trainer = memory["trainer"] = Unknown("self.trainer")
        for each in _COUNTS:
            memory[each] = trainer.derive(each, counted())
        trainer.derive("is_last_batch", Unknown(COUNTED))
    return memory[name]


def _trainer(call: Call) -> Value:
    made = Instance(External(TRAINER), call.site.node)
    made.fields["<device>"] = _trains_on(call)
    return made


def _trains_on(call: Call) -> DeviceTree:
    """What `accelerator=` and `devices=` name. Without them the version decides: a symbol."""
    kind = call.kwargs.get("accelerator", NONE)
    return _SOMEWHERE if is_none(kind) else accelerator_of(call, kind, _SOMEWHERE)


def accelerator_of(call: Call, kind: Value, unknown: DeviceTree) -> DeviceTree:
    """The device that a name of an accelerator and the `devices=` of a call stand for: `unknown`
    for a name that nothing tells."""
    gpu = _gpu(call.kwargs.get("devices", NONE))

    def leaf(name: Value) -> Any:
        asked = constant(name)
        if asked == "auto":
            return accelerator_or_host(call.services, gpu)
        kind = assumed_accelerator(call.services) if asked == "gpu" else asked
        if kind == "cuda":
            return present(call.services, gpu)
        return Device(kind) if kind in ("cpu", "mps") else unknown

    return widen_device(combine(leaf, kind))


def _gpu(devices: Value) -> Device:
    """The GPU of `devices=[1]`; of a number of them each process has its own."""
    if is_none(devices) or type(constant(devices)) is int or constant(devices) == "auto":
        return CURRENT_CUDA
    only = devices.items if type(devices) is ListObject and devices.rest is None else ()
    number = constant(only[0]) if len(only) == 1 else None
    return Device("cuda", number if type(number) is int else ANY_INDEX)


def _run(call: Call) -> Value:
    """`trainer.fit(model, loader)`: a step on a batch, both on the trainer's device. Where the
    module is afterwards is not known."""
    model = call.get(0, "model", NONE)
    trainer = call.receiver
    if not isinstance(model, ModuleObject) or not isinstance(trainer, Instance):
        return NONE
    device = trainer.fields.get("<device>", UNKNOWN_DEVICE)
    trail = call.trail("moved", "is moved by the trainer")
    task = call.name.rpartition(".")[2]
    data = call.kwargs.get("datamodule", NONE)
    source = data if isinstance(data, Instance) else model
    for each in (data, model):
        _own(call, each, "setup", Const(task))
    move(call.services, model, device, None, trail)
    for name in _AHEAD if task == "fit" else ():
        _own(call, model, name)
    for step, loader, place, keyword in _STEPS[task]:
        given = call.get(place, keyword, NONE)
        if is_none(given) and step == "validation_step" and not _defines(source, loader):
            continue
        given = _own(call, source, loader) if is_none(given) else given
        before = call.services.globals["grad"]
        call.services.set_global("grad", before if step == "training_step" else False)
        for name in _STARTS[step]:
            _own(call, model, name)
        _step(call, model, step, given, device)
        call.services.set_global("grad", before)
    move(call.services, model, UNKNOWN_DEVICE)
    return NONE


def _step(call: Call, model: ModuleObject, step: str, loader: Value, device: DeviceTree) -> None:
    """One call of a step of the module's, with a batch that the trainer has moved."""
    batch = moved_along(call, _batch(call, loader), device, "is moved by the trainer")
    arguments = (batch, Unknown("the batch's index"))
    if step == "training_step":
        _own(call, model, "on_train_batch_start", *arguments)
    call.services.invoke(call.services.attribute(model, step), arguments, {})


def _own(call: Call, owner: Value, name: str, *args: Value) -> Value:
    """Calls a method if a class of the program defines it."""
    if not _defines(owner, name):
        return NONE
    return call.services.invoke(call.services.attribute(owner, name), args, {})


def _defines(owner: Value, name: str) -> bool:
    cls = owner.cls if isinstance(owner, Instance) else None
    return type(cls) is ClassValue and isinstance(cls.lookup(name), Function)


def _batch(call: Call, loader: Value) -> Value:
    if isinstance(loader, Instance) and "dataset" in loader.fields:
        return batch_of(call, loader)
    if is_none(loader):
        return Unknown("the batch")
    if type(loader) in (ListObject, TupleValue):  # several loaders, of which each gives batches
        several, more = call.services.iterate(loader)
        loader = several[0] if several else more
        if isinstance(loader, Instance) and "dataset" in loader.fields:
            return batch_of(call, loader)
    items, rest = call.services.iterate(loader)
    return items[0] if items else (rest if rest is not None else Unknown("the batch"))


def _optimizers(call: Call) -> Value:
    return Unknown("optimizers")


def register_all() -> None:
    BASES[MODULE] = ("torch.nn.Module",)
    BASES[DATA] = ()
    ATTRIBUTES[f"{MODULE}.device"] = _device
    for name in ("trainer", *_COUNTS):
        ATTRIBUTES[f"{MODULE}.{name}"] = _progress
    register_names(MODULE, _SILENT, nothing)
    for name in words("optimizers lr_schedulers"):
        FUNCTIONS[f"{MODULE}.{name}"] = _optimizers
    FUNCTIONS[TRAINER] = _trainer
    for name in _STEPS:
        FUNCTIONS[f"{TRAINER}.{name}"] = _run
    FUNCTIONS[f"{TRAINER}.save_checkpoint"] = nothing
    FUNCTIONS["lightning.pytorch.seed_everything"] = nothing
    for namespace in _NAMESPACES:
        for name in ("LightningModule", "LightningDataModule", "Trainer", "seed_everything"):
            ALIASES[f"{namespace}.{name}"] = f"lightning.pytorch.{name}"
