"""Ends the server when its client is gone without a word."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

PERIOD = 5.0
"""Seconds between two looks."""


async def watch(process_id: int, end: Callable[[], None]) -> None:
    """Calls `end` once the process is gone."""
    if os.name != "posix":
        return  # asking whether a process lives would end it there; standard input closes anyway
    while _lives(process_id):
        await asyncio.sleep(PERIOD)
    end()


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
