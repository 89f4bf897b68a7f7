"""Fixes that nobody looks at are not made while somebody types."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_programs import HEAD

from device_lens.fixes import assign_result
from device_lens.fixes.edit import Fix
from device_lens.ide.project import Project
from device_lens.rules import discarded_transfer
from device_lens.rules.finding import LazyFixes

DROPPED = f"{HEAD}x = torch.ones(3)\nx.to(device)\n"


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[Fix | None]:
    made: list[Fix | None] = []

    def assigned(*given: object) -> Fix | None:
        made.append(assign_result.assign_result(*given))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(discarded_transfer, "assign_result", assigned)
    return made


@pytest.mark.parametrize("waits", [True, False])
def test_when_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool) -> None:
    made = _counted(monkeypatch)
    (tmp_path / "main.py").write_text(DROPPED, encoding="utf-8")
    project = Project(str(tmp_path))
    project.fixes_wait = waits
    [finding] = project.analyse(str(tmp_path / "main.py")).findings
    assert len(made) == (0 if waits else 1)
    assert [fix.title for fix in finding.fixes] == ["Assign the result: x = x.to(device)"]
    assert list(finding.fixes) == made, "they are made once"


def test_they_are_as_good_as_a_tuple() -> None:
    fixes = LazyFixes(lambda: (each for each in ()))
    assert not fixes
    assert tuple(fixes) == ()
