"""Text to chunks: all of it, or only the part that an edit can have changed.

The result for a text never depends on the version before it: reuse saves work and keeps
identities, and what is reused is what would be built again.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from device_lens.syntax.chunk import Chunk
from device_lens.syntax.grafting import graft
from device_lens.syntax.quiet import parse_text, quiet
from device_lens.syntax.recovery import mend
from device_lens.syntax.retyping import retype
from device_lens.syntax.scanner import LogicalLine, is_blank, logical_lines
from device_lens.syntax.segments import (
    Segment,
    segments_of_lines,
    segments_of_tree,
    starts_statement,
)
from device_lens.syntax.splicing import splice
from device_lens.syntax.unclosed import ends_in_string, unclosed_strings


@dataclass(slots=True)
class Layout:
    """The chunks of a text and the lines at which they start."""

    chunks: list[Chunk] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    inside_out: bool = False
    """Whether an unclosed string made all boundaries a guess about the text as a whole."""

    def stop(self, number: int) -> int:
        """The line behind a chunk."""
        return self.starts[number] + self.chunks[number].line_count


@dataclass(frozen=True, slots=True)
class _Part:
    """Segments of a stretch of lines, and how they were found."""

    segments: list[Segment]
    stop: int
    """The line behind the stretch: older chunks go on from here."""
    first: int
    last: int
    """The lines, from ``first`` to before ``last``, that were tried as a whole."""
    fails: bool
    """Whether those lines do not parse; else the segments have their trees."""
    inside_out: bool = False


Pool = dict[str, list[Chunk]]


def build(lines: Sequence[str]) -> Layout:
    """The chunks of a text, from nothing."""
    return rebuild(lines, (), Layout())


def rebuild(lines: Sequence[str], old_lines: Sequence[str], old: Layout) -> Layout:
    """The chunks of a text, with those of an older version wherever they are untouched."""
    if any(chunk.used_up for chunk in old.chunks):
        old_lines, old = (), Layout()
    head, tail = _unchanged(old_lines, lines)
    if head == len(lines) == len(old_lines):
        return old
    moved = len(lines) - len(old_lines)
    retyped = _retyped(lines, len(old_lines), old, head, tail)
    if retyped is not None:
        return retyped
    before, after = 0, len(old.chunks)
    if not old.inside_out:
        before = _chunks_before(lines, old, head)
        after = max(_chunks_after(lines, old, len(old_lines) - tail, moved), before)
    start = old.stop(before - 1) if before else 0
    stop = old.starts[after] + moved if after < len(old.chunks) else len(lines)
    with quiet():
        part = _part(lines, start, stop, frozenset(line + moved for line in old.starts[after:]))
        if part is None:
            return _joined(lines, old, 0, _inside_out(lines), len(old.chunks), 0)
        kept = bisect_left(old.starts, part.stop - moved)
        return _joined(lines, old, before, part, kept, moved)


def _retyped(
    lines: Sequence[str], old_count: int, old: Layout, head: int, tail: int
) -> Layout | None:
    """The old chunks with one in which some lines are others, if these can be read alone."""
    number = bisect_right(old.starts, head) - 1
    if number < 0 or old.inside_out or old_count - tail > old.stop(number):
        return None
    start, moved = old.starts[number], len(lines) - old_count
    stop = old.stop(number) + moved
    with quiet():
        chunk = retype(
            old.chunks[number], lines[start:stop], head - start, stop - len(lines) + tail
        )
    if chunk is None:
        return None
    return Layout(
        [*old.chunks[:number], chunk, *old.chunks[number + 1 :]],
        [*old.starts[: number + 1], *(line + moved for line in old.starts[number + 1 :])],
    )


def _joined(
    lines: Sequence[str], old: Layout, before: int, part: _Part, kept: int, moved: int
) -> Layout:
    """The first old chunks, then those of a part, then the old ones from ``kept`` on."""
    replaced = old.chunks[before:kept]
    made = list(_chunks(part, lines, _pool(replaced)))
    if len(made) == len(replaced):
        old_ones, new_ones = set(replaced), set(made)
        made = [
            new if new in old_ones or chunk in new_ones else _grown(chunk, new)
            for chunk, new in zip(replaced, made, strict=True)
        ]
    return Layout(
        [*old.chunks[:before], *made, *old.chunks[kept:]],
        [
            *old.starts[:before],
            *(segment.start for segment in part.segments),
            *(line + moved for line in old.starts[kept:]),
        ],
        part.inside_out,
    )


def _grown(old: Chunk, new: Chunk) -> Chunk:
    """The new chunk with what can stay of the one in whose place it is."""
    return splice(old, new) or (new if old.used_up else graft(old, new))


def _pool(chunks: Iterable[Chunk]) -> Pool:
    """Chunks by text, each to be taken once, the first first."""
    pool: Pool = {}
    for chunk in chunks:
        pool.setdefault(chunk.text, []).append(chunk)
    for same in pool.values():
        same.reverse()
    return pool


def _unchanged(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines two texts share at the beginning and, past that, at the end."""
    most = min(len(old), len(new))
    head = _longest(most, lambda n, m: old[n:m] == new[n:m])
    tail = _longest(
        most - head,
        lambda n, m: old[len(old) - m : len(old) - n] == new[len(new) - m : len(new) - n],
    )
    return head, tail


def _longest(most: int, same: Callable[[int, int], bool]) -> int:
    """The largest ``n <= most`` such that all before it are the same, by halving."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _chunks_before(lines: Sequence[str], old: Layout, head: int) -> int:
    """How many chunks at the beginning stand whatever follows the first ``head`` lines."""
    count = bisect_right(old.starts, head)
    while count and old.stop(count - 1) > head:
        count -= 1
    while count and not _ends_before(old.chunks[count - 1], lines, old.stop(count - 1)):
        count -= 1
    return count


def _ends_before(chunk: Chunk, lines: Sequence[str], stop: int) -> bool:
    """Whether nothing at or after line ``stop`` can belong to the chunk that ends there."""
    if chunk.broken or chunk.text.rpartition("\n")[2].startswith("@"):
        return False
    following = next((line for line in islice(lines, stop, None) if not is_blank(line)), None)
    return following is None or starts_statement(following)


def _chunks_after(lines: Sequence[str], old: Layout, unchanged: int, moved: int) -> int:
    """The first chunk at or after the old line ``unchanged`` that begins whatever precedes it."""
    number = bisect_left(old.starts, unchanged)
    while number < len(old.chunks):
        line = old.starts[number] + moved
        joined = line > 0 and lines[line - 1].endswith("\\")
        if starts_statement(lines[line]) and not joined:
            break
        number += 1
    return number


def _part(lines: Sequence[str], start: int, stop: int, anchors: frozenset[int]) -> _Part | None:
    """The segments from ``start``: by tree up to ``stop``, else by scanner up to an anchor;
    None when the text ends inside a string, and so no boundary can be trusted."""
    first, last = _trimmed(lines, start, stop)
    tree = parse_text("\n".join(lines[first:last]) + "\n")
    if isinstance(tree, ast.Module):
        return _Part(segments_of_tree(tree, lines, first, last), stop, first, last, False)
    seen: list[LogicalLine] = []
    segments: list[Segment] = []
    for segment in segments_of_lines(_noted(logical_lines(lines, first, len(lines)), seen)):
        if segment.start >= stop and segment.start in anchors:
            return _Part(segments, segment.start, first, last, True)
        segments.append(segment)
    if ends_in_string(seen):
        return None
    return _Part(segments, len(lines), first, last, True)


def _inside_out(lines: Sequence[str]) -> _Part:
    """The segments of a whole text in which some string is not closed."""
    cut = unclosed_strings(lines, list(logical_lines(lines, 0, len(lines))))
    segments = list(segments_of_lines(logical_lines(lines, 0, len(lines), cut)))
    return _Part(segments, len(lines), 0, 0, True, True)


def _noted(found: Iterable[LogicalLine], seen: list[LogicalLine]) -> Iterator[LogicalLine]:
    for line in found:
        seen.append(line)
        yield line


def _trimmed(lines: Sequence[str], start: int, stop: int) -> tuple[int, int]:
    """The stretch without blank lines and comments at its ends.

    A last line that only looks like a comment may be the end of a string: it has a quote. One
    below a backslash belongs to the line above it.
    """
    while start < stop and is_blank(lines[start]):
        start += 1
    while stop > start and is_blank(lines[stop - 1]) and not _has_quote(lines[stop - 1]):
        if stop - 1 > start and lines[stop - 2].endswith("\\"):
            break
        stop -= 1
    return start, stop


def _has_quote(line: str) -> bool:
    return '"' in line or "'" in line


def _chunks(part: _Part, lines: Sequence[str], pool: Pool) -> Iterator[Chunk]:
    for segment in part.segments:
        text = "\n".join(lines[segment.start : segment.stop])
        same = pool.get(text)
        if same:
            yield same.pop()
        elif not part.fails:
            first_line = segment.start - part.first + 1
            yield Chunk(segment.body, text, first_line, "\0" in text)
        else:
            whole = (segment.start, segment.stop) == (part.first, part.last)
            yield _chunk_of_text(text, fails=whole)


def _chunk_of_text(text: str, fails: bool) -> Chunk:
    """A chunk parsed on its own; `fails` where it is known not to parse.

    A line end follows, as in its text: a backslash above a blank line has something to join.
    """
    tree = None if fails else parse_text(text + "\n")
    if isinstance(tree, ast.Module):
        return Chunk(tuple(tree.body), text, 1, "\0" in text)
    mended = mend(text.split("\n"))
    return Chunk(mended.body, text, 1, True, mended.omitted, mended.changed)
