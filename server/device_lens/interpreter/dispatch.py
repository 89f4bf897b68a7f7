"""What to do with a node of a syntax tree, and with functions that look at the frame of their call:
tables that other modules of this package fill, which `tables` brings together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

NEXT = 0
"""The path goes on with the next statement."""
DEAD = 1
"""The path has left: by return, break, continue or an exception."""

Evaluator = Callable[["Machine", Any, "Frame"], Any]
Executor = Callable[["Machine", Any, "Frame"], int]
EVALUATORS: dict[type, Evaluator] = {}
EXECUTORS: dict[type, Executor] = {}
Intrinsic = Callable[["Machine", tuple[Any, ...], dict[str, Any], Any, "Frame"], Any]
INTRINSICS: dict[str, Intrinsic] = {}
"""Functions of libraries by their names, those that look at the frame of their call."""
OF_MANAGERS = tuple(".enter_context .callback .pop_all .close .aclose .__enter__ .__exit__".split())
"""How the names of methods end that may enter or leave a context manager (`contexts.py`)."""
