"""Which file of the workspace imports which, and what follows from that."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from device_lens.project.import_statements import Import, imports_of
from device_lens.syntax.source import SourceFile

Resolve = Callable[[str, int, str], str | None]
"""``ImportResolver.resolve``: module, level and importer to a path."""

_MOST_IMPORTERS = 1_000


@dataclass(frozen=True, slots=True)
class _Node:
    """What the graph keeps of a file."""

    targets: frozenset[str]
    outside: frozenset[str]
    """Top-level names of the imported modules that are not in the workspace."""
    has_main: bool
    does_something: bool


class ModuleGraph:
    """Files and their imports. Cycles do no harm."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._nodes: dict[str, _Node] = {}
        self._importers: dict[str, set[str]] = {}

    def update(self, path: str, file: SourceFile) -> bool:
        """Take in a version of a file; whether its imports changed."""
        new = self._node(path, file)
        old = self._nodes.get(path)
        if old is not None and old.targets == new.targets:
            self._nodes[path] = new
            return old.outside != new.outside
        self.remove(path)
        self._nodes[path] = new
        for target in new.targets:
            self._importers.setdefault(target, set()).add(path)
        return True

    def remove(self, path: str) -> None:
        """Forget a file; those that import it still name it."""
        old = self._nodes.pop(path, None)
        for target in old.targets if old is not None else ():
            self._importers[target].discard(path)

    def files(self) -> Iterable[str]:
        """The files taken in."""
        return self._nodes.keys()

    def imports_of(self, path: str) -> frozenset[str]:
        """The files that a file imports directly."""
        node = self._nodes.get(path)
        return frozenset() if node is None else node.targets

    def importers_of(self, path: str, most: int = _MOST_IMPORTERS) -> tuple[str, ...]:
        """The files that import a file, directly or not, the nearest first, at most ``most``."""
        return _reached([path], self._importers, most + 1)[1 : most + 1]

    def reaching(self, libraries: frozenset[str]) -> frozenset[str]:
        """The files that import one of these top-level names, directly or through others."""
        direct = [path for path, node in self._nodes.items() if node.outside & libraries]
        return frozenset(_reached(direct, self._importers, len(self._nodes)))

    def entry_scripts(self) -> tuple[str, ...]:
        """The files that are meant to be run: with a main guard, or that do something when they
        are imported though no one imports them."""
        return tuple(
            sorted(
                path
                for path, node in self._nodes.items()
                if node.has_main or (node.does_something and not self._importers.get(path))
            )
        )

    def _node(self, path: str, file: SourceFile) -> _Node:
        targets: set[str] = set()
        outside: set[str] = set()
        for one in imports_of(file):
            found = set(self._targets(one, path))
            targets |= found
            if not found and one.level == 0:
                outside.add(one.module.partition(".")[0])
        targets.discard(path)
        statements = [statement for chunk in file.chunks for statement in chunk.body]
        return _Node(
            frozenset(targets),
            frozenset(outside),
            any(map(_is_main_guard, statements)),
            any(map(_does_something, statements)),
        )

    def _targets(self, one: Import, path: str) -> Iterable[str]:
        """The files that an import runs: each package on the way, the module, its submodules."""
        parts = one.module.split(".") if one.module else []
        for length in range(0 if one.level else 1, len(parts) + 1):
            found = self._resolve(".".join(parts[:length]), one.level, path)
            if found is not None:
                yield found
        for name in one.names:
            found = self._resolve(".".join([*parts, name]), one.level, path)
            if found is not None:
                yield found


def _reached(start: Iterable[str], edges: Mapping[str, set[str]], most: int) -> tuple[str, ...]:
    """What can be reached, breadth first, the start included."""
    seen = dict.fromkeys(start)
    queue = deque(seen)
    while queue and len(seen) < most:
        for following in sorted(edges.get(queue.popleft(), ())):
            if following not in seen:
                seen[following] = None
                queue.append(following)
    return tuple(seen)


def _is_main_guard(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    sides = [statement.test.left, *statement.test.comparators]
    has_name = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return has_name and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )


def _does_something(statement: ast.stmt) -> bool:
    """Whether a top-level statement runs more than definitions."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, (ast.Call, ast.Await))
    return isinstance(statement, (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith))
