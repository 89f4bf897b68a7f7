"""Settings of the protocol tests: the server runs from this checkout."""

from __future__ import annotations

import os
from pathlib import Path

SERVER = Path(__file__).resolve().parent.parent.parent / "server"
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(SERVER), *filter(None, [os.environ.get("PYTHONPATH")])]
)
os.environ["PYTHONUTF8"] = "1"
