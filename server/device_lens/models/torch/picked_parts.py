"""Modules of which a container has some, nobody knows which.

Where the container moves, nobody knows which of them move along. What is read out of the container
is one of them that did.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, is_unknown, same_everywhere
from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject, Parameter, Table
from device_lens.domain.objects import one_of_these
from device_lens.domain.values import WITHIN, Tensor, Unknown
from device_lens.models.call import Services, Value
from device_lens.models.torch.moved_along import TAKEN_BY
from device_lens.models.torch.parts import all_parts, devices_of, is_opaque, own_device, walk

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


def read(module: ModuleObject, value: Value) -> Value:
    """What is read out of a container, where that is one of some modules: it is the same value each
    time, which remembers the container."""
    if not is_opaque(module) or not _is_picked(value):
        return value
    memory = module.own.setdefault("unknowns", {}).setdefault(WITHIN, {})
    known = memory.get(id(value))
    if known is None:
        known = memory[id(value)] = _remembering(value, (module, value))
    return known


def part_of(value: Unknown, part: Value) -> Value:
    """What one of some modules has as a part is where that is."""
    known = (value.fields or {}).get(WITHIN)
    if known is None or not _is_picked(part):
        return part
    return _remembering(part, known)


def _remembering(value: Unknown, within: tuple[ModuleObject, Unknown]) -> Unknown:
    found = Unknown(value.label, value.device)
    found.parts().update({**value.parts(), WITHIN: within})
    return found


def _is_picked(value: Value) -> bool:
    held = one_of_these(value)
    return bool(held) and all(type(each) is ModuleObject for each in held)


def home_of(value: Value) -> DeviceTree:
    """Where one of some modules is, or of parts of these: where the container has all of its own,
    if it still has what has been read out of it."""
    known = (value.fields or {}).get(WITHIN) if type(value) is Unknown else None
    if known is None:
        return UNKNOWN_DEVICE
    container, origin = known
    stays = any(each is origin for each in container.modules.values())
    return own_device(container) if stays and is_opaque(container) else UNKNOWN_DEVICE


@contextmanager
def at_home(services: Services, part: ModuleObject, home: DeviceTree) -> Iterator[None]:
    """While one of some modules is taken to be the one that is meant, it is where that is."""
    changed: list[tuple[Table, str, Value, Value]] = []

    def write(table: Table, key: str, tensor: Tensor) -> None:
        if is_unknown(tensor.device):
            there = tensor.with_(device=home)
            changed.append((table, key, tensor, there))
            services.journal.write(table, key, there)

    for each in () if is_unknown(home) else all_parts(part):
        if type(each.value) is Tensor:
            write(each.table, each.key, each.value)
        elif type(each.value) is Parameter and type(each.value.fields.get("tensor")) is Tensor:
            write(each.value.fields, "tensor", each.value.tensor)
    try:
        yield
    finally:
        for table, key, before, there in changed:
            if table.get(key) is there:
                services.journal.write(table, key, before)
