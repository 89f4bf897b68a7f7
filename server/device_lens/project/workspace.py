"""The files around the one that is analysed, as the interpreter's protocol wants them."""

from __future__ import annotations

import os

from device_lens.interpreter.protocol import ForeignClass
from device_lens.project.exports import Exports
from device_lens.project.files import ParseCache, Snapshot, made_from
from device_lens.project.foreign import ForeignClasses
from device_lens.project.imports import ImportResolver
from device_lens.project.reading import FileProblem
from device_lens.project.reads import Reads
from device_lens.syntax.source import SourceFile


class ProjectWorkspace:
    """One snapshot's view of a project. For the analysis thread; makes no promises to others."""

    def __init__(
        self,
        cache: ParseCache,
        resolver: ImportResolver,
        snapshot: Snapshot | None = None,
        foreign: ForeignClasses | None = None,
        reads: Reads | None = None,
        exports: Exports | None = None,
    ) -> None:
        """`reads` takes down what is asked for; `exports` serves several views."""
        self._cache = cache
        self._resolver = resolver
        self._snapshot = snapshot or Snapshot()
        self._foreign = foreign
        self._reads = reads
        self._exports = exports or Exports()
        self._seen: dict[str, SourceFile | FileProblem] = {}
        self._stamps: dict[str, object] = {}
        opened = self._snapshot.documents
        self._edited = frozenset(opened)
        resolver.with_unsaved(frozenset(path for path in opened if not os.path.exists(path)))

    @property
    def edited(self) -> frozenset[str]:
        """The open documents."""
        return self._edited

    def source(self, path: str) -> SourceFile | None:
        """The parsed file; the same object for as long as this view lives."""
        result = self.read(path)
        return result if isinstance(result, SourceFile) else None

    def read(self, path: str) -> SourceFile | FileProblem:
        """The parsed file, or why there is none."""
        if path not in self._seen:
            self._seen[path] = self._cache.get(path, self._snapshot)
            self.note_read(path, self._cache.state(path))
        return self._seen[path]

    def note_read(self, path: str, state: str) -> None:
        """Takes down that a file counts."""
        if self._reads is not None:
            self._reads.files[path] = state

    def stamp(self, path: str) -> object:
        """What tells one version of a file from another, without parsing it."""
        if path not in self._stamps:
            self._stamps[path] = made_from(path, self._snapshot)
        return self._stamps[path]

    def resolve(self, module: str, level: int, importer: str) -> str | None:
        """The path of a workspace module as ``importer`` would import it."""
        found = self._resolver.resolve(module, level, importer)
        if self._reads is not None:
            self._reads.answers[module, level, os.path.dirname(importer)] = found
        return found

    def is_package(self, path: str) -> bool:
        """Whether a file is a package's ``__init__.py``."""
        return os.path.basename(path) == "__init__.py"

    def exports(self, path: str) -> tuple[str, ...]:
        """The names that a star takes from a module."""
        return self._exports.of(path, self)

    def foreign_class(self, qualified_name: str) -> ForeignClass | None:
        """What is known of a class outside; never waits."""
        return None if self._foreign is None else self._foreign.lookup(qualified_name)


class FileAlone(ProjectWorkspace):
    """A file as if there were no other in the project: nothing that it imports is run for it, and
    nobody asks about a second version."""

    @property
    def edited(self) -> frozenset[str]:
        """None: no state is worth keeping."""
        return frozenset()

    def resolve(self, module: str, level: int, importer: str) -> str | None:
        """None: all that is imported lies outside."""
        return None
