"""What an analysis took from the disk, so that a later run can tell whether it would take the
same.

A file's *state* is a hash of its bytes, or the sentence why it cannot be read. Times of
modification count for nothing: tools set them back, and two edits can fall into one tick of the
clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from device_lens.project.outline import (
    Outline,
    outline_from_json,
    outline_to_json,
)
from device_lens.project.reading import read_bytes, state_of


@dataclass(slots=True, eq=False)
class Reads:
    """All that was asked for while it was recorded."""

    files: dict[str, str] = field(default_factory=dict)
    """The state of each file that was looked at, absent ones included, by path."""
    answers: dict[tuple[str, int, str], str | None] = field(default_factory=dict)
    """Where each module was found, by module, level and the importer's folder."""


class States:
    """The states of files during one run: each file is read once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        """The state of a file."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = state_of(read_bytes(path))
        return known


class Outlines:
    """The outlines of a project's files by what the files hold."""

    def __init__(self, states: States, kept: object = None) -> None:
        """`kept` is what `to_json` gave in an earlier run; whatever else it holds is left out."""
        self._states = states
        self._kept: dict[str, object] = kept if isinstance(kept, dict) else {}
        self._used: dict[str, Outline] = {}
        self.has_new = False

    def of(self, path: str) -> Outline | None:
        """The outline of a file as it is now, if it was kept."""
        key = _key(path, self._states.of(path))
        known = self._used.get(key) or outline_from_json(self._kept.get(key))
        if known is not None:
            self._used[key] = known
        return known

    def keep(self, path: str, state: str, outline: Outline) -> None:
        """Keep the outline of a file that was parsed in some state."""
        self._used[_key(path, state)] = outline
        self.has_new = True

    def to_json(self) -> dict[str, object]:
        """The outlines of this run, and as many again of those that were kept before it."""
        found: dict[str, object] = {key: outline_to_json(each) for key, each in self._used.items()}
        most = 2 * len(found)
        for key, data in self._kept.items():
            if len(found) >= most:
                break
            found.setdefault(key, data)
        return found


def _key(path: str, state: str) -> str:
    """The same bytes are one thing as a module, another as a notebook."""
    return f"{state} notebook" if path.endswith(".ipynb") else state
