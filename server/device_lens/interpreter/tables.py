"""Brings the modules together that fill the interpreter's tables of evaluators and executors."""

from __future__ import annotations

from device_lens.interpreter import (
    branches,
    comparisons,
    comprehensions,
    expressions,
    loops,
    operators,
    statements,
    subscripts,
)
from device_lens.interpreter.machine import EVALUATORS, EXECUTORS

_FILLED_BY = (
    branches,
    comparisons,
    comprehensions,
    expressions,
    loops,
    operators,
    statements,
    subscripts,
)


def fill_tables() -> tuple[int, int]:
    """Importing this module has filled the tables; gives their sizes."""
    assert all(_FILLED_BY)
    return len(EVALUATORS), len(EXECUTORS)
