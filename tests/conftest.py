"""Settings and fixtures that all Python tests share."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# What a test remembers is forgotten with it, and what this machine remembers decides no test.
_CACHE = tempfile.TemporaryDirectory(prefix="device-lens-tests-")
os.environ["XDG_CACHE_HOME"] = _CACHE.name

# A machine may be slow. The gate draws the same examples each time, so that it judges the change
# alone; a developer's runs look for new ones.
settings.register_profile(
    "calm",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("calm")


@pytest.fixture(scope="session")
def torch_python() -> str:
    """An interpreter with torch: DEVICE_LENS_TORCH_PYTHON, else the one that runs the tests."""
    python = os.environ.get("DEVICE_LENS_TORCH_PYTHON", sys.executable)
    probe = subprocess.run([python, "-c", "import torch"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"no torch in {python}: set DEVICE_LENS_TORCH_PYTHON")
    return python
