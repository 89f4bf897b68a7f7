"""The parts of a file that a device map can show: training loops, other loops, `forward`, the
main flow."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from device_lens.domain.trail import Site
from device_lens.interpreter.facts import FileFacts, Kind

MOST_REGIONS = 20
"""Parts that are offered; of more, the likeliest."""

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Loop: TypeAlias = ast.For | ast.AsyncFor | ast.While
Statement: TypeAlias = tuple[Any, ast.stmt]
"""A statement with its chunk."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SHOWN = (Kind.TENSOR, Kind.MODULE)
_TRAINS = ("backward", "manual_backward")
_STEPS = ("training_step", "train_step", "validation_step", "compute_loss")


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a file. `rank` 0 is what a reader most likely wants to see."""

    id: str
    """Stays the same while lines move."""
    title: str
    site: Site
    statements: tuple[Statement, ...]
    """A loop is one statement."""
    rank: int
    weight: int
    """Among parts of one rank the heaviest is the likeliest; 0 where no tensor is known in it."""
    is_loop: bool
    class_node: ast.ClassDef | None = None
    """The class whose method it is in."""


def regions(facts: FileFacts) -> list[Region]:
    """What can be shown of a file, the likeliest first; empty where it has no tensors."""
    found = [region for region in _Finder(facts).regions() if region.weight]
    return sorted(found, key=lambda region: (region.rank, -region.weight))[:MOST_REGIONS]


class _Finder:
    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.known = {id(each.site.node) for each in facts.expressions if each.kind in _SHOWN}
        self.moves = {id(each.site.node) for each in facts.transfers if each.moves}
        self.training = {
            node.name
            for chunk in facts.source.chunks
            for statement in chunk.body
            for node in ast.walk(statement)
            if isinstance(node, Function) and trains(node)
        }
        self.counts: dict[str, int] = {}

    def regions(self) -> Iterator[Region]:
        main: list[Statement] = []
        for chunk in self.facts.source.chunks:
            main += ((chunk, each) for each in chunk.body if not isinstance(each, _DEFINITIONS))
            yield from self._in(chunk, chunk.body, "", None)
        if main:
            site = Site(self.facts.path, *main[0])
            weight = self._count(self.known, main)
            yield Region("main", "the file's main flow", site, tuple(main), 4, weight, False)

    def _in(
        self, chunk: Any, body: Sequence[ast.stmt], name: str, owner: ast.ClassDef | None
    ) -> Iterator[Region]:
        for node in _statements(body):
            if isinstance(node, ast.ClassDef):
                yield from self._in(chunk, node.body, f"{name}{node.name}.", node)
            elif isinstance(node, Function):
                yield from self._function(chunk, node, name, owner)
            elif isinstance(node, Loop) and not name.endswith((".__init__.", ".forward.")):
                yield self._loop(chunk, node, name.rstrip("."), owner)

    def _function(
        self, chunk: Any, node: Function, name: str, owner: ast.ClassDef | None
    ) -> Iterator[Region]:
        full = f"{name}{node.name}"
        yield from self._in(chunk, node.body, f"{full}.", owner)
        inside = [(chunk, statement) for statement in node.body]
        rank = self._rank(node, inside)
        if rank is None:
            return
        weight = self._count(self.known, inside)
        if node.name == "forward" and weight:
            # Of several modules in a file the last is usually the one made of the others.
            weight += self.facts.source.range(chunk, node).start.line * 1000
        site = Site(self.facts.path, chunk, node)
        yield Region(self._id(full), f"{full}()", site, tuple(inside), rank, weight, False, owner)

    def _rank(self, node: Function, inside: Sequence[Statement]) -> int | None:
        """How likely a function is what is wanted; None where it is not offered."""
        if trains(node) or node.name in _STEPS:
            return 2
        if node.name == "main":
            return 4
        if node.name == "forward":
            return 6
        return 5 if self._count(self.moves, inside) else None

    def _loop(self, chunk: Any, node: Loop, name: str, owner: ast.ClassDef | None) -> Region:
        header = self._header(chunk, node)
        title = f"{name}(): {header}" if name else header
        statements = ((chunk, node),)
        if trains(node):
            inner = [each for each in ast.walk(node) if isinstance(each, Loop) and each is not node]
            rank = 1 if any(trains(each) for each in inner) else 0
        elif not self.training.isdisjoint(_called(node)):
            rank = 1
        else:
            rank = 3 if self._count(self.moves, statements) else 7
        site = Site(self.facts.path, chunk, node)
        weight = self._count(self.known, statements)
        return Region(self._id(f"{name}:loop"), title, site, statements, rank, weight, True, owner)

    def _header(self, chunk: Any, node: Loop) -> str:
        """The loop's first line, without the colon."""
        if isinstance(node, ast.While):
            return f"while {self._text(chunk, node.test)}"
        return f"for {self._text(chunk, node.target)} in {self._text(chunk, node.iter)}"

    def _text(self, chunk: Any, node: ast.AST) -> str:
        source = self.facts.source
        return " ".join(source.text_of(source.range(chunk, node)).split())

    def _count(self, nodes: set[int], statements: Iterable[Statement]) -> int:
        return sum(id(node) in nodes for _, each in statements for node in own_nodes(each))

    def _id(self, name: str) -> str:
        number = self.counts[name] = self.counts.get(name, 0) + 1
        return f"{name}#{number}"


def own_nodes(statement: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run with a statement: not those of functions and classes defined in it."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (*_DEFINITIONS, ast.Lambda)):
                waiting.append(child)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with those that are nested in them, in order; not into functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, _DEFINITIONS):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, name, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body)


def trains(node: ast.AST) -> bool:
    """Whether a backward pass is in it."""
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in _TRAINS
        for child in ast.iter_child_nodes(node)
        for each in own_nodes(child)
    )


def _called(node: ast.AST) -> Iterator[str]:
    """The names of the functions and methods that are called in it."""
    for each in own_nodes(node):
        if isinstance(each, ast.Call):
            func = each.func
            if isinstance(func, ast.Name):
                yield func.id
            elif isinstance(func, ast.Attribute):
                yield func.attr
