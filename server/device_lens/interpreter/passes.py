"""What one pass of a loop leaves to the next: whether that is anything new, and what is given up
where it always is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain import lengths, perhaps_none
from device_lens.domain.guard import leaves, primary, undecided
from device_lens.domain.heap import BY_ITEM, COUNT, MISSING, ListObject, Presences, Table
from device_lens.domain.join import flatten, join_all, join_blind, with_common_sizes
from device_lens.domain.journal import Change, Delta
from device_lens.domain.kinds import gathered
from device_lens.domain.presence import (
    either,
    kept_in,
    presence,
    presence_in,
    settle,
    under_any_key,
)
from device_lens.domain.similarity import similar
from device_lens.domain.values import Const, Tensor, TupleValue, Unknown
from device_lens.interpreter import carried
from device_lens.interpreter.frames import Frame
from device_lens.models.numbers import is_number, number, number_above

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def read_after(machine: Machine, loop: Any, frame: Frame, first: bool) -> frozenset[str] | None:
    """The names that a loop hands from its first pass to the next, or from a later one to the next
    or to what comes after the loop; None where any may be. In a file that somebody edits others may
    come to be read after it, and at its top level functions may come to mention any."""
    edited = frame.namespace.path in machine.program.edited
    if edited and (frame.function is None or not first):
        return None
    return carried.names(loop, frame) if first else carried.or_left(loop, frame)


def seen_later(
    machine: Machine, mark: int, since: int, frame: Frame, handed: frozenset[str] | None
) -> list[Change]:
    """What a pass that began at a mark and moment changed of what a later one may read: neither
    names that each pass binds before it reads them, nor what is within objects that it made. Which
    items of a list hang on conditions is forgotten."""
    own = frame.scope.names
    passes = machine.journal.passing(since)
    found: list[Change] = []
    for change in machine.journal.value_at(mark).values():
        table, key, _ = change
        if passes(table) or (table is own and handed is not None and key not in handed):
            continue
        if key in BY_ITEM:
            machine.journal.delete(table, key)  # the next pass may add as many
        else:
            found.append(change)
    return found


def settled(changes: list[Change]) -> bool:
    """Whether a pass left everything as it found it, as far as devices go."""
    for table, key, old in changes:
        new = table.get(key, MISSING)
        if type(table) is not Presences and not _alike(old, new):
            return False
    return True


def _alike(old: Any, new: Any) -> bool:
    if isinstance(old, tuple) and isinstance(new, tuple):
        return _alike_items(old, new)
    if type(old) is Unknown and is_number(old) and not is_number(new):
        return False
    if not similar(flatten(old), flatten(new)):
        return False
    before, now = _primarily(old), _primarily(new)
    return (before is old and now is new) or similar(flatten(before), flatten(now))


def _primarily(value: Any) -> Any:
    """What a value is in the primary case: where nothing is known of it over all cases, a pass may
    still have changed this one."""
    if type(value) is not Tensor:
        return primary(value)
    device = primary(value.device)
    return value if device is value.device else value.with_(device=device)


def _alike_items(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """A list that grew by items like those that it has says nothing new; one that lost some has
    another to give to the next pass, as has one with another item in the place of one."""
    if len(new) < len(old):
        return False
    if not all(similar(flatten(a), flatten(b)) for a, b in zip(old, new, strict=False)):
        return False
    known = old[-1:] or new[:1]
    return all(similar(flatten(item), flatten(known[0])) for item in new[len(old) :])


def let_vary(machine: Machine, changes: list[Change]) -> bool:
    """Lists that a pass made longer are longer still after the next, and shorter ones shorter: how
    long is not known, nor which items are left of the latter. Gives whether there are any."""
    found = False
    for table, key, old in changes:
        new = table.get(key, MISSING)
        if key != "items" or type(old) is not tuple or type(new) is not tuple:
            continue
        if len(new) > len(old) or 0 < len(new) < len(old):
            kept = len(old) if len(new) > len(old) else 0
            joined = gathered(new[kept:], table.get("rest"))
            machine.journal.write(table, key, new[:kept])
            machine.journal.write(table, "rest", joined)
            found = True
    return found


def stop_counting(machine: Machine, changes: list[Change]) -> bool:
    """A number or a size that a pass changed is another one after the next: which is not known.
    Gives whether there is any."""
    found = False
    for table, key, old in changes:
        new = table.get(key, MISSING)
        if type(old) is not Const or type(new) is not Const:
            resized = with_common_sizes(old, new)
        elif old != new and {type(old.value), type(new.value)} <= {int, float}:
            resized = number()
        else:
            continue
        if resized is not new:
            found = True
            machine.journal.write(table, key, resized)
    return found


def stop_counting_members(machine: Machine, changes: list[Change]) -> bool:
    """A container of modules that a pass made longer or shorter is so after the next, in whichever
    pass that is. Gives whether there is any."""
    found = False
    for table, key, old in changes:
        new = table.get(key, MISSING)
        if key == COUNT and old is not MISSING and type(new) is not Unknown and old != new:
            machine.journal.write(table, key, _more_than(old, new))
            found = True
    return found


def _more_than(old: Any, new: Any) -> Any:
    """A number of members that grew in a pass, and will grow further, or one that shrank. A
    container that a loop fills is taken not to be empty."""
    before, now = _counts(old), _counts(new)
    grew = bool(before) and bool(now) and max(before) < max(now)
    return number_above(max(min(now) - 1, 0), "a length") if grew else number("a length")


def _counts(value: Any) -> list[int]:
    """The numbers that a tree decides between, where all are known."""
    found = [leaf.value for leaf in leaves(value) if type(leaf) is Const]
    return found if len(found) == len(leaves(value)) else []


def give_up(machine: Machine, mark: int) -> None:
    """Forgets what still changes: the next pass shows the body with unknowns in these places."""
    for table, key, old in list(machine.journal.value_at(mark).values()):
        new = table.get(key, MISSING)
        if old is MISSING or new is MISSING or _alike(old, new):
            continue
        if type(table) is Presences:
            continue
        machine.journal.write(table, key, _either(old, new))


def _either(old: Any, new: Any) -> Any:
    """What a name is that a pass may have bound anew. Of two lists of records, one of what both
    hold: a list that each pass makes from the one before is never the same. Of the items of one
    list, either in each place, and as many as there are in `new`."""
    if isinstance(old, tuple) and isinstance(new, tuple):
        pairs = zip(old, new, strict=False)
        return tuple(_either(*pair) for pair in pairs) + new[len(old) :]
    if type(old) is not ListObject or type(new) is not ListObject or similar(old, new):
        return perhaps_none.either(old, new)
    if old.kind != "list" or new.kind != "list":
        return join_blind(old, new)
    held = [each for each in (*old.items, old.rest, *new.items, new.rest) if each is not None]
    if not all(type(each) is TupleValue for each in held):
        return join_blind(old, new)
    return ListObject((), join_all(held) if held else None, "list", new.site)


def join_state(machine: Machine, mark: int, changes: Delta, at: int | None = None) -> None:
    """Joins a state from which the present one comes: that at a mark, with some changes. If it is
    that of a moment `at`, a dict made later is not there, and says nothing of its keys."""
    places = {**machine.journal.value_at(mark), **changes}
    is_later = machine.journal.passing(at) if at is not None else _never
    kept = [
        (*place, either(undecided(), presence(*place), presence_in(places, *place)))
        for place in kept_in(places)
        if not is_later(place[0])
    ]
    met = list(lengths.of_lists({}, places))
    for table, key, old in list(places.values()):
        new = table.get(key, MISSING)
        if old is MISSING and new is not MISSING:
            old = under_any_key(table)
        if old is MISSING or new is MISSING or new is old:
            continue
        if type(table) is Presences:
            continue
        if (key == "rest" and old is None) or key == COUNT:
            continue  # what a list or container holds, if it holds anything
        if key in BY_ITEM:
            machine.journal.delete(table, key)
            continue
        shorter = isinstance(old, tuple) and isinstance(new, tuple) and len(old) < len(new)
        joined = _either(old, new) if shorter else _either(new, old)
        machine.journal.write(table, key, joined)
    for entries, key, present in kept:
        settle(machine.journal, entries, key, present)
    lengths.settle(machine.journal, met)


def _never(table: Table) -> bool:
    return False


def or_as_before(machine: Machine, mark: int, names: Table) -> None:
    """Joins names with what they were at a mark, those that had a value then."""
    for table, key, old in list(machine.journal.value_at(mark).values()):
        new = table.get(key, MISSING)
        if table is names and old is not MISSING and new is not MISSING and new is not old:
            machine.journal.write(table, key, _either(new, old))
