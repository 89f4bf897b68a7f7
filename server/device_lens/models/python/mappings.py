"""Methods of dicts."""

from __future__ import annotations

from typing import Any

from device_lens.domain.guard import Guarded, Literals, cases, choose, combine, undecided
from device_lens.domain.heap import (
    MISSING,
    OF_MODULE,
    PRESENT,
    DictObject,
    HeapObject,
    Instance,
    ListObject,
    ModuleObject,
    contents,
)
from device_lens.domain.join import MAX_VALUE_DEPTH, join, join_all, join_blind
from device_lens.domain.lengths import (
    AT_LEAST,
    in_order,
    keep_unplaced,
    surely_held,
    surely_present,
)
from device_lens.domain.narrowing import where
from device_lens.domain.objects import (
    any_of_these,
    any_picked,
    holds_all,
    keep_any,
    may_hold,
    stands_for,
)
from device_lens.domain.perhaps_none import either, either_with
from device_lens.domain.presence import (
    all_present,
    conditions,
    in_known_order,
    presence,
    put,
    put_all,
    replace,
    without,
)
from device_lens.domain.similarity import similar
from device_lens.domain.torch_keys import told_apart, torch_key, value_of
from device_lens.domain.values import (
    NONE,
    Const,
    External,
    TupleValue,
    Unknown,
)
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.numbers import fitting
from device_lens.models.open_names import OPEN, stored_in
from device_lens.models.python import dict_classes
from device_lens.models.python.containers import clear, copy
from device_lens.models.python.pairs import values_of
from device_lens.models.python.picked import also_hold, keep_held, one_of_these
from device_lens.models.torch.optimizer_state import KEPT_BY, taken
from device_lens.models.torch.unnamed_parts import lose_parts

VIEWED = "<viewed>"
"""The field of a view with its dict."""


def _dict(call: Call) -> DictObject | None:
    return call.receiver if type(call.receiver) is DictObject else None


def _key(value: Value) -> Any:
    if type(value) is Const:
        return value.value
    if type(value) is Instance or (type(value) is External and registry.names_code(value.name)):
        return value
    if type(value) is TupleValue:
        parts = tuple(_key(item) for item in value.items)
        return MISSING if MISSING in parts else parts
    return torch_key(value)


def _get(call: Call) -> Value:
    target = _dict(call)
    default = call.args[1] if len(call.args) > 1 else NONE
    if target is None or not call.args:
        return Unknown()
    found: Value = combine(
        lambda leaf: _entry(call, target, leaf, default), told_apart(call.args[0])
    )
    return found


def _entry(call: Call, target: DictObject, index: Value, default: Value) -> Value:
    if KEPT_BY in target.fields:
        found = taken(call.services.journal, target, index)
        if found is not None:
            return _or_else(found, default)
    key = _key(index)
    if key is not MISSING:
        if target.rest is not None:
            sure = default == NONE and isinstance(key, str) and not target.entries
            held = [*any_of_these(target)]
            rest = one_of_these(call, held) if held else target.rest
            default = rest if sure else _or_else(rest, default)
        present = presence(target.entries, key)
        if type(present) is Guarded:
            return join(present, target.entries[key], default)
        return target.entries[key] if present else default
    held = [*may_hold(target, fitting(target.entries, index), target.rest)]
    if held:
        return _or_else(one_of_these(call, held), default)
    return Unknown() if type(index) is Unknown else default


def _or_else(found: Value, default: Value) -> Value:
    """What may be there, or else the default: None in place of something else is told apart from
    it, and what is put into a container reaches the one that is there."""
    apart = type(default) is type(found) and isinstance(found, HeapObject)
    return join(undecided(), found, default) if apart else either(found, default)


def _set_default(call: Call) -> Value:
    target = _dict(call)
    if target is None or not call.args:
        return Unknown()
    index = told_apart(call.args[0])
    value = call.args[1] if len(call.args) > 1 else NONE
    found: dict[Any, list[Literals]] = {}
    for literals, leaf in cases(index):
        found.setdefault(_key(leaf), []).append(literals)
    if MISSING in found or len(found) > MAX_VALUE_DEPTH:
        return _set_any_default(call, target, value)
    for key, each in found.items():
        under = combine(lambda leaf, key=key: _key(leaf) == key, index)
        given = where(value, each[0]) if len(each) == 1 else value
        _set_default_of(call, target, key, given, under)
    return _of_cases(target, index)


def _of_cases(target: DictObject, index: Value) -> Value:
    """What is under the key of each case."""
    if type(index) is not Guarded:
        return target.entries[_key(index)]
    condition = Guarded(index.atom, True, False)
    return join(condition, *(_of_cases(target, side) for side in (index.yes, index.no)))


def _set_default_of(call: Call, target: DictObject, key: Any, value: Value, condition: Any) -> None:
    """The same under a key that is the one where a condition holds."""
    present = presence(target.entries, key)
    if present is not True:
        value = value if target.rest is None else join_blind(target.rest, value)
        value = join(present, target.entries.get(key, MISSING), value)
        put(call.services.journal, target.entries, key, value, condition)


def _set_any_default(call: Call, target: DictObject, value: Value) -> Value:
    """The same under a key that is not known, with a default `value`, which may be one that need
    not be there. Of objects that are made for one key after the other, the first stands for all."""
    journal, rest = call.services.journal, target.rest
    for key in list(target.entries):
        present = presence(target.entries, key)
        if present is not True:
            put(journal, target.entries, key, value, choose(present, False, undecided()))
    if type(value) in (ListObject, DictObject) and not contents(value):
        value.many = None, None  # the one under any such key
    if rest is None:
        call.write(target.fields, "rest", value)
    elif not _is_another_empty(value, rest):
        call.write(target.fields, "rest", rest if similar(rest, value) else join_blind(rest, value))
    call.write(target.fields, "rest_key", call.args[0])
    return join_all([*target.entries.values(), target.rest])


def _is_another_empty(value: Value, known: Value) -> bool:
    """Whether a list or dict is made where a known one was, and is still empty."""
    if type(value) not in (ListObject, DictObject) or type(known) is not type(value):
        return False
    return value.site is known.site and not contents(value)


def _pop_key(call: Call) -> Value:
    target = _dict(call)
    value = _get(call)
    if target is not None and call.args:
        without(call.services.journal, target, _key(call.args[0]))
    return value


def _pop_item(call: Call) -> Value:
    """The last item, or the first of an `OrderedDict`; any, where not all are known."""
    target = _dict(call)
    if target is None:
        return Unknown()
    entries, journal = target.entries, call.services.journal
    names = list(entries)
    if constant(call.get(0, "last"), True) is False:
        names.reverse()
    placed = target.rest is None and in_known_order(entries)
    if names and placed and presence(entries, names[-1]) is True:
        item = TupleValue((value_of(names[-1]), entries[names[-1]]))
        journal.delete(entries, names[-1])
        return item
    values = [*entries.values(), *([] if target.rest is None else [target.rest])]
    without(journal, target, MISSING)
    return TupleValue((_rest_key(target), join_all(values))) if values else Unknown()


def _rest_key(target: DictObject) -> Value:
    return target.fields.get("rest_key") or Unknown("a key")


def _keys(call: Call) -> Value:
    target = _dict(call)
    if target is None:
        return Unknown()
    rest = None if target.rest is None else _rest_key(target)
    keys = tuple(value_of(key) for key in target.entries)
    return _view(call, target, keys, rest, "keys")


def _view(
    call: Call, target: DictObject, items: tuple[Value, ...], rest: Value, kind: str
) -> ListObject:
    """What a dict gives one by one, of which as many are surely there as keys in front."""
    view = ListObject(items, rest, kind, call.site.node)
    view.fields[VIEWED] = target
    keep_unplaced(target, view)
    if rest is None and (least := surely_present(target.entries)) < len(items):
        view.fields[AT_LEAST] = least
    if len(items) == len(target.entries) and not all_present(target.entries):
        view.fields[PRESENT] = items, conditions(target, items)
    return view


def _values(call: Call) -> Value:
    target = _dict(call)
    if target is None:
        return Unknown()
    items, rest = in_order(target.entries, tuple(target.entries.values()), target.rest)
    return keep_held(target, _view(call, target, items, rest, "values"))


def _items(call: Call) -> Value:
    target = _dict(call)
    if target is None:
        return Unknown()
    pairs = tuple(TupleValue((value_of(k), v)) for k, v in target.entries.items())
    rest = None if target.rest is None else TupleValue((_rest_key(target), target.rest))
    pairs, rest = in_order(target.entries, pairs, rest)
    others = (TupleValue((_rest_key(target), each)) for each in any_of_these(target))
    view = _view(call, target, pairs, rest, "items")
    return keep_any(view, others, whole=holds_all(target))


def _update(call: Call) -> Value:
    target = _dict(call)
    if target is None:
        return NONE
    held = stands_for(target)
    before = dict(target.entries) if target.many is not None or held else {}
    for key, value in call.kwargs.items():
        call.write(target.entries, key, value)
    for source in map(dict_classes.content, call.args):
        if type(source) is DictObject:
            put_all(call.services.journal, source.entries, target.entries)
            _take_registries(call, target, source)
            more = source.rest
            also_hold(call.services.journal, target, any_of_these(source))
        else:
            more = _fill_from(call, target, source)
        if more is not None and OF_MODULE not in target.fields:
            overwrite(call, target, more)
            stored_in(call.services.journal, target, _rest_key(target), more)
            rest = more if target.rest is None else join_blind(target.rest, more)
            call.write(target.fields, "rest", rest)
    for each in held:
        for key, value in target.entries.items():
            if value is not before.get(key):
                call.write(each.entries, key, join_blind(each.entries.get(key, value), value))
    if before and not held and not call.services.does_to_each(target):
        for key, value in before.items():
            call.write(target.entries, key, join_blind(value, target.entries[key]))
    return NONE


def _take_registries(call: Call, target: DictObject, source: DictObject) -> None:
    """`module.__dict__.update(other.__dict__)`: the registries of modules are among these."""
    owner, other = target.fields.get(OPEN), source.fields.get(OPEN)
    if isinstance(owner, ModuleObject) and isinstance(other, ModuleObject):
        lose_parts(call.services, owner)


def _fill_from(call: Call, target: DictObject, source: Value) -> Value:
    """`d.update(pairs)`: what the pairs hold under keys that are not known."""
    items, rest = call.services.iterate(source)
    if rest is not None:
        held = values_of(source)
        also_hold(call.services.journal, target, held)
        return rest.items[1] if held else Unknown()
    for pair in items:
        key = _key(pair.items[0]) if type(pair) is TupleValue and pair.items else MISSING
        if key is MISSING or len(pair.items) != 2:
            return Unknown()
        call.write(target.entries, key, pair.items[1])
    return None


def overwrite(call: Call, target: DictObject, value: Value) -> None:
    """Any entry may be `value` from here on."""
    joined = either_with(value)
    for key, old in list(target.entries.items()):
        replace(call.services.journal, target.entries, key, joined(old))


def _move_to_end(call: Call) -> Value:
    """`ordered.move_to_end(key, last=True)`."""
    target = _dict(call)
    key = _key(call.args[0]) if call.args else MISSING
    if target is None or key not in target.entries:
        return NONE
    last = constant(call.get(1, "last"), True) is not False
    others = [(k, v) for k, v in target.entries.items() if k != key]
    moved = [(key, target.entries[key])]
    for each, value in others + moved if last else moved + others:
        call.services.journal.delete(target.entries, each)
        call.write(target.entries, each, value)
    return NONE


def _from_keys(call: Call) -> Value:
    found = DictObject(site=call.site.node)
    items, rest = call.services.iterate(call.args[0]) if call.args else ((), None)
    value = call.args[1] if len(call.args) > 1 else NONE
    least = surely_held(call.args[0], items) if call.args else 0
    others: list[Value] = []
    for index, item in enumerate(items):
        key = _key(item)
        if key is not MISSING:
            sure = True if index < least else undecided()
            put(call.services.journal, found.entries, key, value, sure)
        else:
            others.append(item)
    if rest is not None:
        others.append(any_picked(call.args[0], rest))
    if others:
        found.fields["rest"] = value
        found.fields["rest_key"] = others[0] if len(others) == 1 else Unknown("a key")
    return found


def register() -> None:
    """Fills the registry."""
    dicts: dict[str, Model] = {
        "get": _get,
        "setdefault": _set_default,
        "pop": _pop_key,
        "popitem": _pop_item,
        "keys": _keys,
        "values": _values,
        "items": _items,
        "update": _update,
        "copy": copy,
        "clear": clear,
        "move_to_end": _move_to_end,
    }
    for name, model in dicts.items():
        registry.FUNCTIONS["dict." + name] = model
    registry.FUNCTIONS["builtins.dict.fromkeys"] = _from_keys
