"""A progress bar on standard error, for work that takes long, on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0
"""Seconds of work before a bar is shown."""

Advance = Callable[[int], None]


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Gives a function to be called with each number of files that are done."""
    if not sys.stderr.isatty() or total < 2:
        yield lambda done: None
        return
    bar = _Bar(what, total)
    try:
        yield bar.advance
    finally:
        bar.close()


class _Bar:
    """A bar that appears once the work has taken a while."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._stop: Callable[[], None] = lambda: None
        self._update: Callable[[int], object] | None = None

    def advance(self, done: int) -> None:
        self._done += done
        if self._update is None and time.monotonic() - self._began > PATIENCE:
            self._show()
        if self._update is not None:
            self._update(self._done)

    def close(self) -> None:
        self._stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        bar = Progress(
            TextColumn(self._what),
            BarColumn(),
            MofNCompleteColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.start()
        task = bar.add_task(self._what, total=self._total)
        self._stop = bar.stop
        self._update = lambda done: bar.update(task, completed=done)
