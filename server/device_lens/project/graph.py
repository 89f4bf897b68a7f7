"""Which file of the workspace imports which, and what follows from that."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from device_lens.project.outline import Outline
from device_lens.syntax.import_statements import Import
from device_lens.syntax.test_files import is_test

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
    lines: int


class ModuleGraph:
    """Files and their imports. Cycles do no harm."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._nodes: dict[str, _Node] = {}
        self._importers: dict[str, set[str]] = {}

    def update(self, path: str, outline: Outline) -> bool:
        """Take in a version of a file; whether its imports changed."""
        new = self._node(path, outline)
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

    def lines_of(self, paths: Iterable[str]) -> int:
        """How many lines files have together, those that were not taken in left out."""
        nodes = (self._nodes.get(path) for path in paths)
        return sum(node.lines for node in nodes if node is not None)

    def closure(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The files, and all that they import, directly or not."""
        seen = dict.fromkeys(paths)
        queue = deque(seen)
        while queue:
            for target in self.imports_of(queue.popleft()):
                if target not in seen:
                    seen[target] = None
                    queue.append(target)
        return tuple(seen)

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
        return tuple(sorted(filter(self.is_entry, self._nodes)))

    def is_entry(self, path: str) -> bool:
        """Whether a file is meant to be run."""
        node = self._nodes.get(path)
        return node is not None and (
            node.has_main or (node.does_something and not self._importers.get(path))
        )

    def is_test(self, path: str) -> bool:
        """Whether a file is written for a tool that runs tests."""
        node = self._nodes.get(path)
        return node is not None and is_test(path, node.outside)

    def _node(self, path: str, outline: Outline) -> _Node:
        targets: set[str] = set()
        outside: set[str] = set()
        for one in outline.imports:
            found = set(self._targets(one, path))
            targets |= found
            if not found and one.level == 0:
                outside.add(one.module.partition(".")[0])
        targets.discard(path)
        return _Node(
            frozenset(targets),
            frozenset(outside),
            outline.has_main,
            outline.does_something,
            outline.lines,
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
