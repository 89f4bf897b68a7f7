"""Looks at a group of files and says what was found, as plain data. Runs in any process."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace

from device_lens.cli.output.entry import Problem, entry_of
from device_lens.cli.recall import Recall, Slot, keep
from device_lens.cli.report import Report
from device_lens.cli.scope import Root, open_project
from device_lens.ide import late_modules
from device_lens.ide.fix_all import Apply
from device_lens.ide.locations import Printer
from device_lens.ide.plan import SLICE, Group
from device_lens.ide.project import Analysis, Project, Unreadable
from device_lens.project.files import ParseCache, Snapshot
from device_lens.project.reads import Reads
from device_lens.project.settings import Layer

DEBUG = "DEVICE_LENS_DEBUG"
"""The environment variable that lets tracebacks of our own defects through."""


@dataclass(frozen=True, slots=True)
class Task:
    """Files to look at together. Those of no `group` have no tensors: only their comments are
    looked at."""

    root: Root
    layer: Layer
    targets: tuple[str, ...]
    group: Group | None = None
    fix: Apply | None = None
    slot: Slot | None = None
    """Where the report is kept for later runs."""


MOST_PARSED = 300_000
"""Lines of parsed files that are kept, 1.5 kB each: what is let go is parsed twice, for its imports
and when it runs."""

_PROJECTS: dict[tuple[str, Layer], Project] = {}
"""Projects of this process, by root: a child that is forked finds those of its parent."""
_READS: dict[tuple[str, Layer], tuple[str, Reads]] = {}
"""What was read for the files of a component, by root: the last one of this process."""
_PARSED = ParseCache(MOST_PARSED)
"""The files of projects that a process opens which was not forked."""


def tasks_of(
    root: Root,
    layer: Layer,
    fix: Apply | None,
    recall: Recall | None = None,
    parsed: ParseCache | None = None,
) -> tuple[list[Task], tuple[str, ...]]:
    """The tasks of one project, the same however many processes there are. One bound holds for
    all that `parsed` is given to."""
    outlines = recall.outlines(root.root) if recall is not None else None
    project, limits = open_project(root, layer, outlines, parsed)
    _PROJECTS[root.root, layer] = project
    groups = project.groups(root.targets)
    tasks = [Task(root, layer, each.targets, each, fix=fix) for each in groups]
    limits += tuple(
        f"{each.left_out} scripts that use {os.path.basename(each.targets[0])} are left out"
        for each in groups
        if each.left_out
    )
    grouped = {path for group in groups for path in group.targets}
    others = tuple(path for path in root.targets if path not in grouped)
    for start in range(0, len(others), SLICE):
        few = others[start : start + SLICE]
        tasks.append(Task(root, layer, few, fix=fix))
    return tasks, limits


def recalled(task: Task, recall: Recall) -> tuple[Task, Report | None]:
    """A task with the place of its report, and the report of an earlier run if it still holds."""
    project = _project(task)
    slot = recall.slot(project, task.layer, task.targets, task.group)
    return replace(task, slot=slot), recall.report(project, slot, task.targets)


def prepare(tasks: Sequence[Task], are_forked: bool) -> None:
    """Loads what analyses. Where tasks are for processes that are forked from this one, runs the
    modules of the largest component too."""
    late_modules.load()
    if are_forked:
        _run_modules(tasks)


def _run_modules(tasks: Sequence[Task]) -> None:
    components: dict[tuple[Root, str], list[Task]] = {}
    for task in tasks:
        if task.fix is None and task.group is not None:
            components.setdefault((task.root, task.group.component), []).append(task)
    largest = max(components.values(), key=len, default=[])
    if len(largest) < 2:
        return
    first = largest[0]
    project = _project(first)
    project.reads = _reads(first) if first.slot is not None else None
    try:
        project.load([path for task in largest for path in task.targets])
    except Exception as error:  # whoever looks at the file that it fails for tells so
        _complain(error)
    finally:
        project.reads = None


def examine(task: Task) -> Report:
    """The findings of a task's files. Never raises: what fails is a problem of its file."""
    project = _project(task)
    if task.fix is not None and task.group is not None:
        return _fix(task.group, project, task.fix)
    report = Report()
    project.reads = reads = _reads(task) if task.slot is not None else None
    try:
        for analysis in _analyses(task, project, report):
            _take(analysis, report, project)
    finally:
        project.reads = None
    if task.slot is not None and reads is not None and not report.has_failed:
        problem = keep(task.slot, project, task.targets, reads, report)
        report.limits += [] if problem is None else [problem]
    return report


def _reads(task: Task) -> Reads:
    """Where it is taken down what a task rests on: also on what this process has read for files
    that belong together with its own, whose modules it has run."""
    if task.group is None:
        return Reads()
    key = (task.root.root, task.layer)
    known = _READS.get(key)
    if known is None or known[0] != task.group.component:
        known = _READS[key] = task.group.component, Reads()
    return known[1]


def failed(task: Task, why: str) -> Report:
    """The report of a task that no process survived."""
    printer = Printer(os.getcwd(), lambda path: None)
    return Report(problems=[Problem(printer.file(path), why) for path in task.targets])


def _project(task: Task) -> Project:
    known = _PROJECTS.get((task.root.root, task.layer))
    if known is None:
        known = Project(task.root.root, command_line=task.layer, parsed=_PARSED)
        _PROJECTS[task.root.root, task.layer] = known
    return known


def _analyses(task: Task, project: Project, report: Report) -> list[Analysis]:
    """What is known of the files; if that fails for all together, for each alone."""
    readable = [path for path in task.targets if _is_readable(path, project, report)]
    group = task.group
    if group is None:
        return [project.without_analysis(path) for path in readable]
    try:
        return project.analyse_together(readable, group.entries, True, group.extent)
    except Exception as error:
        _complain(error)
        report.has_failed = True
    found: list[Analysis] = []
    for path in readable:
        try:
            found += project.analyse_together([path], group.entries, True, group.extent)
        except Exception as error:
            _complain(error)
            message = f"internal error: {type(error).__name__}: {error}"
            report.problems.append(Problem(_file(path), message))
    return found


def _is_readable(path: str, project: Project, report: Report) -> bool:
    try:
        source = project.source(path)
    except Unreadable as error:
        report.problems.append(Problem(_file(path), str(error)))
        return False
    if source.problems:
        first = source.problems[0]
        where, line = "", first.range.start.line
        cell = source.cell_map.to_cell(first.range.start) if source.cell_map else None
        if cell is not None:
            where, line = f"cell {cell.cell}, ", cell.position.line
        message = f"{where}line {line + 1}: {first.message}; the rest was analysed"
        report.problems.append(Problem(_file(path), message))
    return True


def _take(analysis: Analysis, report: Report, project: Project) -> None:
    printer = Printer(os.getcwd(), analysis.sources)
    path = analysis.facts.path
    report.entries += [entry_of(finding, printer) for finding in analysis.findings]
    report.limits += [each for each in analysis.facts.limits if each not in report.limits]
    loaded = project.configuration(path)
    for warning in (*project.warnings, *loaded.warnings):
        place = f"{_file(warning.path)}: " if warning.path else ""
        if (sentence := f"{place}{warning.message}") not in report.warnings:
            report.warnings.append(sentence)
    report.files += 1
    report.lines += analysis.facts.source.lines.count


def _fix(group: Group, project: Project, apply: Apply) -> Report:
    """The contents of the files after their fixes; what remains is looked at afterwards."""
    from device_lens.ide.fixing import fix_files

    report = Report()
    for paths in _batches(group.targets):
        try:
            others = tuple(path for path in group.targets if path not in paths)
            entries = (*group.entries, *_scripts(others, project))
            fixed = fix_files(
                project, paths, Snapshot(), apply, entries=entries, extent=group.extent
            )
        except Exception as error:
            _complain(error)
            message = f"not fixed: internal error: {type(error).__name__}: {error}"
            report.problems += [Problem(_file(path), message) for path in paths]
            continue
        report.contents.update(fixed.contents)
        report.fixed += len(fixed.applied)
    return report


TOGETHER = 20
"""Files that are fixed together: each fix looks at all of them again."""


def _batches(paths: Sequence[str]) -> list[Sequence[str]]:
    return [paths] if len(paths) <= TOGETHER else [[path] for path in paths]


def _scripts(paths: Sequence[str], project: Project) -> list[str]:
    scripts = set(project.entry_scripts())
    return [path for path in paths if path in scripts]


def _complain(error: Exception) -> None:
    if os.environ.get(DEBUG):
        traceback.print_exception(error)


def _file(path: str) -> str:
    return Printer(os.getcwd(), lambda path: None).file(path)
