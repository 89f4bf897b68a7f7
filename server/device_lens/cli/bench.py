"""`device-lens bench`: calibrates this machine's transfers, keeps the model, prints a table.

The measuring is done by the interpreter that has the user's PyTorch (`--python`, else the active
environment's). On a machine without an accelerator, copies in host memory are measured and labelled
as such: they say nothing about a GPU, and estimates for one keep their named assumption.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from device_lens.benchmark.calibrate import Outcome, Progress
from device_lens.benchmark.problem import Problem
from device_lens.benchmark.report import HEADINGS, notes, progress_text, rows, to_json
from device_lens.benchmark.runner import Runner
from device_lens.benchmark.service import Benchmark
from device_lens.benchmark.store import Store
from device_lens.disk import default_cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

Report = Callable[[Progress], bool]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares what `device-lens bench` takes."""
    parser.add_argument(
        "--device", metavar="DEVICE", help="only transfers from and to DEVICE: cuda:0, mps, cpu"
    )
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.add_argument(
        "--python", metavar="PATH", help="interpreter with PyTorch (default: the active one)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Calibrates and prints. 0 when something was measured, 2 when nothing could be, one line."""
    interpreter = arguments.python or find_interpreter(os.environ)
    benchmark = Benchmark(Runner(interpreter), Store(default_cache_folder()))
    try:
        with _progress_bar() as report:
            outcome = benchmark.calibrate(arguments.device, report)
        machine = benchmark.machine
    except KeyboardInterrupt:
        print("device-lens: interrupted", file=sys.stderr)
        return 2
    finally:
        benchmark.close()
    as_json = arguments.output_format == "json"
    if isinstance(outcome, Problem) or machine is None:
        return _print_problem(outcome, as_json)
    if as_json:
        print(json.dumps(to_json(machine, outcome), indent=2))
    else:
        _print_text(outcome)
    return 0


def find_interpreter(environment: Mapping[str, str]) -> str:
    """The active environment's Python, else the first on the path, else the one running this."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = environment.get(variable)
        for inside in ("bin/python", "Scripts/python.exe", "python.exe"):
            if prefix and (Path(prefix) / inside).is_file():
                return str(Path(prefix) / inside)
    found = shutil.which("python3") or shutil.which("python")
    return found or sys.executable


def _print_problem(outcome: Outcome | Problem, as_json: bool) -> int:
    problem = outcome if isinstance(outcome, Problem) else Problem("worker-died")
    if as_json:
        body = {"code": problem.code, "message": problem.sentence}
        print(json.dumps({"version": 1, "problem": body}, indent=2))
    print(f"device-lens: {problem.sentence}", file=sys.stderr)
    return 2


def _print_text(outcome: Outcome) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in HEADINGS[:2] else "right")
    for row in rows(outcome):
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    console.print(outcome.calibration.label)
    console.print(table)
    for note in notes(outcome):
        console.print(note)


def _progress_bar() -> AbstractContextManager[Report]:
    return _shown_progress() if sys.stderr.isatty() else _silent_progress()


@contextmanager
def _silent_progress() -> Iterator[Report]:
    yield lambda progress: True


@contextmanager
def _shown_progress() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting PyTorch …", total=None)

        def report(progress: Progress) -> bool:
            text = progress_text(progress)
            bar.update(task, description=text, completed=progress.done, total=progress.total)
            return True

        yield report
