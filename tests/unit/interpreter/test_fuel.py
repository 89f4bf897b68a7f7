"""Many scripts of one program take no more steps than its lines allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from device_lens.domain.heap import Registry
from device_lens.domain.journal import Journal
from device_lens.domain.values import Const
from device_lens.ide.project import Analysis, Project
from device_lens.interpreter.budget import CHANGES, PARTS, Budget
from device_lens.interpreter.fuel import STEPS_IN_ALL, Extent, Fuel

SCRIPTS = 4
NAMES = tuple(f"train_{number}.py" for number in range(SCRIPTS))
FUNCTIONS = 20
BODY = "    x = x * scale\n" * 20 + "    print(x.item())\n    return x\n"
STEPS = "".join(f"def step_{number}(x, scale):\n{BODY}" for number in range(FUNCTIONS))
CALLS = "".join(
    f"    x = steps.step_{number}(x, {scale})\n" for number in range(FUNCTIONS) for scale in (2, 3)
)
SCRIPT = f"""
import torch
import steps

def train(x):
{CALLS}
    torch.zeros(3) + x

if __name__ == "__main__":
    torch.zeros(3) + torch.zeros(3, device="cuda")
    train(torch.zeros(3, device="cuda"))
"""


EVEN = STEPS_IN_ALL // SCRIPTS
"""A part of 1,000 lines' steps."""


def test_what_a_script_leaves_is_for_those_after_it() -> None:
    fuel = Fuel(Extent(1, NAMES), 4)
    assert fuel.share() == EVEN
    fuel.take(0)
    assert fuel.share() == STEPS_IN_ALL // (SCRIPTS - 1)


def test_a_script_has_half_an_even_part_whatever_others_took() -> None:
    fuel = Fuel(Extent(1, NAMES), 4)
    fuel.take(2 * STEPS_IN_ALL)
    assert fuel.share() == EVEN // 2


def test_scripts_that_are_run_apart_do_not_hang_on_each_other() -> None:
    fuel = Fuel(Extent(2, NAMES, whole=False), 1)
    first = fuel.share()
    fuel.take(0)
    assert fuel.share() == first == 2 * EVEN


def test_a_file_that_is_reached_grants_no_more_than_there_is() -> None:
    budget = Budget(100, bool, own=100, most=150)
    budget.grant("a.py", 30)
    budget.grant("b.py", 30)
    assert (budget.steps, budget.own) == (150, 100)
    budget.spend()
    budget.spend_own()
    assert budget.spent == 2


def test_many_changes_are_steps_where_these_are_bounded() -> None:
    bounded, free = Budget(100, bool, most=150), Budget(100, bool)
    journal, registry = Journal(), Registry()
    for number in range(10 * CHANGES + 1):
        journal.write(registry, number, Const(number))
    free.checkpoint(journal)
    assert free.spent == 0
    bounded.checkpoint(journal)
    bounded.checkpoint(journal)
    assert (bounded.spent, bounded.is_low) == (10, False)
    for number in range(150 * CHANGES):
        journal.write(registry, number, Const(-number))
    bounded.checkpoint(journal)
    assert bounded.is_low


@pytest.mark.parametrize("extent", [Extent(1, NAMES), Extent(1, NAMES, whole=False)])
def test_all_scripts_together_are_bounded(
    tmp_path: Path, extent: Extent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device_lens.interpreter.fuel.STEPS_IN_ALL", 1_000)
    share = 1_000 // SCRIPTS
    free = _spent(tmp_path, None)[0]
    spent, analyses = _spent(tmp_path, extent)
    assert spent <= SCRIPTS * 2 * (share + share // PARTS) < free
    scripts = [each for each in analyses if "train" in each.facts.path]
    assert len(scripts) == SCRIPTS
    for analysis in scripts:
        assert "created-on-default-device" in [finding.rule for finding in analysis.findings]
        assert any("too many steps" in limit for limit in analysis.limits)


ELSEWHERE = "import torch\ntorch.set_default_device('cuda')\nimport made\n"
"""A module that it imports is its own: what that makes lies elsewhere for others."""


def test_a_script_runs_once_more_though_another_has_changed_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device_lens.interpreter.fuel.STEPS_IN_ALL", 500)
    texts = {
        "steps.py": STEPS,
        "made.py": "import torch\nx = torch.zeros(3)\n",
        NAMES[0]: ELSEWHERE + SCRIPT,
        **dict.fromkeys(NAMES[1:], ELSEWHERE),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    project = Project(str(tmp_path))
    paths = [str(tmp_path / name) for name in texts]
    project.index(paths)
    entries = tuple(str(tmp_path / name) for name in NAMES)
    analyses = project.analyse_together(paths, entries, True, Extent(4, NAMES))
    assert [each.facts.path for each in analyses] == paths


def _spent(root: Path, extent: Extent | None) -> tuple[int, list[Analysis]]:
    (root / "steps.py").write_text(STEPS, encoding="utf-8")
    paths = [str(root / "steps.py")]
    for name in NAMES:
        path = root / name
        path.write_text(SCRIPT, encoding="utf-8")
        paths.append(str(path))
    project = Project(str(root))
    project.index(paths)
    (group,) = project.groups(paths)
    assert (len(group.extent.scripts), group.extent.whole) == (SCRIPTS, True)
    analyses = project.analyse_together(group.targets, group.entries, True, extent)
    ((program, *_),) = project._programs.values()
    scripts = (
        unit for key, unit in program.units.items() if type(key) is tuple and key[0] == "script"
    )
    return sum(unit.budget.spent for unit in scripts), analyses
