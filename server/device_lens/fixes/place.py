"""A node with the file that it stands in: what every rewriting starts from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from device_lens.fixes.above import Above, above
from device_lens.fixes.edit import Edit
from device_lens.syntax.chunk import Chunk
from device_lens.syntax.position import Position, Range
from device_lens.syntax.source import SourceFile
from device_lens.syntax.statements import suppression_scope

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.AsyncFor, ast.While)

_PREFIXES = "fFrRbBuU"
_LINE_END = re.compile(r"(?<!\r)\n")
"""One that is written anew: text of the file has its own."""
PRIMARY = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A node of a chunk of a file."""

    source: SourceFile
    chunk: Chunk
    node: ast.AST

    @property
    def range(self) -> Range:
        return self.source.range(self.chunk, self.node)

    @property
    def text(self) -> str:
        """The source text; of a tuple without parentheses, without them."""
        return self.source.text_of(self.range)

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def top_level(self) -> list[ast.stmt]:
        """The statements at the top level of the file."""
        return [statement for chunk in self.source.chunks for statement in chunk.body]

    @property
    def scope(self) -> Range:
        """The statement, of a compound one the header, whose lines can carry a comment about it."""
        return suppression_scope(self.source, self.range)

    def at(self, node: ast.AST) -> Place:
        """Another node of the same chunk."""
        return Place(self.source, self.chunk, node)

    def edit(self, where: Range, new_text: str) -> Edit:
        """An edit of this file, line ends as the file has them and quotes that do not end the
        f-string that the place is in."""
        text = _LINE_END.sub(newline(self.source), new_text)
        taken = self._quotes_around()
        for quote, other in (('"', "'"), ("'", '"')):
            if quote in text and quote in taken:
                return Edit(self.path, where, text.replace(quote, other), other not in taken)
        return Edit(self.path, where, text)

    def _quotes_around(self) -> set[str]:
        """Before Python 3.12, the quote that an f-string begins with cannot stand inside of it."""
        around = (each for each in self.ancestors() if isinstance(each, ast.JoinedStr))
        begins = [self.at(each).text.lstrip(_PREFIXES) for each in around]
        return {each[:1] for each in begins if not each.startswith(('"' * 3, "'" * 3))}

    def replace(self, new_text: str) -> Edit:
        return self.edit(self.range, new_text)

    def insert_behind(self, new_text: str) -> Edit:
        end = self.range.end
        return self.edit(Range(end, end), new_text)

    def ancestors(self) -> Iterator[ast.AST]:
        """The nodes around this one, innermost first."""
        above = self.above
        node = above.get(self.node)
        while node is not None:
            yield node
            node = above.get(node)

    @property
    def parent(self) -> ast.AST | None:
        return self.above.get(self.node)

    @property
    def above(self) -> Above:
        """The nodes around those of the statement at top level."""
        return above(self.source.newest(self.chunk))

    @property
    def statement(self) -> Place:
        """The innermost statement around the node, or the node itself where it is one."""
        if isinstance(self.node, ast.stmt):
            return self
        found = next((node for node in self.ancestors() if isinstance(node, ast.stmt)), self.node)
        return self.at(found)

    @property
    def function(self) -> ast.AST | None:
        """The innermost function or lambda around the node; None at module or class level."""
        return next((node for node in self.ancestors() if isinstance(node, FUNCTIONS)), None)

    @property
    def runner(self) -> ast.AST | None:
        """The innermost function or lambda that runs the node; None at module or class level. What
        a parameter is by default, and decorators, are run by what is around the function."""
        inside: list[ast.AST] = [self.node]
        for node in self.ancestors():
            if isinstance(node, FUNCTIONS) and not _runs_before(node, inside):
                return node
            inside.append(node)
        return None

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class whose method (or body) the node is in."""
        return next((node for node in self.ancestors() if isinstance(node, ast.ClassDef)), None)


def _runs_before(function: ast.AST, inside: list[ast.AST]) -> bool:
    """Whether the innermost of these nodes, each in the next and the last in a function, is run
    when that is defined."""
    part = inside[-1]
    if isinstance(part, ast.arguments):
        given = [*part.defaults, *part.kw_defaults]
        return len(inside) > 1 and any(each is inside[-2] for each in given)
    return any(each is part for each in getattr(function, "decorator_list", ()))


def grouped(place: Place) -> str:
    """The text as something that `.attribute` can be written behind, without another pair around
    that of a tuple which has it already."""
    is_grouped = isinstance(place.node, ast.Tuple) and isinstance(place.parent, ast.Attribute)
    bare = isinstance(place.node, PRIMARY) or is_grouped
    return place.text if bare else f"({place.text})"


def in_quotes(place: Place, text: str) -> str:
    """A string as most of the file's strings are quoted."""
    written = place.source.text
    quote = "'" if written.count("'") > written.count('"') else '"'
    return f"{quote}{text}{quote}"


def newline(source: SourceFile) -> str:
    """The line end of a file: that of its first line."""
    starts = source.lines.starts
    if len(starts) < 2:
        return "\n"
    end = source.text[starts[0] + len(source.lines.lines[0]) : starts[1]]
    return end or "\n"


def indentation(source: SourceFile, line: int) -> str:
    """The white space that a line begins with."""
    text = source.lines.line(line)
    return text[: len(text) - len(text.lstrip(" \t\f"))]


def line_start(line: int) -> Range:
    """The empty range at the start of a line."""
    return Range(Position(line, 0), Position(line, 0))


def same_cell(source: SourceFile, first: int, second: int) -> bool:
    """Whether two lines are in one cell; always true outside notebooks."""
    cells = source.cell_map
    return cells is None or cells.cell_of_line(first) == cells.cell_of_line(second)


def shown_below_cell(place: Place) -> bool:
    """Whether a notebook shows the value: it is the last thing in its cell, and no semicolon
    stands behind it."""
    statement = place.statement
    if not isinstance(statement.node, ast.Expr) or not ends_cell(statement):
        return False
    end = statement.range.end
    return ";" not in place.source.lines.line(end.line)[end.column :].partition("#")[0]


def ends_cell(place: Place) -> bool:
    """Whether the statement around a place is the last one in its cell."""
    source, statement = place.source, place.statement
    if source.cell_map is None or place.above.get(statement.node) is not None:
        return False
    end = statement.range.end
    rest = [source.lines.line(end.line)[end.column :]]
    below = end.line + 1
    while below < len(source.lines.starts) and same_cell(source, end.line, below):
        rest.append(source.lines.line(below))
        below += 1
    return not any(line.partition("#")[0].strip("; \t\f") for line in rest)
