"""Logical lines of Python text, found without a parser so that broken text has them too.

Knows strings, brackets, comments and continuation lines, and nothing of grammar, save one thing:
a line that starts with a word which can only begin a statement ends whatever bracket is still
open, because no expression contains it. Text that parses is never cut by that rule.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_BLANK = re.compile(r"[ \t\f\ufeff]*(?:#.*)?$", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<triple>\"{3}|'{3})
      | "[^"\\]*(?:\\.[^"\\]*)*" | '[^'\\]*(?:\\.[^'\\]*)*'
      | (?P<quote>["'])
      | (?P<open>[(\[{]) | (?P<close>[)\]}])
      | (?P<comment>\#)
      | (?P<join>\\$)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTE_OR_COMMENT = re.compile(r"""["'#\\]""")
_BRACKET = re.compile(r"[()\[\]{}]")
_ENDINGS = {
    delimiter: re.compile(r"\\.?|" + delimiter, re.DOTALL) for delimiter in ('"', "'", '"""', "'''")
}
_ONLY_STATEMENTS = re.compile(
    r"""[ \t\f]*(?:
        (?:def|class|import|while|with|try|return|raise|del|global|nonlocal|assert
          |pass|break|continue|elif|except|finally)\b
      | async[ \t]+def\b
      | from[ \t]+[\w.]+[ \t]+import\b
      | (?:if|for|else|async[ \t]+for)\b[^#]*:[ \t]*(?:\#.*)?$
    )""",
    re.VERBOSE,
)
_CODE = re.compile(
    r"""[ \t]*(?:def[ ]\w+\(|class[ ]\w+[(:]|import[ ]\w|from[ ][\w.]+[ ]import\b
      |@\w|return\b|if[ ]__name__)""",
    re.VERBOSE,
)
_KNOWN_LINES = 10_000
_LONG_LINE = 300
"""Lines that are remembered, and the length in characters from which none is: most lines of a text
are those of the version before."""
_WORD = re.compile(r"[ \t\f\ufeff]*(?:async[ \t]+)?(@|\w*)")


@dataclass(slots=True)
class LogicalLine:
    """A statement's header, or a simple statement: the lines from ``start`` to before ``stop``."""

    start: int
    stop: int
    indent: int
    word: str
    """The first word (past ``async``), or ``@``; empty when something else comes first."""
    code_end: int
    """The column in the last line at which the code ends, before spaces and a comment."""
    open: str = ""
    """What is still open at the end: ``(`` for a bracket, or the string's delimiter."""
    suspect: bool = False
    """Whether a triple-quoted string in it holds a line that looks like code."""


def is_blank(line: str) -> bool:
    """Whether a line holds at most spaces and a comment."""
    return _BLANK.match(line) is not None


def is_join(line: str) -> bool:
    """Whether a line is nothing but a backslash, and so belongs to the line below."""
    return line.endswith("\\") and not line.strip(" \t\f\\")


def indentation(line: str) -> int:
    """The width of the white space before the code; tabs go to multiples of eight."""
    code = line.lstrip(" ")
    if code[:1] not in ("\t", "\f", "\ufeff"):
        return len(line) - len(code)
    width = 0
    for char in line:
        if char == " ":
            width += 1
        elif char == "\t":
            width += 8 - width % 8
        elif char in "\f\ufeff":
            width = 0
        else:
            break
    return width


def first_word(line: str) -> str:
    """The first word of a line past ``async``, ``@`` for a decorator, else the empty string."""
    match = _WORD.match(line)
    return match.group(1) if match else ""


def comments(lines: Sequence[str], start: int, stop: int) -> dict[int, int]:
    """The column of the comment in each of ``lines[start:stop]`` that has one.

    ``start`` is the first line of a statement or lies between statements.
    """
    found: dict[int, int] = {}
    state = _State()
    for number in range(start, stop):
        if state.depth and not state.quote and _ONLY_STATEMENTS.match(lines[number]):
            state = _State()
        _read(lines[number], state)
        if state.comment is not None:
            found[number] = state.comment
    return found


def logical_lines(
    lines: Sequence[str], start: int, stop: int, cut: Collection[int] = ()
) -> Iterator[LogicalLine]:
    """The logical lines of ``lines[start:stop]``; those that start at a line in ``cut`` end there.

    Blank lines, comments, and backslashes that join nothing else belong to none.
    """
    number = start
    while number < stop:
        if is_blank(lines[number]):
            number += 1
            continue
        logical = logical_line_at(lines, number, number + 1 if number in cut else stop)
        if _has_code(lines, logical):
            yield logical
        number = logical.stop


@dataclass(slots=True)
class _State:
    """What is open at the end of a line."""

    depth: int = 0
    quote: str = ""
    joined: bool = False
    code_end: int = 0
    comment: int | None = None

    @property
    def clean(self) -> bool:
        return not (self.depth or self.quote or self.joined)

    @property
    def open(self) -> str:
        return self.quote or ("(" if self.depth else "\\" if self.joined else "")


def logical_line_at(lines: Sequence[str], start: int, limit: int) -> LogicalLine:
    """The logical line that begins at ``start``, ended before ``limit`` at the latest."""
    alone = _alone(lines[start]) if len(lines[start]) < _LONG_LINE else None
    if alone is not None:
        return LogicalLine(start, start + 1, *alone, "", False)
    state = _State()
    _read(lines[start], state)
    number, suspect = start + 1, False
    while not state.clean and number < limit:
        line = lines[number]
        if state.depth and not state.quote and _ONLY_STATEMENTS.match(line):
            number = _before_decorators(lines, start, number)
            break
        suspect = suspect or (len(state.quote) == 3 and _CODE.match(line) is not None)
        _read(line, state)
        number += 1
    head = _head(lines, start, number)
    indent = indentation(lines[start])
    if head > start and not indent:
        indent = next(filter(None, map(indentation, lines[start : head + 1])), 0)
    word = first_word(lines[head])
    return LogicalLine(start, number, indent, word, state.code_end, state.open, suspect)


@lru_cache(_KNOWN_LINES)
def _alone(line: str) -> tuple[int, str, int] | None:
    """The indent, first word and end of the code of a line that nothing open leads beyond."""
    state = _State()
    _read(line, state)
    return (indentation(line), first_word(line), state.code_end) if state.clean else None


def _head(lines: Sequence[str], start: int, stop: int) -> int:
    """The line with the first code: lines that only join may come before it."""
    while start < stop - 1 and is_join(lines[start]):
        start += 1
    return start


def _read(line: str, state: _State) -> None:
    """Move the state past one line."""
    at = 0
    state.joined = False
    state.comment = None
    if not state.quote and _QUOTE_OR_COMMENT.search(line) is None:
        _read_brackets(line, state)
        return
    if state.quote:
        at = _string_end(line, 0, state)
        if state.quote:
            return
    end = len(line)
    while match := _TOKEN.search(line, at):
        at = match.end()
        kind = match.lastgroup
        if kind == "open":
            state.depth += 1
        elif kind == "close":
            state.depth = max(state.depth - 1, 0)
        elif kind == "comment":
            end = state.comment = match.start()
            break
        elif kind == "join":
            state.joined = True
        elif kind is not None:
            state.quote = match.group()
            at = _string_end(line, at, state)
            if state.quote:
                break
    state.code_end = len(line[:end].rstrip())


def _read_brackets(line: str, state: _State) -> None:
    """As ``_read``, for a line without strings, comments and backslashes."""
    depth = state.depth
    for bracket in _BRACKET.findall(line):
        if bracket in "([{":
            depth += 1
        elif depth:
            depth -= 1
    state.depth = depth
    state.code_end = len(line.rstrip())


def _string_end(line: str, at: int, state: _State) -> int:
    """Behind the end of the open string; a one-line string ends with its line unless joined."""
    last = None
    for match in _ENDINGS[state.quote].finditer(line, at):
        last = match.group()
        if last == state.quote:
            state.quote = ""
            return match.end()
    if len(state.quote) == 1 and last != "\\":
        state.quote = ""
    return len(line)


def _before_decorators(lines: Sequence[str], start: int, number: int) -> int:
    """The first of the decorator lines directly above ``number``."""
    while number - 1 > start and lines[number - 1].lstrip().startswith("@"):
        number -= 1
    return number


def _has_code(lines: Sequence[str], logical: LogicalLine) -> bool:
    """Whether a logical line is more than backslashes at line ends and a comment below them."""
    if logical.word:
        return True
    return not all(is_blank(line.rstrip("\\")) for line in lines[logical.start : logical.stop])
