"""The reader of the rules' documents, and the trials of fixes, are at hand here."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).parents[3]
sys.path.append(str(_ROOT / "tests" / "mdtest"))
sys.path.append(str(_ROOT / "server" / "tools"))
