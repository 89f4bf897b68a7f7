"""What a hover says: the answer in its first line, then why, then what it would cost otherwise.

Only tensors, modules, optimizers, loaders, devices, containers of them, transfers, and loops that
move something have one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from device_lens.domain.trail import Site, Trail
from device_lens.ide import summary
from device_lens.ide.cases import Cases, read
from device_lens.ide.cost_notes import cost_notes
from device_lens.ide.costs import Costs, Measurable
from device_lens.ide.explain import steps
from device_lens.ide.loop_hover import loop_hover
from device_lens.ide.markdown import code, join, plain, prose
from device_lens.ide.operation_notes import operation_notes, own_time
from device_lens.ide.operations import MeasurableOperation, OperationEstimate, estimate
from device_lens.ide.places import Location, Lookup, sites_at, text_of
from device_lens.interpreter.facts import Expression, FileFacts, Kind, Transfer
from device_lens.rules.wording import spelled
from device_lens.syntax.position import Position, Range

MAX_CASES = 3

Told = frozenset[tuple[str, Range]]
"""Places of files."""
Link = Callable[[Location], "str | None"]
"""The target of a link to a place, None where the editor cannot go there."""


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown for the expression that takes `range`. `answer` is its first line as plain text,
    `measurable` the transfer or operation that is told of, where it can be measured."""

    range: Range
    answer: str
    markdown: str
    measurable: Measurable | MeasurableOperation | None = None

    @property
    def plain(self) -> str:
        """The answer alone, for clients that show no Markdown."""
        return self.answer


def hover(
    facts: FileFacts,
    position: Position,
    costs: Costs,
    sources: Lookup,
    link: Link | None = None,
    told: Told = frozenset(),
) -> Hover | None:
    """The hover at a position, or None where there is nothing to say. `told` are places that stand
    beside the hover anyway: the steps of a value's history there are left out."""
    found = _innermost(facts, position)
    if found is None:
        loop = loop_hover(facts, position, costs)
        return None if loop is None else Hover(loop.range, loop.answer, loop.markdown)
    where, expression, transfer = found
    if transfer is not None:
        return _of_transfer(facts, transfer, where, costs, sources, link, told)
    if expression is None or not _says_something(expression):
        return None
    answer = summary.of_expression(expression, costs)
    computed = _computed(facts, expression, costs)
    if computed is not None and expression.kind is not Kind.MODULE:
        answer = summary.SEPARATOR.join(filter(None, [answer, own_time(computed)]))
    parts = [
        code(answer),
        _cases(read(expression.device)),
        _same_module(expression),
        "" if computed is None else operation_notes(computed),
        _trail(expression.trail, sources, link, told),
    ]
    return Hover(where, answer, join(parts), None if computed is None else computed.measurable)


def _computed(facts: FileFacts, expression: Expression, costs: Costs) -> OperationEstimate | None:
    """What the operation costs whose result the expression is; a module that is called stands for
    its call."""
    node = expression.site.node
    for operation in facts.operations:
        at = operation.site.node
        if at is node or (isinstance(at, ast.Call) and at.func is node):
            return estimate(operation, expression.device, costs)
    return None


def _says_something(expression: Expression) -> bool:
    """Whether anything beyond the value's kind is known."""
    cases = read(expression.device)
    return bool(
        cases.device
        or cases.alternatives
        or cases.symbol
        or expression.shape is not None
        or expression.dtype
        or expression.parameter_count
        or expression.trail
    )


def _innermost(
    facts: FileFacts, position: Position
) -> tuple[Range, Expression | None, Transfer | None] | None:
    """The smallest expression or transfer at the position; a caret right behind a name belongs
    to it unless something starts there."""
    found: dict[Range, list[Expression | Transfer]] = {}
    items: list[tuple[Site, Expression | Transfer]] = [
        *((each.site, each) for each in facts.expressions),
        *((each.site, each) for each in facts.transfers if each.called),
    ]
    for where, item in sites_at(facts.source, items, position):
        found.setdefault(where, []).append(item)
    if not found:
        return None
    inside = [each for each in found if position < each.end] or list(found)
    where = max(inside, key=lambda each: (each.start, -each.end.line, -each.end.column))
    here = found[where]
    expression = next((each for each in here if isinstance(each, Expression)), None)
    transfer = next((each for each in here if isinstance(each, Transfer)), None)
    return where, expression, transfer


def _of_transfer(
    facts: FileFacts,
    transfer: Transfer,
    where: Range,
    costs: Costs,
    sources: Lookup,
    link: Link | None,
    told: Told,
) -> Hover:
    subject = next((e for e in facts.expressions if e.site == transfer.subject), None)
    estimate = costs.estimate(transfer, subject)
    answer = summary.of_transfer(transfer, estimate)
    target = read(transfer.target if transfer.moves else transfer.source)
    parts = [
        code(answer),
        _cases(target),
        _moved_in_place(facts, transfer),
        cost_notes(transfer, estimate, costs),
        _trail(transfer.trail, sources, link, told),
    ]
    return Hover(where, answer, join(parts), estimate.measurable)


def _cases(cases: Cases) -> str:
    """`when torch.cuda.is_available(), else cpu`, or more cases with their conditions."""
    said = []
    if cases.condition is not None:
        said.append(f"when {spelled(cases.condition, code)}")
    for other in cases.alternatives[:MAX_CASES]:
        device = code(other.device or "unknown")
        if other.is_rest:
            return f"{said[0]}, else {device}"
        said.append(f"{device} when {spelled(other.condition, code)}")
    return "; ".join(said)


def _same_module(expression: Expression) -> str:
    if expression.same_as is None:
        return ""
    return f"The same module as {code(expression.same_as)}: a module is moved in place."


def _moved_in_place(facts: FileFacts, transfer: Transfer) -> str:
    if not transfer.in_place or transfer.kind is not Kind.MODULE:
        return ""
    subject = code(text_of(facts.source, transfer.subject))
    return f"The same module as {subject}: a module is moved in place."


def _trail(trail: Trail | None, sources: Lookup, link: Link | None, told: Told) -> str:
    lines = [
        f"- {prose(step.text)} ({_place(place, sources, link)})"
        for step, place in steps(trail, sources)
        if (place.path, place.range) not in told
    ]
    return "\n".join(lines)


def _place(place: Location, sources: Lookup, link: Link | None) -> str:
    """A link where the editor can follow one; in a notebook the cell's number, which counts from 0
    as it does in messages and on the command line, and line."""
    name = place.path.replace("\\", "/").rpartition("/")[2]
    line = place.range.start.line
    source = sources(place.path)
    cell = source.cell_map.to_cell(place.range.start) if source and source.cell_map else None
    if cell is not None:
        return f"cell {cell.cell}, line {cell.position.line + 1}"
    label = f"{plain(name)}:{line + 1}"
    target = link(place) if link is not None else None
    return label if target is None else f"[{label}](<{target}>)"
