"""The rules' documents are programs to fix too: their reader is at hand here."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "mdtest"))
