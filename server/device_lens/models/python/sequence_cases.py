"""Sequences between which a condition decides, of which one has no items: what is made of them is
made in each case."""

from __future__ import annotations

from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.join import join
from device_lens.domain.values import Const, TupleValue
from device_lens.models.call import Call, Model, Value
from device_lens.models.python.all_gpus import are_those, counts_what_is_there

MOST = 4
"""Cases that are told apart."""


def may_be_empty(tree: Guarded) -> bool:
    """Whether one of some sequences surely has no items, and another may have some; those of what
    the machine has left out, which has some."""
    found = leaves(tree)
    if len(found) > MOST or are_those(tree):
        return False
    return len({_has_none(leaf) for leaf in found}) == 2


def _has_none(value: Value) -> bool:
    if type(value) is TupleValue:
        return not value.items
    if type(value) is ListObject:
        return not value.items and value.rest is None
    return type(value) is DictObject and not value.entries and value.rest is None


def _may_be_zero(tree: Guarded) -> bool:
    """Whether one of some numbers is none that a range begins with, and another is."""
    found = leaves(tree)
    if len(found) > MOST or counts_what_is_there(tree):
        return False
    if not all(type(leaf) is Const and type(leaf.value) is int for leaf in found):
        return False
    return len({leaf.value <= 0 for leaf in found}) == 2


def by_case(model: Model, of_gpus: bool = False) -> Model:
    """A sequence made of others, or of numbers, in each case in which one of these is empty. One
    that is made `of_gpus` tells how many there are, as what it is made of does."""

    def decides(given: Guarded) -> bool:
        return may_be_empty(given) or _may_be_zero(given) or (of_gpus and are_those(given))

    def made(call: Call) -> Value:
        for place, given in enumerate(call.args if call.complete else ()):
            if type(given) is Guarded and decides(given):
                yes, no = (
                    made(
                        Call(
                            call.name,
                            call.receiver,
                            (*call.args[:place], side, *call.args[place + 1 :]),
                            call.kwargs,
                            call.site,
                            call.services,
                        )
                    )
                    for side in (given.yes, given.no)
                )
                return join(Guarded(given.atom, True, False), yes, no)
        return model(call)

    return made
