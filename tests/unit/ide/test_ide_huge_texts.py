"""Texts that a program would make huge are not made by its analysis."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

ASKED = [
    "'a'.ljust(10**10)",
    "'a'.zfill(10**10)",
    "'{:>1000000000}'.format(3)",
    "'{:>{}}'.format(3, 10**9)",
    "'ab'.replace('', 'x' * 10**9)",
    "('b' * 9_000).replace('b', 'x' * 9_000).replace('x', 'y' * 9_000)",
]
CHECK = """
import resource, sys
from device_lens.ide.project import Project
from device_lens.project.files import FileStore
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
store = FileStore()
store.change("/x/main.py", 1, "import torch\\nasked = " + sys.argv[1] + "\\n")
print(Project("/x").analyse("/x/main.py", store.snapshot()).facts.limits)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded by Linux's own means")
@pytest.mark.parametrize("asked", ASKED)
def test_a_huge_text_is_not_made(asked: str) -> None:
    command = [sys.executable, "-c", textwrap.dedent(CHECK), asked]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
