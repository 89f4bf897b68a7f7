"""The top level of a file that somebody edits: its statements in one block, which stays the same
list from version to version, and what else in the file mentions a name."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from device_lens.interpreter import patching
from device_lens.interpreter.stretch import Stretch, identifiers
from device_lens.interpreter.unfinished import looks_up
from device_lens.syntax.chunk import Chunk, Splice

_WORD = re.compile(r"[^\W\d]\w*")
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LATER = (*_DEFINING, ast.ClassDef, ast.GeneratorExp)
"""What may run after the statement that has it."""


class TopLevel:
    """The statements of a file. `splice` is what the last version did to one block of them, where
    it did nothing else; `before` the version before that."""

    def __init__(self, file: Any) -> None:
        self.file = self.before = file
        self.splice: Splice | None = None
        self.block: list[ast.stmt] = [each for chunk in file.chunks for each in chunk.body]
        self.chunks: dict[ast.stmt, Chunk] = {}
        """The chunk of each statement."""
        self._place(file.chunks)

    def follow(self, new: Any) -> None:
        """Takes the next version of the file, or the same once more."""
        self.before, self.file, self.splice = self.file, new, None
        if new is self.before:
            return
        old = self.before.chunks
        pair = patching.spliced(old, new.chunks)
        if pair is not None and not pair[1].splice.is_in_function:
            self.splice = pair[1].splice
            self._place(pair[1:])
            return
        gone, come = patching.unshared(old, new.chunks)
        changed = gone or come
        versions = old if gone else new.chunks
        first = versions.index(changed[0]) if changed else len(old)
        start = sum(len(chunk.body) for chunk in old[:first])
        removed = [each for chunk in gone for each in chunk.body]
        added = [each for chunk in come for each in chunk.body]
        self.block[start : start + len(removed)] = added
        for statement in removed:
            self.chunks.pop(statement, None)
        self._place(come)
        if pair is None:
            self.splice = Splice(None, self.block, start, len(removed), len(added))

    def _place(self, chunks: Iterable[Chunk]) -> None:
        self.chunks.update((each, chunk) for chunk in chunks for each in chunk.body)

    def owner(self, splice: Splice) -> Chunk | None:
        """The chunk that has the block of an edit in it; None where that is the top level."""
        return None if splice.owner is None else self.chunks.get(splice.owner)


class AroundAtTop:
    """What is around a stretch of a top level."""

    def __init__(self, top: TopLevel, splice: Splice) -> None:
        self._owner = splice.owner
        self._top = top
        self._chunk = top.owner(splice)

    def fits(self, stretch: Stretch) -> bool:
        """Whether a stretch is plain, and shares no line with what is around it."""
        if self._chunk is not None and self._owner is not None:
            return stretch.names_around(self._chunk, self._owner) is not None
        return stretch.is_plain and all(len(chunk.body) == 1 for chunk in self._own(stretch))

    def is_whole(self, block: list[ast.stmt]) -> bool:
        """Whether a block runs as often as what it is a part of."""
        return block is self._top.block

    def is_in_branch(self, block: list[ast.stmt]) -> bool:
        return self._owner is not None and _is_branch(self._owner, block)

    def mentioned(self, stretch: Stretch, names: frozenset[str]) -> frozenset[str]:
        """Those of some names that anything else may read after the stretch."""
        found: set[str] = set()
        if self._chunk is not None and self._owner is not None:
            around = stretch.names_around(self._chunk, self._owner)
            found |= stretch.really(self._owner, set(names) if around is None else around & names)
        own = self._own(stretch)
        passed = bool(own or stretch.start < len(stretch.block))
        behind = self._behind(stretch)
        for chunk in self._top.file.chunks:
            passed = passed and chunk not in own and chunk is not behind
            if chunk not in own and (not passed or runs_later(chunk)):
                found |= names & used(chunk)
        return frozenset(found)

    def _own(self, stretch: Stretch) -> Collection[Chunk]:
        if self._chunk is not None:
            return (self._chunk,)
        return {self._top.chunks[each] for each in stretch.body}

    def _behind(self, stretch: Stretch) -> Chunk | None:
        if self._chunk is not None or stretch.stop >= len(stretch.block):
            return None
        return self._top.chunks.get(stretch.block[stretch.stop])


def _is_branch(statement: ast.stmt, block: list[ast.stmt]) -> bool:
    return isinstance(statement, ast.If) and any(
        part is block or any(_is_branch(inner, block) for inner in part)
        for part in (statement.body, statement.orelse)
    )


_USED: WeakKeyDictionary[Chunk, tuple[frozenset[str], bool]] = WeakKeyDictionary()


def used(chunk: Chunk) -> frozenset[str]:
    """The names of the top level that a chunk reads or binds; all its words where it may look
    names up by their texts."""
    return _known(chunk)[0]


def runs_later(chunk: Chunk) -> bool:
    """Whether a chunk has code that may run after it."""
    return _known(chunk)[1]


def _known(chunk: Chunk) -> tuple[frozenset[str], bool]:
    known = _USED.get(chunk)
    if known is None:
        nodes = [node for statement in chunk.body for node in ast.walk(statement)]
        if any(map(_looks_up, nodes)):
            names = frozenset(_WORD.findall(chunk.text))
        else:
            names = frozenset().union(*map(_free, chunk.body))
        known = _USED[chunk] = names, any(isinstance(node, _LATER) for node in nodes)
    return known


def _looks_up(node: ast.AST) -> bool:
    is_globals = isinstance(node, ast.Name) and node.id == "globals"
    return is_globals or looks_up(node)


def _free(node: ast.AST) -> set[str]:
    """The names in a node that are not those of functions in it."""
    if isinstance(node, _DEFINING):
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        inner = set().union(*map(_free, body)) - _bound(node, body)
        around = (part for part in ast.iter_child_nodes(node) if part not in body)
        return inner.union(_own_names(node), *map(_free, around))
    return set().union(_own_names(node), *map(_free, ast.iter_child_nodes(node)))


def _own_names(node: ast.AST) -> Iterable[str]:
    others = ast.Attribute | ast.Constant | ast.keyword | ast.arg
    return () if isinstance(node, others) else identifiers(node)


def _bound(function: Any, body: list[Any]) -> set[str]:
    """The names that a function binds for itself."""
    arguments = function.args
    found = {node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)}
    shared: set[str] = set()
    for node in _own_nodes(body):
        if isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
    return found - shared


def _own_nodes(body: list[Any]) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of functions, classes and comprehensions."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_DEFINING, ast.ClassDef, *_COMPREHENSIONS)):
            pending.extend(ast.iter_child_nodes(node))


def is_under_guard(owner: ast.stmt | None) -> bool:
    """Whether a statement runs what it has where its file is the script alone."""
    if not isinstance(owner, ast.If) or owner.orelse or not isinstance(owner.test, ast.Compare):
        return False
    test = owner.test
    sides = [test.left, *test.comparators]
    return (
        len(sides) == 2
        and isinstance(test.ops[0], ast.Eq)
        and any(isinstance(each, ast.Name) and each.id == "__name__" for each in sides)
        and any(isinstance(each, ast.Constant) and each.value == "__main__" for each in sides)
    )
