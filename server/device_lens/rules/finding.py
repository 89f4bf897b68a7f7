"""What a rule says: a finding, its severity, the places that explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, overload

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


class LazyFixes(Sequence[Fix]):
    """Fixes that are made when they are first looked at, of the text as it is then: most versions
    of a text are typed past before anyone asks. Whoever takes the text on to another one looks at
    them before."""

    def __init__(self, make: Callable[[], Iterable[Fix]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> tuple[Fix, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> Fix: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Fix]: ...

    def __getitem__(self, index: int | slice) -> Fix | Sequence[Fix]:
        return self._made[index]


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
    fixes: Sequence[Fix] = field(default=(), compare=False)
    """The preferred one first."""
    tags: tuple[str, ...] = ()
    """`unnecessary` where the code does nothing."""
