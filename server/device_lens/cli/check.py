"""`device-lens check`: finds what is wrong in files, folders and notebooks, and fixes it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from device_lens.cli import garbage
from device_lens.cli.examine import MOST_PARSED, Task, examine, failed, prepare, recalled, tasks_of
from device_lens.cli.output.entry import Entry, Problem
from device_lens.cli.progress import progress
from device_lens.cli.recall import Recall
from device_lens.cli.report import Report
from device_lens.cli.scope import Scope, collect
from device_lens.cli.workers import are_forked, available_cores, run_all
from device_lens.cli.writing import CannotWrite, diff, write
from device_lens.disk import default_cache_folder
from device_lens.ide.fix_all import Apply
from device_lens.ide.locations import Printer
from device_lens.project.files import ParseCache
from device_lens.project.settings import Layer
from device_lens.rules.finding import Severity

CLEAN, FOUND, FAILED = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares what `device-lens check` takes."""
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="default: .")
    parser.add_argument(
        "--output-format", choices=("text", "json", "sarif", "github"), default="text"
    )
    parser.add_argument("--fix", action="store_true", help="apply fixes that are safe")
    parser.add_argument(
        "--unsafe-fixes", action="store_true", help="count unsafe fixes in, with --fix apply them"
    )
    parser.add_argument("--diff", action="store_true", help="print what --fix would change")
    parser.add_argument("--select", action="append", type=_rules, metavar="RULE,..")
    parser.add_argument("--ignore", action="append", type=_rules, metavar="RULE,..")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 whatever is found")
    parser.add_argument(
        "--fail-on",
        choices=[each.value for each in Severity],
        default=Severity.WARNING.value,
        metavar="SEVERITY",
        help="exit with 1 from this severity on: %(choices)s (default: %(default)s)",
    )
    parser.add_argument("--jobs", type=_jobs, metavar="N", help="processes (default: processors)")
    parser.add_argument("--no-cache", action="store_true", help="neither use nor keep reports")
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="where reports are kept")
    parser.add_argument("--statistics", action="store_true", help="count findings by rule")


def run(arguments: argparse.Namespace) -> int:
    """Looks, fixes, prints."""
    began = time.perf_counter()
    layer = Layer(select=_joined(arguments.select), ignore=_joined(arguments.ignore))
    scope = collect(arguments.paths, layer)
    jobs = arguments.jobs or available_cores()
    fixes, changed = Report(), 0
    if arguments.fix or arguments.diff:
        apply = Apply.SAFE_AND_UNSAFE if arguments.unsafe_fixes else Apply.SAFE
        fixes = _look(scope, layer, jobs, apply)
        if arguments.diff:
            return _print_diff(fixes, _with_problems(_look(scope, layer, jobs), fixes), arguments)
        changed = _write(fixes)
    report = _with_problems(_look(scope, layer, jobs, recall=_recall(arguments)), fixes)
    report.entries.sort(key=lambda entry: entry.order)
    _print(report, arguments)
    if changed:
        print(f"Fixed {changed} finding{'s' if changed != 1 else ''}.", file=sys.stderr)
    if arguments.statistics:
        _print_statistics(report, time.perf_counter() - began, arguments)
    return _status(report, arguments)


def _with_problems(report: Report, fixes: Report) -> Report:
    """The report with what went wrong with the fixes."""
    report.problems += [each for each in fixes.problems if each not in report.problems]
    return report


def _recall(arguments: argparse.Namespace) -> Recall | None:
    """The reports of earlier runs, where they are wanted."""
    if arguments.no_cache:
        return None
    return Recall((arguments.cache_dir or default_cache_folder()) / "check-1")


@garbage.put_off()
def _look(
    scope: Scope, layer: Layer, jobs: int, fix: Apply | None = None, recall: Recall | None = None
) -> Report:
    """The report on everything in scope; with `fix`, what the files would become."""
    report = Report(problems=[Problem(_name(path), why) for path, why in scope.problems])
    with progress("fixing" if fix else "checking", scope.files) as advance:
        tasks: list[Task] = []
        parsed = ParseCache(MOST_PARSED)
        for root in scope.roots:
            found, limits = tasks_of(root, layer, fix, recall, parsed)
            tasks += found
            report.limits += limits
        reports: dict[int, Report] = {}
        if recall is not None:
            for number, task in enumerate(tasks):
                tasks[number], known = recalled(task, recall)
                if known is not None:
                    reports[number] = known
                    advance(len(task.targets))
        waiting = [each for each in enumerate(tasks) if each[0] not in reports]
        if waiting:
            prepare([task for _, task in waiting], are_forked(len(waiting), jobs))
        for number, each in run_all(_examined, _failed, waiting, jobs):
            reports[number] = each
            advance(len(tasks[number].targets))
    for number in range(len(tasks)):  # in order, whichever was ready first
        report.add(reports[number])
    problem = recall.finish(bool(waiting)) if recall is not None else None
    report.limits += [problem] if problem and problem not in report.limits else []
    return report


@garbage.put_off()
def _examined(task: tuple[int, Task]) -> tuple[int, Report]:
    garbage.collect_if_due()
    return task[0], examine(task[1])


def _failed(task: tuple[int, Task], why: str) -> tuple[int, Report]:
    return task[0], failed(task[1], why)


def _write(fixes: Report) -> int:
    """Writes the fixed files; how many findings that repaired."""
    for path, content in fixes.contents.items():
        try:
            write(path, content)
        except CannotWrite as error:
            print(f"device-lens: {_name(path)}: {error}", file=sys.stderr)
    return fixes.fixed


def _print(report: Report, arguments: argparse.Namespace) -> None:
    entries, problems = report.entries, report.problems
    for problem in problems:
        print(f"device-lens: {problem.file}: {problem.message}", file=sys.stderr)
    for warning in report.warnings:
        print(f"device-lens: warning: {warning}", file=sys.stderr)
    output = arguments.output_format
    if output == "json":
        from device_lens.cli.output import json

        sys.stdout.write(json.render(entries, problems))
    elif output == "sarif":
        from device_lens.cli.output import sarif

        sys.stdout.write(sarif.render(entries, problems))
    elif output == "github":
        from device_lens.cli.output import github

        sys.stdout.write(github.render(entries, problems))
    else:
        _print_text(entries, problems, report.files, arguments)


def _print_text(
    entries: Sequence[Entry], problems: Sequence[Problem], files: int, arguments: argparse.Namespace
) -> None:
    from device_lens.cli.output import text

    style = text.style_for(sys.stdout)
    sys.stdout.write(text.render(entries, style))
    print(text.summary(entries, files, arguments.unsafe_fixes, arguments.fix))


def _print_diff(fixes: Report, report: Report, arguments: argparse.Namespace) -> int:
    names = {path: _name(path) for path in fixes.contents}
    for problem in report.problems:
        print(f"device-lens: {problem.file}: {problem.message}", file=sys.stderr)
    try:
        sys.stdout.writelines(diff(fixes.contents, names))
    except CannotWrite as error:
        print(f"device-lens: {error}", file=sys.stderr)
        return FAILED
    return _status(report, arguments)


def _print_statistics(report: Report, seconds: float, arguments: argparse.Namespace) -> None:
    stream = sys.stdout if arguments.output_format == "text" else sys.stderr
    counts = Counter((each.data["rule"], each.data["severity"]) for each in report.entries)
    for (rule, severity), number in counts.most_common():
        print(f"{number:6}  {severity:11}  {rule}", file=stream)
    print(f"{report.files} files, {report.lines:,} lines in {seconds:.2f} s", file=stream)
    if report.recalled:
        print(f"{report.recalled} of them unchanged: their last reports hold", file=stream)
    for limit in report.limits:
        print(f"limit: {limit}", file=stream)


def _status(report: Report, arguments: argparse.Namespace) -> int:
    if report.problems:
        return FAILED
    bar = Severity(arguments.fail_on)
    loud = any(entry.severity.at_least(bar) for entry in report.entries)
    return FOUND if loud and not arguments.exit_zero else CLEAN


def _name(path: str) -> str:
    return Printer(os.getcwd(), lambda path: None).file(path)


def _joined(lists: list[tuple[str, ...]] | None) -> tuple[str, ...] | None:
    return None if lists is None else tuple(rule for rules in lists for rule in rules)


def _rules(text: str) -> tuple[str, ...]:
    from device_lens.rules.registry import RULES

    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in RULES:
            close = get_close_matches(name, RULES, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise argparse.ArgumentTypeError(f"no rule is named {name!r}{hint}")
    return names


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a number of processes: {text!r}")
    return int(text)
