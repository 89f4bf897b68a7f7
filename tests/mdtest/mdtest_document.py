"""Reads a test document: headings name the tests, fences are files, comments are expectations.

A `py` fence is a program of its own, in a file `main.py`. A line such as `` `net.py`: `` above a
fence gives its file a name: named files belong to every program of their section, and a section
with nothing but named files is one program. A `toml` fence configures its section and those below
it. A `fixed` fence holds the text of the fence above it after its fixes: the safe ones where there
are any, else all; `fixed unsafe` asks for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAIN = "main.py"
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"(```+)\s*(\w*)\s*(.*?)\s*$")
_FILE_NAME = re.compile(r"`([\w./-]+\.(?:py|ipynb))`:\s*$")


@dataclass(slots=True)
class Fence:
    """A fenced block. `line` is the document's line, from 0, of the first line inside it."""

    language: str
    options: str
    name: str | None
    line: int
    lines: list[str]

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(slots=True)
class Program:
    """Files that are analysed together. `fixed` is by the file that it belongs to."""

    title: str
    line: int
    files: dict[str, Fence]
    configuration: str
    fixed: dict[str, Fence] = field(default_factory=dict)


@dataclass(slots=True)
class _Section:
    level: int
    title: str
    line: int
    has_prose: bool = False
    fences: list[Fence] = field(default_factory=list)


class MalformedDocument(Exception):
    """A document that does not keep to the format; the message names the line."""


def programs(text: str) -> list[Program]:
    """The programs of a document, in order."""
    found: list[Program] = []
    path: list[_Section] = []
    for section in _sections(text):
        path = [each for each in path if each.level < section.level] + [section]
        if section.title.startswith(("FP:", "FN:")) and not section.has_prose:
            raise MalformedDocument(f"line {section.line + 1}: a known wrongness needs a reason")
        configuration = "".join(
            fence.text for each in path for fence in each.fences if fence.language == "toml"
        )
        title = " / ".join(each.title for each in path if each.title)
        found += _programs(section, title, configuration)
    return found


def _programs(section: _Section, title: str, configuration: str) -> Iterator[Program]:
    named: dict[str, Fence] = {}
    fixed: dict[int, Fence] = {}
    mains: list[Fence] = []
    last: Fence | None = None
    for fence in section.fences:
        if fence.language in ("py", "python"):
            last = fence
            if fence.name is None:
                mains.append(fence)
            else:
                named[fence.name] = fence
        elif fence.language == "fixed":
            if last is None:
                raise MalformedDocument(f"line {fence.line}: `fixed` has nothing above it")
            fixed[last.line] = fence
    for number, main in enumerate(mains or [None]):
        files = dict(named) if main is None else {**named, MAIN: main}
        if not files:
            continue
        suffix = f" ({number + 1})" if len(mains) > 1 else ""
        line = min(fence.line for fence in files.values()) if main is None else main.line
        mine = {name: fixed[fence.line] for name, fence in files.items() if fence.line in fixed}
        yield Program(title + suffix, line, files, configuration, mine)


def _sections(text: str) -> Iterator[_Section]:
    lines = text.split("\n")
    section = _Section(0, "", 0)
    name: str | None = None
    number = 0
    while number < len(lines):
        line = lines[number]
        if heading := _HEADING.match(line):
            yield section
            section = _Section(len(heading[1]), heading[2], number)
        elif fence := _FENCE.match(line):
            inside, number = _inside(lines, number, fence[1])
            start = number - len(inside)
            section.fences.append(Fence(fence[2], fence[3], name, start, inside))
            name = None
        elif file := _FILE_NAME.match(line.strip()):
            name = file[1]
        elif line.strip():
            section.has_prose = True
        number += 1
    yield section


def _inside(lines: list[str], opening: int, ticks: str) -> tuple[list[str], int]:
    """The lines of a fence and the number of the line that closes it."""
    for number in range(opening + 1, len(lines)):
        if lines[number].rstrip() == ticks:
            return lines[opening + 1 : number], number
    raise MalformedDocument(f"line {opening + 1}: the fence is not closed")
