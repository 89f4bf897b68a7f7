"""`torch.optim.swa_utils`: a copy of a model whose parameters are averages."""

from __future__ import annotations

from device_lens.domain.guard import leaves
from device_lens.domain.heap import ListObject, ModuleObject
from device_lens.domain.values import NONE, TRUE, External, TupleValue
from device_lens.models import registry
from device_lens.models.call import Call, Value, is_none
from device_lens.models.torch.copying import deep_copy
from device_lens.models.torch.nn_layer import factory
from device_lens.models.torch.objects import nothing
from device_lens.models.torch.parts import walk

NAMESPACE = "torch.optim.swa_utils"
_MOVE = "torch.nn.Module.to"


class Averaged:
    """Keeps its own copy of the model, on the model's device where no other is asked for. How many
    models went into it is counted on the default device."""

    name = f"{NAMESPACE}.AveragedModel"

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Copies the model."""
        copy = deep_copy(call.get(0, "model", NONE), {})
        device = call.get(1, "device", NONE)
        move = registry.function(_MOVE)
        if move is not None and not is_none(device) and isinstance(copy, ModuleObject):
            copy = move(Call(_MOVE, copy, (device,), {}, call.site, call.services))
        call.write(module.modules, "module", copy)
        count = factory(call, {"device": device})((), "int64", False)
        call.write(module.buffers, "n_averaged", count)
        call.write(module.fields, "training", TRUE)

    def forward(self, call: Call) -> Value:
        """Calls the copy."""
        inner = call.receiver.modules.get("module", NONE)
        return call.services.invoke(inner, call.args, call.kwargs)


def _update_bn(call: Call) -> Value:
    """`update_bn(loader, model, device=None)`: calls a model that has batch norms on each batch, or
    on the first thing in it, which is moved where a device is given."""
    model, device = call.get(1, "model", NONE), call.get(2, "device", NONE)
    if not all(map(_has_norms, leaves(model))):
        return NONE
    items, rest = call.services.iterate(call.get(0, "loader", NONE))
    for batch in (*items[:1], *([] if rest is None else [rest])):
        given = batch
        if type(batch) in (ListObject, TupleValue):
            parts, further = call.services.iterate(batch)
            given = parts[0] if parts else further
        move = registry.function("torch.Tensor.to")
        if move is not None and not is_none(device):
            inner = Call("torch.Tensor.to", given, (device,), {}, call.site, call.services)
            given = move(inner)
        call.services.invoke(model, (given,), {})
    return NONE


def _has_norms(model: Value) -> bool:
    return isinstance(model, ModuleObject) and any(_normalises(each) for _, each in walk(model))


def _normalises(module: ModuleObject) -> bool:
    return isinstance(module.cls, External) and "BatchNorm" in module.cls.name


def register_all() -> None:
    """Fills the registry."""
    registry.MODULES[Averaged.name] = Averaged()
    registry.BASES[Averaged.name] = ("torch.nn.Module",)
    registry.FUNCTIONS[f"{Averaged.name}.update_parameters"] = nothing
    registry.FUNCTIONS[f"{NAMESPACE}.update_bn"] = _update_bn
