"""Fixes applied over a project: each one is checked by looking again. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from device_lens.ide.diagnostics import active_rules
from device_lens.ide.fix_all import Applied, Apply, fix_all
from device_lens.ide.notebook_text import NotebookVersions
from device_lens.ide.project import Content, Project, Unreadable
from device_lens.project.files import OpenDocument, Snapshot
from device_lens.rules.finding import Finding
from device_lens.syntax.source import SourceFile

if TYPE_CHECKING:
    from device_lens.interpreter.fuel import Extent


@dataclass(frozen=True, slots=True)
class Fixed:
    """What changed: the new content by path, the fixes that did it, and what remains."""

    contents: Mapping[str, Content]
    applied: tuple[Applied, ...]
    remaining: tuple[Finding, ...]


def fix_files(
    project: Project,
    paths: Sequence[str],
    snapshot: Snapshot,
    apply: Apply = Apply.SAFE,
    cancelled: Callable[[], bool] = lambda: False,
    entries: Sequence[str] = (),
    extent: Extent | None = None,
) -> Fixed:
    """Applies the fixes of files that are looked at together, with `entries` run before them. With
    the `extent` of their program they are looked at as a whole run does it."""
    run = FileVersions(project, paths, snapshot, cancelled, entries, extent)
    active = {path: active_rules(path, project.configuration(path)) for path in paths}

    def chosen(finding: Finding) -> bool:
        return finding.rule in active.get(finding.path, ())

    outcome = fix_all(run.texts, run.analyse, apply, chosen)
    changed = run.contents(outcome.texts) or {}
    return Fixed(changed, tuple(outcome.applied), tuple(filter(chosen, outcome.findings)))


class FileVersions:
    """The files of one run, and what they were made into on the way."""

    def __init__(
        self,
        project: Project,
        paths: Sequence[str],
        snapshot: Snapshot,
        cancelled: Callable[[], bool],
        entries: Sequence[str],
        extent: Extent | None = None,
    ) -> None:
        self._project = project
        self._snapshot = snapshot
        self._cancelled = cancelled
        self._entries = entries
        self._extent = extent
        self._sources: dict[str, SourceFile] = {}
        self._notebooks: dict[str, NotebookVersions] = {}
        self._versions = 0
        for path in paths:
            self._add(path)
        self.texts = {path: source.text for path, source in self._sources.items()}
        self._findings: list[Finding] = []

    def analyse(self, texts: Mapping[str, str]) -> list[Finding]:
        """The findings where the files have these texts."""
        contents = self.contents(texts)
        if contents is None:  # a fix that cannot be said of a notebook's cells changes nothing
            return self._findings
        self._versions += 1
        documents = dict(self._snapshot.documents)
        for path, content in contents.items():
            documents[path] = OpenDocument(-self._versions, content)
        now = Snapshot(MappingProxyType(documents))
        found = self._project.findings(
            list(self._sources), self._entries, now, self._cancelled, self._extent
        )
        for path, versions in self._notebooks.items():
            versions.learn(texts[path], found)
        self._findings = self._findings or found
        return found

    def contents(self, texts: Mapping[str, str]) -> dict[str, Content] | None:
        """What the files with other texts than at first hold; None where that is not known."""
        found: dict[str, Content] = {}
        for path, text in texts.items():
            if text == self._sources[path].text:
                continue
            content: Content | None = text
            if path in self._notebooks:
                content = self._notebooks[path].notebook(text)
            if content is None:
                return None
            found[path] = content
        return found

    def _add(self, path: str) -> None:
        try:
            source = self._project.source(path, self._snapshot)
        except Unreadable:
            return
        self._sources[path] = source
        notebook = self._project.notebook(path, self._snapshot)
        if notebook is not None:
            self._notebooks[path] = NotebookVersions(source, notebook)
