"""Models out of libraries: of their parts nothing is known but where they are."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.device import same_everywhere
from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import DeviceValue, Tensor
from device_lens.models.agreement import Placed
from device_lens.models.call import Call, Value
from device_lens.models.registry import ATTRIBUTES, BASES, MODULES
from device_lens.models.torch.construction import make_opaque
from device_lens.models.torch.nn_layer import agreeing, first_parameter, operands_of
from device_lens.models.torch.parts import MEMBERS, PART, REST, home_device

MODULE = "torch.nn.Module"


class OpaqueModule:
    """A module class of a library. `output` makes the value of a call from a tensor on the module's
    device, `checked` tells how many of the positional inputs have to be there, None for all;
    `names` whether those that have names have to. `title` is what a reader knows it by."""

    def __init__(
        self,
        name: str,
        output: Callable[[Call, Tensor], Value],
        checked: int | None = None,
        title: str = "",
        names: bool = True,
    ) -> None:
        self.name = name
        self.title = title or name
        self.output = output
        self.checked = checked
        self.names = names

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """On the default device; nothing is known of the parts."""
        make_opaque(call, module, call.services.default_device())

    def forward(self, call: Call) -> Value:
        """An output on the module's device."""
        weight = first_parameter(call.receiver)
        named = call.kwargs if self.names else {}
        operands = operands_of(call.args[: self.checked], named, {})
        if weight is not None and self.name == PART:
            if _name(call.receiver) in _BARE:
                weight = None
            elif _may_be_bare(call) and (not operands or _any_apart(weight, operands)):
                return call.unknown()
        if weight is not None:
            operands.insert(1, weight)
        result = agreeing(call, self.title, operands, dtype=None)
        return self.output(call, result.with_(shape=None, dtype=None, zero_dim=None))


_BARE = frozenset("avgpool dropout maxpool relu".split())
"""Parts that have no parameters."""


def _may_be_bare(call: Call) -> bool:
    """Whether the part of a module that is called may have no parameters, so that it takes what is
    anywhere: one that is meant by its place, or by a test. Some of all parts, in order, have."""
    name = _name(call.receiver)
    if name.lstrip("-").isdigit():
        return True
    several = call.services.is_in_each_pass() or MEMBERS in call.receiver.own
    return name == REST and not several


def _name(part: ModuleObject) -> str:
    name: str = part.own.get("name", "")
    return name


def _any_apart(weight: Placed, operands: list[Placed]) -> bool:
    device = weight[0].device
    return not all(same_everywhere(tensor.device, device) for tensor, _, _ in operands)


def tensor_output(call: Call, result: Tensor) -> Value:
    """The output is one tensor."""
    return result


def unknown_output(call: Call, result: Tensor) -> Value:
    """The output is a structure of tensors on one device."""
    return call.unknown(result.device)


def register(model: OpaqueModule) -> None:
    """Makes a class known as a module."""
    MODULES[model.name] = model
    BASES[model.name] = (MODULE,)
    ATTRIBUTES[f"{model.name}.device"] = _device


def _device(call: Call) -> Value:
    """`model.device`, which models of libraries have and `nn.Module` has not."""
    found = home_device(call.receiver) if isinstance(call.receiver, ModuleObject) else None
    return call.unknown() if found is None else DeviceValue(found)


def register_all() -> None:
    # It may be of any class: lengths that come second are often read on the host, and what has a
    # name is often brought to the first input's device.
    register(OpaqueModule(PART, unknown_output, checked=1, title=".forward()", names=False))
