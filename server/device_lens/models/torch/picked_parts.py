"""Modules of which a container has some, nobody knows which."""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, same_everywhere
from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject
from device_lens.domain.objects import one_of_these
from device_lens.models.call import Services, Value
from device_lens.models.torch.moved_along import TAKEN_BY
from device_lens.models.torch.parts import devices_of, is_opaque, own_device, walk

_MOST = 64
"""Modules that are looked at."""


def take(services: Services, module: ModuleObject, value: Value) -> DeviceTree:
    """A module gets some of several as parts. Tells where these are, if all that may be among them
    are in one place: where one of those moves by itself, that is not known any more."""
    held = [each for leaf in leaves(value) for each in one_of_these(leaf) or (leaf,)]
    if len(held) > _MOST or not all(isinstance(each, ModuleObject) for each in held):
        return UNKNOWN_DEVICE
    found: DeviceTree | None = own_device(module) if is_opaque(module) else None
    inner = [part for each in held for _, part in walk(each)]
    for each in held:
        device = devices_of(each)
        if found is None or device is None:
            found = device if found is None else found
        elif not same_everywhere(found, device):
            return UNKNOWN_DEVICE
    for part in inner:
        taken = part.own.get(TAKEN_BY, ())
        if not any(each is module for each in taken):
            services.journal.write(part.own, TAKEN_BY, (*taken, module))
    return UNKNOWN_DEVICE if found is None else found
