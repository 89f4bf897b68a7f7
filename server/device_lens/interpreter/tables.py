"""Brings together the modules that fill the interpreter's tables of evaluators, executors and
intrinsics."""

from __future__ import annotations

from device_lens.interpreter import (
    attribute_calls,
    branches,
    comparisons,
    comprehensions,
    expressions,
    intrinsics,
    loops,
    operators,
    scope_tables,
    single_dispatch,
    statements,
    subscripts,
    swapped,
)
from device_lens.interpreter.dispatch import EVALUATORS, EXECUTORS

_FILLED_BY = (
    attribute_calls,
    branches,
    comparisons,
    comprehensions,
    expressions,
    intrinsics,
    loops,
    operators,
    scope_tables,
    single_dispatch,
    statements,
    subscripts,
    swapped,
)


def fill_tables() -> tuple[int, int]:
    """Importing this module has filled the tables; gives their sizes."""
    assert all(_FILLED_BY)
    return len(EVALUATORS), len(EXECUTORS)
