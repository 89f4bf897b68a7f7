"""Tries every fix alone on the code below some folders: the finding must be gone.

What a fix leaves must parse, and a safe one brings up nothing louder. Nothing is written there.

    PYTHONPATH=server python server/tools/check_fixes.py [--jobs N] PATH...

Each folder is a project of its own. Prints the counts by rule and what broke; exit status 1 if
anything did.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from device_lens.cli.workers import available_cores
from device_lens.ide.project import Project

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fix_check.trials import tried_together

TOGETHER = 20
"""Files that are looked at together: each fix looks at all of them again."""
Batch = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A project's root, the files whose fixes are tried, and the scripts that run before them."""


@dataclass
class Outcome:
    """How many fixes were tried, by rule and safety, and a line for each that broke."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folders of code")
    parser.add_argument("--jobs", type=int, default=available_cores(), help="processes")
    options = parser.parse_args(argv)
    batches = [batch for path in options.paths for batch in _batches(Path(path).resolve())]
    total = Outcome()
    with ProcessPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(_try, batches):
            total.tried += outcome.tried
            total.broken += outcome.broken
    for (rule, safety), count in sorted(total.tried.items()):
        print(f"{count:6}  {rule} ({safety})")
    print(*total.broken, sep="\n")
    print(f"{sum(total.tried.values())} fixes tried, {len(total.broken)} broken")
    return 1 if total.broken else 0


def _batches(root: Path) -> Iterator[Batch]:
    project = Project(str(root))
    found = project.discover([str(root)]).files
    project.index(found)
    scripts = set(project.entry_scripts())
    for group in project.groups(found):
        if len(group.targets) <= TOGETHER:
            yield str(root), group.targets, group.entries
            continue
        for path in group.targets:
            others = (each for each in group.targets if each in scripts and each != path)
            yield str(root), (path,), (*group.entries, *others)


def _try(batch: Batch) -> Outcome:
    root, paths, entries = batch
    outcome = Outcome()
    for trial in tried_together(_project(root), paths, entries):
        outcome.tried[trial.finding.rule, trial.fix.safety.value] += 1
        if trial.broken is not None:
            outcome.broken.append(trial.complaint)
    return outcome


_PROJECTS: dict[str, Project] = {}
"""The projects of this process, by root."""


def _project(root: str) -> Project:
    if root not in _PROJECTS:
        project = Project(root)
        project.index(project.discover([root]).files)
        _PROJECTS[root] = project
    return _PROJECTS[root]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
