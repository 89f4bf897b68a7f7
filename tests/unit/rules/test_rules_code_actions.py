"""What an editor offers at a finding."""

from __future__ import annotations

from pathlib import Path

from rule_programs import HEAD, analysed_text

from device_lens.fixes.edit import apply_edits
from device_lens.ide.code_actions import ActionKind, CodeAction, code_actions
from device_lens.syntax.position import span


def _actions(root: Path, text: str, line: int) -> list[CodeAction]:
    analysis = analysed_text(root, text)
    return code_actions(analysis.facts.source, analysis.findings, span(line, 0, line, 200))


def test_order_and_kinds(tmp_path: Path) -> None:
    found = _actions(tmp_path, "x = torch.ones(3)\nx.to(device)\n", 4)
    assert [each.kind for each in found] == [
        ActionKind.QUICK_FIX,
        ActionKind.SUPPRESS,
        ActionKind.EXPLAIN,
        ActionKind.FIX_ALL,
    ]
    assert found[0].preferred
    assert found[0].title == "Assign the result: x = x.to(device)"


def test_unsafe_fixes_say_so(tmp_path: Path) -> None:
    found = _actions(tmp_path, "x = torch.rand(3).to(device)\n", 3)
    assert found[0].title.endswith(" (changes behaviour)")
    assert found[0].needs_confirmation
    assert not found[0].preferred
    assert ActionKind.FIX_ALL not in [each.kind for each in found]


def test_suppressing_silences(tmp_path: Path) -> None:
    text = "x = torch.ones(3)\nx.to(device)\n"
    suppress = next(a for a in _actions(tmp_path, text, 4) if a.kind is ActionKind.SUPPRESS)
    silenced = apply_edits(HEAD + text, suppress.edits).removeprefix(HEAD)
    assert analysed_text(tmp_path, silenced).findings == ()


def test_nothing_elsewhere_but_fixing_all(tmp_path: Path) -> None:
    found = _actions(tmp_path, "x = torch.ones(3)\nx.to(device)\n", 3)
    assert [each.kind for each in found] == [ActionKind.FIX_ALL]
