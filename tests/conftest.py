"""Settings that all Python tests share."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A machine may be slow. The gate draws the same examples each time, so that it judges the change
# alone; a developer's runs look for new ones.
settings.register_profile(
    "calm",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("calm")
