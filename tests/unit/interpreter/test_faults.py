"""A fault of ours at one statement: it is said, and nothing wrong is told of what follows."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from device_lens.ide.project import Analysis, Project
from device_lens.interpreter import comprehensions
from device_lens.interpreter.dispatch import EVALUATORS
from device_lens.project.files import OpenDocument, Snapshot

_TEXT = """
import torch

model = torch.nn.Linear(3, 3).cuda()
rows = [torch.ones(2, 3), torch.ones(2, 3)]
rows = [row.cuda() for row in rows]
for row in rows:
    print(model(row))
print(torch.ones(1) + torch.ones(3).cuda())
"""


def _analysed(text: str) -> Analysis:
    path = "/faults/main.py"
    return Project("/faults").analyse(path, Snapshot({path: OpenDocument(1, text)}))


def _is_lost(analysis: Analysis) -> bool:
    """Whether the analysis says that it lost a statement."""
    return any("not understood" in limit for limit in analysis.facts.limits)


def _fails(*given: Any) -> Any:
    raise AttributeError("not understood")


def test_what_a_lost_statement_names_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert comprehensions, "what registers the evaluator that is replaced"
    monkeypatch.setitem(EVALUATORS, ast.ListComp, _fails)
    analysis = _analysed(_TEXT)
    assert _is_lost(analysis)
    loud = [found for found in analysis.findings if found.severity.value in ("error", "warning")]
    assert [found.range.start.line for found in loud] == [8]


def test_many_arms_are_understood() -> None:
    arms = [
        f"    {'elif' if n else 'if'} kind == {n}:\n        x = x.cuda({n % 2})" for n in range(200)
    ]
    text = "\n".join(
        [
            "import torch",
            "def moved(kind, x):",
            *arms,
            "    return x",
            "moved(199, torch.ones(1)).numpy()",
        ]
    )
    analysis = _analysed(text)
    assert not _is_lost(analysis)
    assert "numpy-on-accelerator" in {found.rule for found in analysis.findings}


def test_text_that_is_decoded_is_text() -> None:
    text = 'data = (lambda x: x.encode("latin1"))("ab")\nprint(data.decode("utf-8"))\n'
    assert not _is_lost(_analysed(f"import torch\n{text}"))
