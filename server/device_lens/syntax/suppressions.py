"""Comments that speak to Device Lens: ``# device-lens: ignore[...]`` and ``shape x = [...]``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from device_lens.syntax.building import Layout
from device_lens.syntax.chunk import Chunk
from device_lens.syntax.comments import comment_column
from device_lens.syntax.position import LineIndex, Range, span

_MARK = "device-lens:"
_COMMENT = re.compile(r"#[ \t]*device-lens:[ \t]*")
_IGNORE = re.compile(r"(ignore-file|ignore)(?![\w-])[ \t]*(?:\[([^\]#]*)\])?")
_SHAPE = re.compile(
    r"shape[ \t]+([\w.]+)[ \t]*=[ \t]*\[([^\]#]*)\](?:[ \t]+([A-Za-z]\w*))?[ \t]*(?=#|$)"
)
_RULE = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class RuleName:
    """A rule named in a suppression, and where the name stands."""

    name: str
    range: Range


@dataclass(frozen=True, slots=True)
class Suppression:
    """One ignore comment. No rules means all rules."""

    range: Range
    """From the ``#`` to the end of the suppression, without what follows in the comment."""
    rules: tuple[RuleName, ...]
    whole_file: bool
    alone: bool
    """Whether the comment has its line to itself, and so speaks of the line below."""
    bare: bool
    """Whether it has no brackets: silences every rule (``ignore[]`` silences none)."""

    @property
    def line(self) -> int:
        """The line of the comment."""
        return self.range.start.line

    def silences(self, rule: str) -> bool:
        """Whether the comment names the rule, or all."""
        return self.bare or any(named.name == rule for named in self.rules)


@dataclass(frozen=True, slots=True)
class ShapeComment:
    """``# device-lens: shape x = [64, 3, H, W] float32``: the user's word about a value."""

    name: str
    dims: tuple[int | str, ...]
    dtype: str | None
    range: Range


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All such comments of a file, in order."""

    all: tuple[Suppression, ...] = ()
    shapes: tuple[ShapeComment, ...] = ()
    _lines: dict[int, list[Suppression]] = field(default_factory=dict, repr=False)

    def find(self, rule: str, statement: Range) -> Suppression | None:
        """The comment that silences a rule for a statement: one on its first or last line, or
        alone on the line above, before one for the whole file. For a compound statement, pass
        the range of its header."""
        if not self.all:
            return None
        first, last = statement.start.line, statement.end.line
        if statement.end.column == 0 and last > first:
            last -= 1
        for line, alone in ((first, False), (last, False), (first - 1, True)):
            for found in self._lines.get(line, ()):
                if found.alone == alone and found.silences(rule):
                    return found
        return next((one for one in self.all if one.whole_file and one.silences(rule)), None)


def find_suppressions(lines: LineIndex, layout: Layout) -> Suppressions:
    """The comments of a file; costs one text search where there are none."""
    if _MARK not in lines.text:
        return Suppressions()
    found: list[Suppression] = []
    shapes: list[ShapeComment] = []
    top = _first_statement(layout)
    for number, column in _comments(lines, layout):
        text = lines.line(number)
        body = _COMMENT.match(text, column)
        if body is None:
            continue
        if ignore := _IGNORE.match(text, body.end()):
            one = _suppression(number, column, ignore, not text[:column].strip())
            if not one.whole_file or number < top:
                found.append(one)
        elif shape := _SHAPE.match(text, body.end()):
            shapes.append(_shape(number, column, shape))
    by_line: dict[int, list[Suppression]] = {}
    for one in found:
        if not one.whole_file:
            by_line.setdefault(one.line, []).append(one)
    return Suppressions(tuple(found), tuple(shapes), by_line)


def _comments(lines: LineIndex, layout: Layout) -> Iterator[tuple[int, int]]:
    """Line and column of each comment that begins with the mark."""
    for number, text in enumerate(lines.lines):
        if _MARK not in text or "#" not in text:
            continue
        column = comment_column(lines.lines, layout, number)
        while column is not None and column >= 0:
            if _COMMENT.match(text, column):
                yield number, column
                break
            column = text.find("#", column + 1)


def _first_statement(layout: Layout) -> int:
    """The line of the first statement; a docstring does not count as one."""
    for chunk, start in zip(layout.chunks, layout.starts, strict=True):
        if not _is_docstring(chunk):
            return start
    return sys.maxsize


def _is_docstring(chunk: Chunk) -> bool:
    if len(chunk.body) != 1 or not isinstance(chunk.body[0], ast.Expr):
        return False
    value = chunk.body[0].value
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _suppression(number: int, column: int, match: re.Match[str], alone: bool) -> Suppression:
    rules = []
    if match.group(2) is not None:
        for name in _RULE.finditer(match.group(2)):
            start = match.start(2) + name.start()
            end = match.start(2) + name.end()
            rules.append(RuleName(name.group(), span(number, start, number, end)))
    end = len(match.group().rstrip()) + match.start()
    where = span(number, column, number, end)
    whole = match.group(1) == "ignore-file"
    return Suppression(where, tuple(rules), whole, alone, match.group(2) is None)


def _shape(number: int, column: int, match: re.Match[str]) -> ShapeComment:
    dims = tuple(
        int(word) if word.isascii() and word.isdigit() else word
        for word in _RULE.findall(match.group(2))
    )
    where = span(number, column, number, match.end())
    return ShapeComment(match.group(1), dims, match.group(3), where)
