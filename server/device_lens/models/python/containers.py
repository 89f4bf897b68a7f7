"""Methods of lists, sets and tuples."""

from __future__ import annotations

from device_lens.domain import optional_items
from device_lens.domain.atom import WHICH_COMES
from device_lens.domain.by_number import forget_places
from device_lens.domain.heap import HELD_ALL, HELD_ANY, PRESENT, DictObject, Instance, ListObject
from device_lens.domain.join import join_all
from device_lens.domain.kinds import gather, gathered
from device_lens.domain.lengths import AT_LEAST, at_least, from_the_end, grown
from device_lens.domain.objects import (
    alike_as_one,
    any_object,
    any_of_these,
    few_objects,
    holds_all,
    is_of_many,
    keep_any,
    may_hold,
)
from device_lens.domain.presence import conditions, copied_dict
from device_lens.domain.similarity import similar
from device_lens.domain.values import FALSE, NONE, TRUE, Const, TupleValue, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.drawn_places import DRAWN_APART, grows_apart
from device_lens.models.numbers import is_number, number
from device_lens.models.python import sets, sought
from device_lens.models.python.builtins import ask_key
from device_lens.models.python.ordered import in_order
from device_lens.models.python.ordering import orders
from device_lens.models.python.picked import add, copied_list, hold, lose_one, mix, one_of
from device_lens.models.python.sets import equals_itself

MAX_ITEMS = 64
"""Items of a list kept one by one; further ones are merged."""


def _set(call: Call, target: ListObject, items: tuple[Value, ...], rest: Value) -> None:
    if len(items) > MAX_ITEMS:
        extra = items[MAX_ITEMS:]
        items = items[:MAX_ITEMS]
        rest = gathered(extra, rest)
    if not call.services.does_to_each(target):
        items, rest = (), gathered((*target.items, *items), rest)
    before = target.items
    call.write(target.fields, "items", items)
    call.write(target.fields, "rest", rest)
    grown(call.services.journal, target, before)


def _list(call: Call) -> ListObject | None:
    forget_places(call.services.journal, call.receiver)
    return call.receiver if type(call.receiver) is ListObject else None


def _append(call: Call) -> Value:
    target = _list(call)
    if target is None or not call.args:
        return NONE
    value = call.args[0]
    before: tuple[Value, ...] = ()
    if target.many is not None and not call.services.does_to_each(target):
        before = may_hold(target, target.items, target.rest)
    told = optional_items.optional(target)
    if target.rest is not None:
        if not _is_like_row(call, target.rest, value):
            together = gather(target.rest, value)
            if grows_apart(target.rest, value, together):
                call.write(target.fields, DRAWN_APART, True)
            _set(call, target, target.items, together)
            add(call, target, [value])
            if told is not None:
                more = (*told[0], value), (*told[1], True)
                optional_items.keep(call.services.journal, target.fields, more)
    else:
        present = conditions(target, target.items) if PRESENT in target.fields else ()
        _set(call, target, (*target.items, value), None)
        if present and len(target.items) > len(present):
            optional_items.place(
                call.services.journal, target.fields, target.items, (*present, True)
            )
    if before and target.rest is not None:
        hold(call.services.journal, target, (*before, value), target.rest)  # in one of many
    if is_of_many(value) and call.services.may_be_left_out():
        picks = tuple(dict.fromkeys((*any_of_these(target), value)))
        call.write(target.fields, HELD_ANY, TupleValue(picks))
        call.write(target.fields, HELD_ALL, FALSE)
    elif call.services.may_be_left_out():
        lose_one(call, target)
    _forget_first(call, target)
    return NONE


def _is_like_row(call: Call, known: Value, row: Value) -> bool:
    """Whether a row `[index, x]` says what is known of others, but for its numbers: these are then
    any."""
    if type(known) is not ListObject or type(row) is not ListObject or known is row:
        return False
    if known.site is None or known.site is not row.site or known.kind != row.kind:
        return False
    if (known.rest, row.rest) != (None, None) or len(known.items) != len(row.items):
        return False
    items: list[Value] = []
    for mine, other in zip(known.items, row.items, strict=True):
        numbers = is_number(mine) and is_number(other)
        if not (numbers or similar(mine, other)):
            return False
        items.append(mine if similar(mine, other) else number())
    if any(new is not old for new, old in zip(items, known.items, strict=True)):
        call.write(known.fields, "items", tuple(items))
    return True


def _forget_first(call: Call, target: ListObject) -> None:
    """A bounded deque lets go of its first items as it grows."""
    bound = target.fields.get("bound")
    if bound is None:
        return
    if isinstance(bound, int) and len(target.items) <= bound and not (target.items and target.rest):
        if target.rest is not None:
            lose_one(call, target)
    elif isinstance(bound, int) and target.rest is None:
        call.write(target.fields, "items", target.items[len(target.items) - bound :])
    else:
        mix(call, target, lost=True)


def _reorder(call: Call) -> Value:
    """`sort`, `rotate`: items are elsewhere afterwards."""
    target = _list(call)
    if target is None:
        return NONE
    items, rest = target.items, target.rest
    asked = ask_key(call, items, rest)
    ordered = in_order(call, target, items, asked) if call.name.endswith("sort") else None
    if ordered is not None and call.services.does_to_each(target):
        call.write(target.fields, "items", ordered)
    elif len(items) + (rest is not None) > 1:
        mix(call, target)
    return NONE


def _remove(call: Call) -> Value:
    """`items.remove(item)`: the first that equals it, where that is known."""
    target = _list(call)
    if target is None or target.rest is not None or not call.args:
        return _lose_one(call, target)
    place = 0 if len(target.items) == 1 else _place(target.items, call.args[0])
    if place is None:
        return _lose_one(call, target)
    call.write(target.fields, "items", (*target.items[:place], *target.items[place + 1 :]))
    return NONE


def _lose_one(call: Call, target: ListObject | None) -> Value:
    """Some item of a list is gone."""
    if target is not None:
        mix(call, target, lost=True)
    return NONE


def _discard(call: Call) -> Value:
    """`items.discard(item)`: it need not be there."""
    target = _list(call)
    if target is None or not call.args:
        return NONE
    all_known = all(type(each) is Const for each in (*target.items, call.args[0]))
    if target.rest is None and all_known:
        left = tuple(each for each in target.items if each != call.args[0])
        call.write(target.fields, "items", left)
    else:
        mix(call, target, lost=True)
    return NONE


def _place(items: tuple[Value, ...], wanted: Value) -> int | None:
    """The place of the first item that equals another value; None where that is not known."""
    for place, item in enumerate(items):
        if item is wanted and isinstance(item, Instance) and item.many is None:
            return place
        if type(item) is Const and type(wanted) is Const:
            if item == wanted:
                return place
        elif not (equals_itself(item) and equals_itself(wanted)):
            return None
    return None


def _put(call: Call) -> Value:
    """`queue.put(item)`: other threads may take items meanwhile, so that none has a place."""
    target = _list(call)
    if target is not None and call.args:
        held = [v for v in (*target.items, target.rest, call.args[0]) if v is not None]
        picks = [*may_hold(target, target.items, target.rest), call.args[0]]
        _set(call, target, (), join_all(held))
        keep = keep_any(ListObject(), picks)
        if any_of_these(keep):
            call.write(target.fields, HELD_ANY, keep.fields[HELD_ANY])
    return NONE


def _append_left(call: Call) -> Value:
    target = _list(call)
    if target is not None and call.args:
        call.write(target.fields, "items", (call.args[0], *target.items))
        add(call, target, [call.args[0]])
        if target.fields.get("bound") is not None:
            mix(call, target, lost=True)
    return NONE


def _extend(call: Call) -> Value:
    target = _list(call)
    if target is None or not call.args:
        return NONE
    _extend_by(call, target, call.args[0])
    _forget_first(call, target)
    return NONE


def _extend_by(call: Call, target: ListObject, source: Value) -> None:
    items, more = call.services.iterate(source)
    if target.rest is None:
        _set(call, target, target.items + items, more)
        if any_of_these(source):
            call.write(target.fields, HELD_ANY, source.fields[HELD_ANY])
            call.write(target.fields, HELD_ALL, TRUE if holds_all(source) else FALSE)
        return
    rest = target.rest
    for value in (*items, more):
        rest = rest if value is None else gather(rest, value)
    _set(call, target, target.items, rest)
    add(call, target, [*may_hold(source, items, more)])


def _insert(call: Call) -> Value:
    target = _list(call)
    if target is None or len(call.args) < 2:
        return NONE
    position, value = constant(call.args[0]), call.args[1]
    if target.rest is None and isinstance(position, int):
        items = list(target.items)
        items.insert(position, value)
        _set(call, target, tuple(items), None)
    else:
        joined = gathered((*target.items, value), target.rest)
        _set(call, target, (), joined)
        add(call, target, [value])
    return NONE


def _pop(call: Call) -> Value:
    target = _list(call)
    if target is None:
        return Unknown()
    position = constant(call.args[0]) if call.args else -1
    items, rest = target.items, target.rest
    if target.kind == "set" and len(items) > 1:
        mix(call, target, lost=True)
        return one_of(call, target)
    if rest is None and position == -1 and at_least(target) < len(items):
        last = from_the_end(target, 1)
        mix(call, target, lost=True)
        return join_all([*last]) if last else Unknown()
    if rest is None and isinstance(position, int) and -len(items) <= position < len(items):
        left = list(items)
        value = left.pop(position)
        _set(call, target, tuple(left), None)
        return value
    left_over = optional_items.without_last(target) if position == -1 else None
    if left_over is not None:
        return _pop_optional(call, target, left_over)
    found = one_of(call, target)
    if position != -1:
        mix(call, target, lost=True)
    elif items:
        _set(call, target, items[:-1], gathered(items[-1:], rest))  # there may be no further one
    lose_one(call, target)
    return found


def _pop_optional(call: Call, target: ListObject, left: optional_items.Told) -> Value:
    """Takes the last item of a list of which some items are there on some runs only."""
    found = optional_items.at(target, -1)
    items, present = left
    surely = optional_items.how_many_surely(present)
    more = gathered(items[surely:], None)
    _set(call, target, items[:surely], more)
    optional_items.keep(call.services.journal, target.fields, (items[surely:], present[surely:]))
    return Unknown() if found is None else found


def _pop_left(call: Call) -> Value:
    target = _list(call)
    if target is not None and target.items and target.rest is None:
        first, *left = target.items
        _set(call, target, tuple(left), None)
        return first
    found = _any_item(call)
    if target is not None:
        mix(call, target, lost=True)
    return found


def _queue(call: Call) -> Value:
    """`queue.Queue()`: what comes out is any of what was put in."""
    return ListObject((), None, "queue", call.site.node)


def _any_item(call: Call) -> Value:
    if call.receiver is None:
        return Unknown()
    if type(call.receiver) is ListObject and call.receiver.kind == "queue":
        held = may_hold(call.receiver, call.receiver.items, call.receiver.rest)
        few = few_objects(alike_as_one(held))
        if few:
            return any_object(few, WHICH_COMES)
    return one_of(call, call.receiver)


def clear(call: Call) -> Value:
    if type(call.receiver) is ListObject:
        call.services.journal.delete(call.receiver.fields, AT_LEAST)
        hold(call.services.journal, call.receiver, (), None)
        _set(call, call.receiver, (), None)
    elif type(call.receiver) is DictObject:
        for key in list(call.receiver.entries):
            call.services.journal.delete(call.receiver.entries, key)
        call.write(call.receiver.fields, "rest", None)
    return NONE


def copy(call: Call) -> Value:
    value = call.receiver
    if type(value) is ListObject:
        return copied_list(value, call.site.node)
    if type(value) is DictObject:
        found = copied_dict(value, call.site.node)
        found.fields.update(value.fields)
        return found
    return value


def _reverse(call: Call) -> Value:
    target = _list(call)
    if target is not None and target.rest is None:
        call.write(target.fields, "items", tuple(reversed(target.items)))
    elif target is not None:
        mix(call, target)
    return NONE


def _none(call: Call) -> Value:
    return NONE


def unknown(call: Call) -> Value:
    return Unknown()


_LOOKING = {name: sought.looks(f".{name}()", unknown) for name in ("index", "count")}


def register() -> None:
    lists: dict[str, Model] = {
        "append": _append,
        "add": _append,
        "appendleft": _append_left,
        "put": _put,
        "put_nowait": _put,
        "get_nowait": _any_item,
        "task_done": _none,
        "join": _none,
        "extend": _extend,
        "update": _extend,
        "insert": _insert,
        "pop": _pop,
        "popleft": _pop_left,
        "get": _any_item,
        "clear": clear,
        "copy": copy,
        "reverse": _reverse,
        "sort": orders(".sort()", _reorder),
        "remove": sought.looks(".remove()", _remove),
        "rotate": _reorder,
        "discard": _discard,
        **_LOOKING,
        **sets.METHODS,
        "close": _none,
        "send": _any_item,
        "issubset": unknown,
    }
    for name, model in lists.items():
        registry.FUNCTIONS["list." + name] = model
    for name in ("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue"):
        registry.FUNCTIONS["queue." + name] = registry.FUNCTIONS["asyncio." + name] = _queue
    for name, model in _LOOKING.items():
        registry.FUNCTIONS["tuple." + name] = model
