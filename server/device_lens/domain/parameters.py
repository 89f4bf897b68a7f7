"""One parameter for any of several, as the item of a loop over many of them is.

A parameter is an object: whoever holds it sees it move with its module. So what may be any of
several must not be a tensor as they were when somebody put it into a list.
"""

from __future__ import annotations

from device_lens.domain.heap import MOVED, Parameter
from device_lens.domain.journal import Journal
from device_lens.domain.values import Tensor

MOST_MEMBERS = 1024
"""How many parameters one may stand for."""


def members(value: Parameter) -> tuple[Parameter, ...]:
    """Those that it may be."""
    return tuple(value.among.values()) or (value,)


def either(values: list[Parameter]) -> Parameter | None:
    """Any of some parameters; None where they are too many. One of those that are given is the
    answer where it may be each of the others."""
    most = max(values, key=lambda value: len(value.among))
    if all(_has(most, value) for value in values):
        return most
    found = {id(each): each for value in values for each in members(value)}
    if len(found) > MOST_MEMBERS:
        return None
    first = values[0].site
    made = Parameter(None, first if all(each.site is first for each in values) else None)
    made.among = found
    return made


def _has(most: Parameter, value: Parameter) -> bool:
    """Whether one that may be any of several may be all that another one may be."""
    if value is most:
        return True
    if most.settled is not None:
        return False
    if id(value) in most.among:
        return True
    return bool(value.among) and value.among.keys() <= most.among.keys()


def settled(value: Parameter, tensor: Tensor) -> Parameter:
    """Whichever it is of several, once something was done to that one: it is that tensor until
    something else is done to any of them."""
    made = Parameter(None, value.site)
    made.among = value.among
    made.settled = _now(value), tensor
    return made


def _now(value: Parameter) -> list[Tensor]:
    return [each.tensor for each in value.among.values()]


def joined(value: Parameter) -> Tensor:
    """What the parameters that it may be have in common now."""
    from device_lens.domain.join import join_tensors_blindly

    known = value.joined
    if known is not None and known[0] == MOVED.at:
        return known[2]
    now = _now(value)
    if value.settled is not None and all(map(_is, value.settled[0], now)):
        return value.settled[1]
    if known is not None and all(map(_is, known[1], now)):
        value.joined = MOVED.at, now, known[2]
        return known[2]
    found = now[0]
    alike = {(found.device, found.dtype, found.shape, found.requires_grad)}
    for each in now[1:]:
        mark = (each.device, each.dtype, each.shape, each.requires_grad)
        if mark not in alike:
            alike.add(mark)
            found = join_tensors_blindly(found, each)
    value.joined = MOVED.at, now, found
    return found


def _is(left: Tensor, right: Tensor) -> bool:
    return left is right


def set_tensor(journal: Journal, value: Parameter, tensor: Tensor, every: bool = True) -> None:
    """Another value of a parameter; any of those that it may be has it, or the one before, as
    those have for which it stands if not every one gets it. What nobody knows the sizes of is as
    large as what it replaces."""
    if every and not value.among:
        journal.write(value.fields, "tensor", tensor)
        return
    from device_lens.domain.join import join_tensors_blindly

    for each in members(value):
        before = each.tensor
        new = tensor.with_(shape=before.shape) if tensor.shape is None else tensor
        journal.write(each.fields, "tensor", join_tensors_blindly(before, new))
