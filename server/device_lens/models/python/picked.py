"""What picks some of the values that there are, in a way that nobody knows: by a key, by a test, by
chance."""

from __future__ import annotations

from device_lens.domain.heap import HELD_ANY, ListObject
from device_lens.domain.join import join_all
from device_lens.domain.kinds import gathered
from device_lens.domain.objects import any_of_these, keep_any, may_hold
from device_lens.domain.values import TupleValue, Unknown
from device_lens.models.call import Call, Value


def one_of(call: Call, source: Value) -> Value:
    """One item of what can be gone through."""
    return one_of_these(call, [*may_hold(source, *call.services.iterate(source))])


def one_of_these(call: Call, values: list[Value]) -> Value:
    """One of some values: what an index that is not known gives of them."""
    if len(values) < 2:
        return values[0] if values else Unknown()
    return call.services.item(TupleValue(tuple(values)), Unknown())


def some_of(call: Call, source: Value, kind: str = "list", picked: bool = True) -> ListObject:
    """Any of the items of what can be gone through, any number of them and in any order; all of
    them where they are not `picked`."""
    items, rest = call.services.iterate(source)
    held = [each for each in (*items, rest) if each is not None]
    found = ListObject((), join_all(held) if held else None, kind, call.site.node)
    return keep_any(found, may_hold(source, items, rest), picked)


def mix(call: Call, target: ListObject) -> None:
    """Forgets which item of a list stands where."""
    held = keep_any(ListObject(), may_hold(target, target.items, target.rest))
    joined = gathered(target.items, target.rest)
    call.write(target.fields, "items", ())
    call.write(target.fields, "rest", joined)
    if any_of_these(held):
        call.write(target.fields, HELD_ANY, held.fields[HELD_ANY])
