"""Reports of earlier runs that still hold.

A report is kept with all that it rests on, and taken again only if all of that is as it was:

- the program itself, Python, what was asked for, and the configuration of the files;
- every file that the files can reach by imports: what it holds, and what it imports;
- whatever else the analysis read, and where each import that it followed was found or not found.

Files count by what they hold, not by their times. What a report rests on is taken down while it is
made, so that an edit in the middle of a run leaves a report that no later run takes.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pathspec

from device_lens import __version__
from device_lens.cli.report import Json, Report, report_from_json, report_to_json
from device_lens.ide.plan import Group
from device_lens.ide.project import Project
from device_lens.project.reads import Outlines, Reads, States
from device_lens.project.settings import Layer
from device_lens.project.shelf import Shelf

_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Slot:
    """Where the report on a group of files is kept, and what must be the same for it to hold."""

    folder: str
    name: str
    key: str


class Recall:
    """The reports of earlier runs, for one run."""

    def __init__(self, folder: Path) -> None:
        self._shelf = Shelf(folder)
        self._states = States()
        self._outlines: dict[str, Outlines] = {}
        self._marks: dict[str, bytes] = {}
        self._program = program()

    def outlines(self, root: str) -> Outlines:
        """What is known of the files below a root."""
        kept = self._shelf.get(self._outlines_name(root))
        found = self._outlines[root] = Outlines(self._states, kept)
        return found

    def slot(
        self,
        project: Project,
        layer: Layer,
        targets: Sequence[str],
        group: Group | None = None,
    ) -> Slot:
        """The place of the report on some files; those of no group are looked at without others."""
        name = _hash(os.getcwd(), project.root, repr(layer), group is None, targets)
        entries, extent = ((), None) if group is None else (group.entries, group.extent)
        asked: Iterable[str] = targets
        imports = {} if group is None else project.imports((*targets, *entries))
        if imports:
            asked = sorted(imports)
        marks = hashlib.blake2b(digest_size=20)
        for path in asked:
            marks.update(self._mark(path, imports.get(path, frozenset())))
        return Slot(
            str(self._shelf.folder),
            f"report-{name}",
            _hash(self._program, name, entries, repr(extent), marks.hexdigest()),
        )

    def report(self, project: Project, slot: Slot, targets: Sequence[str]) -> Report | None:
        """The report that was kept, if all that it rests on is unchanged."""
        kept = self._shelf.get(slot.name)
        if not isinstance(kept, dict) or kept.get("key") != slot.key:
            return None
        if kept.get("configuration") != _configuration(project, targets):
            return None
        if not self._still_holds(project, kept.get("rests_on")):
            return None
        report = report_from_json(kept.get("report"))
        if report is not None:
            report.recalled = report.files
        return report

    def finish(self, has_new: bool) -> str | None:
        """Keeps what this run learned of files; why it could not, if so. `has_new` tells that
        reports were kept."""
        for root, outlines in self._outlines.items():
            if outlines.has_new:
                self._shelf.put(self._outlines_name(root), outlines.to_json())
                has_new = True
        if has_new:
            self._shelf.tidy()
        return self._shelf.problem

    def _outlines_name(self, root: str) -> str:
        return f"outlines-{_hash(self._program, root)}"

    def _mark(self, path: str, imports: frozenset[str]) -> bytes:
        """A hash of what a file holds and what it imports."""
        known = self._marks.get(path)
        if known is None:
            known = self._marks[path] = bytes.fromhex(
                _hash(path, self._states.of(path), sorted(imports))
            )
        return known

    def _still_holds(self, project: Project, data: object) -> bool:
        """Whether the disk would answer as it did."""
        if not isinstance(data, dict):
            return False
        files, answers = data.get("files"), data.get("answers")
        if not isinstance(files, dict) or not isinstance(answers, dict):
            return False
        if any(self._states.of(path) != state for path, state in files.items()):
            return False
        for folder, modules in answers.items():
            if not isinstance(modules, dict):
                return False
            importer = os.path.join(folder, "_.py")
            for written, found in modules.items():
                module = written.lstrip(".")
                level = len(written) - len(module)
                if project.resolve(module, level, importer) != found:
                    return False
        return True


def keep(
    slot: Slot, project: Project, targets: Sequence[str], reads: Reads, report: Report
) -> str | None:
    """Keeps a report for later runs; why it could not be kept, if so."""
    answers: dict[str, dict[str, str | None]] = {}
    for (module, level, folder), found in reads.answers.items():
        answers.setdefault(folder, {})["." * level + module] = found
    document: Json = {
        "key": slot.key,
        "configuration": _configuration(project, targets),
        "rests_on": {"files": reads.files, "answers": answers},
        "report": report_to_json(report),
    }
    shelf = Shelf(Path(slot.folder))
    shelf.put(slot.name, document)
    return shelf.problem


def program() -> str:
    """A text that changes when anything does that makes reports: our own code above all."""
    code = hashlib.blake2b(digest_size=20)
    for folder, folders, files in os.walk(_PACKAGE):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                try:
                    content = Path(path).read_bytes()
                except OSError:  # what cannot be compared is taken to differ
                    content = os.urandom(16)
                place = os.path.relpath(path, _PACKAGE)
                code.update(f"{place} {len(content)}\n".encode("utf-8", "surrogateescape"))
                code.update(content)
    return f"{__version__} {sys.version} {pathspec.__version__} {code.hexdigest()}"


def _configuration(project: Project, targets: Sequence[str]) -> str:
    """A hash of the configuration of some files, with the warnings about it."""
    folders = sorted({os.path.dirname(path) for path in targets})
    return _hash(
        repr(project.warnings), *(f"{each} {project.configuration(each)!r}" for each in folders)
    )


def _hash(*parts: object) -> str:
    text = json.dumps(parts)
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()
