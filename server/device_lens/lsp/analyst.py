"""The analysis as the server runs it: on its own thread, over projects that stay in memory.

Nothing here is touched by the event loop; what goes in and comes out does not change.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from pygls.uris import from_fs_path

from device_lens.lsp.documents import View
from device_lens.lsp.freed import give_back
from device_lens.lsp.result import Result
from device_lens.lsp.scheduler import Token
from device_lens.lsp.settings import Settings

if TYPE_CHECKING:
    from device_lens.cost.calibration import Calibration
    from device_lens.ide.project import Analysis, Content, Project
    from device_lens.project.files import Snapshot
    from device_lens.project.foreign import ForeignClasses


MOST_CALLERS = 3
"""Scripts that run before a file in each of its analyses: more would be felt while typing."""


GLANCE_AFTER = 0.1
"""Seconds of processor time after which a file that was not analysed before is first looked at by
itself."""
ANSWERS = ("hover", "code_actions", "inlay_hints", "measurables", "measuring")
"""What answers requests, of `ide/`."""
HEAVY = 1.0
"""Seconds of an analysis that leaves memory worth giving back."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to analyse: one view, with all that is open and the settings as they are now."""

    view: View
    snapshot: Snapshot
    folders: tuple[str, ...]
    settings: Mapping[str, Settings]
    """Settings by folder; the empty string has those of everything else."""


@dataclass(frozen=True, slots=True)
class Callers:
    """What a search for callers on disk came to. `left_out` says why there was none."""

    are_known: bool = False
    left_out: str = ""


def settings_for(path: str, settings: Mapping[str, Settings]) -> Settings:
    """The settings of the innermost folder around a path."""
    around = [each for each in settings if each and is_inside(path, each)]
    return settings.get(max(around, key=len, default=""), Settings())


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it."""
    parent = folder.rstrip("/\\")
    return path == parent or path.startswith((parent + "/", parent + "\\"))


def _result(request: Request, analysis: Analysis, seconds: float) -> Result:
    return Result(
        view=request.view,
        settings=settings_for(request.view.path, request.settings),
        source=analysis.facts.source,
        facts=analysis.facts,
        all_facts=analysis.all_facts,
        findings=analysis.findings,
        configuration=analysis.configuration,
        costs=analysis.costs,
        sources=analysis.sources,
        seconds=seconds,
        limits=analysis.limits,
        left_out=analysis.left_out,
    )


class Analyst:
    """Keeps one project for each root."""

    def __init__(self) -> None:
        self._projects: dict[str, tuple[Settings, Project]] = {}
        self._calibration: Calibration | None = None
        self._memory: Mapping[str, int] = {}
        self._foreign: ForeignClasses | None = None
        self._analysed: set[str] = set()
        self._slow: set[str] = set()

    def warm_up(self, token: Token) -> None:
        """Loads the analysis, so that the first file does not wait for it, and keeps
        the collector from going through it again and again."""
        from device_lens.ide.late_modules import load_all

        load_all()
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()

    def get_ready(self, token: Token) -> None:
        """Loads what answers requests, so that the first of each does not wait for it; stops where
        the token is set, after which the scheduler asks again."""
        for name in ANSWERS:
            if token():
                return
            import_module(f"device_lens.ide.{name}")

    def analyse(self, request: Request, token: Token) -> Result:
        """The result for a view. Raises `Cancelled` of the interpreter when the token is set."""
        found = self._looked(request, token, lambda: False)
        assert found is not None  # it is never late
        return found

    def _looked(self, request: Request, token: Token, late: Callable[[], bool]) -> Result | None:
        """The result for a view; None when it is late."""
        began = time.perf_counter()
        path = request.view.path
        project = self._project(path, request)
        analysis = project.analyse_in_time(path, request.snapshot, token, late)
        seconds = time.perf_counter() - began
        if seconds > HEAVY:
            give_back()
        if analysis is None:
            return None
        self._analysed.add(path)
        self._slow.discard(path)
        return _result(request, analysis, seconds)

    def first_look(self, request: Request, token: Token) -> Result:
        """As `analyse`; where that takes long, and there was none of the file before, what it tells
        by itself."""
        path = request.view.path
        if path in self._analysed:
            return self.analyse(request, token)
        if path not in self._slow:
            until = time.thread_time() + GLANCE_AFTER
            found = self._looked(request, token, lambda: time.thread_time() > until)
            if found is not None:
                return found
            self._slow.add(path)
        began = time.perf_counter()
        analysis = self._project(path, request).glance(path, request.snapshot)
        glance = _result(request, analysis, time.perf_counter() - began)
        return replace(glance, is_glance=True)

    def make_fixes(self, result: Result, token: Token) -> None:
        """Makes the fixes of a view's findings, unless they are made."""
        for finding in result.findings:
            if token():
                return
            len(finding.fixes)

    def fix_all(self, request: Request, token: Token) -> Mapping[str, Content]:
        """The content of the view's file after all its safe fixes."""
        from device_lens.ide.fixing import fix_files

        path = request.view.path
        project = self._project(path, request)
        entries = project.callers(path)
        fixed = fix_files(project, [path], request.snapshot, cancelled=token, entries=entries)
        return fixed.contents

    def find_callers(self, request: Request, token: Token) -> Callers:
        """Looks for files on disk that import the view's."""
        from device_lens.ide.project import MOST_SEARCHED

        project = self._project(request.view.path, request)
        files = project.discover([project.root]).files
        if len(files) > MOST_SEARCHED:
            return Callers(left_out=f"callers are not looked for among {len(files):,} files")
        opened = request.snapshot.documents
        closed = [path for path in files if path not in opened]
        found = project.index_callers([request.view.path], closed, token, request.snapshot)
        give_back()
        return Callers(bool(found - opened.keys()))

    def check_files(self, paths: tuple[str, ...], request: Request, token: Token) -> list[Result]:
        """The results for files of one project that are not open; unreadable ones are left
        out."""
        from device_lens.ide.project import Unreadable

        found: list[Result] = []
        for path in paths:
            view = View(path, from_fs_path(path) or path, (), path.endswith(".ipynb"))
            with suppress(Unreadable):
                found.append(self.analyse(replace(request, view=view), token))
        return found

    def files(self, request: Request, token: Token) -> tuple[str, ...]:
        """Every Python file of the folders that their configuration does not leave out."""
        found: dict[str, None] = {}
        for folder in request.folders:
            if settings_for(folder, request.settings).whole_workspace:
                found |= dict.fromkeys(self._project(folder, request).discover([folder]).files)
        return tuple(found)

    def dependents(self, request: Request, token: Token) -> frozenset[str]:
        """The open files whose facts may rest on the view's."""
        path = request.view.path
        others = [each for each in request.snapshot.documents if each != path]
        if not others:
            return frozenset()
        return self._project(path, request).dependents(path, others)

    def forget_projects(self, token: Token) -> None:
        """Drops everything in memory."""
        self._projects.clear()
        self._analysed.clear()

    def use_interpreter(self, interpreter: str | None, token: Token) -> None:
        """Lets estimates rest on what was measured on this machine with that interpreter."""
        import_module("device_lens.benchmark.service")  # before a hover would wait for it
        from device_lens.benchmark.store import Store
        from device_lens.disk import default_cache_folder

        store = Store(default_cache_folder())
        machine = store.machine_of(interpreter) if interpreter is not None else None
        self._calibration = store.calibration(machine) if machine is not None else None
        devices = () if machine is None else machine.accelerators
        self._memory = {each.device: each.total_bytes for each in devices}
        for _, project in self._projects.values():
            project.calibration = self._calibration
            project.memory = self._memory

    def calibration(self, token: Token) -> Calibration | None:
        """What was measured on this machine, as far as it is kept."""
        return self._calibration

    def use_packages(
        self, interpreter: tuple[str, ...] | None, on_ready: Callable[[str], None], token: Token
    ) -> None:
        """Lets classes outside the workspace be looked up among the interpreter's packages.
        `on_ready` is called, on another thread, with each name that becomes known."""
        from device_lens.lsp.search_path import search_path
        from device_lens.project.foreign import ForeignClasses

        path = search_path(interpreter) if interpreter is not None else []
        if self._foreign is not None:
            self._foreign.close()
        self._foreign = ForeignClasses(path, on_ready) if path else None
        for _, project in self._projects.values():
            project.foreign = self._foreign

    def close(self) -> None:
        """Ends what runs beside the analysis. May be called on any thread."""
        if self._foreign is not None:
            self._foreign.close()

    def forget(self, paths: tuple[str, ...]) -> None:
        """Takes note that files changed on disk, came or went."""
        for _, project in self._projects.values():
            project.forget(paths)

    def _project(self, path: str, request: Request) -> Project:
        from device_lens.ide.project import Project
        from device_lens.project.files import ParseCache
        from device_lens.project.root import root_of

        root = root_of(path, request.folders)
        settings = settings_for(path, request.settings)
        known = self._projects.get(root)
        if known is None or known[0] != settings:
            project = Project(
                root,
                settings.configuration(),
                calibration=self._calibration,
                parsed=ParseCache(sparing=True),
            )
            project.memory = self._memory
            project.most_callers, project.fixes_wait = MOST_CALLERS, True
            project.foreign = self._foreign
            known = self._projects[root] = (settings, project)
        return known[1]
