"""Which way a `try` goes that tries an accelerator out."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from device_lens.domain.code import Namespace, Scope
from device_lens.domain.guard import Guarded
from device_lens.domain.values import FALSE
from device_lens.interpreter.trials import needs_accelerator

FRAME: Any = SimpleNamespace(scope=Scope(None), namespace=Namespace("main.py", "main", None))
MACHINE: Any = SimpleNamespace(gpus_hidden=lambda: FALSE, decide=lambda condition: condition)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("torch.zeros(1).cuda()", True),
        ("x = torch.ones(2, device='cuda:0')", True),
        ("torch.cuda.current_device()", True),
        ("torch.zeros(1, device='cuda:5')", False),
        ("torch.zeros(1).cuda(1)", False),
        ("torch.cuda.set_device(2)", False),
        ("torch.cuda.is_available()", False),
        ("y = load('x').cuda()", False),
    ],
)
def test_what_needs_a_gpu_tells(body: str, told: bool) -> None:
    """A further GPU may not be there either."""
    node: Any = ast.parse(f"try:\n    {body}\nexcept RuntimeError:\n    pass\n").body[0]
    assert (type(needs_accelerator(MACHINE, node, FRAME)) is Guarded) is told
