"""The classes between `nn.Module` and its layers, from which programs derive their own."""

from __future__ import annotations

from dataclasses import dataclass

from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import NONE, TRUE
from device_lens.models.call import Call, Value
from device_lens.models.registry import BASES, MODULES
from device_lens.models.torch.nn_modules import NORMALISATIONS
from device_lens.models.words import words

MODULE = "torch.nn.Module"
LOSS = "torch.nn.modules.loss._Loss"
WEIGHTED = "torch.nn.modules.loss._WeightedLoss"
NORM = "torch.nn.modules.batchnorm._NormBase"
BATCH_NORM = "torch.nn.modules.batchnorm._BatchNorm"
INSTANCE_NORM = "torch.nn.modules.instancenorm._InstanceNorm"


@dataclass(frozen=True, slots=True)
class Bare:
    """A class that makes no parameters. `keeps` names the argument that becomes a buffer."""

    name: str
    keeps: str = ""

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Modules are made in training mode."""
        call.write(module.fields, "training", TRUE)
        if self.keeps:
            call.write(module.buffers, self.keeps, call.get(0, self.keeps, NONE))

    def forward(self, call: Call) -> Value:
        """Raises in PyTorch: the class has no forward."""
        return call.unknown()


_WEIGHTED_LOSSES = (
    "BCELoss CrossEntropyLoss LinearCrossEntropyLoss MultiLabelSoftMarginLoss MultiMarginLoss "
    "NLLLoss NLLLoss2d"
)


def _norm(name: str, like: str) -> None:
    """A class that makes and computes what a layer does which derives from it."""
    layer = next(row for row in NORMALISATIONS if row.name == like)
    MODULES[name] = type(layer)(
        name, layer.constructor, layer.makes, layer.keeps, layer.function, layer.passes
    )


def register_all() -> None:
    for name in ("torch.jit.ScriptModule", LOSS):
        MODULES[name] = Bare(name)
        BASES[name] = (MODULE,)
    MODULES[WEIGHTED] = Bare(WEIGHTED, "weight")
    BASES[WEIGHTED] = (LOSS, MODULE)
    for name in (NORM, BATCH_NORM):
        _norm(name, "torch.nn.BatchNorm1d")
    _norm(INSTANCE_NORM, "torch.nn.InstanceNorm1d")
    BASES[NORM] = (MODULE,)
    BASES[BATCH_NORM] = BASES[INSTANCE_NORM] = (NORM, MODULE)
    weighted = {f"torch.nn.{name}" for name in words(_WEIGHTED_LOSSES)}
    for name in list(MODULES):
        if not name.startswith("torch.nn.") or name.count(".") != 2:
            continue
        if name in weighted or (name.endswith("Loss") and not name.endswith("WithLoss")):
            BASES[name] = (WEIGHTED, LOSS, MODULE) if name in weighted else (LOSS, MODULE)
        elif "BatchNorm" in name:
            BASES[name] = (BATCH_NORM, NORM, MODULE)
        elif "InstanceNorm" in name:
            BASES[name] = (INSTANCE_NORM, NORM, MODULE)
