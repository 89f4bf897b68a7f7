"""Loops that put something in place of every item of what they go through, as in
`for name, x in batch.items(): batch[name] = x.to(device)`: afterwards each item is one of those."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.device import SymbolicDevice, is_unknown
from device_lens.domain.guard import leaves
from device_lens.domain.heap import MISSING, DictObject, HeapObject, ListObject
from device_lens.domain.join import join_blind
from device_lens.domain.objects import stands_for
from device_lens.domain.similarity import similar
from device_lens.domain.unknowns import moved_alone
from device_lens.domain.values import Tensor, TupleValue, Unknown
from device_lens.interpreter import keys, of_many, scan
from device_lens.interpreter.frames import Frame, LoopRecord
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

EVERY = "<every item>"
"""Under this an unknown remembers what a loop has put in place of each of its items."""
REPLACED = "<items replaced>"
"""What is remembered of an unknown of which nobody knows which items the program has replaced."""
_REPLACES = "_replaces_every_item"
"""The entry of a node under which the answer is kept, for as long as the node lives."""
_READERS = frozenset({"items", "values", "get"})
_WAYS_OUT = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom)
_NO_TENSORS = frozenset("dict Mapping list tuple Sequence str bytes int float bool".split())
_ASKED_FOR = ("to", "cuda", "cpu", "device")


class Replacement(NamedTuple):
    """The statement of a loop that does it, by its target."""

    target: ast.Subscript
    tensors_only: bool
    """Whether it is done for tensors, and what else is among the items stays."""


class Stored(NamedTuple):
    """What one pass put in place of an item."""

    receiver: Any
    by_number: bool
    """Whether it is known which one."""
    value: Any


def replacement(node: ast.For | ast.AsyncFor) -> Replacement | None:
    """The statement that puts something in place of the present item, if every pass runs it and
    the loop goes through all items."""
    known = node.__dict__.get(_REPLACES, MISSING)
    if known is MISSING:
        known = node.__dict__[_REPLACES] = _find(node)
    return known  # type: ignore[no-any-return]


def _find(node: ast.For | ast.AsyncFor) -> Replacement | None:
    gone_through, key = _source(node.iter, node.target)
    if gone_through is None or key is None:
        return None
    found = [each for each in _statements(node.body) if _is_own(each.target, gone_through, key)]
    if len(found) != 1:
        return None
    inner = [each for statement in node.body for each in walk(statement)]
    if any(isinstance(each, _WAYS_OUT) for each in inner):
        return None
    stored = [each for each in inner if isinstance(each, ast.Name) and _is_bound(each)]
    root = gone_through
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if any(each.id in (key, getattr(root, "id", "")) for each in stored):
        return None
    return None if ast.unparse(gone_through) in scan.loop_info(node).places else found[0]


def _is_bound(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store | ast.Del)


def _source(iterated: ast.expr, target: ast.expr) -> tuple[ast.expr | None, str | None]:
    """What a loop goes through, and the name that it gives to the present key or index."""
    if _calls(iterated, ("list", "tuple")) and len(iterated.args) == 1:  # type: ignore[attr-defined]
        iterated = iterated.args[0]  # type: ignore[attr-defined]
    named = target
    if isinstance(iterated, ast.Call):
        pairs = False
        if isinstance(iterated.func, ast.Attribute) and not iterated.args:
            pairs = iterated.func.attr == "items"
            source = iterated.func.value if pairs or iterated.func.attr == "keys" else None
        elif len(iterated.args) == 1 and not iterated.keywords:
            pairs = _calls(iterated, ("enumerate",))
            source = iterated.args[0] if pairs else None
            counted = iterated.args[0]
            if _calls(iterated, ("range",)) and _calls(counted, ("len",)):
                source = counted.args[0]  # type: ignore[attr-defined]
        else:
            source = None
        if pairs:
            two = isinstance(target, ast.Tuple) and len(target.elts) == 2
            named = target.elts[0] if two else target  # type: ignore[attr-defined]
            source = source if two else None
    else:
        source = iterated
    if not isinstance(source, ast.Name | ast.Attribute) or not isinstance(named, ast.Name):
        return None, None
    return source, named.id


def _calls(node: ast.expr, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _statements(body: list[ast.stmt]) -> Iterator[Replacement]:
    """The assignments to an item that each pass runs, or each for a tensor."""
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            if isinstance(statement.targets[0], ast.Subscript):
                yield Replacement(statement.targets[0], False)
        elif isinstance(statement, ast.If):
            whole = _holds_for_tensors(statement.test)
            others = not whole and _asked_kinds(statement.test) <= _NO_TENSORS
            block = statement.body if whole else statement.orelse if others else []
            for found in _statements(block):
                yield Replacement(found.target, True)


def _holds_for_tensors(test: ast.expr) -> bool:
    """Whether a test asks for tensors, or for what all of them have."""
    if not isinstance(test, ast.Call):
        return False
    name = last_name(test.func)
    if name == "hasattr":
        asked = test.args[1] if len(test.args) == 2 else None
        return isinstance(asked, ast.Constant) and asked.value in _ASKED_FOR
    return name == "is_tensor" or "Tensor" in _asked_kinds(test)


def if_tensor(node: ast.IfExp, sides: list[Any]) -> Unknown | None:
    """What `x.to(d) if is_tensor(x) else x` is, given both sides, where nothing was known of where
    that is: what is there, if it is a tensor. None for anything else."""
    if len(sides) != 2 or type(sides[0]) is not Tensor or type(sides[1]) is not Unknown:
        return None
    test = node.test
    if not is_unknown(sides[1].device) or not isinstance(test, ast.Call) or not test.args:
        return None
    same = ast.dump(test.args[0]) == ast.dump(node.orelse)
    if not same or not _holds_for_tensors(test):
        return None
    return moved_alone(sides[1].label, sides[0].device)


def _asked_kinds(test: ast.expr) -> set[str]:
    """The names of the classes that `isinstance(x, (dict, list))` asks for."""
    if not _calls(test, ("isinstance",)) or len(test.args) != 2:  # type: ignore[attr-defined]
        return {""}
    asked = test.args[1]  # type: ignore[attr-defined]
    return {last_name(each) for each in (asked.elts if isinstance(asked, ast.Tuple) else [asked])}


def _is_own(target: ast.Subscript, source: ast.expr, key: str) -> bool:
    is_key = isinstance(target.slice, ast.Name) and target.slice.id == key
    return is_key and ast.unparse(target.value) == ast.unparse(source)


def note(record: LoopRecord, receiver: Any, index: Any, value: Any) -> None:
    """What a pass has put in place of an item."""
    record.stored.append(Stored(receiver, keys.key_of(index) is not MISSING, value))


def mapping_of(receiver: Unknown, method: str) -> DictObject | None:
    """An unknown of which every item has been replaced, or is where the whole is, or some items are
    known by their names, as the dict that a method of it reads."""
    fields = receiver.fields
    if method == "items" and _is_placed(receiver):
        return DictObject({}, Unknown(receiver.label, receiver.device))
    if fields is None or method not in _READERS:
        return None
    every = fields.get(EVERY)
    entries = {
        place[1]: value
        for place, value in fields.items()
        if isinstance(place, tuple) and place[0] == "[]" and place[1] is not None
    }
    if every is None and (method != "get" or not any(isinstance(key, str) for key in entries)):
        return None
    return DictObject(entries, Unknown() if every is None else every)


def _in_place(record: LoopRecord, values: list[Any], tensors_only: bool) -> Any:
    """What is in the place of each item: a tensor, or a list or dict of its own, made alike in
    every pass, which the last one stands for. None for anything else."""
    last = values[-1]
    if type(last) in (DictObject, ListObject, TupleValue) and not tensors_only:
        alike = all(similar(each, last) and _is_of_its_pass(record, each) for each in values)
        if alike:
            of_many.mark_made(record, last, record.began)
        return last if alike else None
    value = values[0]
    for each in values[1:]:
        value = join_blind(value, each)
    return value if type(value) in (Tensor, Unknown) and not is_unknown(value.device) else None


def _is_of_its_pass(record: LoopRecord, value: Any) -> bool:
    """Whether a list or dict is new, with all that is in it which may be changed."""
    if type(value) is TupleValue:
        return all(_is_of_its_pass(record, item) for item in value.items)
    return not isinstance(value, HeapObject) or of_many.is_all_new(value, record.began)


def _is_placed(receiver: Unknown) -> bool:
    """Whether each tensor in it is where it is itself, as in what is loaded to a device: it is
    known where that is, and nothing was put in."""
    device, fields = receiver.device, receiver.fields or {}
    if any(is_unknown(leaf) or isinstance(leaf, SymbolicDevice) for leaf in leaves(device)):
        return False
    if not fields.keys().isdisjoint((REPLACED, "update", "setdefault")):
        return False
    return all(
        type(value) is Unknown and value.device == device
        for place, value in fields.items()
        if isinstance(place, tuple)
    )


def settle(machine: Machine, record: LoopRecord, frame: Frame) -> None:
    """After a loop: its items are what the passes have put in their place. Passes that took them
    one by one need no such thing."""
    found, stored = record.replaces, record.stored
    if found is None or not stored or all(each.by_number for each in stored):
        return
    receiver = stored[0].receiver
    if any(each.receiver is not receiver for each in stored):
        return
    value = _in_place(record, [each.value for each in stored], found.tensors_only)
    if value is None:
        return
    each = isinstance(receiver, DictObject) and of_many.is_taken_for_each(receiver, frame)
    if isinstance(receiver, HeapObject):
        every = each or of_many.does_to_each(receiver, found.target, frame)
        _replace(machine, receiver, _Instead(value, found.tensors_only, every))
        for other in stands_for(receiver) if isinstance(receiver, DictObject) else ():
            _replace(machine, other, _Instead(value, found.tensors_only, each))
    elif type(receiver) is Unknown:
        instead = _Instead(value, found.tensors_only, True)
        parts, write = receiver.parts(), machine.journal.write
        for place in [each for each in parts if isinstance(each, tuple) and each[0] == "[]"]:
            write(parts, place, instead(parts[place]))
        write(parts, EVERY, instead(Unknown()))


class _Instead(NamedTuple):
    """What an item is once a loop has put a value in the place of each."""

    value: Any
    tensors_only: bool
    surely: bool
    """Whether it has done so with the items of this container, and not of another like it."""

    def __call__(self, old: Any) -> Any:
        new = self._new(old)
        return new if self.surely else join_blind(old, new)

    def _new(self, old: Any) -> Any:
        if not self.tensors_only:
            return self.value
        if type(old) is Tensor:
            return old.with_(device=self.value.device, trail=self.value.trail)
        return moved_alone(old.label, self.value.device) if type(old) is Unknown else old


def _replace(machine: Machine, receiver: HeapObject, instead: _Instead) -> None:
    write = machine.journal.write
    if isinstance(receiver, DictObject):
        for key, old in list(receiver.entries.items()):
            write(receiver.entries, key, instead(old))
    elif isinstance(receiver, ListObject):
        write(receiver.fields, "items", tuple(instead(item) for item in receiver.items))
    if isinstance(receiver, DictObject | ListObject) and receiver.rest is not None:
        write(receiver.fields, "rest", instead(receiver.rest))
