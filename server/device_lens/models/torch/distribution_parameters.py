"""Where the parameters of a distribution are, and where those are that a call of it needs."""

from __future__ import annotations

from typing import Any

from device_lens.domain.code import ClassValue
from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, same_everywhere
from device_lens.domain.heap import Instance
from device_lens.domain.values import TRUE, External, Tensor
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Value, tensor_of
from device_lens.models.relayed import with_conflicts
from device_lens.models.torch.distribution_tables import ALTERNATIVE, PARAMETERS, STATISTICS
from device_lens.models.words import words

Held = tuple[tuple[Tensor, Value, str], ...]
"""Parameters that are tensors: these, the values that they were read from, and their names."""
Parameters = tuple[DeviceTree | None, Held]

DEVICE = "<device>"
HELD = "<operands>"
GIVEN = "<given>"
"""The field with the tensors that the constructor was given, by their names."""
MIXTURE = "MixtureSameFamily"
WEIGHTED = ("mixture_distribution", "component_distribution")
"""What a mixture is made of, where the parameters of each share a device."""
SEEN = "<seen>"
"""The field that tells whether all of the parameters are known."""


class OfTransform(str):
    """The name of a parameter of a transform, which meets samples as it is: no one makes it as
    large as others."""


def parameters_of(value: Value) -> Parameters:
    """Where the parameters of a distribution are, None where all are numbers, and those that are
    tensors. A program may have put others in their place."""
    if not isinstance(value, Instance):
        return UNKNOWN_DEVICE, ()
    fields = value.fields
    device, held = fields.get(DEVICE, UNKNOWN_DEVICE), fields.get(HELD, ())
    base = fields.get("base_dist")
    if isinstance(base, Instance):
        now = parameters_of(base)
        return (device, held) if now[1] == base.fields.get(HELD, ()) else (now[0], now[1])
    given = dict(fields.get(GIVEN, ()))
    if type(value.cls) is not External or DEVICE not in fields:
        return device, held
    names = words(PARAMETERS.get(value.cls.name.rpartition(".")[2], ""))
    present = {
        name: tensor
        for name in fields
        if isinstance(name, str) and name[:1] != "<" and (tensor := tensor_of(fields[name]))
    }
    if all(given.get(name) is fields[name] for name in present):
        return device, held
    tensors = list(present.values())
    whole = all(name in present or name in ALTERNATIVE for name in names)
    beside = all(same_everywhere(each.device, tensors[0].device) for each in tensors)
    where = tensors[0].device if whole and beside else UNKNOWN_DEVICE
    return where, tuple((tensor, fields[name], name) for name, tensor in present.items())


def together(device: DeviceTree, held: Held) -> Tensor:
    """A distribution's parameters as one operand, with the history of the first."""
    trail = held[0][0].trail if held else None
    return Tensor(device, zero_dim=False, trail=trail)


def needed(call: Call) -> Parameters:
    """The parameters that a call takes: all of them, but for some statistics. What is a number is
    made beside the first of those that are tensors."""
    device, held = parameters_of(call.receiver)
    asked = _asked(call)
    if asked is None or not held:
        return device, held
    taken = tuple(each for each in held if each[2] in asked)
    numbers = asked - ALTERNATIVE - {name for *_, name in held}
    if not taken or (numbers and call.receiver.fields.get(SEEN) == TRUE):
        sized = tuple(each for each in held if each[2] != "temperature")
        taken = (*taken, *(each for each in sized[:1] if each not in taken))
    return (where_shared(call, taken), taken) if taken else (UNKNOWN_DEVICE, ())


def _asked(call: Call) -> frozenset[str] | None:
    """The parameters that a statistic is reckoned from, None for all. The mean of a mixture is that
    of its components' means."""
    name, statistic = short_name(call), call.name.rpartition(".")[2]
    if name != MIXTURE or statistic != "mean" or not isinstance(call.receiver, Instance):
        return STATISTICS.get((name, statistic))
    component = short_name_of(call.receiver.fields.get("base_dist"))
    asked = STATISTICS.get((component, statistic))
    return None if asked is None else asked | {*WEIGHTED}


def as_operands(held: Held) -> list[Placed]:
    """Parameters as they meet: made of one size, so that one number beside several is none, but
    for a temperature and what transforms have."""
    dims = {tensor.zero_dim for tensor, _, name in held if name != "temperature"}
    zero_dim = False if False in dims else None if None in dims else True
    made: list[Placed] = []
    for tensor, value, name in held:
        alone = name == "temperature" or isinstance(name, OfTransform)
        sized = alone or tensor.zero_dim == zero_dim
        made.append((tensor if sized else tensor.with_(shape=None, zero_dim=zero_dim), value, name))
    return made


def where_shared(call: Call, held: Held) -> DeviceTree:
    """Where parameters are that nothing has met yet: `CONTESTED` where they are apart."""
    return common_device(with_conflicts(call.services, _untold), call.name, as_operands(held), True)


def _untold(*_: Any) -> None:
    """Takes a conflict that is one only once the two meet."""


def are_numbers_apart(held: Held) -> bool:
    """Whether parameters are one number each, of which some drawing takes one on the host beside
    another that is not."""
    if any(tensor.zero_dim is False for tensor, *_ in held):
        return False
    return any(not same_everywhere(tensor.device, held[0][0].device) for tensor, *_ in held)


def short_name(call: Call) -> str:
    """The name of the library's class that a distribution is of, or the one that it sums up."""
    return short_name_of(call.receiver)


def short_name_of(made: Any) -> str:
    """See `short_name`, of a value."""
    name = ""
    while isinstance(made, Instance):
        cls: Any = made.cls
        name = (
            cls.foreign[0] if type(cls) is ClassValue and cls.foreign else getattr(cls, "name", "")
        )
        made = made.fields.get("base_dist") if str(name).endswith(".Independent") else None
    return str(name).rpartition(".")[2]
