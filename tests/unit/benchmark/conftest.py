"""Scripted workers for the tests of measuring."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device_lens.benchmark.runner import Limits, Runner

SCRIPTED = Path(__file__).with_name("scripted_worker.py")


class ScriptedRunner(Runner):
    """A runner whose worker follows a script."""

    def __init__(self, script: list[list[object]], counter: Path, limits: Limits) -> None:
        self.counter = counter
        written = counter.with_suffix(".json")
        written.write_text(json.dumps(script))
        command = [sys.executable, str(SCRIPTED), str(written), str(counter)]
        super().__init__("/usr/bin/python3", limits, command)

    @property
    def starts(self) -> int:
        """How many workers were started."""
        return len(self.counter.read_text()) if self.counter.exists() else 0


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Callable[..., ScriptedRunner]]:
    """Makes runners from scripts, one list of steps for each start of the worker."""
    made: list[ScriptedRunner] = []

    def make(*script: list[object], limits: Limits | None = None) -> ScriptedRunner:
        counter = tmp_path / f"starts{len(made)}"
        usual = Limits(start_s=20, job_s=20, idle_s=60, pause_s=0)
        made.append(ScriptedRunner(list(script), counter, limits or usual))
        return made[-1]

    yield make
    for runner in made:
        runner.close()
