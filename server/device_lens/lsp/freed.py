"""Gives memory that is no longer used back to the system, where the system lets itself be asked."""

from __future__ import annotations

import sys


def give_back() -> None:
    """What a large piece of work leaves behind stays with the process otherwise: the C library
    keeps it for the next one. Does nothing but on Linux with glibc."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes

        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (ImportError, OSError, AttributeError):
        return
