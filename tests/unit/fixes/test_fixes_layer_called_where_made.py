"""A layer that is called where it is made moves itself; what the call around it gives may be no
tensor."""

from __future__ import annotations

from pathlib import Path

from device_lens.fixes.edit import apply_edits
from device_lens.ide.project import Project

TEXT = """\
import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)

    def shown(self, items):
        return [each + 1 for each in items]

    def forward(self, x):
        out = self.first(x)
        both = self.shown([nn.Linear(2, 2)(out) for _ in range(2)])
        return torch.cat(both, dim=1)
"""


def test_the_layer_moves_and_not_what_is_made_with_it(tmp_path: Path) -> None:
    path = tmp_path / "heads.py"
    path.write_text(TEXT, encoding="utf-8")
    (finding,) = Project(str(tmp_path)).analyse(str(path)).findings
    (fix,) = finding.fixes
    assert finding.rule == "module-input-mismatch"
    expected = TEXT.replace("nn.Linear(2, 2)(out)", "nn.Linear(2, 2).to(out.device)(out)")
    assert apply_edits(TEXT, list(fix.edits)) == expected
