"""A rule: its name, its default severity, its documentation and what it reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from device_lens.rules.finding import Finding, Severity

if TYPE_CHECKING:
    from device_lens.rules.context import Context

HEADINGS = (
    "What it does",
    "Why is this bad?",
    "Example",
    "Use instead",
    "Known limits",
    "Fix safety",
)
"""The parts of every rule's documentation, in order."""

_Check = TypeVar("_Check", bound=Callable[[Any, Any], "Finding | None"])


class Rule:
    """One rule. `checks` maps a fact's type to the function that judges such a fact."""

    def __init__(self, name: str, severity: Severity, documentation: str | None) -> None:
        self.name = name
        self.severity = severity
        self.documentation = inspect.cleandoc(documentation or "")
        self.checks: dict[type, Callable[[Any, Context], Finding | None]] = {}

    def reads(self, fact: type) -> Callable[[_Check], _Check]:
        """Registers the decorated function for a type of fact."""

        def register(check: _Check) -> _Check:
            self.checks[fact] = check
            return check

        return register

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.documentation.partition("\n")[0]

    def section(self, heading: str) -> str:
        """The text below one of `HEADINGS`; empty where there is none."""
        _, found, rest = self.documentation.partition(f"## {heading}\n")
        return rest.partition("\n## ")[0].strip() if found else ""

    @property
    def page(self) -> str:
        """The documentation as a Markdown page."""
        return f"# {self.name}\n\nDefault severity: {self.severity.value}\n\n{self.documentation}\n"
