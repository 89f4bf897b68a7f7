"""Takes the broken statements out of a text, so that all others keep their tree and place.

Works outside in: a statement that does not parse is looked into, header by header and block by
block, until the broken part is a simple statement, a clause, or a whole definition whose header
is broken. What is left out becomes ``pass`` or nothing; no line is added or removed.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from device_lens.syntax.outline import Entry, outline, statements
from device_lens.syntax.quiet import parse_text

_MOST_FUEL = 1_500_000
_TRIAL_COST = 200
_TRIES_OF_HEADER = 8
_KNOWN_TRIALS = 4_000
_LONG_TRIAL = 2_000
"""Trials that are remembered, and the length in characters from which none is."""
_DEFINITIONS = ("def", "class")
_CLAUSES = ("else", "elif", "except", "finally", "case")
_TARGETS = re.compile(
    r"""[ \t\f\ufeff]*(?P<targets>[^\W\d][\w.]*(?:[ \t]*,[ \t]*[^\W\d][\w.]*)*)
        [ \t]*(?::[^=\#]*)?(?:[-+*/%@&|^]|//|\*\*|<<|>>)?=(?!=)""",
    re.VERBOSE,
)
_NAME = re.compile(r"[ \t\f\ufeff]*(?:async[ \t]+)?(?:def|class)[ \t]+(?P<targets>[^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class Mended:
    """What remains of a text that does not parse."""

    body: tuple[ast.stmt, ...]
    omitted: tuple[tuple[int, int], ...]
    """The stretches of lines, from a first to before a last, that were taken out."""
    changed: tuple[tuple[int, int], ...]
    """Those in which anything is another text."""


def mend(lines: Sequence[str]) -> Mended:
    """The statements that remain of a text that does not parse; their places are those in it.

    What is left out becomes ``pass``, or, when it would bind names, binds them to ``...``, so
    that nobody takes them to be what they were before.
    """
    mender = Mender(list(lines))
    mender.text(outline(lines))
    tree = parse_text("\n".join(mender.lines))
    if isinstance(tree, ast.Module):
        return Mended(tuple(tree.body), tuple(mender.omitted), tuple(mender.changed))
    everything = ((0, len(lines)),)
    return Mended((), everything, everything)


def mend_block(lines: Sequence[str], entries: Sequence[Entry]) -> Mender:
    """Mends some lines of one block, whose entries these are."""
    mender = Mender(list(lines))
    mender.block(entries, "")
    return mender


def may_mend_within(size: int, counts: Sequence[int]) -> bool:
    """Whether a text of some characters can be tried down to a block, where all that is not around
    that parses: `counts` are the statements in those around it."""
    tries = sum(count + _TRIES_OF_HEADER for count in counts)
    return len(counts) * size + tries * _TRIAL_COST < _fuel(size)


def _fuel(size: int) -> int:
    return min(200_000 + 4 * size, _MOST_FUEL)


class Mender:
    """The text under repair, and how many characters more may be parsed on trial."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.omitted: list[tuple[int, int]] = []
        self.changed: list[tuple[int, int]] = []
        self._fuel = _fuel(sum(map(len, lines)))

    def text(self, entries: Sequence[Entry]) -> None:
        """Mend the whole text; when it is one statement, that is known not to parse."""
        groups = statements(entries)
        if len(groups) == 1:
            self._statement(groups[0], "")
        else:
            self.block(entries, "")

    def block(self, entries: Sequence[Entry], owner: str) -> None:
        """Mend a block, statement by statement; ``owner`` is the header's first word."""
        indents = Counter(entry.line.indent for entry in entries)
        indent = indents.most_common(1)[0][0] if entries else 0
        for group in statements(entries):
            if group[0].line.indent != indent:
                self._blank(group[0].start, group[-1].stop)
            elif not self._parses(self._text(group), owner):
                self._statement(group, owner)

    def _statement(self, group: list[Entry], owner: str) -> None:
        """Mend one statement that does not parse."""
        first = group[0]
        if self._drops_decorators(first) and self._parses(self._text(group), owner):
            return
        if not self._is_header(first):
            self._simple(first)
            for clause in group[1:]:
                self._leave_out([clause])
            return
        kept = self._kept_clauses(group, owner)
        for entry in group:
            if entry not in kept:
                self._leave_out([entry])
            elif entry.children:
                self.block(entry.children, "match" if entry.line.word == "match" else "")
            elif self._is_header(entry):
                self._fill(entry)

    def _drops_decorators(self, entry: Entry) -> bool:
        """Take broken decorators off a definition; whether there were any."""
        above = range(entry.start, entry.line.start)
        lines = [*(self.lines[number] for number in above), self._indent(entry) + "def _(): pass"]
        if not above or self._parses("\n".join(lines), ""):
            return False
        self._blank(entry.start, entry.line.start)
        entry.start = entry.line.start
        return True

    def _kept_clauses(self, group: list[Entry], owner: str) -> list[Entry]:
        """The entries of a compound statement whose headers are sound together."""
        first, *clauses = group
        if first.line.word == "try":
            return self._kept_of_try(first, clauses, owner)
        if not self._parses(self._skeleton([first]), owner):
            return []
        if not clauses or self._parses(self._skeleton(group), owner):
            return group
        return self._sound(first, clauses, owner)

    def _sound(self, first: Entry, clauses: list[Entry], owner: str) -> list[Entry]:
        """A header and those of its clauses that go with it and each other."""
        kept = [first]
        for clause in clauses:
            if self._parses(self._skeleton([*kept, clause]), owner):
                kept.append(clause)
        return kept

    def _kept_of_try(self, first: Entry, clauses: list[Entry], owner: str) -> list[Entry]:
        """As above; a ``try`` with no sound clause becomes a block that always runs."""
        kept = self._sound(first, clauses, owner)
        if len(kept) > 1:
            return kept
        number = first.line.start
        head = self.lines[number][: first.line.code_end]
        if first.line.stop != number + 1 or head.strip() != "try:" or not first.children:
            return []
        self.lines[number] = self._indent(first) + "if 1:"
        self.changed.append((number, number + 1))
        return kept

    def _simple(self, entry: Entry) -> None:
        """Mend a line that opens no block: keep it without what is wrongly indented below it."""
        if entry.children and self._parses(self._header(entry), ""):
            for child in entry.children:
                self._blank(child.start, child.stop)
        else:
            self._leave_out([entry])

    def _fill(self, entry: Entry) -> None:
        """Give a header without a block an empty one; a definition without a body goes."""
        if entry.line.word in _DEFINITIONS:
            self._leave_out([entry])
            return
        last = entry.line.stop - 1
        self.lines[last] = self.lines[last][: entry.line.code_end] + " pass"
        self.changed.append((last, last + 1))

    def _leave_out(self, group: Sequence[Entry]) -> None:
        """Replace a statement by an empty one, and a clause by nothing."""
        start, header = group[0].start, self.lines[group[0].line.start]
        indent = self._indent(group[0])
        self._blank(start, group[-1].stop)
        if group[0].line.word not in _CLAUSES:
            self.lines[start] = indent + _substitute(header)

    def _blank(self, start: int, stop: int) -> None:
        self.lines[start:stop] = [""] * (stop - start)
        self.omitted.append((start, stop))
        self.changed.append((start, stop))

    def _is_header(self, entry: Entry) -> bool:
        line = entry.line
        return self.lines[line.stop - 1][: line.code_end].endswith(":")

    def _indent(self, entry: Entry) -> str:
        line = self.lines[entry.line.start]
        return line[: len(line) - len(line.lstrip(" \t\f\ufeff"))]

    def _header(self, entry: Entry) -> str:
        return "\n".join(self.lines[entry.start : entry.line.stop])

    def _skeleton(self, group: Sequence[Entry]) -> str:
        """The headers of a statement with empty blocks."""
        parts = []
        for entry in group:
            parts.append(self._header(entry))
            if self._is_header(entry):
                body = "case _: pass" if entry.line.word == "match" else "pass"
                parts.append(self._indent(entry) + " " + body)
        return "\n".join(parts)

    def _text(self, group: Sequence[Entry]) -> str:
        return "\n".join(self.lines[group[0].start : group[-1].stop])

    def _parses(self, text: str, owner: str) -> bool:
        """Whether a piece, indented as it is, parses inside its owner."""
        self._fuel -= len(text) + _TRIAL_COST
        if self._fuel <= 0:
            return False
        if owner == "match":
            text = f"match 0:\n{text}"
        elif text[:1] in " \t\f":
            text = f"if 1:\n{text}"
        return _is_known_sound(text) if len(text) < _LONG_TRIAL else _is_sound(text)


def _is_sound(text: str) -> bool:
    return isinstance(parse_text(text), ast.Module)


_is_known_sound = lru_cache(_KNOWN_TRIALS)(_is_sound)
"""Most statements around a broken one are those of the version before."""


def _substitute(header: str) -> str:
    """What stands for a statement that begins with ``header``: the names it binds, unknown."""
    match = _TARGETS.match(header) or _NAME.match(header)
    if match is None:
        return "pass"
    text = f"{match.group('targets')} = ..."
    return text if isinstance(parse_text(text), ast.Module) else "pass"
