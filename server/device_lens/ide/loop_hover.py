"""What the transfers of a loop come to: for the hover on its `for` or `while`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from device_lens.cost.units import format_bytes, format_microseconds
from device_lens.ide.costs import Costs, TransferEstimate
from device_lens.ide.markdown import code, join, plain
from device_lens.ide.places import text_of
from device_lens.ide.summary import SEPARATOR, time_text
from device_lens.interpreter.facts import FileFacts, Loop, Transfer
from device_lens.syntax.position import Position, Range

MOST_ROWS = 5
_KEYWORDS = {ast.For: "for", ast.AsyncFor: "async for", ast.While: "while"}


@dataclass(frozen=True, slots=True)
class LoopHover:
    """Markdown for the keyword that takes `range`; `answer` is its first line as plain text."""

    range: Range
    answer: str
    markdown: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A transfer inside the loop, and how often one iteration of the loop runs it (None: that
    depends on a loop within, whose passes are not known)."""

    transfer: Transfer
    estimate: TransferEstimate
    times: int | None


def loop_hover(facts: FileFacts, position: Position, costs: Costs) -> LoopHover | None:
    """The hover on a loop's keyword; None elsewhere, and for a loop that moves nothing."""
    found = _loop_at(facts, position)
    if found is None:
        return None
    loop, where = found
    parts = list(_parts(facts, loop, costs))
    if not parts:
        return None
    answer = _answer(loop, parts)
    rows = [
        f"- {code(text_of(facts.source, each.transfer.site))}: {_row(each)}"
        for each in parts[:MOST_ROWS]
    ]
    if len(parts) > MOST_ROWS:
        rows.append(f"- and {len(parts) - MOST_ROWS} more")
    return LoopHover(where, answer, join([code(answer), "\n".join(rows)]))


def _loop_at(facts: FileFacts, position: Position) -> tuple[Loop, Range] | None:
    loops = {loop.site: loop for transfer in facts.transfers for loop in transfer.loops}
    for site, loop in loops.items():
        keyword = _KEYWORDS.get(type(site.node))
        if keyword is None or site.path != facts.path:
            continue
        start = facts.source.range(site.chunk, site.node).start
        end = Position(start.line, start.column + len(keyword))
        if start <= position <= end:
            return loop, Range(start, end)
    return None


def _parts(facts: FileFacts, loop: Loop, costs: Costs) -> Iterator[_Part]:
    """In the order in which they stand in the text."""

    def start(transfer: Transfer) -> Position:
        where: Range = facts.source.range(transfer.site.chunk, transfer.site.node)
        return where.start

    for transfer in sorted((each for each in facts.transfers if each.loops), key=start):
        sites = [each.site for each in transfer.loops]
        if loop.site not in sites or not transfer.moves or not transfer.called:
            continue
        if transfer.redundant:
            continue
        subject = next((e for e in facts.expressions if e.site == transfer.subject), None)
        estimate = costs.estimate(transfer, subject)
        yield _Part(transfer, estimate, _times(transfer.loops[sites.index(loop.site) + 1 :]))


def _times(within: tuple[Loop, ...]) -> int | None:
    total = 1
    for loop in within:
        if loop.trip_count is None:
            return None
        total *= loop.trip_count
    return total


def _answer(loop: Loop, parts: list[_Part]) -> str:
    """`each iteration: 2 transfers · 38.5 MB · ≈ 6.4 ms · all 100: ≈ 640 ms`, of what is known."""
    said = [f"each iteration: {len(parts)} transfer{'s' if len(parts) > 1 else ''}"]
    moved = [(each.estimate.bytes, each.times) for each in parts]
    if all(size is not None and times is not None for size, times in moved):
        said.append(format_bytes(sum((size or 0) * (times or 0) for size, times in moved)))
    timed = [(each.estimate.cost, each.times) for each in parts]
    if all(cost is not None and times is not None for cost, times in timed):
        total = sum(cost.microseconds * times for cost, times in timed if cost and times)
        said.append(f"≈ {format_microseconds(total)}")
        if loop.trip_count is not None:
            whole = format_microseconds(total * loop.trip_count)
            said.append(f"all {loop.trip_count}: ≈ {whole}")
    return SEPARATOR.join(said)


def _row(part: _Part) -> str:
    estimate = part.estimate
    said = [estimate.size_text or "size not known", time_text(estimate)]
    if part.times is None:
        said.append("in each pass of a loop within")
    elif part.times > 1:
        said.append(f"{part.times} times")
    return plain(SEPARATOR.join(each for each in said if each))
