"""What `from module import *` binds, read off the text of a file, which need not be parsed.

Packages that load their parts on demand import everything with stars for the eyes of type checkers:
to parse all of it for the few names that a program uses would take a thousand files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from device_lens.project.reading import FileProblem, Stamp, decode, read_bytes, state_of

if TYPE_CHECKING:
    from device_lens.project.workspace import ProjectWorkspace

_ALL = re.compile(r"^__all__\s*(?:\+?=|\.extend\()\s*[\[(](.*?)[\])]", re.MULTILINE | re.DOTALL)
_STRING = re.compile(r"[\"'](\w+)[\"']")
_BOUND = re.compile(
    r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE
)
_IMPORT = re.compile(r"^[ \t]*from[ \t]+\S+[ \t]+import[ \t]+(\([^)]*\)|[^\n(*]+)", re.MULTILINE)
_IMPORTED = re.compile(r"(\w+)(?:\s+as\s+(\w+))?\s*(?:,|\)|$)", re.MULTILINE)
_COMMENT = re.compile(r"#.*")
_STAR = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+\*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Text:
    """What the text of one file tells. `stars` are the modules from which it takes all, by level
    and name."""

    made_from: Stamp | str
    state: str
    names: tuple[str, ...]
    stars: tuple[tuple[int, str], ...]


class Exports:
    """The answers of one project, by file; a file is read again when it is another one."""

    def __init__(self) -> None:
        self._known: dict[str, _Text] = {}

    def of(self, path: str, workspace: ProjectWorkspace) -> tuple[str, ...]:
        """The names, with those of the modules from which it takes all itself. Notebooks and files
        that cannot be read have none."""
        found: dict[str, None] = {}
        pending, seen = [path], {path}
        while pending:
            here = pending.pop()
            text = self._text(here, workspace)
            if text is None:
                continue
            found.update(dict.fromkeys(text.names))
            for level, module in text.stars:
                other = workspace.resolve(module, level, here)
                if other is not None and other not in seen:
                    seen.add(other)
                    pending.append(other)
        return tuple(found)

    def _text(self, path: str, workspace: ProjectWorkspace) -> _Text | None:
        made_from = workspace.stamp(path)
        known = self._known.get(path)
        if known is None or known.made_from != made_from:
            if isinstance(made_from, str):
                known = _read(made_from, made_from, "")
            elif isinstance(made_from, Stamp) and not path.endswith(".ipynb"):
                data = read_bytes(path)
                content = data if isinstance(data, FileProblem) else decode(path, data)
                text = "" if isinstance(content, FileProblem) else content.text
                known = _read(text, made_from, state_of(data))
            else:
                return None
            self._known[path] = known
        workspace.note_read(path, known.state)
        return known


def _read(text: str, made_from: Stamp | str, state: str) -> _Text:
    """An `__all__` that is written out says all; else everything bound at the top level counts that
    does not begin with an underscore."""
    lists = [_STRING.findall(each) for each in _ALL.findall(text)]
    listed = dict.fromkeys(name for each in lists for name in each)
    if listed:
        return _Text(made_from, state, tuple(listed), ())
    bound = [one or other for one, other in _BOUND.findall(text)]
    for names in _IMPORT.findall(text):
        bound += [alias or name for name, alias in _IMPORTED.findall(_COMMENT.sub("", names))]
    public = dict.fromkeys(name for name in bound if not name.startswith("_"))
    stars = tuple((len(dots), module) for dots, module in _STAR.findall(text))
    return _Text(made_from, state, tuple(public), stars)
