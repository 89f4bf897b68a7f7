"""A device at hand: how code at a place can name the device that it should follow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from device_lens.domain.device import (
    ANY_INDEX,
    Agreement,
    Device,
    DeviceTree,
    SymbolicDevice,
    agree,
)
from device_lens.domain.guard import atom_set, leaves, primary
from device_lens.fixes.bindings import may_be_none, parameters_of, surely_bound
from device_lens.fixes.names import (
    is_local,
    of_comprehension,
    stored_items,
    stored_names,
    stores,
)
from device_lens.fixes.other_kinds import may_be_no_tensor
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import FileFacts, Kind
from device_lens.rules.set_up_order import (
    is_bound_too_late,
    is_set_once,
    is_set_up,
    is_there,
    is_there_for_bases,
)
from device_lens.rules.wording import leaf
from device_lens.syntax.chunk import Chunk
from device_lens.syntax.walking import walk


class _Spot:
    """A place with what is asked of it again and again: every finding meets every sighting."""

    __slots__ = ("end", "function", "place", "start", "statement", "statement_range")

    def __init__(self, place: Place) -> None:
        statement = place.statement
        self.place = place
        self.start, self.end = place.range.start, place.range.end
        self.function = place.function
        self.statement = statement.node
        self.statement_range = statement.range


@dataclass(frozen=True)
class _Seen:
    """A name, or an attribute or item of one, with the device that it was seen to have."""

    text: str
    base: str
    """The name that the text begins with."""
    place: Place
    kind: Kind
    device: DeviceTree
    is_bare: bool = False
    """Whether it is a module that at times has no parameter to ask."""

    @cached_property
    def at(self) -> _Spot:
        """Worked out for those alone that an answer may rest on."""
        return _Spot(self.place)

    @property
    def is_item(self) -> bool:
        return isinstance(self.place.node, ast.Subscript)

    @property
    def expression(self) -> str:
        """The text that gives the device."""
        if self.kind is Kind.MODULE:
            return f"next({self.text}.parameters()).device"
        return self.text if self.kind is Kind.DEVICE else f"{self.text}.device"


class AtHand:
    """The devices that a file's expressions hold, by where they can be used."""

    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self._seen: dict[str, list[_Seen]] | None = None
        self._checked: set[str] = set()
        self._parameters: dict[Chunk, dict[tuple[int, int], ast.arg]] = {}

    def find(
        self,
        device: DeviceTree,
        place: Place,
        kinds: tuple[Kind, ...] = tuple(Kind),
        own: DeviceTree | None = None,
    ) -> str | None:
        """An expression that gives `device` at `place`: a device or tensor of the same function,
        an attribute of `self`, a device of an enclosing scope, a module; of `kinds` only, and none
        that hangs on a condition that its `own`, of what is to be moved, does. None if none."""
        found: list[tuple[tuple[int, int], str, _Seen]] = []
        if _is_some(leaf(device)) and not self._has_one_number():
            return None
        here, around = _Spot(place), frozenset(place.ancestors())
        for seen in self._matching(device, kinds):
            latest = _latest(seen, here, around)
            if latest is None or latest.kind not in kinds or not matches(latest.device, device):
                continue
            if own is not None and atom_set(own) & atom_set(latest.device):
                continue
            known = _has_self(place) if latest.base == "self" else surely_bound(place, latest.base)
            if known:
                found.append((_preference(latest, here), latest.expression, latest))
        for _, expression, latest in sorted(found, key=lambda each: each[:2]):
            if latest.kind is Kind.MODULE and self.may_be_bare(latest.text, place):
                continue  # there is no first parameter to ask
            if latest.kind is Kind.TENSOR and may_be_no_tensor(place, latest.text):
                continue
            if latest.kind is Kind.DEVICE or not may_be_none(place, latest.text):
                return expression
        return None

    def may_be_bare(self, text: str, place: Place) -> bool:
        """Whether a module that is called so at a place has at times nothing that could be on a
        device, so that there is no first parameter to ask."""
        here, seen = _Spot(place), self._by_text().get(text, [])
        latest = _latest(seen, here, frozenset(place.ancestors()))
        if latest is not None and latest.at.function is here.function:
            return latest.is_bare
        named = (each for each in walk(here.statement) if isinstance(each, ast.Attribute))
        known = [self._facts.expression_at(each) for each in named if ast.unparse(each) == text]
        return any(each is not None and each.is_bare_at_times for each in known) or any(
            each.is_bare
            and each.at.place.owner is place.owner
            and (place.owner is None or not is_set_up(each.at.function))
            for each in seen
        )

    def visible(self, text: str, where: Place, place: Place) -> bool:
        """Whether a name or attribute that is read at `where` has the same value at `place`."""
        base = text.partition(".")[0]
        if where.function is not place.function:
            return False
        if base != "self" and not surely_bound(place, base):
            return False
        function = where.function
        if function is None:
            return True
        first, last = place.range.start, where.statement.range.start
        rebound = (where.at(node).range.start for node in stores(function, base))
        return not any(first <= start < last for start in rebound)

    def _matching(self, device: DeviceTree, kinds: tuple[Kind, ...]) -> Iterator[list[_Seen]]:
        """The sightings of each text that had such a device anywhere."""
        known: dict[int, bool] = {}
        for text, seen in self._by_text().items():
            for each in seen:
                if each.kind not in kinds:
                    continue
                key = id(each.device)
                if key not in known:
                    known[key] = matches(each.device, device)
                if known[key]:
                    yield self._checked_at(text)
                    break

    def _has_one_number(self) -> bool:
        """Whether all devices of which the number is not known have one name, so that they are
        taken for one device."""
        named = [
            text
            for text, seen in self._by_text().items()
            if any(
                each.kind is Kind.DEVICE and any(map(_is_some, leaves(each.device)))
                for each in seen
            )
        ]
        return len(named) == 1

    def _checked_at(self, text: str) -> list[_Seen]:
        """The sightings of a text, without those of variables of comprehensions."""
        seen = self._by_text()[text]
        if text not in self._checked:
            self._checked.add(text)
            seen[:] = [
                each
                for each in seen
                if not isinstance(each.place.node, ast.Name)
                or not of_comprehension(each.place, text)
            ]
        return seen

    def _by_text(self) -> dict[str, list[_Seen]]:
        if self._seen is None:
            self._seen = {}
            for each in self._sightings():
                self._seen.setdefault(each.text, []).append(each)
        return self._seen

    def _sightings(self) -> Iterator[_Seen]:
        for each in self._facts.expressions:
            if each.kind in (Kind.DEVICE, Kind.TENSOR, Kind.MODULE) and not each.has_buffers_alone:
                yield from self._sighting(
                    each.site.chunk, each.site.node, each.kind, each.device, each.is_bare_at_times
                )
        for transfer in self._facts.transfers:
            named = transfer.device_argument
            if named is not None:
                yield from self._sighting(named.chunk, named.node, Kind.DEVICE, transfer.target)

    def _parameter(self, chunk: Chunk, name: ast.Name) -> ast.arg | None:
        """The parameter that facts have as a name which is no part of the tree."""
        known = self._parameters.get(chunk)
        if known is None:
            nodes = (node for statement in chunk.body for node in walk(statement))
            found = (node for node in nodes if isinstance(node, ast.arg))
            known = {(each.lineno, each.col_offset): each for each in found}
            self._parameters[chunk] = known
        return known.get((name.lineno, name.col_offset))

    def _sighting(
        self,
        chunk: Chunk,
        node: ast.AST,
        kind: Kind,
        device: DeviceTree,
        is_bare: bool = False,
    ) -> Iterator[_Seen]:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            node = self._parameter(chunk, node) or node
        place = Place(self._facts.source, chunk, node)
        if isinstance(node, ast.arg):
            yield _Seen(node.arg, node.arg, place, kind, device, is_bare)
        elif isinstance(node, ast.Name) and node.id.strip("_"):  # `_` is thrown away
            yield _Seen(node.id, node.id, place, kind, device, is_bare)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            base = node.value.id
            if base == "self" or kind is Kind.DEVICE:
                yield _Seen(f"{base}.{node.attr}", base, place, kind, device, is_bare)
        elif isinstance(node, ast.Subscript) and kind is Kind.DEVICE and _is_named(node):
            yield _Seen(place.text, ast.unparse(node.value), place, kind, device, is_bare)


def _is_named(item: ast.Subscript) -> bool:
    """Whether it is an item of what a name stands for, under a key that is written there."""
    return isinstance(item.value, ast.Name) and isinstance(item.slice, ast.Constant)


def _has_self(place: Place) -> bool:
    """Whether a function that runs the place has a parameter `self`, as a static method has not."""
    runner = place.runner
    around = () if runner is None else (runner, *place.at(runner).ancestors())
    return any("self" in parameters_of(node) for node in around)


def _is_some(device: object) -> bool:
    """Whether a device is one of some number."""
    return isinstance(device, Device) and device.index == ANY_INDEX


def matches(candidate: DeviceTree, device: DeviceTree) -> bool:
    """Whether an expression with the device tree `candidate` follows `device` in the primary
    case. What is wherever something else is does so where no case moves it away."""
    wanted = leaf(device)
    if isinstance(wanted, SymbolicDevice):
        return candidate == device or all(one is wanted for one in leaves(candidate))
    return any(agree(one, wanted) is Agreement.SAME for one in leaves(primary(candidate)))


def _latest(seen: list[_Seen], here: _Spot, around: frozenset[ast.AST]) -> _Seen | None:
    """The sighting that tells what the text stands for at a place, `around` which nodes are: the
    last one before it in the same function; else one of another scope, where all of them agree."""
    before = [each for each in seen if _is_before(each.at, here, around)]
    if before:
        return max(before, key=lambda each: each.at.start)
    others = [each for each in seen if _may_speak_for(each, here.place, here.function)]
    if not others:
        return None
    first = others[0]
    agreeing = all(each.device == first.device and each.kind is first.kind for each in others)
    return first if agreeing and not any(_is_changed(first, each) for each in seen) else None


def _is_changed(first: _Seen, later: _Seen) -> bool:
    """Whether a device that an object keeps is seen to be another one in its class."""
    if first.base != "self" or not (first.kind is later.kind is Kind.DEVICE):
        return False
    if later.at.place.owner is not first.at.place.owner:
        return False
    devices = leaf(first.device), leaf(later.device)
    return agree(*devices) is Agreement.DIFFERENT


def _is_before(seen: _Spot, here: _Spot, around: frozenset[ast.AST]) -> bool:
    if seen.function is not here.function:
        return False
    node = seen.place.node
    if isinstance(node, ast.arg):
        return True
    if isinstance(getattr(node, "ctx", None), ast.Store):
        if seen.statement in around or seen.statement is here.place.node:
            return isinstance(seen.statement, ast.For | ast.With)
        return seen.statement_range.end <= here.statement_range.start
    return seen.end <= here.start or seen.statement is here.statement


def _may_speak_for(seen: _Seen, place: Place, function: ast.AST | None) -> bool:
    """Whether a sighting elsewhere in the file is of the same variable or attribute."""
    theirs = seen.at.function
    if function is None:
        return False
    if theirs is function and (seen.text == seen.base or seen.is_item):
        is_set = seen.is_item and seen.base in stored_items(function)
        return seen.base not in stored_names(function) and not is_set
    if seen.base == "self":
        if place.owner is None or seen.at.place.owner is not place.owner:
            return False
        # What other methods find need not be there yet while the object is set up.
        attribute = seen.text.partition(".")[2]
        if seen.kind is not Kind.DEVICE and not (
            is_there(attribute, function, place.owner)
            and is_there_for_bases(attribute, function, place)
        ):
            return False
        if is_bound_too_late(attribute, theirs, function, place.owner):
            return False
        # A module made in `__init__` may move before another method runs; a device does not.
        if seen.kind is not Kind.DEVICE:
            return seen.text != "self" and not is_set_up(theirs)
        return is_set_up(theirs) or is_set_once(attribute, place.owner)
    if is_local(function, seen.base) or isinstance(seen.at.place.node, ast.arg):
        return False
    if theirs is None:
        return seen.at.place.owner is None and seen.kind is not Kind.TENSOR
    return not is_local(theirs, seen.base) and seen.kind is Kind.DEVICE


def _preference(seen: _Seen, here: _Spot) -> tuple[int, int]:
    """Lower is better: first by what it is, then the nearest."""
    near = here.function is seen.at.function
    if seen.text.startswith("self."):
        rank = {Kind.DEVICE: 2, Kind.TENSOR: 4}.get(seen.kind, 5)
    elif seen.kind is Kind.DEVICE:
        rank = 0 if near else 3 if here.place.owner is None else 7
    elif seen.kind is Kind.TENSOR:
        rank = 1
    else:
        rank = 6 if near or here.place.owner is None else 8
    return rank, abs(here.start.line - seen.at.start.line)
