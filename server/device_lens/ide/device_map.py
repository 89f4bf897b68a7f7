"""The device map: the flow of values through a part of a file as a graph, in words and numbers.

Values are nodes with their device, transfers are edges with their bytes and time, findings are
marks on either. Everything is computed here; whoever shows the map only draws.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from device_lens.cost.units import format_bytes, format_microseconds
from device_lens.domain.trail import Site
from device_lens.ide import summary
from device_lens.ide.costs import Costs, TransferEstimate, expressions_by_site
from device_lens.ide.map_flow import flow_of
from device_lens.ide.map_graph import Flow, Graph, Value
from device_lens.ide.map_marks import marks_of
from device_lens.ide.map_regions import Region, regions
from device_lens.ide.map_trim import trim
from device_lens.ide.places import range_of
from device_lens.interpreter.facts import FileFacts, Transfer
from device_lens.interpreter.transfer_facts import MOVES
from device_lens.rules.finding import Finding
from device_lens.syntax.position import Range


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding as the map marks it."""

    rule: str
    severity: str
    message: str


@dataclass(frozen=True, slots=True)
class Node:
    """A value. `place` is `host`, `accelerator`, `symbol` (wherever something is that the analysis
    cannot see), `unknown`, or `none` for what has no device itself; `colour` counts the
    accelerators of the map from 0."""

    id: int
    label: str
    kind: str
    place: str
    colour: int
    device: str
    detail: str
    condition: str | None
    range: Range
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """What flows from one node into another: `kind` is `flow`, `transfer`, or `wait` where the
    host waits for a value of the device. `label` is short, `detail` the whole sentence."""

    source: int
    target: int
    kind: str
    label: str
    detail: str
    range: Range
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the file that can be shown."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class DeviceMap:
    """The map of one part. `remark` says what each iteration moves, or why there are no nodes;
    `notes` what the map leaves out."""

    parts: tuple[Part, ...]
    part: str | None
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    remark: str
    notes: tuple[str, ...]


NOTHING = "No tensors, modules or transfers are known in this file."
_NO_SIZE = "size not known"
MOST_TRIED = 4
"""Parts that are drawn in search of one with a flow, where none is asked for."""


def device_map(
    facts: FileFacts, findings: Sequence[Finding], costs: Costs, part: str | None = None
) -> DeviceMap:
    """The map of a part of a file; of the likeliest where `part` names none."""
    found = regions(facts)
    parts = tuple(Part(region.id, region.title) for region in found)
    chosen = [region for region in found if region.id == part] or found[:MOST_TRIED]
    for region in chosen:
        graph = flow_of(facts, region)
        if graph.values or region is chosen[-1]:
            return _Drawing(facts, findings, costs, region, graph).map(parts)
    return DeviceMap(parts, None, (), (), NOTHING, ())


class _Drawing:
    """The words and numbers of one graph."""

    def __init__(
        self,
        facts: FileFacts,
        findings: Sequence[Finding],
        costs: Costs,
        region: Region,
        graph: Graph,
    ) -> None:
        self.facts = facts
        self.costs = costs
        self.region = region
        self.graph = graph
        self.subjects = expressions_by_site(facts)
        self.inside = {id(node) for _, each in region.statements for node in ast.walk(each)}
        own = [each for each in findings if each.path == facts.path]
        self.on_values, self.on_flows, others = marks_of(facts, graph, own)
        self.others = [each for each in others if _contains(self._region_range(), each.range)]
        self.left_out = trim(graph, self.on_values)

    def map(self, parts: tuple[Part, ...]) -> DeviceMap:
        values = self.graph.values.values()
        devices = {_known(each) for each in values} - {None, "cpu"}
        names = sorted(each for each in devices if each is not None)
        colours = {name: number for number, name in enumerate(names)}
        nodes = tuple(self._node(value, colours) for value in values)
        edges = tuple(self._edge(flow) for flow in self.graph.flows)
        remark = self._remark() if nodes else NOTHING
        return DeviceMap(parts, self.region.id, nodes, edges, remark, tuple(self._notes()))

    def _region_range(self) -> Range:
        ranges = [self._range(Site(self.facts.path, *each)) for each in self.region.statements]
        return Range(ranges[0].start, ranges[-1].end)

    def _range(self, site: Site) -> Range:
        return range_of(self.facts.source, site)

    def _node(self, value: Value, colours: dict[str, int]) -> Node:
        return Node(
            value.id,
            value.label,
            value.kind,
            _place(value),
            colours.get(_known(value) or "", 0),
            _device(value),
            self._detail(value),
            value.cases.condition,
            self._range(value.site),
            _problems(self.on_values.get(value.id, ())),
        )

    def _detail(self, value: Value) -> str:
        """What a value is, without its device."""
        if value.thrown_away:
            return "result thrown away"
        if value.kind == "host":
            return "read by the host"
        if value.fact is None:
            return ""
        parts = summary.parts_of(value.fact, self.costs)
        # A size that is not a number says less than the shape.
        known = [each for each in parts if "B ×" not in each and each != "? B"]
        return summary.SEPARATOR.join(known)

    def _edge(self, flow: Flow) -> Edge:
        where = self._range(flow.site)
        ends = flow.source, flow.target
        problems = _problems(self.on_flows.get(id(flow), ()))
        if flow.transfer is not None:
            estimate = self._estimate(flow.transfer)
            detail = summary.of_transfer(flow.transfer, estimate)
            if flow.transfer.conditional:
                case = flow.transfer.condition
                detail += f" (only {'under a condition' if case is None else f'when {case}'})"
            return Edge(*ends, "transfer", _cost_text(estimate), detail, where, problems)
        if flow.wait is not None:
            often = ", now and then" if flow.wait.interval_guarded else ""
            detail = f"The host waits for the device{often}: {flow.wait.what}"
            return Edge(*ends, "wait", f"waits{often}", detail, where, problems)
        if self._is_moved(flow):
            route = [_device(self.graph.values[each]) for each in ends]
            detail = f"{' → '.join(route)}, as far as it is a tensor"
            return Edge(*ends, "transfer", _NO_SIZE, detail, where, problems)
        if self._crosses(flow):
            detail = "The value changes its device here, by something else than a transfer call"
            return Edge(*ends, "flow", "changes device", detail, where, problems)
        return Edge(*ends, "flow", "", "", where, problems)

    def _crosses(self, flow: Flow) -> bool:
        """A tensor leaves the host, or comes to it, with no call that says so: `x.type(T)`."""
        ends = self.graph.values[flow.source], self.graph.values[flow.target]
        if not flow.is_plain or any(each.kind != "tensor" for each in ends):
            return False
        if any(each.fact is not None and each.fact.shape == () for each in ends):
            return False  # PyTorch takes a number from the host wherever it is needed
        return {_place(each) for each in ends} == {"host", "accelerator"}

    def _is_moved(self, flow: Flow) -> bool:
        """A call that moves lets it cross, of which no transfer is known for certain: in another
        case its receiver is no tensor."""
        sites = self.graph.values[flow.target].sites
        return self._crosses(flow) and any(_calls_a_move(each.node) for each in sites)

    def _estimate(self, transfer: Transfer) -> TransferEstimate:
        return self.costs.estimate(transfer, self.subjects.get(transfer.subject))

    def _remark(self) -> str:
        """What the part moves, each time that it runs."""
        moves = {id(each.transfer): each.transfer for each in self.graph.flows if each.transfer}
        found = (each.wait for each in self.graph.flows if each.wait is not None)
        waits = {id(each) for each in found if not each.interval_guarded}
        subject = "Each iteration" if self.region.is_loop else "This part"
        unsure = sum(self._is_moved(flow) for flow in self.graph.flows)
        crossing = sum(self._crosses(flow) for flow in self.graph.flows) - unsure
        if not moves and not unsure:
            moved = "makes no transfers"
        else:
            moved = self._total(list(moves.values()), unsure)
        if crossing:
            what = "1 value changes" if crossing == 1 else f"{crossing} values change"
            moved += f", but {what} device by something else than a transfer call"
        if not waits:
            return f"{subject} {moved}."
        often = "once" if len(waits) == 1 else f"{len(waits)} times"
        return f"{subject} {moved}, and waits for the device {often}."

    def _total(self, moves: Sequence[Transfer], unsure: int) -> str:
        """The sum of what is known, beside moves of which too little is; what is in an inner loop
        or under a condition is but named."""
        plain = [each for each in moves if not each.conditional and not self._inner(each)]
        estimates = [self._estimate(each) for each in plain]
        sizes = [each.bytes for each in estimates if each.bytes is not None]
        times = [each.cost for each in estimates if each.cost is not None]
        number = len(plain) + unsure
        count = "1 transfer" if number == 1 else f"{number} transfers"
        parts = []
        if sizes:
            least = "" if len(sizes) == number else "at least "
            parts.append(f"moves {least}{format_bytes(sum(sizes))}")
            if times:
                measured = all(each.source == "measured" for each in times)
                text = format_microseconds(sum(each.microseconds for each in times))
                parts.append(f"in {text}, measured," if measured else f"in ≈ {text}")
            parts.append(f"({count})")
        elif number:
            parts.append(f"makes {count} of a size that is not known")
        rest = len(moves) - len(plain)
        if rest:
            more = "1 transfer" if rest == 1 else f"{rest} transfers"
            joint = "and makes" if parts else "makes"
            parts.append(f"{joint} {more} under a condition or in an inner loop")
        return " ".join(parts)

    def _inner(self, transfer: Transfer) -> bool:
        """Whether a loop inside the part runs it more than once."""
        loops = [each.site.node for each in transfer.loops]
        own = self.region.site.node
        if own in loops:
            return loops[-1] is not own
        return any(id(loop) in self.inside for loop in loops)

    def _notes(self) -> Iterator[str]:
        cases = {each.cases.condition: None for each in self.graph.values.values()}
        for condition in cases:
            if condition is not None:
                yield f"The map shows the case: {condition}."
        if self.left_out:
            count = len(self.graph.values)
            yield (
                f"{self.left_out} values are left out, so that the map stays readable: it shows "
                f"{count} of {count + self.left_out}, first those that move or have a problem."
            )
        for finding in self.others:
            yield f"Line {finding.range.start.line + 1}: {finding.message}"


def _calls_a_move(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in MOVES
    )


def _place(value: Value) -> str:
    device = _known(value)
    if device is not None:
        return "host" if device == "cpu" else "accelerator"
    if value.cases.symbol is not None:
        return "symbol"
    return "none" if value.kind in ("dataloader", "container") else "unknown"


def _known(value: Value) -> str | None:
    """A device, also one whose number alone is not known: `cuda:?`."""
    symbol = value.cases.symbol
    return symbol if symbol is not None and symbol.endswith(":?") else value.cases.device


def _device(value: Value) -> str:
    """The device as a node shows it."""
    device = _known(value)
    if device is not None:
        return device
    if value.cases.symbol is not None:
        return f"where {value.cases.symbol} is"
    return "" if _place(value) == "none" else "device not known"


def _cost_text(estimate: TransferEstimate) -> str:
    size = estimate.size_text or "?"
    parts = [_NO_SIZE if "?" in size else size, summary.time_text(estimate)]
    return summary.SEPARATOR.join(part for part in parts if part)


def _problems(findings: Iterable[Finding]) -> tuple[Problem, ...]:
    """The loudest first."""
    ordered = sorted(findings, key=lambda each: each.severity.rank)
    return tuple(Problem(each.rule, each.severity.value, each.message) for each in ordered)


def _contains(outer: Range, inner: Range) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
