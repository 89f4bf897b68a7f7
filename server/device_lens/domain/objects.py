"""One object for any of several that differ in numbers alone, as the clients of a list do, one dict
for any of several with the same keys, and one list for any of several whose items are alike."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, TypeVar

from device_lens.domain.atom import WHICH_ITEM
from device_lens.domain.bound_code import CODE
from device_lens.domain.code import ClassValue
from device_lens.domain.guard import Guarded, atoms, choose, leaves, undecided
from device_lens.domain.heap import (
    ANY_OF,
    FRESH,
    HELD_ALL,
    HELD_ANY,
    DictObject,
    HeapObject,
    Instance,
    ListObject,
    ModuleObject,
)
from device_lens.domain.values import (
    ONE_OF,
    TRUE,
    WHOLE,
    WITHIN,
    Const,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.domain.wholes import each_once, members

MOST_KEPT = 64
"""Values for any of which one item of a list stands that are kept beside it."""
MAX_OBJECTS = 8
"""Objects of a container that are told apart where it is not known which of them is meant."""


def few_objects(values: Iterable[Any]) -> list[Any]:
    """Objects of the program's classes, each once; none where there are too many to tell apart, or
    other values among them."""
    objects = {id(each): each for each in values}
    if not 1 < len(objects) <= MAX_OBJECTS or not all(map(_is_own, objects.values())):
        return []
    return list(objects.values())


def one_of_lists(value: Any) -> list[ListObject]:
    """The lists that a value is one of, nobody knows which; none where it may be something else."""
    lists = one_of_these(value)
    return [*lists] if all(type(each) is ListObject for each in lists) else []


def alike_as_one(values: Iterable[Any]) -> list[Any]:
    """The values, and of what is one of many objects these, with one object for those of one class
    that differ in numbers alone."""
    found: list[Any] = []
    for value in (one for each in values for one in one_of_these(each) or (each,)):
        for place, known in enumerate(found):
            one = one_of(known, value) if type(known) is type(value) is Instance else None
            if one is not None and known is not value:
                found[place] = one
                break
        else:
            found.append(value)
    return found


def _is_own(value: Any) -> bool:
    """Whether this is an object of the program's classes, or one that runs its code, as a thread
    does."""
    if type(value) is not Instance:
        return False
    return type(value.cls) is ClassValue or any(isinstance(e, CODE) for e in value.fields.values())


def any_object(objects: list[Any], which: str = WHICH_ITEM) -> Any:
    """One of some objects, whichever it is: what is done to it is done to one of them."""
    return reduce(lambda rest, each: choose(undecided(which), each, rest), objects)


Held = TypeVar("Held", ListObject, DictObject)
Side = TypeVar("Side", Instance, DictObject)


def keep_any(found: Held, values: Iterable[Any], picked: bool = False, whole: bool = False) -> Held:
    """Keeps of a list or dict, of which one item stands for any of some values, which values these
    are, so far as something can be done to one of them: of those that were `picked`, where a value
    stands for many, to some of these. Where the list is `whole`, each of them is in it."""
    held = {id(each): each for each in values if _has_objects(each)}
    is_some = len(held) > 1 or (picked and any(map(is_of_many, held.values())))
    if is_some and len(held) <= MOST_KEPT:
        found.fields[HELD_ANY] = TupleValue(tuple(held.values()))
        if whole:
            found.fields[HELD_ALL] = TRUE
    return found


def any_of_these(found: Any) -> tuple[Any, ...]:
    """What an item of a list may be of which one item stands for any of some values."""
    kept = found.fields.get(HELD_ANY) if type(found) in (ListObject, DictObject) else None
    return kept.items if type(kept) is TupleValue else ()


def holds_all(found: Any) -> bool:
    """Whether each value that an item of a list may be is surely an item of it."""
    return bool(any_of_these(found)) and found.fields.get(HELD_ALL) is TRUE


def any_picked(found: Any, rest: Any) -> Any:
    """What any further item of a list is, which anything may be done to: one of a few objects, or
    of some modules, where it may be any of them."""
    held = any_of_these(found)
    return any_one(held, rest) if held else rest


def any_one(held: tuple[Any, ...], otherwise: Any) -> Any:
    """What may be any of several modules or objects, in rows of tuples too; else `otherwise`."""
    from device_lens.domain.join import any_changeable

    if all(type(each) is ModuleObject for each in held):
        return any_changeable([*held])
    if all(type(each) is TupleValue for each in held) and type(otherwise) is TupleValue:
        return _any_row(held, otherwise)
    objects = [*{id(each): each for each in _each_of(held)}.values()]
    if len(objects) > 1 and all(isinstance(each, OBJECTS) for each in objects):
        if len(objects) <= MAX_OBJECTS and all(isinstance(each, OBJECTS) for each in held):
            return any_object(objects)
        return any_of_many(objects, all(map(is_one_of_many, held)))
    return otherwise


def _each_of(held: tuple[Any, ...]) -> Iterator[Any]:
    """Values, and of those that may be any of many objects these."""
    for each in held:
        wholes = each.fields.get(WHOLE) if type(each) is Unknown and each.fields else None
        yield from (each,) if wholes is None else members(wholes)


def _any_row(rows: tuple[TupleValue, ...], otherwise: TupleValue) -> Any:
    if any(len(row.items) != len(otherwise.items) for row in rows):
        return otherwise
    columns = zip(*(row.items for row in rows), strict=True)
    found = tuple(map(any_one, columns, otherwise.items))
    return TupleValue(found, otherwise.names)


def any_of_many(objects: list[Any], known: bool = True) -> Unknown:
    """Where something is done to what may be any of many objects, it may be done to each; it is
    `known` that there are no others."""
    found = Unknown()
    found.parts()[WHOLE] = each_once(objects)
    if known:
        found.parts()[ONE_OF] = TRUE
    return found


def is_one_of_many(value: Any) -> bool:
    """Whether this is an object, or an unknown that is one of those that it remembers."""
    if type(value) is not Unknown:
        return isinstance(value, OBJECTS)
    return value.fields is not None and value.fields.get(ONE_OF) is TRUE


def one_of_these(value: Any) -> tuple[Any, ...]:
    """The objects one of which an unknown is; none of anything else, nor where they are too many
    to be remembered each by itself."""
    if type(value) is not Unknown or value.fields is None or value.fields.get(ONE_OF) is not TRUE:
        return ()
    wholes = value.fields.get(WHOLE)
    return wholes if type(wholes) is tuple else ()


def within_container(made: Unknown, values: list[Any]) -> Unknown:
    """What may be any of some values remembers the container of modules that all of them have been
    read out of, as far as that does not list them."""
    known = made.fields and _container_of(values)
    if known:
        made.parts()[WITHIN] = known
    return made


def _container_of(values: list[Any]) -> Any:
    found = [each.fields.get(WITHIN) for each in values if type(each) is Unknown and each.fields]
    known = found[0] if found else None
    if known is None or any(each is None or each[0] is not known[0] for each in found):
        return None
    listed = {id(each) for each in known[0].modules.values()}
    others = [each for each in values if type(each) is not Unknown]
    is_whole = len(found) + len(others) == len(values)
    return known if is_whole and all(id(each) in listed for each in others) else None


OBJECTS = (Instance, ListObject, DictObject)
"""What can be changed in place."""


def any_picked_of(tree: Guarded) -> Any:
    """What may be any of the objects of a tree that tells items of a list apart, as one value for
    all; None for other trees."""
    found = [*leaves(tree)]
    if not all(isinstance(each, Instance) for each in found):
        return None
    if not any(each.tells_items_apart for each in atoms(tree)):
        return None
    objects = [*{id(each): each for each in found}.values()]
    if all(type(each) is ModuleObject for each in objects):
        return any_one(tuple(objects), None)
    return any_of_many(objects)


def as_part(value: Any) -> Any:
    """What a module has as a part: where it is one of some modules, and nobody knows which, any of
    these may move along."""
    if type(value) is not Guarded or not any(each.tells_items_apart for each in atoms(value)):
        return value
    return any_one(tuple(leaves(value)), value)


def may_hold(found: Any, items: tuple[Any, ...], rest: Any) -> tuple[Any, ...]:
    """All that may be an item of what has some items and any number of `rest`."""
    held = any_of_these(found)
    if not held and isinstance(rest, Instance):
        held = stands_for(rest)
    return (*items, *held) if held or rest is None else (*items, rest)


def is_of_many(value: Any) -> bool:
    """Whether an object stands for many, of which what is picked may be some."""
    if type(value) is TupleValue:
        return any(map(is_of_many, value.items))
    return isinstance(value, HeapObject) and value.many is not None


def holds_objects(items: tuple[Any, ...]) -> bool:
    """Whether among some items are several to which something can be done."""
    return sum(map(_has_objects, items)) > 1


def _has_objects(value: Any) -> bool:
    if type(value) is TupleValue:
        return any(map(_has_objects, value.items))
    return isinstance(value, OBJECTS)


def stands_for(value: Instance | DictObject) -> tuple[Any, ...]:
    """The objects or dicts that one stands for; none of one that the program has made."""
    found = value.fields.get(ANY_OF)
    return found.items if type(found) is TupleValue else ()


def one_of(left: Instance, right: Instance) -> Instance | None:
    """An object that is either of two of one class, made at one place; None where they differ in
    more than numbers."""
    from device_lens.domain.similarity import similar

    if left.cls is not right.cls or left.site is None or left.site is not right.site:
        return None
    names = left.fields.keys() - {ANY_OF}
    if names != right.fields.keys() - {ANY_OF}:
        return None
    found = Instance(left.cls, left.site)
    for name in left.fields:
        if name == ANY_OF:
            continue
        mine, other = left.fields[name], right.fields[name]
        if similar(mine, other, 2):
            found.fields[name] = mine
        elif _is_number(mine) and _is_number(other):
            found.fields[name] = Unknown(str(name))
        else:
            return None
    return _standing_for(found, left, right)


def one_dict(left: DictObject, right: DictObject) -> DictObject | None:
    """A dict that is either of two with the same keys; None where they differ in more than the
    values under these."""
    from device_lens.domain.join import join_blind
    from device_lens.domain.similarity import similar

    if left.kind != right.kind:
        return None
    if any(getattr(each.entries, "presence", None) for each in (left, right)):
        return None
    if left.entries.keys() != right.entries.keys() or not similar(left.rest, right.rest):
        return None
    items = {key: join_blind(value, right.entries[key]) for key, value in left.entries.items()}
    found = DictObject(items, left.rest, left.site if left.site is right.site else None)
    found.fields["rest_key"] = left.fields["rest_key"]
    return _standing_for(found, left, right)


def _standing_for(found: Side, left: Side, right: Side) -> Side | None:
    """An object with those for which two others stand; None where these are too many: what is done
    to it is done to each, and a loop that copies it has twice as many in each pass."""
    held = {id(each): each for side in (left, right) for each in stands_for(side) or (side,)}
    if len(held) > MOST_KEPT:
        return None
    found.fields[ANY_OF] = TupleValue(tuple(held.values()))
    return found


def one_list(left: ListObject, right: ListObject) -> ListObject | None:
    """A list that is either of two, as batches of different lengths are; None where nothing is
    known of an item that may be of either, or where either may get more items later on."""
    from device_lens.domain.join import join_all

    if left.kind != right.kind or not (_is_whole(left) and _is_whole(right)):
        return None
    found = [
        each for side in (left, right) for each in (*side.items, side.rest) if each is not None
    ]
    if not found or not all(map(_is_row, found)) or FRESH in {*left.fields, *right.fields}:
        return None
    item = join_all(found)
    if not _is_row(item):
        return None
    return ListObject((), item, left.kind, left.site if left.site is right.site else None)


def _is_whole(value: ListObject) -> bool:
    """Whether this is a tuple, or a list that has its items from where it is made on: a slice, a
    comprehension."""
    made_whole = isinstance(value.site, ast.Subscript | ast.ListComp)
    return value.kind == "tuple" or (value.kind == "list" and made_whole)


def _is_row(item: Any) -> bool:
    """Whether this is a tensor, or a tuple with one."""
    if type(item) is TupleValue:
        return any(map(_is_row, item.items))
    return type(item) is Tensor


def _is_number(value: Any) -> bool:
    if type(value) is Const:
        return type(value.value) in (int, float)
    return type(value) is Unknown and not value.tensor_evidence


ONE_OF_TWO: dict[type, Callable[[Any, Any], Any]] = {Instance: one_of, ListObject: one_list}
