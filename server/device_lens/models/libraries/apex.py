"""apex: mixed precision before PyTorch had its own. Nothing of it moves a tensor."""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.values import NONE, TupleValue
from device_lens.models.call import Call, Value, is_none
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.objects import first, instance

SCALE = "apex.amp.scale_loss"
_LOSS = "<loss>"


def _initialize(call: Call) -> Value:
    """`amp.initialize(models, optimizers)`: gives both back, or the models alone."""
    models, optimizers = call.get(0, "models", NONE), call.get(1, "optimizers", NONE)
    return models if is_none(optimizers) else TupleValue((models, optimizers))


def _scale_loss(call: Call) -> Value:
    """`with amp.scale_loss(loss, optimizer) as scaled:`."""
    return instance(call, SCALE, **{_LOSS: call.get(0, "loss", NONE)})


def _scaled(call: Call) -> Value:
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    return fields.get(_LOSS, call.unknown())


def register_all() -> None:
    """Fills the registry."""
    FUNCTIONS["apex.amp.initialize"] = _initialize
    FUNCTIONS[SCALE] = _scale_loss
    FUNCTIONS[f"{SCALE}.__enter__"] = _scaled
    FUNCTIONS["apex.parallel.convert_syncbn_model"] = first
    wrapper = "torch.nn.parallel.DistributedDataParallel"
    ALIASES["apex.parallel.DistributedDataParallel"] = wrapper
    for name, like in (("FusedAdam", "Adam"), ("FusedSGD", "SGD")):
        ALIASES[f"apex.optimizers.{name}"] = f"torch.optim.{like}"
    for name, like in (("FusedLayerNorm", "LayerNorm"), ("FusedRMSNorm", "RMSNorm")):
        for package in ("apex.normalization", "apex.normalization.fused_layer_norm"):
            ALIASES[f"{package}.{name}"] = f"torch.nn.{like}"
