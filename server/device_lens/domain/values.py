"""Abstract values that do not change: constants, tensors, devices, tuples, library symbols.

A value is one of these, an object of the abstract heap (`heap`), or a decision tree of them
(`guard.Guarded`). Unknown is an ordinary value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree

if TYPE_CHECKING:
    from device_lens.domain.atom import Atom
    from device_lens.domain.guard import Guarded
    from device_lens.domain.trail import Trail

Dim = int | str | None
"""A number, a symbol such as "N", or unknown."""
Shape = tuple[Dim, ...] | None
"""None: not even the number of dimensions is known."""


class Const:
    """A Python constant: a number, a string, bytes, a boolean, None, Ellipsis."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Const
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)


class Tensor:
    """A tensor as a value: moving it makes another one.

    `shape`, `dtype` None: unknown. `requires_grad` and `leaf` None: unknown; a tensor that
    requires grad and is no leaf carries an autograd graph. `pinned` tells that it is in
    page-locked memory.
    `default_made` tells that a factory without `device=` made it, on whatever the default is.
    `zero_dim` tells whether it has no dimensions where `shape` does not: None is unknown.
    `grad_apart` tells that it was given data elsewhere, and may have a gradient where it was.
    `cls` is the class of the program's own that it is known to be of, else None.
    """

    __slots__ = (
        "cls",
        "default_made",
        "device",
        "dtype",
        "grad_apart",
        "leaf",
        "pinned",
        "requires_grad",
        "shape",
        "trail",
        "zero_dim",
    )

    def __init__(
        self,
        device: DeviceTree = UNKNOWN_DEVICE,
        dtype: str | None = None,
        shape: Shape = None,
        trail: Trail | None = None,
        *,
        requires_grad: bool | None = False,
        leaf: bool | None = True,
        pinned: bool = False,
        default_made: bool = False,
        zero_dim: bool | None = None,
    ) -> None:
        self.cls: Any = None
        self.device = device
        self.dtype = dtype
        self.shape = shape
        self.trail = trail
        self.requires_grad = requires_grad
        self.leaf = leaf
        self.pinned = pinned
        self.default_made = default_made
        self.grad_apart = False
        self.zero_dim = zero_dim if shape is None else not shape

    def with_(self, **changes: Any) -> Tensor:
        """A copy with some fields changed."""
        copy = Tensor.__new__(Tensor)
        copy.cls = self.cls
        copy.default_made = self.default_made
        copy.device = self.device
        copy.dtype = self.dtype
        copy.grad_apart = self.grad_apart
        copy.leaf = self.leaf
        copy.pinned = self.pinned
        copy.requires_grad = self.requires_grad
        copy.shape = self.shape
        copy.trail = self.trail
        copy.zero_dim = self.zero_dim
        for name, value in changes.items():
            setattr(copy, name, value)
        if changes.get("shape") is not None:
            copy.zero_dim = not changes["shape"]
        return copy

    def __repr__(self) -> str:
        return f"Tensor[{self.device}, {self.dtype}, {self.shape}]"


class DeviceValue:
    """A `torch.device` object. `placed` tells whether it is that of a tensor, which always has the
    number that a name such as `cuda` leaves open; None: that is not known."""

    __slots__ = ("device", "placed")

    def __init__(self, device: DeviceTree, placed: bool | None = None) -> None:
        self.device = device
        self.placed = placed

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is DeviceValue
            and self.device == other.device
            and self.placed is other.placed
        )

    def __hash__(self) -> int:
        return hash(("device", self.device))

    def __repr__(self) -> str:
        return f"DeviceValue({self.device})"


class DtypeValue:
    """A `torch.dtype` object; `name` without the `torch.` prefix."""

    __slots__ = ("name",)

    def __init__(self, name: str | None) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(other) is DtypeValue and self.name == other.name

    def __hash__(self) -> int:
        return hash(("dtype", self.name))


class TupleValue:
    """A tuple of known length; `names` when the fields are named, as in `torch.return_types`."""

    __slots__ = ("items", "names")

    def __init__(self, items: tuple[Any, ...], names: tuple[str, ...] | None = None) -> None:
        self.items = items
        self.names = names

    def __eq__(self, other: object) -> bool:
        return type(other) is TupleValue and self.items == other.items and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.items)

    def __repr__(self) -> str:
        return f"Tuple{self.items}"


class SliceValue:
    """A slice in a subscript; the parts are values, `NONE` where left out."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start = start
        self.stop = stop
        self.step = step


class External:
    """A library symbol by its qualified name, such as `torch.nn.functional.relu`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(other) is External and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"External({self.name})"


class BoundExternal:
    """A method of a library type with its receiver: `x.view` for a tensor `x`."""

    __slots__ = ("name", "receiver")

    def __init__(self, receiver: Any, name: str) -> None:
        self.receiver = receiver
        self.name = name


class Partial:
    """`functools.partial`."""

    __slots__ = ("args", "function", "kwargs")

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs


class PartialMethod(Partial):
    """`functools.partialmethod`: who reads it from an object gets a `Partial` of the method."""

    __slots__ = ()


class HostArray:
    """A numpy array, or anything else that lives in host memory and carries numbers.

    `zero_dim` tells whether it has no dimensions: a number, or an array of one. It is known
    wherever the shape is, and None where it is not known.
    """

    __slots__ = ("dtype", "shape", "trail", "zero_dim")

    def __init__(
        self,
        dtype: str | None = None,
        shape: Shape = None,
        trail: Trail | None = None,
        zero_dim: bool | None = None,
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.trail = trail
        self.zero_dim = zero_dim if shape is None else not shape


class Unknown:
    """A value of which nothing is known but, perhaps, how it is called and where it would live.

    Equal only to itself: two uses of one unknown agree. `device` is the device that it has *if*
    it is a tensor or module. `tensor_evidence` tells that the program treats it as a tensor.
    `fields` remembers the unknowns that its attributes and items are, so that they agree too;
    `truths` the atoms of its tests, or trees of these.
    """

    __slots__ = ("device", "fields", "label", "tensor_evidence", "truths")

    def __init__(self, label: str = "", device: DeviceTree = UNKNOWN_DEVICE) -> None:
        self.label = label
        self.device = device
        self.tensor_evidence = False
        self.fields: dict[Any, Any] | None = None
        self.truths: dict[Any, Atom | Guarded] | None = None

    def __repr__(self) -> str:
        return f"Unknown({self.label})"

    def parts(self) -> dict[Any, Any]:
        """What is remembered of its attributes and items, to be read and added to."""
        self.note()
        if self.fields is None:
            self.fields = {}
        return self.fields

    def derive(self, key: Any, made: Unknown) -> Unknown:
        """Remembers `made` as the part of that name or index. A part of a module's unknown part is
        one of the module."""
        parts = self.parts()
        parts[key] = made
        whole = parts.get(WHOLE)
        if whole is not None:
            made.parts()[WHOLE] = whole
        return made

    def note(self) -> None:
        """To be called before something is remembered of it (`forgetting`)."""
        noted, fields, truths = _NOTED[-1], self.fields, self.truths
        _CHANGED[-1][id(self)] = self
        if id(self) in noted:
            return
        copies = _copied(fields), _copied(truths)
        if any(id(self) in each for each in _REMINDED):
            noted[id(self)] = self, fields, truths, self.tensor_evidence
            self.fields, self.truths = copies  # what it has is kept for others
        else:
            noted[id(self)] = (self, *copies, self.tensor_evidence)


def _copied(table: dict[Any, Any] | None) -> dict[Any, Any] | None:
    return None if table is None else dict(table)


WHOLE = "<whole>"
"""Under this an unknown that may be a part of a module remembers the module."""
ONE_OF = "<one of these>"
"""Under this an unknown says that it is one of what it has under `WHOLE`, and no part of that."""
WITHIN = "<within>"
"""Under this an unknown that has been read out of a container of modules remembers that one, and
what that has there."""
METHOD = "<method>"
"""Under this an unknown remembers that it is a method of what may be a module."""
ARRAY = "<array>"
"""Under this an unknown remembers that it was sliced as tensors and arrays are, and lists not."""
Known = tuple[Unknown, Any, Any, bool]
"""An unknown with what is remembered of it: its parts, the atoms of its tests, and whether it is
treated as a tensor."""
Remembered = list[Known]
_NOTED: list[dict[int, Known]] = [{}]
"""Unknowns as they were before something was remembered of them, for each open stretch."""
_REMINDED: list[dict[int, Known]] = [{}]
"""Unknowns as they were before they were reminded, for each open stretch."""
_CHANGED: list[dict[int, Unknown]] = [{}]
"""Unknowns of which something was remembered since that was asked last, for each open stretch."""


def remembered() -> Remembered:
    """What is remembered now of the unknowns of the open stretch."""
    values = {**_REMINDED[-1], **_NOTED[-1]}.values()
    return [
        (value, _copied(value.fields), _copied(value.truths), value.tensor_evidence)
        for value, _, _, _ in values
    ]


def newly_remembered() -> Remembered:
    """What is remembered now of the unknowns of the open stretch of which something was remembered
    since this was asked last."""
    changed, _CHANGED[-1] = _CHANGED[-1], {}
    return [
        (value, _copied(value.fields), _copied(value.truths), value.tensor_evidence)
        for value in changed.values()
    ]


def remind(known: Remembered) -> None:
    """Lets unknowns have what was remembered of them, until the open stretch ends. To be called
    before anything else is remembered of one."""
    reminded = _REMINDED[-1]
    for value, fields, truths, evidence in known:
        reminded[id(value)] = value, value.fields, value.truths, value.tensor_evidence
        value.fields, value.truths, value.tensor_evidence = fields, truths, evidence


def newly_treated(known: Remembered) -> set[int]:
    """The identities of the unknowns that came to be treated as tensors after something was
    `remembered`."""
    before = {id(value): evidence for value, _, _, evidence in known}
    return {
        id(value)
        for value, _, _, evidence in _NOTED[-1].values()
        if value.tensor_evidence and not before.get(id(value), evidence)
    }


@contextmanager
def forgetting(lasting: bool = False) -> Iterator[None]:
    """A stretch of an analysis after which unknowns are what they were before it, so that no other
    stretch depends on it; with `lasting` what is remembered stays."""
    _NOTED.append({})
    _REMINDED.append({})
    _CHANGED.append({})
    try:
        yield
    finally:
        noted, reminded = _NOTED.pop(), _REMINDED.pop()
        _CHANGED.pop()
        for changed in ({} if lasting else noted, reminded):
            for value, fields, truths, evidence in changed.values():
                value.fields, value.truths, value.tensor_evidence = fields, truths, evidence
