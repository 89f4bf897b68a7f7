"""Every fix alone keeps its word: the file parses, its finding is gone, and nothing louder is new.

Tried on every program of the repository, and on labelled ones beside it where there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fix_check.trials import Trial, trials
from fix_programs import CASES, Program, documented, labelled, own

from device_lens.rules.registry import RULES


def test_fixes_of_documented_programs(tmp_path: Path) -> None:
    tried = list(_all(documented(tmp_path.resolve())))
    assert _broken(tried) == []
    offering = {trial.finding.rule for trial in tried}
    assert len(offering) > len(RULES) // 2, "most rules offer fixes, so most must be tried here"


def test_fixes_of_own_programs(tmp_path: Path) -> None:
    tried = list(_all(own(tmp_path.resolve())))
    assert _broken(tried) == []
    assert {"container-transfer", "discarded-transfer", "transfer-in-loop"} & {
        trial.finding.rule for trial in tried
    }


@pytest.mark.skipif(not CASES.is_dir(), reason="there are no labelled programs beside")
def test_fixes_of_labelled_programs(tmp_path: Path) -> None:
    tried = list(_all(labelled(tmp_path.resolve())))
    assert _broken(tried) == []
    assert tried


def _all(programs: Iterable[Program]) -> Iterator[Trial]:
    for program in programs:
        yield from trials(program.root, program.names)


def _broken(tried: Iterable[Trial]) -> list[str]:
    return [trial.complaint for trial in tried if trial.broken is not None]
