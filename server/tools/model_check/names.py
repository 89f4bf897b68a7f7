"""Callables by their qualified names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def resolve(qualified: str) -> Callable[..., Any] | None:
    """The callable of that name."""
    thing: Any = torch
    for part in qualified.split(".")[1:]:
        thing = getattr(thing, part, None)
    return thing if callable(thing) else None
