"""`torch.nn.utils.prune` and `weight_norm`: a parameter becomes others, of which it is computed."""

from __future__ import annotations

from device_lens.domain.device import same_everywhere
from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject, Parameter
from device_lens.domain.values import Const, External, Unknown
from device_lens.models.call import Call, Value, constant, tensor_of
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.forward_hooks import BEFORE
from device_lens.models.torch.nn_layer import agreeing
from device_lens.models.torch.objects import first
from device_lens.models.torch.parametrized import HELD
from device_lens.models.torch.parts import REPARAMETRISED
from device_lens.models.words import words

_PRUNING = words("l1_unstructured random_unstructured ln_structured random_structured identity")


def reparametrised(call: Call) -> Value:
    """The module that is given, whose weight is computed of others from then on."""
    module = first(call)
    for each in leaves(module):
        if isinstance(each, ModuleObject):
            call.write(each.own, REPARAMETRISED, True)
    return module


def _named(call: Call, default: str | None = None) -> tuple[ModuleObject, str, Parameter] | None:
    """The module, and its parameter of the name that is given."""
    module = call.get(0, "module")
    name = constant(call.get(1, "name", Const(default)))
    if not isinstance(module, ModuleObject) or not isinstance(name, str):
        return None
    parameter = module.parameters.get(name)
    return (module, name, parameter) if type(parameter) is Parameter else None


def _pruned(call: Call) -> Value:
    """The parameter goes on under another name, beside a mask where it is."""
    found = _named(call)
    if found is not None:
        module, name, parameter = found
        mask = parameter.tensor.with_(requires_grad=False, leaf=True, trail=None)
        call.write(module.parameters, f"{name}_orig", parameter)
        call.write(module.buffers, f"{name}_mask", mask)
    return reparametrised(call)


def _masked(call: Call) -> Value:
    """The mask is put over one that is beside the parameter."""
    found, mask = _named(call), call.get(2, "mask")
    tensor = tensor_of(mask)
    if found is not None and tensor is not None:
        parameter = found[2]
        beside = (parameter.tensor, parameter, call.place(0, "module"))
        agreeing(call, call.name, [beside, (tensor, mask, call.place(2, "mask"))])
    return _pruned(call)


def _kept(call: Call) -> Value:
    """`prune.remove(module, name)`: the pruned parameter is the module's own again."""
    found = _named(call)
    if found is not None:
        module, name, _ = found
        call.services.journal.delete(module.parameters, f"{name}_orig")
        call.services.journal.delete(module.buffers, f"{name}_mask")
    return first(call)


def _weight_norm(call: Call) -> Value:
    """A length and a direction in the place of a weight, where that is."""
    found = _named(call, "weight")
    if found is not None:
        module, name, parameter = found
        length = parameter.tensor.with_(shape=None, trail=None)
        call.write(module.parameters, f"{name}_g", Parameter(length, call.site.node))
        call.write(module.parameters, f"{name}_v", Parameter(parameter.tensor, call.site.node))
    return reparametrised(call)


def _parametrized(call: Call) -> Value:
    """`register_parametrization(module, name, part)`: the parameter goes on as an original, and the
    part, which is one of the module from now on, computes of it what the module has by the name."""
    found, part = _named(call), call.get(2, "parametrization")
    if found is None or not isinstance(part, ModuleObject):
        return reparametrised(call)
    module, name, parameter = found
    held = module.modules.get(HELD)
    if not isinstance(held, ModuleObject):
        held = ModuleObject(_HOLDER, call.site.node)
        call.write(module.modules, HELD, held)
    computing = held.modules.get(name)
    if not isinstance(computing, ModuleObject):
        computing = ModuleObject(_HOLDER, call.site.node)
        computing.parameters["original"] = parameter
        call.write(held.modules, name, computing)
    call.write(computing.modules, str(len(computing.modules)), part)
    call.write(module.own, BEFORE, module.own.get(BEFORE, ()))
    computed = tensor_of(call.services.invoke(part, (parameter,), {}))
    if computed is None or not same_everywhere(computed.device, parameter.tensor.device):
        call.services.journal.delete(module.parameters, name)
        call.write(module.fields, name, Unknown(name))
    return reparametrised(call)


def _unparametrized(call: Call) -> Value:
    """`remove_parametrizations(module, name)`: nothing is computed any more."""
    module, name = call.get(0, "module"), constant(call.get(1, "tensor_name"))
    held = module.modules.get(HELD) if isinstance(module, ModuleObject) else None
    if isinstance(held, ModuleObject) and name in held.modules:
        call.services.journal.delete(held.modules, name)
    return first(call)


_HOLDER = External("torch.nn.ModuleDict")


def register_all() -> None:
    FUNCTIONS["torch.nn.utils.parametrize.register_parametrization"] = _parametrized
    FUNCTIONS["torch.nn.utils.parametrize.remove_parametrizations"] = _unparametrized
    for name in _PRUNING:
        FUNCTIONS[f"torch.nn.utils.prune.{name}"] = _pruned
    FUNCTIONS["torch.nn.utils.prune.custom_from_mask"] = _masked
    FUNCTIONS["torch.nn.utils.prune.remove"] = _kept
    FUNCTIONS["torch.nn.utils.weight_norm"] = _weight_norm
