"""What was replaced while somebody types, and how much of it something still holds."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any
from weakref import WeakSet

MOST_FORMER = 400
"""Replaced chunks and modules that something still holds, beyond which a program starts afresh:
what they leave in memory is bounded."""


class Former:
    """Chunks and units that were replaced."""

    def __init__(self) -> None:
        self._held: WeakSet[Any] = WeakSet()

    def __len__(self) -> int:
        return len(self._held)

    def add(self, replaced: Iterable[Any]) -> None:
        self._held.update(replaced)

    def is_too_much(self) -> bool:
        """Whether too many are held. Those that only wait for the collector are not."""
        if len(self._held) > MOST_FORMER:
            gc.collect()
        return len(self._held) > MOST_FORMER
