"""Small experiments on tables."""

from . import settings
from .experiment import Experiment
from .helpers import *  # noqa: F403

__all__ = ["Experiment", "settings"]
