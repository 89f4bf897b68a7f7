"""Functions that give several tensors back: `chunk`, `split`, `unbind` and their kin."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.heap import ListObject
from device_lens.domain.values import NONE, Dim, Shape, Tensor, TupleValue
from device_lens.models import gradient
from device_lens.models.call import Call, Model, Value
from device_lens.models.numbers import dimension, sequence
from device_lens.models.operands import collect
from device_lens.models.operation import tensor
from device_lens.models.registry import FUNCTIONS
from device_lens.models.shapes.extent import Extent, axis
from device_lens.models.signature import Bound, signature
from device_lens.models.wording import operation as worded

MAX_PIECES = 64
"""Longer results are a sequence of unknown length."""
_Pieces = Callable[[Bound, Dim, int], "list[Dim] | None"]
"""The sizes along the split dimension, from its size and the call; None where unknown."""


def _model(parameters: str, pieces: _Pieces, dim: int = 0, drops: bool = False) -> Model:
    def model(call: Call) -> Value:
        bound = Bound(signature(parameters), call)
        operands = collect(bound)
        device = operands.check(worded(call.name))
        source = operands.tensors[0] if operands.tensors else Tensor()
        sizes = pieces(bound, _size(source.shape, bound, dim), dim) if call.complete else None

        def piece(size: Dim) -> Tensor:
            extent = _extent(source, bound, dim, size, drops)
            return tensor(False, extent, source.dtype, device, operands)

        if sizes is None or len(sizes) > MAX_PIECES:
            return ListObject((), piece(None), "tuple", call.site.node)
        return TupleValue(tuple(map(piece, sizes)))

    return model


def _dim(bound: Bound, default: int) -> int | None:
    found = bound.constant("dim", default)
    return found if isinstance(found, int) else None


def _size(shape: Shape, bound: Bound, default: int) -> Dim:
    if shape is None:
        return None
    at = axis(_dim(bound, default), len(shape))
    return None if at is None else shape[at]


def _extent(source: Tensor, bound: Bound, default: int, size: Dim, drops: bool) -> Extent:
    shape = source.shape
    if shape is None:
        return None, None if drops else False
    at = axis(_dim(bound, default), len(shape))
    if at is None:
        rest: tuple[Dim, ...] = tuple(None for _ in shape)
        return (rest[1:] if drops else rest), None
    middle = () if drops else (size,)
    return (*shape[:at], *middle, *shape[at + 1 :]), None


def _chunks(bound: Bound, size: Dim, dim: int) -> list[Dim] | None:
    """`chunk(x, n)`: at most `n` equal pieces, the last one smaller."""
    count = bound.constant("chunks")
    if not isinstance(count, int) or count < 1:
        return None
    if not isinstance(size, int):
        return [None] * count
    step = max(1, -(-size // count))
    return [min(step, size - start) for start in range(0, size, step)] or [0]


def _splits(bound: Bound, size: Dim, dim: int) -> list[Dim] | None:
    """`split(x, size)` or `split(x, [sizes])`."""
    wish = bound.get("sizes")
    listed = sequence(wish) if wish is not None else None
    if listed is not None:
        return [dimension(item) for item in listed]
    step = dimension(wish) if wish is not None else None
    if not isinstance(step, int) or not isinstance(size, int) or step < 1:
        return None
    return [min(step, size - start) for start in range(0, size, step)] or [0]


def _sections(bound: Bound, size: Dim, dim: int) -> list[Dim] | None:
    """`tensor_split(x, n)` or `tensor_split(x, (i, j))`: always `n`, or one more than indices."""
    wish = bound.get("sections") or NONE
    listed = sequence(wish)
    count = len(listed) + 1 if listed is not None else dimension(wish)
    if not isinstance(count, int) or count < 1:
        return None
    if listed is not None or not isinstance(size, int):
        return [None] * count
    small, larger = divmod(size, count)
    return [small + 1 if i < larger else small for i in range(count)]


def _every(bound: Bound, size: Dim, dim: int) -> list[Dim] | None:
    return [1] * size if isinstance(size, int) else None


def together(parameters: str, single: bool = False, agree: bool = False) -> Model:
    """Functions of several tensors that give as many back: `meshgrid` (they have to share a
    device: `agree`), `broadcast_tensors`, `atleast_2d` (of one tensor, one: `single`)."""

    def model(call: Call) -> Value:
        bound = Bound(signature(parameters), call)
        operands = collect(bound)
        if agree:
            operands.check(worded(call.name))
        placed = [each[0] for each in operands.agreeing]
        solid = single or any(each.zero_dim is False for each in placed)
        results = tuple(_alike(call, each, solid) for each in placed)
        if single and len(results) == 1 and not _listed(bound):
            return results[0]
        if not bound.tensors_complete or not results:
            rest = results[0] if results else call.unknown()
            return ListObject((), rest, "tuple", call.site.node)
        return TupleValue(results)

    return model


def _listed(bound: Bound) -> bool:
    value = bound.get("tensors")
    return (
        isinstance(value, tuple)
        and len(value) == 1
        and isinstance(value[0], (TupleValue, ListObject))
    )


def _alike(call: Call, source: Tensor, solid: bool) -> Tensor:
    """A tensor of another shape, perhaps the very same one."""
    needs, leaf = gradient.of_result(call.services, [source], source.dtype)
    return source.with_(
        shape=None,
        zero_dim=False if solid else None,
        requires_grad=needs,
        leaf=leaf if leaf == source.leaf else None,
    )


def register_all() -> None:
    models: dict[str, Model] = {
        "chunk": _model("@input, chunks, dim", _chunks),
        "unsafe_chunk": _model("@input, chunks, dim", _chunks),
        "split": _model("@input, sizes, dim", _splits),
        "unsafe_split": _model("@input, sizes, dim", _splits),
        "split_with_sizes": _model("@input, sizes, dim", _splits),
        "unsafe_split_with_sizes": _model("@input, sizes, dim", _splits),
        "split_copy": _model("@input, sizes, dim", _splits),
        "split_with_sizes_copy": _model("@input, sizes, dim", _splits),
        "tensor_split": _model("@input, !sections, dim", _sections),
        "hsplit": _model("@input, !sections", _sections, 1),
        "vsplit": _model("@input, !sections", _sections, 0),
        "dsplit": _model("@input, !sections", _sections, 2),
        "unbind": _model("@input, dim", _every, drops=True),
        "unbind_copy": _model("@input, dim", _every, drops=True),
    }
    for name, model in models.items():
        FUNCTIONS[f"torch.{name}"] = model
    FUNCTIONS["torch.Tensor.__iter__"] = models["unbind"]
    FUNCTIONS["torch.meshgrid"] = together("...@tensors, *, indexing", agree=True)
    FUNCTIONS["torch.broadcast_tensors"] = together("...@tensors")
    for count in (1, 2, 3):
        FUNCTIONS[f"torch.atleast_{count}d"] = together("...@tensors", single=True)
