"""What moves along with a module, or does not, beyond the parts that it lists."""

from __future__ import annotations

from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import WHOLE, Unknown
from device_lens.models.call import Services, Value
from device_lens.models.torch.parts import HOLDS_SOME, is_opaque, of_many, walk

HELD = "<held>"
"""What a module's `own` holds where its class is not seen: the modules that it was given, and that
may be its submodules."""
TAKEN_BY = "<taken by>"
"""What a module's `own` holds where it may be a part of containers that have some of several."""


def unlisted(owner: ModuleObject) -> tuple[Value, ...]:
    """The modules that one may have besides those that it lists: that it was given, or of which one
    is a part of it, nobody knows which."""
    found: list[Value] = [owner.own[HELD]] if HELD in owner.own else []
    for value in owner.modules.values():
        if type(value) is not ModuleObject:
            parts = (leaf for leaf in leaves(value) if type(leaf) is Unknown)
            found += [each.fields.get(WHOLE) for each in parts if each.fields is not None]
    return tuple(found)


def outside(owners: list[ModuleObject]) -> tuple[Value, ...]:
    """Those around some modules that may have them without listing them. One that has nothing to
    move, as an activation that many share, takes nothing elsewhere."""
    around = [each.own["parent"] for each in owners[1:] if "parent" in each.own]
    taken = [each for each in owners if TAKEN_BY in each.own and _has_parts(each)]
    around += [holder for each in taken for holder in each.own[TAKEN_BY]]
    inside = {id(each) for each in owners} if around else ()
    return tuple(each for each in around if each is not None and id(each) not in inside)


def _has_parts(module: ModuleObject) -> bool:
    """Whether a module has parameters or buffers of its own, listed or not."""
    return bool(module.parameters or module.buffers) or is_opaque(module)


def perhaps_missed(
    services: Services, module: ModuleObject, owners: list[ModuleObject]
) -> frozenset[int] | set[int]:
    """The identities of those that stand for others too which do not move along: where one of many
    is moved, or a container that holds some of them."""
    if module.many is not None:
        return frozenset() if services.does_to_each(module) else {id(each) for each in owners}
    some = [each for each in owners if HOLDS_SOME in each.own]
    if not some:
        return frozenset()
    held = [part for each in some for one in of_many(each) for _, part in walk(one)]
    whole = [
        part
        for each in owners
        if each not in some
        for one in of_many(each)
        for _, part in walk(one)
    ]
    return {id(each) for each in held} - {id(each) for each in whole}
