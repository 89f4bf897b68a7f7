"""Names that a program adds to a library: `nn.Masked = Masked`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.heap import MISSING
from device_lens.domain.values import External
from device_lens.models import registry

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def bind(machine: Machine, library: External, name: str, value: Any) -> None:
    """Gives a library a class or function of the program's by a name that it does not have
    itself, and anything by a name that it has of the program, as a flag of absl. What is put in the
    place of a library's own stays what the library has."""
    qualified = f"{library.name}.{name}"
    is_new = type(value) in (ClassValue, Function) and not _is_known(qualified)
    if is_new or bound(machine, qualified) is not None:
        machine.journal.write(machine.globals, qualified, value)


def bound(machine: Machine, qualified: str) -> Any:
    """What the program has given a library by a name; None: nothing."""
    found = machine.globals.get(qualified, MISSING)
    return None if found is MISSING else found


def _is_known(qualified: str) -> bool:
    return (
        registry.function(qualified) is not None
        or registry.module(qualified) is not None
        or registry.attribute(qualified) is not None
        or bool(registry.bases(qualified))
    )
