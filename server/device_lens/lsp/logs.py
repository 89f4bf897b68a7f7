"""Logging of the server: standard error, one line each, without pygls' own noise."""

from __future__ import annotations

import logging
import os
import sys

_NOISE = ("Cancel notification for unknown message id", "Server shutting down")
_EXPECTED_CODES = frozenset({-32800, -32801, -32802, -32803})
"""Cancelled, content modified, cancelled by the server, failed and logged before: answers."""


def configure_logging() -> None:
    """Sends our messages to standard error. pygls writes every message body at level INFO."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    level = os.environ.get("DEVICE_LENS_LOG", "INFO").upper()
    logging.getLogger("device_lens").setLevel(level if level in _LEVELS else "INFO")
    pygls = logging.getLogger("pygls.protocol.json_rpc")
    pygls.addFilter(_is_news)


_LEVELS = frozenset({"DEBUG", "INFO", "WARNING", "ERROR"})


def _is_news(record: logging.LogRecord) -> bool:
    """Drops what the protocol expects: late cancellations and stale answers."""
    if str(record.msg).startswith(_NOISE):
        return False
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    return getattr(error, "code", None) not in _EXPECTED_CODES
