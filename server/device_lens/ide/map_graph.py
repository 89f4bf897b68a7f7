"""The graph of a device map while it is made: values, and what flows between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from device_lens.domain.trail import Site
from device_lens.ide.cases import Cases
from device_lens.interpreter.facts import Expression, Synchronization, Transfer

Ids = tuple[int, ...]


@dataclass(slots=True)
class Value:
    """A value, or a module, that takes part; all its uses are one."""

    id: int
    label: str
    kind: str
    """`tensor`, `module`, `dataloader`, `container`, or `host`: a number that the host reads."""
    cases: Cases
    site: Site
    """Where a click on it leads."""
    fact: Expression | None
    sites: list[Site] = field(default_factory=list)
    """The statements and expressions that it stands for."""
    anonymous: bool = False
    """It has the text of its expression for a label, as long as no name is given to it."""
    thrown_away: bool = False
    """The result of a transfer that nothing takes."""


@dataclass(slots=True)
class Flow:
    """What goes from one value into another. `transfer` is set where it moves, `wait` where
    the host waits for the device."""

    source: int
    target: int
    site: Site
    transfer: Transfer | None = None
    wait: Synchronization | None = None

    @property
    def is_plain(self) -> bool:
        return self.transfer is None and self.wait is None


class Graph:
    """Values and flows in the order in which the program has them."""

    def __init__(self) -> None:
        self.values: dict[int, Value] = {}
        self.flows: list[Flow] = []
        self._count = 0

    def add(
        self, label: str, kind: str, cases: Cases, site: Site, fact: Expression | None
    ) -> Value:
        """A new value."""
        value = Value(self._count, label, kind, cases, site, fact, [site])
        self._count += 1
        self.values[value.id] = value
        return value

    def find(self, label: str, cases: Cases) -> Value | None:
        """The last value of that name on that device."""
        found = [
            each
            for each in self.values.values()
            if not each.anonymous and (each.label, each.cases) == (label, cases)
        ]
        return found[-1] if found else None

    def give_name(self, value: Value, label: str, site: Site) -> Value:
        """Names a value by what the program calls it."""
        value.label = label
        value.anonymous = False
        value.sites.append(site)
        return value

    def extend(self, value: Value, sources: Ids, site: Site) -> bool:
        """Lets a value that is made anew from itself and others take these in too. False where it
        is not among its sources, or where the others rest on it: that makes another value."""
        added = [each for each in sources if each != value.id]
        if len(added) == len(sources) or self._reaches(value.id, {*added}):
            return False
        self.connect(added, value.id, site)
        return True

    def _reaches(self, value: int, wanted: set[int]) -> bool:
        """Whether a value flows into one of others, directly or not."""
        seen, waiting = {value}, [value]
        while waiting:
            targets = {flow.target for flow in self.out_of(waiting.pop())} - seen
            if targets & wanted:
                return True
            seen |= targets
            waiting += targets
        return False

    def connect(
        self,
        sources: Iterable[int],
        target: int,
        site: Site,
        transfer: Transfer | None = None,
        wait: Synchronization | None = None,
    ) -> None:
        """Lets values flow into another; each pair once."""
        for source in sources:
            flow = Flow(source, target, site, transfer, wait)
            if source != target and not any(_same(flow, known) for known in self.flows):
                self.flows.append(flow)

    def into(self, value: int) -> Iterator[Flow]:
        return (flow for flow in self.flows if flow.target == value)

    def out_of(self, value: int) -> Iterator[Flow]:
        return (flow for flow in self.flows if flow.source == value)

    def remove(self, value: int) -> None:
        """Takes a value out, with what flows in and out."""
        del self.values[value]
        self.flows = [each for each in self.flows if value not in (each.source, each.target)]

    def bypass(self, value: int) -> None:
        """Takes a value out and lets what flowed into it flow on."""
        before = list(self.into(value))
        after = list(self.out_of(value))
        self.remove(value)
        for flow in after:
            self.connect((each.source for each in before), flow.target, flow.site)


def _same(flow: Flow, known: Flow) -> bool:
    """One value flows into another once, and moves there once for each place that moves it."""
    ends = (flow.source, flow.target) == (known.source, known.target)
    return ends and ((flow.is_plain and known.is_plain) or flow.transfer is known.transfer)
