"""The services of a call as something sees them that is called on its behalf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from device_lens.models.call import Services, Value

Operand = tuple[Value, int | str]
Told = Callable[[str, Operand, Operand, Any, bool], None]
"""Takes what `Services.conflict` takes."""


def with_conflicts(services: Services, told: Told) -> Services:
    """Services that hand on all that is asked, but for conflicts: these are `told`."""
    return cast(Services, _Relayed(services, told))


class _Relayed:
    def __init__(self, services: Services, told: Told) -> None:
        self._services = services
        self._told = told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._services, name)

    def conflict(
        self, operation: str, left: Operand, right: Operand, literals: Any, wants_cpu: bool = False
    ) -> None:
        """See `Services.conflict`."""
        self._told(operation, left, right, literals, wants_cpu)
