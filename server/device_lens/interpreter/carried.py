"""Which names one pass of a loop may hand to the next: those that a pass may read before it binds
them. What a pass leaves in any other name of its own is nothing that a later one can see.

An analysis of upward-exposed uses over the text of the loop. It errs on the side of reading.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from device_lens.interpreter import scan
from device_lens.interpreter.frames import Frame
from device_lens.syntax.chunk import Chunk
from device_lens.syntax.gathering import gather
from device_lens.syntax.walking import children, walk

Loop = ast.For | ast.AsyncFor | ast.While
_CARRIED = "_carried_names"
_LEFT = "_names_left_by_loops"
_INNER = "_names_of_inner_scopes"
_WITHIN = "_names_of_scopes_within"
"""The entries of a node or chunk under which answers are kept, for as long as it lives."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_BY_TEXT = frozenset({"locals", "vars", "eval", "exec", "globals", "dir"})
"""Builtins that may look a name up by its text."""
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_DEFINES = re.compile(r"\b(?:def|class|lambda)\b")
_NAME = re.compile(r"[^\W\d]\w*")


def names(loop: Loop, frame: Frame) -> frozenset[str] | None:
    """The names that a loop of a frame binds and may hand from pass to pass; None where any may
    be."""
    known: tuple[frozenset[str] | None] | None = loop.__dict__.get(_CARRIED)
    if known is None:
        known = loop.__dict__[_CARRIED] = (_carried(loop, frame),)
    return known[0]


def or_left(loop: Loop, frame: Frame) -> frozenset[str] | None:
    """Those names, and the ones that its function reads outside of the loop, to which it may leave
    them; None where any may be read."""
    handed = names(loop, frame)
    if handed is None or frame.function is None:
        return None
    function = frame.function.node
    known: dict[Any, frozenset[str] | None] = function.__dict__.setdefault(_LEFT, {})
    if loop not in known:
        read = _read_outside(function, loop)
        known[loop] = None if read & _BY_TEXT else handed | (scan.loop_info(loop).names & read)
    return known[loop]


def _read_outside(function: ast.AST, loop: Loop) -> frozenset[str]:
    """The names that a function reads or deletes outside of a loop of its own."""
    found: set[str] = set()
    pending: list[ast.AST] = [function, *loop.orelse]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        pending += [each for each in children(node) if each is not loop]
    return frozenset(found)


def _carried(loop: Loop, frame: Frame) -> frozenset[str] | None:
    uses = _Uses()
    if isinstance(loop, ast.While):
        uses.read(loop.test)
        uses.run(loop.body, set())
    else:
        uses.run(loop.body, set(scan.names_bound(loop.target)))
    if uses.is_open:
        return None
    bound = scan.loop_info(loop).names
    return bound & (uses.exposed | _seen_from_within(frame))


def _seen_from_within(frame: Frame) -> frozenset[str]:
    """The names that functions and classes inside of a function, or of a file, mention."""
    if frame.function is not None:
        node = frame.function.node
        found: frozenset[str] | None = node.__dict__.get(_INNER)
        if found is None:
            parts = (gather(each, _WITHIN, _mentioned_within) for each in children(node))
            found = node.__dict__[_INNER] = frozenset(chain.from_iterable(parts))
        return found
    return frozenset().union(*map(_mentioned_in, frame.namespace.file.chunks))


def _mentioned_within(node: ast.AST) -> Iterable[str]:
    """The names that a scope inside of a function reads, and those that it shares."""
    if isinstance(node, _SCOPES):
        return scan.names_read(node)
    return node.names if isinstance(node, ast.Global | ast.Nonlocal) else ()


def _mentioned_in(chunk: Chunk) -> frozenset[str]:
    found: frozenset[str] | None = chunk.__dict__.get(_INNER)
    if found is None:
        words = _NAME.findall(chunk.text) if _DEFINES.search(chunk.text) else ()
        found = chunk.__dict__[_INNER] = frozenset(words)
    return found


class _Uses:
    """Goes through statements in the order in which they run. `exposed` are names that were read
    where they may not have been bound in the same pass, `is_open` tells that any may have been."""

    def __init__(self) -> None:
        self.exposed: set[str] = set()
        self.is_open = False

    def read(self, node: ast.AST | None, bound: Iterable[str] = ()) -> None:
        """Takes the names that an expression or a simple statement reads."""
        if node is None:
            return
        for each in walk(node):
            if isinstance(each, ast.Name):
                if isinstance(each.ctx, ast.Load):
                    self.exposed |= {each.id}.difference(bound)
                    self.is_open = self.is_open or each.id in _BY_TEXT
                elif isinstance(each.ctx, ast.Del):
                    self.exposed.add(each.id)

    def run(self, body: Iterable[ast.stmt], bound: set[str]) -> bool:
        """Goes through a block; `bound` are the names that it has bound by its end. Gives whether
        it never comes to its end."""
        return any(self._statement(statement, bound) for statement in body)

    def _statement(self, node: ast.stmt, bound: set[str]) -> bool:
        if isinstance(node, ast.If):
            self.read(node.test, bound)
            return self._either((node.body, node.orelse), bound)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self._loop(node, bound)
        elif isinstance(node, ast.With | ast.AsyncWith):
            return self._with(node, bound)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._try(node, bound)
        elif isinstance(node, ast.Match):
            self._match(node, bound)
        elif isinstance(node, _SCOPES):
            self.read(node, bound)
            bound.add(node.name)
        else:
            self.read(node, bound)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.exposed |= {node.target.id} - bound
            bound.update(_binds(node))
        return isinstance(node, _ENDS)

    def _either(self, blocks: Iterable[list[ast.stmt]], bound: set[str]) -> bool:
        """Goes through blocks of which one runs."""
        ways: list[set[str]] = []
        for block in blocks:
            inner = set(bound)
            if not self.run(block, inner):
                ways.append(inner)
        if ways:
            bound |= set.intersection(*ways)
        return not ways

    def _loop(self, node: Loop, bound: set[str]) -> None:
        inner = set(bound)
        if isinstance(node, ast.While):
            self.read(node.test, bound)
        else:
            self.read(node.iter, bound)
            self.read(node.target, bound)
            inner.update(scan.names_bound(node.target))
        self.run(node.body, inner)
        self.run(node.orelse, set(bound))

    def _with(self, node: ast.With | ast.AsyncWith, bound: set[str]) -> bool:
        quiet = False
        for item in node.items:
            self.read(item.context_expr, bound)
            quiet = quiet or "suppress" in ast.unparse(item.context_expr)
            if item.optional_vars is not None:
                self.read(item.optional_vars, bound)
                bound.update(scan.names_bound(item.optional_vars))
        return self.run(node.body, set(bound) if quiet else bound) and not quiet

    def _try(self, node: Any, bound: set[str]) -> bool:
        ways: list[set[str]] = []
        whole = set(bound)
        if not self.run((*node.body, *node.orelse), whole):
            ways.append(whole)
        for handler in node.handlers:
            inner = set(bound)
            self.read(handler.type, inner)
            if handler.name:
                inner.add(handler.name)
            if not self.run(handler.body, inner):
                ways.append(inner)
        if ways:
            last = set(bound)
            ends = self.run(node.finalbody, last)
            bound |= set.intersection(*ways) | last
            return ends
        self.run(node.finalbody, set(bound))
        return True

    def _match(self, node: ast.Match, bound: set[str]) -> None:
        self.read(node.subject, bound)
        for case in node.cases:
            self.read(case.pattern, bound)
            inner = bound | set(_captured(case.pattern))
            self.read(case.guard, inner)
            self.run(case.body, inner)


def _binds(node: ast.stmt) -> Iterator[str]:
    """The names that a simple statement surely binds."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from scan.names_bound(target)
    elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(
        node, ast.AugAssign
    ):
        yield from scan.names_bound(node.target)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0]


def _captured(pattern: ast.pattern) -> Iterator[str]:
    for each in walk(pattern):
        for name in ("name", "rest"):
            found = getattr(each, name, None)
            if isinstance(found, str):
                yield found
