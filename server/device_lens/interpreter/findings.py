"""Collects facts while a program runs: each once, merged over activations and loop passes."""

from __future__ import annotations

from typing import Any

from device_lens.interpreter.computation import Operation
from device_lens.interpreter.facts import (
    Conflict,
    FileFacts,
    Skipped,
    Synchronization,
    Transfer,
)

MAX_SKIPPED = 400
"""Skipped places kept in one run."""


class Findings:
    """Facts by file. A fact seen again at the same place is kept once; transfers are merged by
    `transfer_facts`, which sees all activations of a place; `doubtful` are those whose receiver
    was no tensor, or not known to be one, in some activation: nothing is lost there."""

    def __init__(self) -> None:
        self.transfers: dict[Any, Transfer] = {}
        self.doubtful: set[Any] = set()
        self.conflicts: dict[Any, Conflict] = {}
        self.synchronizations: dict[Any, Synchronization] = {}
        self.others: dict[Any, Any] = {}
        self.operations: dict[Any, Operation | None] = {}
        self.skipped: dict[Any, Skipped] = {}
        self.device_names: dict[str, dict[Any, Any]] = {}

    def add(self, fact: Any) -> None:
        """Adds a rarer fact."""
        key = (type(fact), fact.site.node, getattr(fact, "form", None))
        self.others.setdefault(key, fact)

    def computed(self, node: Any, operation: Operation | None) -> None:
        """What an activation computes at a node; None: not known. Activations that differ leave
        nothing to tell."""
        known = self.operations.setdefault(node, operation)
        if known is not None and operation != known:
            self.operations[node] = None

    def skip(self, skipped: Skipped) -> None:
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.setdefault(skipped.site.node, skipped)

    def into(self, files: dict[str, FileFacts]) -> None:
        """Puts every fact into the facts of its file."""
        for node, transfer in self.transfers.items():
            if node in self.doubtful:
                transfer.discarded = False
                transfer.redundant = transfer.redundant and transfer.in_place
            if transfer.site.path in files:
                files[transfer.site.path].transfers.append(transfer)
        for conflict in self.conflicts.values():
            if conflict.site.path in files:
                files[conflict.site.path].conflicts.append(conflict)
        for waiting in self.synchronizations.values():
            if waiting.site.path in files:
                files[waiting.site.path].synchronizations.append(waiting)
        for operation in self.operations.values():
            if operation is not None and operation.site.path in files:
                files[operation.site.path].operations.append(operation)
        for other in self.others.values():
            if other.site.path in files:
                files[other.site.path].others.append(other)
        for skipped in self.skipped.values():
            if skipped.site.path in files:
                files[skipped.site.path].skipped.append(skipped)
        for path, names in self.device_names.items():
            if path in files:
                files[path].device_names.update(names)
