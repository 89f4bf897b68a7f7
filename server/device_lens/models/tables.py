"""Every table of models, in the order in which they register."""

from __future__ import annotations

from device_lens.models import limits
from device_lens.models.libraries import register_libraries
from device_lens.models.python import register_python
from device_lens.models.torch import register_modules, register_operations


def register_all() -> None:
    """Fills the registry. Later tables may replace rows of earlier ones."""
    register_python.register_all()
    register_operations.register_all()
    register_modules.register_all()
    limits.register_all()
    register_libraries.register_all()
