"""How fast files are analysed, beside `ast.parse` of the same files in the same run.

    python benchmarks/analysis_speed.py PATH [PATH …]

Each PATH is a file or a folder, analysed as `device-lens check --jobs 1` does it: imports first,
then groups of files that belong together, with room for as many parsed files. Times are CPU time of
this process, so that other work on the machine disturbs little; the collector rests, as it does in
the command. What is printed beyond the parse is the analysis with its rules; what Python takes to
load them is not in it.
"""

from __future__ import annotations

import argparse
import ast
import gc
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from device_lens.cli.examine import MOST_PARSED
from device_lens.ide import late_modules
from device_lens.ide.project import Project
from device_lens.project.files import ParseCache

T = TypeVar("T")


def timed(action: Callable[[], T]) -> tuple[T, float]:
    """What an action gives, and the CPU seconds that it took."""
    began = time.process_time()
    found = action()
    return found, time.process_time() - began


def parse_all(texts: list[str]) -> None:
    """The floor: Python's own parser, every tree dropped at once."""
    for text in texts:
        ast.parse(text)


def measure(path: Path) -> str:
    """One row of the table."""
    root = path if path.is_dir() else path.parent
    project = Project(str(root), parsed=ParseCache(MOST_PARSED))
    files = project.discover([str(path)]).files
    texts = [Path(file).read_text(encoding="utf-8", errors="replace") for file in files]
    lines = sum(text.count("\n") + 1 for text in texts)
    _, floor = timed(lambda: parse_all(texts))
    _, indexing = timed(lambda: project.index(files))
    groups, planning = timed(lambda: project.groups(files))
    severities: Counter[str] = Counter()
    analysing = 0.0
    for group in groups:
        together = partial(
            project.analyse_together, group.targets, group.entries, only_findings=True
        )
        done, seconds = timed(together)
        analysing += seconds
        for analysis in done:
            severities.update(finding.severity.value for finding in analysis.findings)
    thousands = lines / 1_000
    beyond = (planning + analysing) * 1_000 / thousands
    total = indexing + planning + analysing
    return (
        f"| {path.name} | {len(files)} | {lines:,} | {floor * 1_000 / thousands:.1f} "
        f"| {indexing * 1_000 / thousands:.1f} | {beyond:.1f} | {thousands / total:.1f} "
        f"| {severities['error']} + {severities['warning']} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    arguments = parser.parse_args()
    gc.disable()
    late_modules.load_all()
    print(
        "| what | files | lines | ast.parse, ms/kLOC | parse and imports, ms/kLOC "
        "| analysis beyond, ms/kLOC | kLOC per CPU s | errors + warnings |"
    )
    print("| :-- | --: | --: | --: | --: | --: | --: | --: |")
    for path in arguments.paths:
        print(measure(path.resolve()), flush=True)
        gc.collect()


if __name__ == "__main__":
    main()
