"""Ignore comments, written and extended."""

from __future__ import annotations

import ast

import pytest
from fix_snippets import find, source_of

from device_lens.fixes.edit import apply_edits
from device_lens.fixes.suppress import suppress


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x)\n", "f(x)  # device-lens: ignore[a]\n"),
        ("f(x)  # why\r\ng()", "f(x)  # why  # device-lens: ignore[a]\r\ng()"),
        ("f(x)  # device-lens: ignore[b]\n", "f(x)  # device-lens: ignore[b, a]\n"),
        ("# device-lens: ignore[b]\nf(x)\n", "# device-lens: ignore[b, a]\nf(x)\n"),
        ("f(\n    x,\n)\n", "f(\n    x,\n)  # device-lens: ignore[a]\n"),
        ("for y in f(x):\n    g(y)\n", "for y in f(x):  # device-lens: ignore[a]\n    g(y)\n"),
        ("f(x)", "f(x)  # device-lens: ignore[a]"),
    ],
)
def test_suppress(before: str, after: str) -> None:
    source = source_of(before)
    call = find(source, "f(", ast.Call)
    fix = suppress(source, "a", call.scope)
    text = apply_edits(before, fix.edits)
    assert text == after
    silenced = source_of(text)
    assert silenced.suppressions.find("a", find(silenced, "f(", ast.Call).scope) is not None
