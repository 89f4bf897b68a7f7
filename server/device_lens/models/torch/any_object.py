"""What may be any of many objects of the program: what is done to it may be done to each."""

from __future__ import annotations

from device_lens.domain.guard import leaves, undecided
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, contents
from device_lens.domain.join import join_blind
from device_lens.domain.presence import put
from device_lens.domain.wholes import members
from device_lens.models.call import Services, Value

DEEPEST = 3
"""Objects in objects that are looked through for modules."""


def lose_held(services: Services, whole: Value, deepest: int = DEEPEST) -> None:
    """A part of an object, or of what it holds, is moved: where its modules are is not known."""
    from device_lens.models.torch import module

    if isinstance(whole, ModuleObject):
        module.lose(services, whole)
        return
    held = [*whole.fields.values()] if type(whole) is Instance else contents(whole)
    for value in held if deepest else ():
        for leaf in leaves(value):
            if isinstance(leaf, Instance | ListObject | DictObject):
                lose_held(services, leaf, deepest - 1)


def set_attribute(services: Services, wholes: Value, name: str, value: Value) -> None:
    """An attribute is set of one of some objects: that of each is what it was, or this."""
    for each in members(wholes):
        if type(each) is not Instance:
            continue
        if name in each.fields:
            old = each.fields[name]
            services.journal.write(each.fields, name, join_blind(old, value))
        else:
            put(services.journal, each.fields, name, value, undecided())
