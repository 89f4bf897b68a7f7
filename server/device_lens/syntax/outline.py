"""The nesting of statements by indentation alone, for text that has no tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from device_lens.syntax.scanner import LogicalLine, logical_lines
from device_lens.syntax.segments import CLAUSES
from device_lens.syntax.unclosed import unclosed_strings

_RESCANS = 32


@dataclass(slots=True)
class Entry:
    """A logical line, the decorators above it and the deeper-indented lines below it."""

    line: LogicalLine
    start: int
    """The line of the first decorator, or of the logical line itself."""
    children: list[Entry] = field(default_factory=list)

    @property
    def stop(self) -> int:
        """The line behind the entry and all below it."""
        entry = self
        while entry.children:
            entry = entry.children[-1]
        return entry.line.stop


def outline(lines: Sequence[str]) -> list[Entry]:
    """The entries of a text at its outermost level."""
    top: list[Entry] = []
    stack: list[Entry] = []
    decorators: list[LogicalLine] = []
    found = _settled_lines(lines)
    for line, following in zip(found, [*found[1:], None], strict=False):
        if line.word == "@" and following is not None and following.indent == line.indent:
            decorators.append(line)
            continue
        entry = Entry(line, decorators[0].start if decorators else line.start)
        decorators = []
        while stack and stack[-1].line.indent >= line.indent:
            stack.pop()
        (stack[-1].children if stack else top).append(entry)
        stack.append(entry)
    return top


def statements(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Entries of one level grouped into statements: a header with the clauses that go with it."""
    groups: list[list[Entry]] = []
    for entry in entries:
        owners = CLAUSES.get(entry.line.word, frozenset())
        if groups and groups[-1][0].line.word in owners and _same_indent(groups[-1][0], entry):
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def _same_indent(first: Entry, second: Entry) -> bool:
    return first.line.indent == second.line.indent


def _settled_lines(lines: Sequence[str]) -> list[LogicalLine]:
    """Logical lines, where one that never closes ends at its first line's end."""
    found = list(logical_lines(lines, 0, len(lines)))
    cut = unclosed_strings(lines, found)
    for _ in range(_RESCANS):
        found = list(logical_lines(lines, 0, len(lines), cut)) if cut else found
        unclosed = {line.start for line in found if line.open and line.stop - line.start > 1}
        if not unclosed:
            return found
        cut |= unclosed
    return [line for line in found if not line.open]
