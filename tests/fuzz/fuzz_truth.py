"""Holds what is said of a program against what it does when it runs: where each value is, that
an operation raises, that a transfer does nothing."""

from __future__ import annotations

from random import Random
from typing import Any

from fuzz_checks import MAIN, check_understood, snapshot_of
from fuzz_runs import Place, Program, Sight

from device_lens.domain.device import ANY_INDEX, Device, flatten_device
from device_lens.domain.guard import primary
from device_lens.ide.project import Project
from device_lens.interpreter.facts import Certainty, Conflict, Kind, Transfer
from device_lens.interpreter.rarer_facts import ContainerTransfer, HostRead

RUNS = 6
"""Times that a program is run, each with other coins."""
MORE_RUNS = 60
"""Times that it is run at most to see something raise that is said to."""


def check_truth(text: str, random: Random, apart: int = 0) -> None:
    """Raises AssertionError where a run is not as it is said to be. Of the first lines, `apart`
    ones, the values do not count: they are shared by calls of which one may know more than the
    others, and what it knows is told."""
    said = Said(text)
    program = Program(text)
    runs = [program.run(random.randrange(1 << 30)) for _ in range(RUNS)]
    for run in runs:
        for sight in run.sights:
            if sight.place[0] > apart:
                _check_sight(sight, said, text)
        for place in run.moved.keys() & said.redundant:
            _fail(text, place, "gave another tensor: it is said to do nothing")
    for place, why in said.raising.items():
        whole = any(run.completed[place] and not run.error for run in runs)
        failed = any(run.failed == place for run in runs)
        if whole and not failed and not _raises(program, place, random):
            _fail(text, place, f"never raises, as it is said to ({why})")


def _raises(program: Program, place: Place, random: Random) -> bool:
    runs = (program.run(random.randrange(1 << 30)) for _ in range(MORE_RUNS))
    return any(run.failed == place for run in runs)


class Said:
    """What is said of a text, by places."""

    def __init__(self, text: str) -> None:
        self._facts = Project("/device-lens-fuzz").analyse(MAIN, snapshot_of({MAIN: text})).facts
        check_understood(self._facts)
        self.devices: dict[Place, Device] = {}
        for expression in self._facts.expressions:
            place = self._place(expression.site)
            device = flatten_device(primary(expression.device))
            if isinstance(device, Device):
                self.devices[place] = device
        self.raising = self._raising()
        self.discarded: set[Place] = set()
        self.redundant: set[Place] = set()
        for transfer in self._facts.transfers:
            self._transfer(transfer)

    def _raising(self) -> dict[Place, str]:
        """The operations that are said to raise."""
        found: dict[Place, str] = {}
        for conflict in self._facts.conflicts:
            if isinstance(conflict, Conflict) and conflict.certainty is Certainty.SURE:
                found[self._place(conflict.site)] = f"{conflict.stray.text} / {conflict.other.text}"
        for fact in self._facts.others:
            if isinstance(fact, HostRead) and (fact.on_accelerator or fact.requires_grad):
                found[self._place(fact.site)] = fact.what
            elif isinstance(fact, ContainerTransfer):
                found[self._place(fact.site)] = fact.container
        return found

    def _transfer(self, fact: Transfer) -> None:
        if fact.kind is not Kind.TENSOR or not fact.called:
            return
        if fact.redundant and not fact.presumed:
            self.redundant.add(self._place(fact.site))
        if fact.discarded and not fact.in_place:
            self.discarded.add(self._place(fact.subject))

    def _place(self, site: Any) -> Place:
        where = self._facts.source.range(site.chunk, site.node)
        start, end = where.start, where.end
        return start.line + 1, start.column, end.line + 1, end.column


def _check_sight(sight: Sight, said: Said, text: str) -> None:
    if sight.was is None:
        if sight.place in said.discarded:
            _fail(text, sight.place, "was a module: it is said not to move")
        return
    device = said.devices.get(sight.place)
    if device is not None and not _agrees(device, sight.was):
        _fail(text, sight.place, f"was on {sight.was}, not on {device}")


def _agrees(said: Device, was: str) -> bool:
    """`cuda` is the first GPU; of another one it says nothing wrong."""
    kind, _, number = was.partition(":")
    open_number = said.index is None or said.index == ANY_INDEX
    return said.type == kind and (kind == "cpu" or open_number or str(said.index) == number)


def _fail(text: str, place: Place, what: str) -> None:
    line, column, end_line, end = place
    source = text.splitlines()[line - 1]
    shown = source[column:end] if line == end_line else source[column:]
    raise AssertionError(f"line {line}: `{shown}` {what}")
