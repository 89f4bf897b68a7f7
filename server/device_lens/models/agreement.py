"""Do the operands of an operation share a device, and where is the result?"""

from __future__ import annotations

from typing import Any

from device_lens.domain.condition import together
from device_lens.domain.device import (
    CONTESTED,
    CPU,
    UNKNOWN_DEVICE,
    Agreement,
    Device,
    DeviceTree,
    agree,
    is_unknown,
    widen_device,
)
from device_lens.domain.guard import Guarded, Literals, assume, assume_all, leaves, node
from device_lens.domain.values import Tensor, Unknown
from device_lens.models.call import Services, treated_as_tensor

Placed = tuple[Tensor, Any, int | str]
"""A tensor operand, the value that it was read from, and its argument position."""


def common_device(
    services: Services, operation: str, operands: list[Placed], scalars: bool
) -> DeviceTree:
    """The device that the operands share, which is where the result lives.

    `scalars` tells that 0-dimensional host tensors may meet any device (element-wise operations).
    Operands that surely differ are reported, and the result is unknown.
    """
    first = operands[0]
    device = first[0].device
    chosen = first
    for number, operand in enumerate(operands[1:], 1):
        other = operand[0].device
        if other is device and not is_unknown(other):
            if chosen[0].zero_dim is not False and operand[0].zero_dim is False:
                chosen = operand
            continue
        pair = _Pair(services, operation, chosen, operand, scalars)
        device = widen_device(pair.merge(device, other, ()))
        if pair.apart:
            anchor = operand if chosen[0].device is CPU else chosen
            _further(services, operation, anchor, operands[number + 1 :], scalars)
            break
        if pair.right_rules:
            chosen = operand
    return device


def _further(
    services: Services, operation: str, anchor: Placed, operands: list[Placed], scalars: bool
) -> None:
    """Reports what else is on the host beside an operand that is not, what a module gives by
    name left out: each may have a cause of its own."""
    for operand in operands:
        place = operand[2]
        named = isinstance(place, str) and not place.endswith("]")
        if operand[0].device is CPU and not named:
            pair = _Pair(services, operation, anchor, operand, scalars)
            pair.merge(anchor[0].device, CPU, ())


def device_beside(services: Services, operation: str, kept: Placed, other: Placed) -> DeviceTree:
    """The device of an operand that the result lives with, whatever the other one's: unknown where
    the two surely differ, which is reported."""
    beside = _Beside(services, operation, kept, other, False)
    found: DeviceTree = beside.merge(kept[0].device, other[0].device, ())
    return found


_OUTSIDE = frozenset("hpu ipu lazy privateuseone".split())
"""Backends outside of PyTorch: each decides for itself what it makes of a host tensor, and may
compute the operation on the host."""


def _may_be_number(value: Any) -> bool:
    """Whether a number would do as well in all that the program does with an unknown."""
    return type(value) in (Unknown, Guarded) and not treated_as_tensor(value)


class _Pair:
    """The comparison of two operands over every case of their devices."""

    def __init__(
        self, services: Services, operation: str, left: Placed, right: Placed, scalars: bool
    ) -> None:
        self.services = services
        self.operation = operation
        self.left = left
        self.right = right
        self.scalars = scalars
        self.right_rules = False
        self.apart = False

    def merge(self, left: DeviceTree, right: DeviceTree, literals: Any) -> Any:
        atom = None
        for tree in (left, right):
            if type(tree) is Guarded and (atom is None or tree.atom.order < atom.order):
                atom = tree.atom
        if atom is None:
            return self._leaf(left, right, literals)
        results = {}
        first = atom.default is not False  # what is said of both cases is said of the usual one
        for value in (first, not first):
            under = (*literals, (atom, value))
            results[value] = self.merge(
                assume(left, atom, value), assume(right, atom, value), under
            )
        return node(atom, results[True], results[False])

    def _leaf(self, left: Any, right: Any, literals: Any) -> Any:
        if left is CONTESTED or right is CONTESTED:
            return CONTESTED
        verdict = agree(left, right)
        if verdict is Agreement.SAME:
            return left if isinstance(left, Device) and left.index is not None else right
        if self.scalars and self._scalar_on_host(left, self.left[0]):
            self.right_rules = True
            return right
        if self.scalars and self._scalar_on_host(right, self.right[0]):
            return left
        if not is_unknown(left) and self._scalar_perhaps(right, self.right, literals):
            return left
        if not is_unknown(right) and self._scalar_perhaps(left, self.left, literals):
            self.right_rules = True
            return right
        self._note(left, right, literals)
        self.apart = self.apart or verdict is Agreement.DIFFERENT
        return CONTESTED if verdict is Agreement.DIFFERENT else self._undecided(left, right)

    def _scalar_on_host(self, device: Any, tensor: Tensor) -> bool:
        return device is CPU and tensor.zero_dim is True

    def _scalar_perhaps(self, device: Any, operand: Placed, literals: Literals) -> bool:
        """Whether a host tensor has perhaps no dimensions in a case: one without meets any
        device."""
        tensor, value, _ = operand
        if not self.scalars or device is not CPU or tensor.zero_dim is not None:
            return False
        found = leaves(assume_all(value, literals)) if type(value) is Guarded else ()
        return not found or any(type(e) is not Tensor or e.zero_dim is not False for e in found)

    def _note(self, left: Any, right: Any, literals: Any) -> None:
        if is_unknown(left) or is_unknown(right):
            return
        if any(isinstance(side, Device) and side.type in _OUTSIDE for side in (left, right)):
            return
        if self.scalars and (_may_be_number(self.left[1]) or _may_be_number(self.right[1])):
            return
        if together(literals, self.services.condition()) is False:
            return
        self.services.conflict(
            self.operation, (self.left[1], self.left[2]), (self.right[1], self.right[2]), literals
        )

    def _undecided(self, left: Any, right: Any) -> Any:
        """One side is not known. An accelerator tensor makes the result live there, since anything
        else raises; a host tensor does so only where it cannot be a 0-dimensional guest. Beside a
        symbol it is told of as a stray, after which nothing follows."""
        for device, tensor in ((left, self.left[0]), (right, self.right[0])):
            if isinstance(device, Device) and device is not CPU:
                return device
            if device is CPU and (tensor.zero_dim is False or not self.scalars):
                other = right if device is left else left
                if is_unknown(other):
                    return device
                if not self.scalars:
                    return UNKNOWN_DEVICE
        known = not is_unknown(left) and not is_unknown(right)
        return left if known else UNKNOWN_DEVICE


class _Beside(_Pair):
    """A comparison after which the left operand's device counts."""

    def _leaf(self, left: Any, right: Any, literals: Any) -> Any:
        return CONTESTED if super()._leaf(left, right, literals) is CONTESTED else left
