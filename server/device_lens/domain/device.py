"""Devices: where a tensor's memory is.

Elements: a concrete device, a symbolic one ("wherever `x` is": unknown, yet equal to itself), a
decision tree of these over guards, or unknown (top).
"""

from __future__ import annotations

import re
from enum import Enum
from functools import reduce
from typing import Any, ClassVar, Union

from device_lens.domain.atom import Atom
from device_lens.domain.guard import (
    MAX_DEPTH,
    Guarded,
    Literals,
    choose,
    combine,
    leaves,
    node,
    single,
)

MAX_CHAIN = 24
"""Leaves of a tree of any depth that is kept: one for each flag of a program, say."""
MAX_UNNAMED = 4
"""Depth of a tree up to which conditions without words are kept."""
ANY_INDEX = -1
"""The index of an accelerator device whose number is not known."""

TYPES = frozenset(
    "cpu cuda mps xpu meta hpu ipu xla mtia vulkan hip lazy privateuseone npu".split()
)


class Device:
    """A concrete device. `index` None means the current device of that type; instances are
    interned, so identity is equality."""

    __slots__ = ("index", "type")
    _made: ClassVar[dict[tuple[str, int | None], Device]] = {}
    type: str
    index: int | None

    def __new__(cls, type: str, index: int | None = None) -> Device:
        made = cls._made.get((type, index))
        if made is None:
            made = super().__new__(cls)
            made.type = type
            made.index = index
            cls._made[type, index] = made
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return (Device, (self.type, self.index))

    def __str__(self) -> str:
        if self.index is None or self.index == ANY_INDEX:
            return self.type
        return f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"Device({self})"


UNNAMED = "an expression"
"""How a reader knows what the program gives no name."""


class SymbolicDevice:
    """The device of something the analysis cannot see, equal only to itself.

    `label` is how a reader knows it: the text of the parameter or expression. `asked` has the
    atoms that stand for its type, or the device itself, being one that the program asks for.
    """

    __slots__ = ("asked", "label", "of_module_input")

    def __init__(self, label: str, of_module_input: bool = False) -> None:
        self.label = label
        self.of_module_input = of_module_input
        self.asked: dict[str | Device | SymbolicDevice, Atom] = {}

    def is_of(self, kind: str) -> Atom:
        """Whether it is of a type: the same answer each time."""
        atom = self.asked.get(kind)
        if atom is None:
            atom = self.asked[kind] = Atom(f"{self.label} is on {kind}")
        return atom

    def is_at(self, other: Device | SymbolicDevice) -> Atom:
        """Whether it is that device: the same answer each time, whichever of two symbols is asked
        about the other. There is but one CPU."""
        if other is CPU:
            return self.is_of("cpu")
        known = other.asked.get(self) if isinstance(other, SymbolicDevice) else None
        atom = known or self.asked.get(other)
        if atom is None:
            atom = self.asked[other] = Atom(f"{self.label} is on {other}")
        return atom

    def may_be_apart(self, other: Device | SymbolicDevice, literals: Literals) -> bool:
        """Whether it may be another device than a given one where that is decided."""
        if other is CPU:
            host, accelerator = self.asked.get("cpu"), self.asked.get("cuda")
            return not any(
                (atom is host and value) or (atom is accelerator and not value)
                for atom, value in literals
            )
        found = (self.asked.get(other), getattr(other, "asked", {}).get(self))
        return not any(value and atom in found for atom, value in literals)

    def __str__(self) -> str:
        return "another device" if self.label == UNNAMED else f"the device of `{self.label}`"

    def __repr__(self) -> str:
        return f"SymbolicDevice({self.label})"


class UnknownDevice:
    """Top: nothing is known. `UNKNOWN_DEVICE`, and `CONTESTED`."""

    __slots__ = ()

    def __str__(self) -> str:
        return "unknown"

    __repr__ = __str__


UNKNOWN_DEVICE = UnknownDevice()
CONTESTED = UnknownDevice()
"""Where the result of an operation is that raises, its operands being on two devices: it never
comes to be, and what is computed from it neither."""
CPU = Device("cpu")
META = Device("meta")
for _kind in (Device, SymbolicDevice, UnknownDevice):
    single(_kind)
DeviceTree = Union[Device, SymbolicDevice, UnknownDevice, Guarded]  # noqa: UP007


def is_unknown(device: Any) -> bool:
    """Whether nothing is known of a place."""
    return type(device) is UnknownDevice


class Agreement(Enum):
    SAME = "same"
    DIFFERENT = "different"
    MAYBE = "maybe"


_PATTERN = re.compile(r"([a-z]+)(?::(\d+))?\Z")


def parse_device(text: str) -> Device | None:
    """The device that a string names, or None when PyTorch would reject it."""
    match = _PATTERN.match(text)
    if match is None or match[1] not in TYPES:
        return None
    return Device(match[1], int(match[2]) if match[2] else None)


_BEGUN = re.compile(r"([a-z]+):\??\Z")


def some_device(text: str) -> Device | None:
    """The device of a type, whatever its number, that a text begins to name (`cuda:`), or of which
    the number is put as a question mark; None of any other text."""
    match = _BEGUN.match(text)
    if match is None or match[1] not in TYPES or match[1] in ("cpu", "meta"):
        return None
    return Device(match[1], ANY_INDEX)


def agree(left: DeviceTree, right: DeviceTree) -> Agreement:
    """Compares two leaves. A current CUDA device is device 0, since a change of it is resolved
    where the tensor is made."""
    if left is right:
        return Agreement.MAYBE if is_unknown(left) else Agreement.SAME
    if not isinstance(left, Device) or not isinstance(right, Device):
        return Agreement.MAYBE
    if left.type != right.type:
        return Agreement.DIFFERENT
    if ANY_INDEX in (left.index, right.index):
        return Agreement.MAYBE
    return Agreement.SAME if (left.index or 0) == (right.index or 0) else Agreement.DIFFERENT


def same_everywhere(left: DeviceTree, right: DeviceTree) -> bool:
    """Whether the same is known of two places, in each case in which anything is."""
    if left == right:
        return not is_unknown(left)
    if type(left) is Guarded or type(right) is Guarded:
        return all(each is Agreement.SAME for each in leaves(combine(agree, left, right)))
    return agree(left, right) is Agreement.SAME


def surely_same(left: DeviceTree, right: DeviceTree) -> bool:
    """Whether two places are one in every case."""
    return same_everywhere(left, right) and not any(map(is_unknown, leaves(left)))


def shared(left: DeviceTree, right: DeviceTree) -> DeviceTree:
    """What can be said of something that is on one of two devices: an accelerator's type where they
    differ in its number alone; the other one where one of them never comes to be."""
    if left is CONTESTED or right is CONTESTED:
        return right if left is CONTESTED else left
    if same_everywhere(left, right):
        return left
    if not isinstance(left, Device) or not isinstance(right, Device):
        return UNKNOWN_DEVICE
    if left.type != right.type:
        return UNKNOWN_DEVICE
    return Device(left.type, ANY_INDEX)


def join_devices(condition: Any, left: DeviceTree, right: DeviceTree) -> DeviceTree:
    """`left` under `condition`, else `right`; unknown once the tree is too deep to be useful."""
    if left is right:
        return left
    tree: DeviceTree = choose(condition, left, right)
    return widen_device(tree)


def widen_device(tree: DeviceTree) -> DeviceTree:
    """The tree, less of what only conditions without words tell apart where that is too much."""
    if type(tree) is not Guarded or tree.depth <= MAX_UNNAMED:
        return tree
    return _shallow(without_unnamed(tree), MAX_DEPTH)


def _shallow(tree: DeviceTree, deepest: int) -> DeviceTree:
    """The tree; where it is too deep and has too many leaves, of its primary case alone."""
    if type(tree) is not Guarded or tree.depth <= deepest or tree.size <= MAX_CHAIN:
        return tree
    default = tree.atom.default
    if default is None or deepest < 1:
        return UNKNOWN_DEVICE
    kept = _shallow(tree.yes if default else tree.no, deepest - 1)
    other = flatten_device(tree.no if default else tree.yes)
    sides = (kept, other) if default else (other, kept)
    shallow: DeviceTree = node(tree.atom, *sides)
    return shallow


def without_unnamed(tree: DeviceTree) -> DeviceTree:
    """The tree over named atoms alone: where the others decide, the one device or unknown."""
    if type(tree) is not Guarded:
        return tree
    yes, no = without_unnamed(tree.yes), without_unnamed(tree.no)
    if tree.atom.named:
        kept: DeviceTree = node(tree.atom, yes, no)
        return kept
    result: DeviceTree = combine(shared, yes, no)
    return result


def flatten_device(tree: DeviceTree) -> DeviceTree:
    """The tree without its guards: what its leaves share."""
    if type(tree) is not Guarded:
        return tree
    found: DeviceTree = reduce(shared, leaves(tree))
    return found


def is_accelerator(device: DeviceTree) -> bool:
    """A concrete device that is neither the host nor the shape-only meta device."""
    return isinstance(device, Device) and device.type not in ("cpu", "meta")
