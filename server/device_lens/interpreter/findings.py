"""Collects facts while a program runs: each once, merged over activations and loop passes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from device_lens.domain.device import UNKNOWN_DEVICE, same_everywhere
from device_lens.domain.shallow import shallow
from device_lens.interpreter.computation import Operation
from device_lens.interpreter.facts import (
    Certainty,
    Conflict,
    FileFacts,
    Origin,
    Skipped,
    Synchronization,
    Transfer,
)
from device_lens.interpreter.rarer_facts import (
    DroppedCopy,
    HostRead,
    PinnedHalf,
    PlainAttribute,
    RetainedGraph,
    RoundTrip,
)

MAX_SKIPPED = 400
"""Skipped places kept in one run."""


class Findings:
    """Facts by file. A fact seen again at the same place is kept once; transfers are merged by
    `transfer_facts`, which sees all activations of a place; `doubtful` are those whose receiver
    was no tensor, or not known to be one, in some activation: nothing is lost there; and arguments
    that host code read as they were. `no_copies` are calls, as statements, that gave no moved
    copies in some activation."""

    def __init__(self) -> None:
        self.transfers: dict[Any, Transfer] = {}
        self.doubtful: set[Any] = set()
        self.no_copies: set[Any] = set()
        self.conflicts: dict[Any, Conflict] = {}
        self.synchronizations: dict[Any, Synchronization] = {}
        self.others: dict[Any, Any] = {}
        self.operations: dict[Any, Operation | None] = {}
        self.skipped: dict[Any, Skipped] = {}
        self.no_tensors: set[Any] = set()
        """Operands that were numbers in some activation, or what else is no tensor."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found, as in most modules that are only imported."""
        return not (
            self.skipped
            or self.operations
            or self.transfers
            or self.others
            or self.synchronizations
            or self.conflicts
            or self.doubtful
            or self.no_copies
            or self.no_tensors
        )

    def add(self, fact: Any) -> None:
        """Adds a rarer fact."""
        key = (type(fact), fact.site.node, getattr(fact, "form", None))
        known = self.others.setdefault(key, fact)
        if _is_cost(fact):
            told_of_both(known, fact.condition)

    def computed(self, node: Any, operation: Operation | None) -> None:
        """What an activation computes at a node; None: not known. Activations that differ leave
        nothing to tell."""
        known = self.operations.setdefault(node, operation)
        if known is not None and operation != known:
            self.operations[node] = None

    def skip(self, skipped: Skipped) -> None:
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.setdefault(skipped.site.node, skipped)

    def keep(self, fact: Transfer) -> None:
        """Adds a transfer, or merges it with what was seen at that place before."""
        known = self.transfers.setdefault(fact.site.node, fact)
        if known is not fact:
            _merge(known, fact)

    def take(self, other: Findings) -> None:
        """Takes in what another unit found; its own facts stay as they are."""
        if other.is_empty:
            return
        for transfer in other.transfers.values():
            self.keep(shallow(transfer))
            _tell_once(self.transfers[transfer.site.node])
        self.doubtful |= other.doubtful
        self.no_copies |= other.no_copies
        self.no_tensors |= other.no_tensors
        for conflict in other.conflicts.values():
            origin = conflict.stray.origin
            place = self.place_of(conflict.site.node, origin, conflict.certainty)
            if place is not None:
                self.conflicts[place] = conflict
        for node, waiting in other.synchronizations.items():
            seen = self.synchronizations.get(node)
            if seen is None:
                self.synchronizations[node] = shallow(waiting)
            else:
                told_of_both(seen, waiting.condition)
                seen.repeated = seen.repeated or waiting.repeated
        for key, fact in other.others.items():
            known = self.others.get(key)
            if known is None or (type(fact) is HostRead and not known.on_accelerator):
                self.others[key] = shallow(fact)
            elif _is_cost(fact):
                told_of_both(known, fact.condition)
            elif type(fact) is PlainAttribute:
                known.of_class = known.of_class or fact.of_class
                known.keys |= fact.keys
        for node, operation in other.operations.items():
            self.computed(node, operation)
        if len(self.skipped) < MAX_SKIPPED:
            for skipped in other.skipped.values():
                self.skip(skipped)

    def place_of(self, node: Any, origin: Origin, certainty: Certainty) -> Any:
        """Where a conflict at a node is to be kept, whose stray has an origin: each factory is told
        of. None where it says no more than what is known."""
        place = node
        known = self.conflicts.get(place)
        if known is not None and _is_another(known.stray.origin, origin):
            if certainty is Certainty.POSSIBLE:
                return None
            place = node, origin.site.node
            known = self.conflicts.get(place)
        sure = known is not None and rank(known.certainty) <= rank(certainty)
        return None if sure else place

    def lineages(self) -> Iterator[object]:
        """Those of the chunks in which facts stand."""
        kinds = (self.transfers, self.conflicts, self.synchronizations, self.others, self.skipped)
        for fact in chain.from_iterable(kind.values() for kind in kinds):
            yield fact.site.chunk.lineage

    def into(self, files: dict[str, FileFacts]) -> None:
        """Puts every fact into the facts of its file."""
        for node, transfer in self.transfers.items():
            if node in self.doubtful:
                transfer.discarded = transfer.lost = False
                transfer.redundant = transfer.redundant and transfer.in_place
            if transfer.site.path in files:
                files[transfer.site.path].transfers.append(transfer)
        for conflict in self.conflicts.values():
            for operand in (conflict.stray, conflict.other):
                operand.is_always_tensor = operand.site.node not in self.no_tensors
            if conflict.site.path in files:
                files[conflict.site.path].conflicts.append(conflict)
        for waiting in self.synchronizations.values():
            if waiting.site.path in files:
                files[waiting.site.path].synchronizations.append(waiting)
        for operation in self.operations.values():
            if operation is not None and operation.site.path in files:
                files[operation.site.path].operations.append(operation)
        for other in self.others.values():
            if type(other) is DroppedCopy and other.site.node in self.no_copies:
                continue
            if type(other) in (HostRead, RetainedGraph):
                other.mixed = other.subject.node in self.doubtful
            if other.site.path in files:
                files[other.site.path].others.append(other)
        for skipped in self.skipped.values():
            if skipped.site.path in files:
                files[skipped.site.path].skipped.append(skipped)


def told_of_both(known: Any, condition: str | None) -> None:
    """A cost that is seen again under another condition is told of without one: with its own, a
    reader takes it that there is none elsewhere."""
    if known.condition is not None and known.condition != condition:
        known.condition = None


def _is_cost(fact: Any) -> bool:
    """Whether a fact tells what something costs, and not that it fails."""
    if type(fact) is PinnedHalf:
        return fact.form != "pin-accelerator"
    return type(fact) is RoundTrip


def _is_another(known: Origin, origin: Origin) -> bool:
    """Whether two strays of one operation come from two factories."""
    return known.kind == origin.kind == "factory" and known.site.node is not origin.site.node


def rank(certainty: Certainty) -> int:
    """0 for the surest."""
    return _CERTAINTIES.index(certainty)


_CERTAINTIES = tuple(Certainty)
_MANY = 16
"""Histories that are kept of one transfer."""


def _tell_once(transfer: Transfer) -> None:
    """Leaves out further histories in which a reader sees nothing else: only within a unit does it
    matter whether they are of one tensor."""
    told = [transfer.trail]
    for trail in transfer.further:
        if not any(map(trail.tells_the_same, told)):
            told.append(trail)
    transfer.further = tuple(each for each in told[1:] if each is not None)


def _merge(known: Transfer, fact: Transfer) -> None:
    for name in ("source", "target"):
        old, new = getattr(known, name), getattr(fact, name)
        if old != new and not same_everywhere(old, new):
            setattr(known, name, UNKNOWN_DEVICE)
    for trail in (fact.trail, *fact.further):
        told = (known.trail, *known.further)
        if trail is not None and len(told) < _MANY and all(trail is not each for each in told):
            known.further = (*known.further, trail)
    known.redundant = known.redundant and fact.redundant
    known.presumed = known.presumed or fact.presumed
    known.conditional = known.conditional or fact.conditional
    known.created_here = known.created_here and fact.created_here
    known.made_at = known.made_at if fact.made_at is not None else None
    known.discarded = known.discarded or fact.discarded
    known.lost = known.lost or fact.lost
    known.settable = known.settable and fact.settable
    known.holder_settable = known.holder_settable and fact.holder_settable
    known.set_by_method = known.set_by_method or fact.set_by_method
    if known.shape != fact.shape:
        known.shape = None
    if known.dtype != fact.dtype:
        known.dtype = None
    if known.condition != fact.condition:
        known.condition = None
    if len(fact.loops) > len(known.loops):
        known.loops, known.invariant_in = fact.loops, fact.invariant_in
    if known.target != fact.target:
        known.repeated = None
        if known.follows_other:
            known.invariant_in = ()
    elif known.repeated is None and not known.loops:
        known.repeated = fact.repeated
