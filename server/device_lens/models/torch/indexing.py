"""`x[index]` and `x[index] = value`.

A host index may select from any tensor; an index tensor on an accelerator has to be where the
indexed tensor is, except that a single 0-dimensional integer is read like a Python number. In an
assignment index tensors may be anywhere: they are copied to where they are needed. A slice
assignment copies its value from any device, one through index tensors does not.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from device_lens.domain.device import DeviceTree
from device_lens.domain.heap import ListObject
from device_lens.domain.values import (
    NONE,
    Const,
    Dim,
    HostArray,
    Shape,
    SliceValue,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models import gradient
from device_lens.models.agreement import Placed, common_device, device_beside
from device_lens.models.call import Call, Value, constant, tensor_of
from device_lens.models.numbers import is_number
from device_lens.models.operands import off_host
from device_lens.models.registry import FUNCTIONS
from device_lens.models.shapes.extent import ANY, SOME, Extent, broadcast, exactly, of_tensor
from device_lens.models.signature import Place


@dataclass(slots=True)
class Index:
    """A subscript taken apart. `advanced` and `clear` are certain when true: index tensors or
    lists take part; every part is understood."""

    parts: tuple[Value, ...]
    tensors: list[Placed]
    advanced: bool
    clear: bool


def take_apart(value: Value, place: Place) -> Index:
    parts = value.items if type(value) is TupleValue else (value,)
    found = Index(parts, [], False, True)
    for number, part in enumerate(parts):
        at = f"{place}[{number}]" if type(value) is TupleValue else place
        tensor = tensor_of(part)
        if tensor is not None:
            found.tensors.append((tensor, part, at))
            found.clear = found.clear and tensor.zero_dim is not None
            found.advanced = found.advanced or tensor.zero_dim is False
        elif type(part) is HostArray:
            found.advanced = found.advanced or part.zero_dim is False
            found.clear = found.clear and part.zero_dim is not None
        elif type(part) in (ListObject, TupleValue):
            found.advanced = True
            found.tensors.extend(_inside(part, at))
        elif not _basic(part):
            found.clear = False
    return found


def _inside(part: Value, place: Place) -> list[Placed]:
    """Tensors among the items of a list that is an index: each has no dimensions."""
    items = part.items if type(part) in (ListObject, TupleValue) else ()
    tensors = [(tensor_of(item), item) for item in items]
    return [(tensor, item, place) for tensor, item in tensors if tensor is not None]


def _selects(part: Value) -> bool:
    """Whether a part of an index needs a dimension to select from."""
    return type(part) is SliceValue or type(constant(part)) is int


def _note_dimensions(call: Call, tensor: Tensor, index: Index) -> None:
    """Tells of a tensor that is selected from that it has dimensions."""
    if tensor.zero_dim is None and (index.advanced or any(map(_selects, index.parts))):
        call.services.has_dimensions(-1 if call.receiver is not None else 0)


def _basic(part: Value) -> bool:
    return type(part) in (Const, SliceValue) or is_number(part)


def _check(call: Call, receiver: Value, tensor: Tensor, index: Index) -> DeviceTree:
    """Reports index tensors that are on another accelerator than the tensor. Answers where what
    they select is."""
    device = tensor.device
    for placed in index.tensors:
        if placed[0].zero_dim is False:
            indexed: Placed = (tensor.with_(device=device), receiver, -1)
            device = device_beside(call.services, "[]", indexed, off_host(placed))
    return device


def _wait_for_mask(call: Call, receiver: Value, index: Index) -> None:
    """How many rows a mask selects is known on the device only."""
    if any(placed[0].dtype == "bool" for placed in index.tensors):
        call.services.synchronize("indexing with a mask", receiver, -1)


def _arguments(call: Call) -> tuple[Value, tuple[Value, ...]]:
    if call.receiver is not None:
        return call.receiver, call.args
    return (call.args[0], call.args[1:]) if call.args else (None, ())


def _reads_number(node: object) -> bool:
    """`loss.data[0]`, which once gave the number of a tensor without dimensions."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="data"), slice=ast.Constant(value=0)):
            return True
    return False


def get_item(call: Call) -> Value:
    receiver, args = _arguments(call)
    tensor = tensor_of(receiver)
    if tensor is None or not args:
        return call.unknown()
    index = take_apart(args[0], 0)
    if tensor.zero_dim and any(_selects(part) for part in index.parts):
        return call.unknown()  # it raises; once it was how one read the number
    if tensor.zero_dim is None and _reads_number(call.site.node):
        return call.unknown()
    _note_dimensions(call, tensor, index)
    device = _check(call, receiver, tensor, index)
    _wait_for_mask(call, receiver, index)
    shape, zero_dim = extent(tensor, index)
    needs, leaf = gradient.of_result(call.services, [tensor], tensor.dtype)
    return Tensor(
        device,
        tensor.dtype,
        shape,
        tensor.trail,
        requires_grad=needs,
        leaf=leaf,
        default_made=tensor.default_made,
        zero_dim=zero_dim,
    )


def set_item(call: Call) -> Value:
    receiver, args = _arguments(call)
    tensor = tensor_of(receiver)
    if tensor is None or len(args) < 2:
        return NONE
    index = take_apart(args[0], 0)
    value = tensor_of(args[1])
    _note_dimensions(call, tensor, index)
    if index.advanced and value is not None and _has_many(value):
        _wait_for_mask(call, receiver, index)
        written: Placed = (tensor.with_(zero_dim=False, shape=None), receiver, -1)
        common_device(call.services, "[] =", [written, (value, args[1], 1)], False)
    if type(receiver) is Tensor and value is not None:
        gradient.of_written(call.services, (value,), receiver)
    return NONE


def _has_many(value: Tensor) -> bool:
    """Whether a value that is assigned is more than one number: leading sizes of 1 do not count."""
    if value.shape is None:
        return value.zero_dim is False
    return any(dim != 1 for dim in value.shape)


def extent(tensor: Tensor, index: Index) -> Extent:
    """The extent of `tensor[index]`."""
    if not index.clear:
        return _kept(index)
    if tensor.shape is None or any(_is_mask(part) and not _rank(part) for part in index.parts):
        return _kept(index)
    shape = _expand(list(index.parts), len(tensor.shape))
    return ANY if shape is None else _walk(shape, list(tensor.shape))


def basic(shape: Shape, parts: tuple[Value, ...]) -> Extent:
    """What numbers, slices, `None` and `...` leave of a shape."""
    if shape is None:
        return _kept(Index(parts, [], False, True))
    expanded = _expand(list(parts), len(shape))
    return ANY if expanded is None else _walk(expanded, list(shape))


def _kept(index: Index) -> Extent:
    """What is known where the tensor's shape is not: a slice or an index tensor leaves at least
    one dimension."""
    leaves_one = index.advanced or any(type(part) is SliceValue for part in index.parts)
    new = any(type(part) is Const and part.value is None for part in index.parts)
    return SOME if leaves_one or new else ANY


def _is_mask(part: Value) -> bool:
    if type(part) is Const:
        return isinstance(part.value, bool)
    tensor = tensor_of(part)
    if type(part) is HostArray:
        return not part.zero_dim or part.dtype == "bool"
    return tensor is not None and tensor.dtype in (None, "bool")


def _rank(part: Value) -> int:
    """How many dimensions a mask whose shape is known selects from; 0 of all else."""
    tensor = tensor_of(part)
    kind = part if type(part) is HostArray else tensor
    return len(kind.shape or ()) if kind is not None and kind.dtype == "bool" else 0


def _expand(parts: list[Value], count: int) -> list[Value] | None:
    """One part per dimension, or for all those of a mask, `...` replaced by slices; new dimensions
    (None) come on top."""
    whole = SliceValue(NONE, NONE, NONE)
    used = sum(_rank(part) or 1 for part in parts if not _is_constant(part, None, Ellipsis))
    if used > count:
        return None
    missing = [whole] * (count - used)
    for position, part in enumerate(parts):
        if _is_constant(part, Ellipsis):
            return [*parts[:position], *missing, *parts[position + 1 :]]
    return [*parts, *missing]


def _is_constant(part: Value, *values: object) -> bool:
    return type(part) is Const and any(part.value is value for value in values)


def _walk(parts: list[Value], dims: list[Dim]) -> Extent:
    """The sizes that are left. Index tensors and lists are broadcast together; their dimensions
    stand where the first of them does, or in front where others part them. A number takes its
    dimension away before, and parts nothing."""
    result: list[Dim] = []
    advanced: list[Extent] = []
    at: list[int] = []
    first = position = 0
    for part in parts:
        if _is_constant(part, None):
            result.append(1)
            position += 1
            continue
        dim = dims.pop(0)
        del dims[: max(_rank(part) - 1, 0)]
        found = _advanced(part)
        if found is not None:
            advanced.append(found)
            at.append(position)
            if len(advanced) == 1:
                first = len(result)
        elif type(part) is SliceValue:
            result.append(_sliced(part, dim))
        else:
            continue
        position += 1
    if not advanced:
        return exactly(result)
    shape, _ = broadcast(advanced)
    if shape is None:
        return SOME
    if at[-1] - at[0] >= len(at):
        return exactly((*shape, *result))
    return exactly((*result[:first], *shape, *result[first:]))


def _advanced(part: Value) -> Extent | None:
    """The extent of an index tensor or list; None for other parts."""
    if _rank(part):
        return exactly((None,))
    tensor = tensor_of(part) if type(part) is not Unknown else None
    if tensor is not None:
        return None if tensor.zero_dim else of_tensor(tensor)
    if type(part) in (ListObject, TupleValue):
        known = type(part) is TupleValue or part.rest is None
        flat = all(_basic(item) for item in part.items)
        return exactly((len(part.items) if known else None,)) if flat else SOME
    return None


def _sliced(part: SliceValue, dim: Dim) -> Dim:
    """The size that a slice leaves."""
    bounds = [value.value if type(value) is Const else "?" for value in _bounds(part)]
    if bounds == [None, None, None]:
        return dim
    if not isinstance(dim, int) or "?" in bounds:
        return None
    try:
        return len(range(*slice(*bounds).indices(dim)))
    except (TypeError, ValueError):
        return None


def _bounds(part: SliceValue) -> tuple[Value, Value, Value]:
    return part.start, part.stop, part.step


def register_all() -> None:
    FUNCTIONS["torch.Tensor.__getitem__"] = get_item
    FUNCTIONS["torch.Tensor.__setitem__"] = set_item
