"""A project in memory: its configuration, its files and imports, and the analysis over them.

Used by the command line, which looks at whole projects once, and by the language server, which
looks at one file again and again. Belongs to one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from device_lens.domain.libraries import TENSOR_LIBRARIES
from device_lens.ide.callers import find_callers
from device_lens.ide.plan import MOST_SCRIPTS, Group, plan, relevant
from device_lens.project.configuration import Configuration, Configurations, Loaded
from device_lens.project.discovery import Discovered, discover
from device_lens.project.exports import Exports
from device_lens.project.files import ParseCache, Snapshot
from device_lens.project.foreign import ForeignClasses
from device_lens.project.graph import ModuleGraph
from device_lens.project.imports import ImportResolver
from device_lens.project.outline import outline_of
from device_lens.project.reading import FileProblem, FileText, read_text
from device_lens.project.reads import Outlines, Reads
from device_lens.project.settings import Layer, read_layer
from device_lens.project.workspace import FileAlone, ProjectWorkspace
from device_lens.syntax.notebook import NotebookSource, read_notebook
from device_lens.syntax.source import SourceFile

if TYPE_CHECKING:
    from device_lens.cost.calibration import Calibration
    from device_lens.ide.costs import Costs
    from device_lens.ide.places import Lookup
    from device_lens.interpreter.budget import Options
    from device_lens.interpreter.facts import FileFacts
    from device_lens.interpreter.fuel import Extent
    from device_lens.interpreter.program import Program
    from device_lens.rules.finding import Finding

Content = str | NotebookSource
"""What a file holds: its text, or a notebook's cells."""

MOST_SEARCHED = 5_000
"""Files of a project in which callers of a few files are looked for."""

Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """What is known of one file. `all_facts` has those of the files analysed with it."""

    facts: FileFacts
    all_facts: Mapping[str, FileFacts]
    findings: tuple[Finding, ...]
    sources: Lookup
    costs: Costs
    configuration: Configuration
    limits: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Sentences about what is not looked at so that nobody has to wait. Nothing is wrong with the
    file, nor with its analysis."""


class Unreadable(Exception):
    """A file that cannot be analysed; the message says why."""

    def __init__(self, problem: FileProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Project:
    """Everything below one root."""

    def __init__(
        self,
        root: str,
        editor: Mapping[str, object] | None = None,
        command_line: Layer | None = None,
        foreign: ForeignClasses | None = None,
        calibration: Calibration | None = None,
        parsed: ParseCache | None = None,
    ) -> None:
        """`editor` are settings with the names of `[tool.device-lens]`; `parsed` are files that
        are shared with other projects, so that one bound holds for all."""
        self.root = root
        layer, self.warnings = read_layer(editor or {})
        self.calibration = calibration
        self.memory: Mapping[str, int] = {}
        """Bytes of memory of this machine's accelerators, by their names, as far as known."""
        self.most_callers = MOST_SCRIPTS
        """Scripts that run first so that their arguments reach a file that is analysed alone."""
        self.fixes_wait = False
        """Whether fixes are made when they are looked at (`rules/finding.py: LazyFixes`)."""
        self._configurations = Configurations(command_line, layer)
        self._cache = ParseCache() if parsed is None else parsed
        self._resolver = ImportResolver(root)
        self._graph = ModuleGraph(self._resolver.resolve)
        self._exports = Exports()
        self.foreign = foreign
        self.outlines: Outlines | None = None
        """What earlier runs know of files, so that they need not be parsed to be indexed."""
        self.reads: Reads | None = None
        """Takes down what is asked for, where it is set. While it is the same, modules that
        were run are kept."""
        self._programs: dict[Options, tuple[Program, int, Reads | None]] = {}

    def configuration(self, path: str) -> Loaded:
        """The configuration of a file, with warnings about it."""
        return self._configurations.of(path)

    def discover(self, paths: Sequence[str]) -> Discovered:
        """The Python files and notebooks at and below some paths."""
        return discover(paths, self.configuration(self.root).configuration.exclude, self.root)

    def index(self, paths: Iterable[str], snapshot: Snapshot | None = None) -> bool:
        """Takes the imports of some files into account; whether anything is new."""
        workspace = self._workspace(snapshot or Snapshot())
        changed = [self._index(path, workspace) for path in paths]
        return any(changed)

    def forget(self, paths: Iterable[str]) -> None:
        """Takes note that files changed on disk, came or went."""
        paths = list(paths)
        self._resolver.changed(paths)
        for path in paths:
            self._cache.forget(path)
            self._graph.remove(path)

    def dependents(self, path: str, among: Iterable[str]) -> frozenset[str]:
        """Those files that import `path` or are imported by it, directly or not: what is known
        of one can change what is known of the other."""
        around = {*self._graph.importers_of(path)}
        return frozenset(
            other for other in among if other in around or path in self._graph.importers_of(other)
        )

    def callers(self, path: str) -> tuple[str, ...]:
        """The nearest scripts that import a file, directly or not, at most `most_callers`."""
        return self._calling_scripts(path)[: self.most_callers]

    def entry_scripts(self) -> tuple[str, ...]:
        """The indexed files that are meant to be run."""
        return self._graph.entry_scripts()

    def analyse(
        self, path: str, snapshot: Snapshot | None = None, cancelled: Cancelled = lambda: False
    ) -> Analysis:
        """What is known of one file, as its nearest callers use it.

        Raises `Unreadable`, and the interpreter's `Cancelled` where the caller asks for it.
        """
        workspace = self._workspace(snapshot or Snapshot())
        self._read(path, workspace)
        self._index(path, workspace)
        scripts = self._calling_scripts(path)
        nearest = scripts[: self.most_callers]
        loaded = self.configuration(path)
        entries = self._with_itself(path, nearest)
        found = self._facts(workspace, [path], entries, _options(loaded), cancelled)
        analysis = self._analysis(path, loaded, found, workspace)
        if len(nearest) == len(scripts):
            return analysis
        left_out = f"only the nearest {len(nearest)} of {len(scripts):,} scripts that use it count"
        return replace(analysis, left_out=(left_out,))

    def _with_itself(self, path: str, scripts: Sequence[str]) -> tuple[str, ...]:
        """Some scripts that use a file, and the file where it is one, as a notebook always is."""
        is_script = self._graph.is_entry(path) or path.endswith(".ipynb")
        return (*scripts, path) if is_script else tuple(scripts)

    def analyse_in_time(
        self, path: str, snapshot: Snapshot, cancelled: Cancelled, late: Cancelled
    ) -> Analysis | None:
        """As `analyse`; None as soon as it is `late`, what has been run by then is kept."""
        from device_lens.interpreter import budget

        try:
            return self.analyse(path, snapshot, lambda: cancelled() or late())
        except budget.Cancelled:
            if cancelled():
                raise
            return None

    def glance(self, path: str, snapshot: Snapshot | None = None) -> Analysis:
        """What one file tells by itself: less than `analyse` finds out, in a small part of the time
        where the file imports much of the project. Hints and information are left out: what is
        imported may settle these otherwise. Nothing of it is kept.

        Raises `Unreadable`.
        """
        from device_lens.ide.diagnostics import without_remarks
        from device_lens.interpreter.analysis import analyse
        from device_lens.interpreter.program import Program

        workspace = FileAlone(self._cache, self._resolver, snapshot, self.foreign)
        self._read(path, workspace)
        loaded = self.configuration(path)
        program = Program(_options(loaded, only_findings=True), workspace)
        found = self._analysis(path, loaded, analyse(program, workspace, [path]), workspace)
        return replace(found, findings=without_remarks(found.findings, loaded))

    def groups(self, targets: Sequence[str]) -> list[Group]:
        """The indexed files among `targets` that a tensor can reach, in groups to be analysed
        together."""
        imports = {path: self._graph.imports_of(path) for path in self._graph.files()}
        using = self._graph.reaching(TENSOR_LIBRARIES)
        reachable = relevant(imports, using)
        wanted = [path for path in targets if path in reachable]
        return plan(wanted, imports, self._graph.entry_scripts(), self._graph.lines_of)

    def imports(self, paths: Iterable[str]) -> dict[str, frozenset[str]]:
        """The files, and all that they import, directly or not, with what each imports."""
        return {path: self._graph.imports_of(path) for path in self._graph.closure(paths)}

    def resolve(self, module: str, level: int, importer: str) -> str | None:
        """The path of a module of the project as a file would import it."""
        return self._resolver.resolve(module, level, importer)

    def index_callers(
        self,
        targets: Sequence[str],
        files: Sequence[str],
        cancelled: Cancelled = lambda: False,
        snapshot: Snapshot | None = None,
    ) -> frozenset[str]:
        """Takes the targets and those of `files` that import them into account; gives the
        latter. Their imports are kept, their parses are not: most of them are not run."""
        kept = frozenset(targets)

        def index(paths: Iterable[str]) -> None:
            for path in paths:
                known = path in kept or self._cache.holds(path)
                self.index([path], snapshot)
                if not known:
                    self._cache.let_go(path)

        return find_callers(targets, files, index, self._graph.importers_of, cancelled)

    def analyse_together(
        self,
        paths: Sequence[str],
        entries: Sequence[str] = (),
        only_findings: bool = False,
        extent: Extent | None = None,
    ) -> list[Analysis]:
        """What is known of files of one project, in the order given; unreadable ones are left
        out. With `only_findings`, functions in which nothing can be found are not looked at. The
        scripts of a program of some `extent` take together what its lines allow."""
        workspace = self._workspace(Snapshot())
        readable = [path for path in paths if workspace.source(path) is not None]
        loaded = self.configuration(readable[0] if readable else self.root)
        options = _options(loaded, only_findings)
        found = self._facts(workspace, readable, entries, options, lambda: False, extent)
        return [self._analysis(p, self.configuration(p), found, workspace) for p in readable]

    def load(self, paths: Sequence[str]) -> None:
        """Runs the modules of some files that are no scripts, for analyses together."""
        from device_lens.interpreter import analysis

        workspace = self._workspace(Snapshot())
        options = _options(self.configuration(paths[0] if paths else self.root), True)
        modules = [path for path in paths if not self._graph.is_entry(path)]
        readable = [path for path in modules if workspace.source(path) is not None]
        analysis.load(self._program(options, workspace), workspace, readable)

    def findings(
        self,
        paths: Sequence[str],
        entries: Sequence[str],
        snapshot: Snapshot,
        cancelled: Cancelled = lambda: False,
        extent: Extent | None = None,
    ) -> list[Finding]:
        """The findings of files in a snapshot, as `analyse_together`, turned-off rules included."""
        from device_lens.ide.diagnostics import diagnostics

        workspace = self._workspace(snapshot)
        loaded = self.configuration(paths[0] if paths else self.root)
        options = _options(loaded, only_findings=extent is not None)
        found = self._facts(workspace, paths, entries, options, cancelled, extent)
        return [
            finding
            for path, facts in found.items()
            for finding in diagnostics(facts, found, self.configuration(path), everything=True)
        ]

    def source(self, path: str, snapshot: Snapshot | None = None) -> SourceFile:
        """The parsed file. Raises `Unreadable`."""
        return self._read(path, self._workspace(snapshot or Snapshot()))

    def notebook(self, path: str, snapshot: Snapshot) -> NotebookSource | None:
        """The cells of a notebook as they are written; None for any other file."""
        document = snapshot.documents.get(path)
        if document is not None:
            return None if isinstance(document.content, str) else document.content
        read = read_text(path) if path.endswith(".ipynb") else None
        notebook = read_notebook(read.text) if isinstance(read, FileText) else None
        return notebook if isinstance(notebook, NotebookSource) else None

    def without_analysis(self, path: str) -> Analysis:
        """A file that no tensor can reach: no facts, but its comments are looked at. Raises
        `Unreadable`."""
        from device_lens.interpreter.facts import FileFacts

        workspace = self._workspace(Snapshot())
        source = self._read(path, workspace)
        facts = {path: FileFacts(path, source)}
        return self._analysis(path, self.configuration(path), facts, workspace)

    def _calling_scripts(self, path: str) -> tuple[str, ...]:
        """The scripts that import a file, directly or not, the nearest first and tests last."""
        scripts = set(self._graph.entry_scripts())
        found = (each for each in self._graph.importers_of(path) if each in scripts)
        return tuple(sorted(found, key=self._graph.is_test))

    def _workspace(self, snapshot: Snapshot) -> ProjectWorkspace:
        return ProjectWorkspace(
            self._cache, self._resolver, snapshot, self.foreign, self.reads, self._exports
        )

    def _read(self, path: str, workspace: ProjectWorkspace) -> SourceFile:
        read = workspace.read(path)
        if isinstance(read, FileProblem):
            raise Unreadable(read)
        return read

    def _index(self, path: str, workspace: ProjectWorkspace) -> bool:
        known = self.outlines.of(path) if self.outlines is not None else None
        if known is not None:
            return self._graph.update(path, known)
        source = workspace.source(path)
        if source is None:
            return False
        outline = outline_of(source)
        if self.outlines is not None:
            self.outlines.keep(path, self._cache.state(path), outline)
        return self._graph.update(path, outline)

    def _facts(
        self,
        workspace: ProjectWorkspace,
        targets: Sequence[str],
        entries: Sequence[str],
        options: Options,
        cancelled: Cancelled,
        extent: Extent | None = None,
    ) -> dict[str, FileFacts]:
        from device_lens.interpreter.analysis import analyse

        program = self._program(options, workspace)
        return analyse(program, workspace, targets, entries, cancelled, extent)

    def _program(self, options: Options, workspace: ProjectWorkspace) -> Program:
        """The modules as they were run before, as long as imports mean the same files. Where it is
        taken down what is asked for, all that is known must be taken down there."""
        from device_lens.interpreter.program import Program

        generation = self._resolver.generation
        known = self._programs.get(options)
        if known is None or known[1:] != (generation, self.reads):
            known = self._programs[options] = Program(options, workspace), generation, self.reads
        return known[0]

    def _analysis(
        self,
        path: str,
        loaded: Loaded,
        found: Mapping[str, FileFacts],
        workspace: ProjectWorkspace,
    ) -> Analysis:
        from device_lens.ide.costs import Costs
        from device_lens.ide.diagnostics import diagnostics
        from device_lens.ide.places import lookup_in

        facts = found[path]
        return Analysis(
            facts=facts,
            all_facts=found,
            findings=tuple(diagnostics(facts, found, loaded, fixes_wait=self.fixes_wait)),
            sources=lookup_in(found, workspace.source),
            costs=Costs(
                self.calibration,
                loaded.configuration.dims,
                accelerator=loaded.configuration.assume_accelerator,
                memory=self.memory,
            ),
            configuration=loaded.configuration,
            limits=(*map(str, (*self.warnings, *loaded.warnings)), *facts.limits),
        )


def _options(loaded: Loaded, only_findings: bool = False) -> Options:
    from device_lens.interpreter.budget import Options

    return Options(loaded.configuration.assume_accelerator, only_findings)
