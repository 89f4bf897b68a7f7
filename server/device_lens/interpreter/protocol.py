"""What the interpreter needs of the world: other files. `project` implements it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ForeignClass:
    """What is known of a class outside the workspace. `bases` are qualified names, transitively;
    None where that is not known (yet)."""

    name: str
    is_module: bool | None
    bases: tuple[str, ...] | None = None


class Workspace(Protocol):
    """The files around the one that is analysed. None of these block on other processes."""

    @property
    def edited(self) -> frozenset[str]:
        """The files that somebody edits."""

    def source(self, path: str) -> Any | None:
        """The parsed file (`syntax.source.SourceFile`), or None."""

    def stamp(self, path: str) -> Any:
        """What tells one version of a file from another, without parsing it."""

    def resolve(self, module: str, level: int, importer: str) -> str | None:
        """The path of a workspace module as `importer` would import it; None if it is outside."""

    def is_package(self, path: str) -> bool:
        """Whether that file is a package's `__init__.py`."""

    def exports(self, path: str) -> tuple[str, ...]:
        """The names that a star takes from a module, as its text tells them: a module that binds
        them otherwise has more."""

    def foreign_class(self, qualified_name: str) -> ForeignClass | None:
        """What is known of a class outside the workspace."""
