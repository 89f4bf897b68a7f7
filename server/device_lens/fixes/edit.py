"""Edits, fixes, and how edits are applied to a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from device_lens.syntax.position import LineIndex, Position, Range


class Safety(Enum):
    """Whether a fix keeps what the program plainly means to compute."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the text of a range; an empty range inserts. Line ends are the file's own."""

    path: str
    range: Range
    new_text: str
    can_stand: bool = True
    """False where it has quotes that would end a string around it."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One way to repair a finding: all its edits belong together and do not overlap."""

    title: str
    safety: Safety
    edits: tuple[Edit, ...]
    preferred: bool = True

    @property
    def can_stand(self) -> bool:
        """Whether all that it writes can stand where it is written."""
        return all(each.can_stand for each in self.edits)

    @property
    def safe(self) -> bool:
        return self.safety is Safety.SAFE


class OverlapError(ValueError):
    """Two edits change the same text."""


def follower(text: str, edits: Sequence[Edit]) -> Callable[[Position], int]:
    """Tells the offset, in the text after the edits, of what begins at a position of the text
    before; of what an edit replaces, the start of the replacement."""
    index = LineIndex(text)
    spans = [
        (index.offset(each.range.start), index.offset(each.range.end), len(each.new_text))
        for each in edits
    ]

    def follow(position: Position) -> int:
        at = index.offset(position)
        shift = 0
        for start, end, length in spans:
            if start < at < end:
                shift += start - at
            elif end <= at and (start < at or start == end):
                shift += length - (end - start)
        return at + shift

    return follow


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, each at its place in the text as it was.

    Insertions at one place stand in the order given. Raises `OverlapError`.
    """
    index = LineIndex(text)
    spans = [
        (index.offset(edit.range.start), index.offset(edit.range.end), number, edit.new_text)
        for number, edit in enumerate(edits)
    ]
    parts: list[str] = []
    done = 0
    for start, end, _, new_text in sorted(spans, key=lambda span: span[:3]):
        if start < done:
            raise OverlapError(f"two edits change the text at offset {start}")
        parts += (text[done:start], new_text)
        done = end
    return "".join((*parts, text[done:]))
