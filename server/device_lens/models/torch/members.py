"""One of several members of a container of modules, where an index does not tell which."""

from __future__ import annotations

from device_lens.domain.guard import Guarded, leaves, undecided
from device_lens.domain.guard import choose as decide
from device_lens.domain.heap import ModuleObject
from device_lens.domain.join import join_all
from device_lens.domain.similarity import same_places
from device_lens.domain.values import TupleValue, Unknown
from device_lens.models.call import Call, Value
from device_lens.models.torch.parts import tensor_in

MANY = 4
"""Members among which an index that is not known chooses without losing them."""


def picked(call: Call, values: list[Value]) -> Value:
    """The member under an index that is not known: of many of which one is moved nobody tells
    which that is."""
    if len(values) > MANY:
        found = call.services.item(TupleValue(tuple(values)), Unknown())
        if type(found) is Unknown:
            return found
    return choose(values)


def choose(values: list[Value]) -> Value:
    """One of several members, without knowing which."""
    distinct: list[Value] = []
    for value in values:
        if not any(value is other for other in distinct):
            distinct.append(value)
    if not distinct or len(distinct) > MANY:
        return alike(distinct)
    result = distinct[-1]
    for value in reversed(distinct[:-1]):
        result = decide(undecided(), value, result)
    return result


def alike(values: list[Value]) -> Value:
    """A member that stands for all, where all are of one class and in the same places, in each
    case that they tell; of parameters a tensor with what they have in common."""
    tensors = [tensor_in(leaf) for value in values for leaf in leaves(value)]
    if tensors and None not in tensors:
        return join_all(tensors)
    first = values[0] if values else None
    if type(first) is Guarded:
        atom = first.atom
        if not all(type(value) is Guarded and value.atom == atom for value in values):
            return Unknown("module")
        sides = [alike([value.yes for value in values]), alike([value.no for value in values])]
        return decide(Guarded(atom, True, False), *sides)
    classes = {getattr(value, "cls", None) for value in values}
    if not values or len(classes) != 1 or None in classes:
        return Unknown("module")
    apart = type(first) is ModuleObject and not all(same_places(first, other) for other in values)
    return Unknown("module") if apart else first
