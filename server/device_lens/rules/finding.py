"""What a rule says: a finding, its severity, the places that explain it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from device_lens.fixes.edit import Fix

if TYPE_CHECKING:
    from device_lens.syntax.position import Range


class Severity(Enum):
    """How loud a finding is. `off` exists in configurations only."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """0 is the loudest."""
        return list(Severity).index(self)

    def at_least(self, other: Severity) -> bool:
        return self.rank <= other.rank


@dataclass(frozen=True, slots=True)
class Related:
    """A place that explains a finding."""

    path: str
    range: Range
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark about one place."""

    rule: str
    severity: Severity
    message: str
    symbol: str
    """The source text of the value that the finding is about."""
    path: str
    range: Range
    statement: Range
    """The statement (of a compound one the header) whose lines can carry an ignore comment."""
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    """The preferred one first."""
    tags: tuple[str, ...] = ()
    """`unnecessary` where the code does nothing."""
