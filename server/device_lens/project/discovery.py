"""Finds the Python files and notebooks under some paths, as git and the configuration see them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from device_lens.project.root import folders_upwards

SUFFIXES = (".py", ".ipynb")
MOST_FILES = 100_000
_MOST_FOLDERS = 200_000
_MOST_IGNORE_BYTES = 1_000_000
_SKIPPED = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".bzr",
        ".venv",
        "venv",
        ".env",
        "node_modules",
        "__pycache__",
        "site-packages",
        ".tox",
        ".nox",
        ".eggs",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".pytype",
        ".ipynb_checkpoints",
        ".hypothesis",
    ]
)


@dataclass(frozen=True, slots=True)
class PathProblem:
    """A path that could not be looked into, and why."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """Files by absolute path, in order of path for each path asked for, each once."""

    files: tuple[str, ...]
    problems: tuple[PathProblem, ...] = ()


def discover(
    paths: Sequence[str], exclude: Sequence[str] = (), root: str | None = None
) -> Discovered:
    """The files at and under ``paths``.

    A file that is named itself always counts. Below a folder, ``.gitignore`` files, the
    repository's ``info/exclude`` and the ``exclude`` patterns (relative to ``root``) leave files
    out, as do the folders of tools. Links to folders are not followed.
    """
    walk = _Walk(exclude, root)
    files: dict[str, None] = {}
    for path in map(os.path.abspath, paths):
        if os.path.isdir(path):
            found: Iterable[str] = walk.folder(path)
        elif os.path.isfile(path):
            found = [path]
        else:
            walk.problems.append(PathProblem(path, "no such file or folder"))
            continue
        for file in found:
            if len(files) >= MOST_FILES:
                message = f"more than {MOST_FILES:,} files: the others are left out"
                walk.problems.append(PathProblem(path, message))
                return Discovered(tuple(files), tuple(walk.problems))
            files[file] = None
    return Discovered(tuple(files), tuple(walk.problems))


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Patterns that hold below a folder."""

    folder: str
    spec: GitIgnoreSpec

    def decides(self, path: str, is_folder: bool) -> bool | None:
        """Whether the path is left out; None where no pattern speaks of it."""
        relative = os.path.relpath(path, self.folder).replace(os.sep, "/")
        if relative.startswith("../"):
            return None
        return self.spec.check_file(relative + "/" if is_folder else relative).include


class _Walk:
    def __init__(self, exclude: Sequence[str], root: str | None) -> None:
        self.problems: list[PathProblem] = []
        self._seen: set[tuple[int, int]] = set()
        self._exclude = _spec(exclude) if exclude else None
        self._root = root

    def folder(self, path: str) -> Iterator[str]:
        """The files below a folder, depth first, in order of name."""
        excluded = [] if self._exclude is None else [_Patterns(self._root or path, self._exclude)]
        stack = [(path, _patterns_above(path))]
        while stack:
            folder, patterns = stack.pop()
            if not self._is_new(folder):
                continue
            patterns = patterns + _patterns_in(folder)
            deeper: list[str] = []
            for entry in self._entries(folder):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED and not _left_out(entry, patterns, excluded):
                        deeper.append(entry.path)
                elif self._is_source(entry) and not _left_out(entry, patterns, excluded):
                    yield entry.path
            stack += [(one, patterns) for one in reversed(deeper) if not _is_environment(one)]

    def _is_new(self, folder: str) -> bool:
        try:
            status = os.stat(folder)
        except OSError as error:
            self.problems.append(PathProblem(folder, _reason(error)))
            return False
        # File systems without inode numbers give 0: there, only links could make a loop.
        mark = (status.st_dev, status.st_ino)
        if status.st_ino and (mark in self._seen or len(self._seen) >= _MOST_FOLDERS):
            return False
        self._seen.add(mark)
        return True

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(PathProblem(folder, _reason(error)))
            return []

    def _is_source(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.name.endswith(SUFFIXES) and entry.is_file()
        except OSError as error:
            self.problems.append(PathProblem(entry.path, _reason(error)))
            return False


def _left_out(
    entry: os.DirEntry[str], patterns: Sequence[_Patterns], excluded: Sequence[_Patterns]
) -> bool:
    """Whether the deepest file of patterns that speaks of a path leaves it out."""
    is_folder = entry.is_dir(follow_symlinks=False)
    if any(one.decides(entry.path, is_folder) for one in excluded):
        return True
    for one in reversed(patterns):
        decision = one.decides(entry.path, is_folder)
        if decision is not None:
            return decision
    return False


def _is_environment(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "pyvenv.cfg"))


def _patterns_above(folder: str) -> tuple[_Patterns, ...]:
    """The patterns of the repository that a folder is in, above the folder; outermost first."""
    found: list[_Patterns] = []
    for above in folders_upwards(folder):
        if above != folder:
            found = [*_patterns_in(above), *found]
        if os.path.exists(os.path.join(above, ".git")):
            exclude = _read_patterns(os.path.join(above, ".git", "info", "exclude"), above)
            return (*exclude, *found)
    return ()


def _patterns_in(folder: str) -> tuple[_Patterns, ...]:
    return _read_patterns(os.path.join(folder, ".gitignore"), folder)


def _read_patterns(path: str, folder: str) -> tuple[_Patterns, ...]:
    try:
        if not os.path.isfile(path):  # opening a pipe or a device could wait for ever
            return ()
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(_MOST_IGNORE_BYTES).splitlines()
    except OSError:
        return ()
    return (_Patterns(folder, _spec(lines)),)


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """The patterns of some lines; a line that is no pattern counts for nothing, as in git."""
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
