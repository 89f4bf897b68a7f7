"""What a command looks at: the files that were asked for, by the root of their project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from device_lens.ide.project import MOST_SEARCHED, Project
from device_lens.project.discovery import discover
from device_lens.project.files import ParseCache
from device_lens.project.reads import Outlines
from device_lens.project.root import find_root, package_around
from device_lens.project.settings import Layer


@dataclass(frozen=True, slots=True)
class Root:
    """Files of one project. `whole` tells that everything below the root was asked for."""

    root: str
    targets: tuple[str, ...]
    whole: bool


@dataclass(slots=True)
class Scope:
    """All that was asked for; `problems` are paths that cannot be looked into, and why."""

    roots: list[Root] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)

    @property
    def files(self) -> int:
        return sum(len(root.targets) for root in self.roots)


def collect(paths: Sequence[str], layer: Layer) -> Scope:
    """The files at and below some paths, as their configuration has it."""
    scope = Scope()
    by_root: dict[str, dict[str, None]] = {}
    folders: dict[str, str] = {}
    asked = [os.path.abspath(path) for path in paths]
    for path in asked:
        found = Project(root_of(path), command_line=layer).discover([path])
        scope.problems += [(each.path, each.message) for each in found.problems]
        for file in found.files:
            folder = os.path.dirname(file)
            if folder not in folders:
                folders[folder] = root_of(folder, path)
            by_root.setdefault(folders[folder], {})[file] = None
    for root, files in by_root.items():
        whole = any(_is_at_or_below(root, path) for path in asked)
        scope.roots.append(Root(root, tuple(files), whole))
    return scope


def root_of(path: str, asked: str | None = None) -> str:
    """The root of the project around a path: by its marks, else the current folder, else, for
    what lies outside it, the package or folder that was `asked` for, the path's own by default."""
    here = os.getcwd()
    inside = _is_at_or_below(path, here)
    return find_root(path, here if inside else package_around(asked or path))


def open_project(
    root: Root,
    layer: Layer,
    outlines: Outlines | None = None,
    parsed: ParseCache | None = None,
) -> tuple[Project, tuple[str, ...]]:
    """The project with the imports of the files and of those that call them; and a sentence for
    each bound that was hit. `outlines` are what earlier runs know of files, `parsed` are files
    that are shared with other projects."""
    project = Project(root.root, command_line=layer, parsed=parsed)
    project.outlines = outlines
    if root.whole:
        project.index(root.targets)
        return project, ()
    around = discover([root.root], project.configuration(root.root).configuration.exclude).files
    if len(around) > MOST_SEARCHED:
        project.index(root.targets)
        return project, (
            f"callers outside the given files are left out: the project has {len(around):,} files",
        )
    project.index_callers(root.targets, around)
    return project, ()


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
