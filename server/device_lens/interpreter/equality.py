"""Whether two values are equal: devices, dtypes, classes, sequences of constants."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import ANY_INDEX, Agreement, SymbolicDevice, agree, is_unknown
from device_lens.domain.guard import Guarded, combine, undecided
from device_lens.domain.heap import DictObject, Instance, ListObject
from device_lens.domain.values import (
    Const,
    DeviceValue,
    DtypeValue,
    External,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import class_attributes
from device_lens.interpreter.conditions import is_none_condition, opaque
from device_lens.interpreter.enumerations import is_member
from device_lens.interpreter.keys import key_of
from device_lens.models import registry
from device_lens.models.call import device_of
from device_lens.models.numbers import beginning, sequence
from device_lens.models.torch.parts import is_many
from device_lens.models.torch.type_names import equal_types


def equal(left: Any, right: Any) -> Any:
    """Equality where the analysis can tell, else None."""
    if DeviceValue in (type(left), type(right)):
        return _equal_devices(left, right)
    by_type = equal_types(left, right)
    if by_type is not None:
        return by_type
    if type(left) is DtypeValue and type(right) is DtypeValue:
        return None if None in (left.name, right.name) else left.name == right.name
    for value, other in ((left, right), (right, left)):
        if type(value) is Unknown and type(other) is Const:
            begun = beginning(value)
            if begun is not None and not _is_begun(other.value, begun):
                return False
            return opaque(value, ("==", other.value if key_of(other) is not None else None))
    if type(left) is External and type(right) is External:
        return same_name(left, right)
    if is_member(left) and is_member(right):
        return left is right
    if type(left) in _SEQUENCES and type(right) in _SEQUENCES:
        return _equal_sequences(left, right)
    if Const in (type(left), type(right)) and not _CONTAINERS.isdisjoint((type(left), type(right))):
        return False
    return same_class(left, right)


_CONTAINERS = frozenset((TupleValue, ListObject, DictObject))
_SEQUENCES = (TupleValue, ListObject)


def _equal_sequences(left: Any, right: Any) -> bool | None:
    """Whether two tuples or lists of constants are equal, as shapes are; None where that hangs on
    items or lengths that are not known."""
    kinds = [getattr(side, "kind", "tuple") for side in (left, right)]
    items, others = sequence(left), sequence(right)
    if kinds[0] != kinds[1] or kinds[0] not in ("tuple", "list"):
        return None
    if items is None or others is None:
        return None
    if len(items) != len(others):
        return False
    pairs = [_equal_items(*pair) for pair in zip(items, others, strict=True)]
    return False if False in pairs else None if None in pairs else True


def _equal_items(left: Any, right: Any) -> bool | None:
    if type(left) is Const and type(right) is Const:
        return None if is_open(left) or is_open(right) else bool(left.value == right.value)
    if type(left) in _SEQUENCES and type(right) in _SEQUENCES:
        return _equal_sequences(left, right)
    return None


def same_class(left: Any, right: Any) -> bool | None:
    """Whether a class of the program is another class; None where that is not known."""
    if class_attributes.is_plain_class(right):
        left, right = right, left
    if not class_attributes.is_plain_class(left):
        return None
    if type(right) is External:
        return False if registry.names_code(right.name) else None
    if not class_attributes.is_plain_class(right):
        return None
    # A statement that runs several times makes a class each time.
    return left is right if left is right or left.node is not right.node else None


def _is_begun(value: Any, begun: str) -> bool:
    """Whether a value is a string that begins so, with digits behind."""
    known = isinstance(value, str) and value.startswith(begun)
    return known and value[len(begun) :].isdigit()


def same_name(left: External, right: External) -> bool | None:
    """Whether two names of libraries name the same; None where either may hold any value."""
    if left == right:
        return True
    return False if registry.names_code(left.name) and registry.names_code(right.name) else None


def _equal_devices(left: Any, right: Any) -> Any:
    """A device equals devices alone: never its name."""
    if Const in (type(left), type(right)):
        return False
    if any(type(side) is External and not registry.names_code(side.name) for side in (left, right)):
        return None
    first = left.device if type(left) is DeviceValue else device_of(left)
    second = right.device if type(right) is DeviceValue else device_of(right)
    if first is None or second is None:
        return False

    placed = tuple(getattr(side, "placed", None) for side in (left, right))

    def leaf(a: Any, b: Any) -> Any:
        if is_unknown(a) or is_unknown(b):
            return undecided()
        if a is b and isinstance(a, SymbolicDevice):
            return True
        if isinstance(a, SymbolicDevice) or isinstance(b, SymbolicDevice):
            symbol, other = (a, b) if isinstance(a, SymbolicDevice) else (b, a)
            return Guarded(symbol.is_at(other), True, False)
        if ANY_INDEX in (a.index, b.index) and a.type == b.type:
            return undecided()
        verdict = agree(a, b)
        if verdict is Agreement.MAYBE:
            return undecided()
        if verdict is Agreement.SAME and a.type != "cpu" and None in (a.index, b.index):
            return _equal_numbers(a.index is b.index, placed)
        return verdict is Agreement.SAME

    return combine(leaf, first, second)


def _equal_numbers(both_open: bool, placed: tuple[bool | None, ...]) -> Any:
    """Whether `cuda` equals `cuda`, or a GPU with its number: that of a tensor has a number, and a
    name has none."""
    if both_open and placed[0] is placed[1] is not None:
        return True
    if both_open and None not in placed:
        return False
    return undecided()


def none_condition(value: Any) -> Any:
    """The condition under which a value equals None."""
    return combine(_equals_none, value)


def _equals_none(value: Any) -> Any:
    own = type(value) is Instance and value.cls is not None
    if own and value.cls.lookup("__eq__") is not None:
        return undecided()
    return is_none_condition(value)


def is_open(value: Any) -> bool:
    """Whether a text is the name of a part that stands for any number of them."""
    return type(value) is Const and isinstance(value.value, str) and is_many(value.value)
