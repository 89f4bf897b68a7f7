"""Where the project's interpreter looks for packages: the only thing that it is asked."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import tempfile
from collections.abc import Sequence

logger = logging.getLogger(__name__)

TIMEOUT = 10.0
"""Seconds that the interpreter may take to start and answer."""
_PROGRAM = "import json, sys; print(json.dumps(sys.path))"


def search_path(interpreter: Sequence[str]) -> list[str]:
    """The interpreter's `sys.path`, isolated from the folder it is started in; empty where it
    does not answer."""
    try:
        answer = subprocess.run(
            [*interpreter, "-I", "-c", _PROGRAM],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            cwd=tempfile.gettempdir(),
            check=True,
        )
        found = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        logger.warning("The project's interpreter does not tell its search path: %s", error)
        return []
    if not isinstance(found, list):
        return []
    return [each for each in found if isinstance(each, str) and os.path.isdir(each)]
