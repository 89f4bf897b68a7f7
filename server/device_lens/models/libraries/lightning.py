"""Lightning: the trainer moves the module and its batches; `self.device` is where they are."""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE, SymbolicDevice, is_unknown
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.domain.values import NONE, DeviceValue, External, Tensor, Unknown
from device_lens.models.call import Call, Value, is_none
from device_lens.models.registry import ALIASES, ATTRIBUTES, BASES, FUNCTIONS
from device_lens.models.torch.collation import map_tensors
from device_lens.models.torch.data import batch_of
from device_lens.models.torch.module import move
from device_lens.models.torch.objects import nothing, register_names
from device_lens.models.torch.parts import home_device
from device_lens.models.words import words

MODULE = "lightning.pytorch.LightningModule"
DATA = "lightning.pytorch.LightningDataModule"
TRAINER = "lightning.pytorch.Trainer"
STEPS = words("training_step validation_step test_step predict_step")
"""Methods whose batch the trainer has moved to the module's device."""
_NAMESPACES = words(
    "pytorch_lightning lightning pytorch_lightning.core lightning.pytorch.core "
    "pytorch_lightning.core.module lightning.pytorch.core.module"
)
_SILENT = """log log_dict save_hyperparameters print toggle_optimizer untoggle_optimizer
    manual_backward clip_gradients"""
_LOADERS = {"fit": "training_step", "validate": "validation_step", "test": "test_step"}


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


def _trainer(call: Call) -> Value:
    made = Instance(External(TRAINER), call.site.node)
    made.fields["<device>"] = SymbolicDevice("the trainer's device")
    return made


def _run(call: Call) -> Value:
    """`trainer.fit(model, loader)`: one step on a batch, both on the trainer's device. Where the
    module is afterwards is not known."""
    model = call.get(0, "model", NONE)
    step = _LOADERS[call.name.rpartition(".")[2]]
    loader = call.get(1, "train_dataloaders", call.kwargs.get("dataloaders", NONE))
    trainer = call.receiver
    if not isinstance(model, ModuleObject) or not isinstance(trainer, Instance):
        return NONE
    device = trainer.fields.get("<device>", UNKNOWN_DEVICE)
    trail = call.trail("moved", "is moved by the trainer")
    move(call.services, model, device, None, trail)
    batch = _batch(call, loader)

    def moved(leaf: Value) -> Value:
        if type(leaf) is Tensor:
            return leaf.with_(device=device)
        return Unknown(leaf.label, device) if type(leaf) is Unknown else leaf

    given = (map_tensors(batch, moved), Unknown("the batch's index"))
    call.services.invoke(call.services.attribute(model, step), given, {})
    move(call.services, model, UNKNOWN_DEVICE)
    return NONE


def _batch(call: Call, loader: Value) -> Value:
    if isinstance(loader, Instance) and "dataset" in loader.fields:
        return batch_of(call, loader)
    if is_none(loader):
        return Unknown("the batch")
    items, rest = call.services.iterate(loader)
    return items[0] if items else (rest if rest is not None else Unknown("the batch"))


def _optimizers(call: Call) -> Value:
    return Unknown("optimizers")


def register_all() -> None:
    BASES[MODULE] = ("torch.nn.Module",)
    BASES[DATA] = ()
    ATTRIBUTES[f"{MODULE}.device"] = _device
    register_names(MODULE, _SILENT, nothing)
    for name in words("optimizers lr_schedulers"):
        FUNCTIONS[f"{MODULE}.{name}"] = _optimizers
    FUNCTIONS[TRAINER] = _trainer
    for name in _LOADERS:
        FUNCTIONS[f"{TRAINER}.{name}"] = _run
    FUNCTIONS[f"{TRAINER}.save_checkpoint"] = nothing
    FUNCTIONS["lightning.pytorch.seed_everything"] = nothing
    for namespace in _NAMESPACES:
        for name in ("LightningModule", "LightningDataModule", "Trainer", "seed_everything"):
            ALIASES[f"{namespace}.{name}"] = f"lightning.pytorch.{name}"
