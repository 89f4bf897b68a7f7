"""What an editor offers at a finding."""

from __future__ import annotations

from pathlib import Path

from rule_programs import HEAD, analysed, analysed_text

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


def test_one_title_for_one_fix(tmp_path: Path) -> None:
    text = (
        "import torch\nmodel = torch.nn.Linear(3, 3).cuda()\nx = torch.rand(2, 3)\n"
        "a = model(x)\nb = model(x)\n"
    )
    [finding] = (
        each
        for each in analysed(tmp_path, {"main.py": text})["main.py"].findings
        if each.rule == "module-input-mismatch"
    )
    [fix] = finding.fixes
    assert [edit.range.start.line for edit in fix.edits] == [3, 4]


def test_what_one_script_alone_needs_is_no_safe_fix(tmp_path: Path) -> None:
    layer = (
        f"{HEAD}class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layer = nn.Linear(3, 3)\n"
        "    def forward(self, x):\n"
        "        rate = torch.ones(3)\n"
        "        return self.layer(x).abs().mean(0) * x * rate\n"
    )
    run = "import torch\nfrom net import Net, device\n"
    files = {
        "net.py": layer,
        "main.py": f"{run}Net().to(device)(torch.ones(2, 3, device=device))\n",
        "host.py": f"{run}Net()(torch.ones(2, 3))\n",
    }
    [finding] = analysed(tmp_path, files)["net.py"].findings
    assert [fix.safe for fix in finding.fixes] == [False]
