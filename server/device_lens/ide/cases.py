"""A device tree in words: the primary case, the condition it rests on, and the other cases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from device_lens.domain.atom import Atom
from device_lens.domain.condition import describe
from device_lens.domain.device import Device, DeviceTree, SymbolicDevice, shared
from device_lens.domain.guard import Literals, cases


@dataclass(frozen=True, slots=True)
class Alternative:
    """The device (None: not known) in another case than the primary one. `is_rest`: there is no
    case but these two."""

    condition: str
    device: str | None
    is_rest: bool = False


@dataclass(frozen=True, slots=True)
class Cases:
    """What a device tree says to a reader. `device` None: not known in the primary case.

    `symbol` is set where the device is that of something the analysis cannot see: its text.
    """

    device: str | None
    condition: str | None
    alternatives: tuple[Alternative, ...]
    symbol: str | None = None


def read(tree: DeviceTree) -> Cases:
    """The cases of a tree: accelerators exist, flags have their defaults, the environment is
    unset in the primary one."""
    if isinstance(tree, Device):
        return Cases(str(tree), None, ())
    paths = list(cases(tree))
    primary = [(literals, leaf) for literals, leaf in paths if _is_primary(literals)]
    leaf = _agreed([leaf for _, leaf in primary])
    declared = _declared(literals for literals, _ in primary)
    symbol = leaf.label if isinstance(leaf, SymbolicDevice) else None
    alternatives = _alternatives([each for each in paths if not _is_primary(each[0])], declared)
    device = _named(leaf)
    if device and alternatives and all(each.device == device for each in alternatives):
        return Cases(device, None, ())
    return Cases(device, describe(declared), alternatives, symbol)


def _is_primary(literals: Literals) -> bool:
    return all(atom.default is None or atom.default == value for atom, value in literals)


def _declared(paths: Iterable[Literals]) -> Literals:
    """The literals with a default on the paths, each once, in order."""
    found: dict[Atom, bool] = {}
    for literals in paths:
        for atom, value in literals:
            if atom.default is not None:
                found.setdefault(atom, value)
    return tuple(found.items())


def _agreed(leaves: list[DeviceTree]) -> DeviceTree | None:
    if not leaves:
        return None
    return reduce(shared, leaves)


def _alternatives(
    paths: list[tuple[Literals, DeviceTree]], declared: Literals
) -> tuple[Alternative, ...]:
    """The other cases than that of the literals `declared`, by their named conditions; a case that
    hangs on more than that is not known."""
    found: dict[Literals, list[DeviceTree]] = {}
    opposite = describe(tuple((atom, not value) for atom, value in declared))
    for literals, leaf in paths:
        found.setdefault(tuple(each for each in literals if each[0].named), []).append(leaf)
    told: dict[str, str | None] = {}
    for literals, device in _merged({key: _named(_agreed(found[key])) for key in found}).items():
        condition = describe(literals)
        if condition is not None:
            told[condition] = device if told.get(condition, device) == device else None
    return tuple(
        Alternative(condition, device, is_rest=len(declared) == 1 and condition == opposite)
        for condition, device in told.items()
    )


def _named(device: DeviceTree | None) -> str | None:
    return str(device) if isinstance(device, Device) else None


def _merged(found: dict[Literals, str | None]) -> dict[Literals, str | None]:
    """The same cases without the atoms that decide nothing: two cases with one device that differ
    in an atom's value alone are one without it, in the place of the first."""
    for literals, leaf in found.items():
        for place, (atom, value) in enumerate(literals):
            rest = literals[:place] + literals[place + 1 :]
            other = (*literals[:place], (atom, not value), *literals[place + 1 :])
            if rest and rest not in found and other in found and found[other] == leaf:
                return _merged(
                    {
                        rest if each == literals else each: device
                        for each, device in found.items()
                        if each != other
                    }
                )
    return found
