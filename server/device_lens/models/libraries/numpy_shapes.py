"""How many dimensions numpy's arrays have: what decides whether PyTorch takes one for a number."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.device import CPU
from device_lens.domain.heap import ListObject
from device_lens.domain.values import Const, HostArray, Shape, SliceValue, Tensor, TupleValue
from device_lens.models.call import Call, Model, Value, constant, is_none, tensor_of
from device_lens.models.libraries.host import read_arguments, written
from device_lens.models.numbers import dimension, is_number, sequence
from device_lens.models.registry import FUNCTIONS
from device_lens.models.shapes import rules
from device_lens.models.shapes.extent import (
    ANY,
    NO_DIMENSIONS,
    SOME,
    Extent,
    Rule,
    broadcast,
    exactly,
)
from device_lens.models.signature import Bound, signature
from device_lens.models.torch.from_data import described
from device_lens.models.torch.indexing import basic
from device_lens.models.words import words

ARRAY = "numpy.ndarray"
FLOATING = ("float16", "float32", "float64")
_BOTH: dict[str, tuple[str, Rule]] = {
    "sum prod": ("input, dim, dtype, out, keepdim, initial, where", rules.reduced),
    "mean": ("input, dim, dtype, out, keepdim, where", rules.reduced),
    "std var": ("input, dim, dtype, out, ddof, keepdim, where", rules.reduced),
    "max min": ("input, dim, out, keepdim, initial, where", rules.reduced),
    "all any": ("input, dim, out, keepdim, where", rules.reduced),
    "argmax argmin": ("input, dim, out, keepdim", rules.reduced),
    "squeeze": ("input, dim", rules.squeezed),
    "ravel flatten": ("input", rules.line),
    "sort transpose swapaxes": ("input, ...size", rules.same_rank),
    "reshape": ("input, ...size, order", rules.viewed),
}
"""What functions and methods of these names leave of an array's shape."""
_FUNCTIONS: dict[str, tuple[str, Rule]] = {
    "amax amin": ("input, dim, out, keepdim", rules.reduced),
    "median": ("input, dim, out, overwrite, keepdim", rules.reduced),
    "linalg.norm": ("input, ord, dim, keepdim", rules.reduced),
    "expand_dims": ("input, dim", rules.unsqueezed),
    "moveaxis flip fliplr flipud roll pad": ("input, ...size", rules.same_rank),
    "broadcast_to": ("input, size", rules.viewed),
    "tile": ("input, size", rules.repeated),
}


def sizes(value: Value) -> Shape:
    """The shape that a `size=` or `shape=` asks for."""
    items = sequence(value)
    if items is not None:
        return tuple(dimension(item) for item in items)
    return (dimension(value),) if is_number(value) else None


def extent_of(value: Value) -> Extent:
    """The extent of the array that a value is to numpy."""
    if type(value) in (HostArray, Tensor):
        return value.shape, value.zero_dim
    if is_number(value):
        return NO_DIMENSIONS
    return described(value)[0] if type(value) in (TupleValue, ListObject) else ANY


def array(extent: Extent, dtype: str | None = None) -> HostArray:
    return HostArray(dtype, extent[0], None, extent[1])


def together(*values: Value) -> Extent:
    """The extent of what is computed of values element by element."""
    return broadcast(map(extent_of, values))


def operated(operator: str, left: Value, right: Value, in_place: bool) -> HostArray:
    """`left operator right`, of which at least one is an array."""
    if operator == "matmul":
        return array(_product(extent_of(left), extent_of(right)))
    if in_place and type(left) is HostArray and left.zero_dim is False:
        return HostArray(left.dtype, left.shape, None, left.zero_dim)
    return array(together(left, right), _common_dtype(left, right))


def _common_dtype(left: Value, right: Value) -> str | None:
    """The floating dtype of what is computed of two arrays, or of one and a number."""
    dtypes = [each.dtype for each in (left, right) if type(each) is HostArray]
    others = [each for each in (left, right) if type(each) is not HostArray]
    if not all(type(each) is Const and type(each.value) in (int, float) for each in others):
        return None
    return dtypes[0] if len(set(dtypes)) == 1 and dtypes[0] in FLOATING else None


def _product(left: Extent, right: Extent) -> Extent:
    """Of matrices; what two vectors make has no dimensions."""
    if left[0] is None or right[0] is None or not left[0] or not right[0]:
        return ANY
    if len(left[0]) == 1 or len(right[0]) == 1:
        return exactly(None for _ in range(len(left[0]) + len(right[0]) - 2))
    return exactly(None for _ in range(max(len(left[0]), len(right[0]))))


def item(call: Call) -> Value:
    """`array[index]`. NumPy asks a tensor of one number for it, and reads any other."""
    receiver = call.receiver
    if type(receiver) is not HostArray or not call.args:
        return HostArray()
    index = call.args[0]
    tensor = tensor_of(index)
    if tensor is not None and tensor.zero_dim is False:
        call.services.host_read("array[…]", index, 0)
    parts = index.items if type(index) is TupleValue else (index,)
    return array(_selected((receiver.shape, receiver.zero_dim), parts), receiver.dtype)


def _selected(extent: Extent, parts: tuple[Value, ...]) -> Extent:
    """What is left where an index of these parts selects. Lists and arrays leave a dimension at
    least, a mask as well."""
    plain = [part for part in parts if _is_plain(part)]
    if len(plain) == len(parts):
        return basic(extent[0], parts)
    others = [part for part in parts if not _is_plain(part)]
    several = all(extent_of(part)[1] is False for part in others)
    return SOME if several and all(type(part) is not Tensor for part in others) else ANY


def _is_plain(part: Value) -> bool:
    if type(part) is Const:
        return part.value is None or part.value is Ellipsis or type(part.value) is int
    if type(part) is HostArray:
        return False
    return type(part) is SliceValue or is_number(part)


def _by_rule(row: str, rule: Rule, name: str) -> Model:
    what = written(name)

    def model(call: Call) -> Value:
        read_arguments(call, what)
        bound = Bound(signature(row), call)
        shape, zero_dim = extent_of(bound.get("input"))
        if not call.complete:
            return HostArray()
        extent = rule(bound, [Tensor(CPU, None, shape, None, zero_dim=zero_dim)])
        return array(extent, double(call, name))

    return model


def double(call: Call, name: str) -> str | None:
    """`float64` where that is what an operation gives that computes with such arrays; None where it
    gives something else, or nobody knows."""
    if name.rpartition(".")[2] in _NO_REALS or "dtype" in call.kwargs:
        return None
    given = call.args if call.receiver is None else (call.receiver, *call.args)
    arrays = [
        part
        for value in given
        for part in (value.items if type(value) in (TupleValue, ListObject) else (value,))
        if type(part) is HostArray
    ]
    is_double = bool(arrays) and all(each.dtype == "float64" for each in arrays)
    return "float64" if is_double else None


_NO_REALS = frozenset(
    words(
        """argmax argmin any all isnan isinf isfinite logical_not greater less equal logical_and
        logical_or repeat where"""
    )
)
"""What gives indices or truth, or takes numbers of another kind."""


def _made(extent: Callable[[Call], Extent], name: str) -> Model:
    def model(call: Call) -> Value:
        read_arguments(call, written(name))
        if not call.complete:
            return HostArray()
        if "dtype" in call.kwargs:
            return array(extent(call))
        spaced = extent is _spaced and len(call.args) <= 3
        reals = extent is _range and any(type(constant(each)) is float for each in call.args)
        dtype = "float64" if spaced or reals else double(call, name)
        return array(extent(call), dtype)

    return model


def _range(call: Call) -> Extent:
    alone = len(call.args) == 1 and "stop" not in call.kwargs
    return exactly((dimension(call.args[0]) if alone else None,))


def _spaced(call: Call) -> Extent:
    """`np.linspace` and the like, of double precision unless another one is asked for."""
    ends = call.get(0, "start"), call.get(1, "stop")
    return exactly((None,)) if all(map(is_number, ends)) else SOME


def _matrix(call: Call) -> Extent:
    return exactly((None, None))


def _joined(call: Call) -> Extent:
    """`np.concatenate`: as many dimensions as each of the arrays has."""
    if is_none(call.get(1, "axis", Const(0))):
        return exactly((None,))
    return _like_first(call, 0)


def _stacked(call: Call) -> Extent:
    return _like_first(call, 1)


def _like_first(call: Call, more: int) -> Extent:
    """The extent of arrays in a list that are put together: `more` dimensions than one has."""
    extent = _first(call)
    if extent[0] is None:
        return SOME
    return exactly(None for _ in range(len(extent[0]) + more))


def _at_least(count: int) -> Callable[[Call], Extent]:
    def extent(call: Call) -> Extent:
        shape = _first(call)[0]
        return SOME if shape is None else exactly(None for _ in range(max(count, len(shape))))

    return extent


def _first(call: Call) -> Extent:
    arrays = call.args[0] if call.args else None
    items = sequence(arrays) if arrays is not None else None
    if not items and type(arrays) is ListObject and arrays.rest is not None:
        items = (arrays.rest,)
    return extent_of(items[0]) if items else ANY


def _chosen(call: Call) -> Extent:
    return together(*call.args) if len(call.args) == 3 else ANY


def _repeated(call: Call) -> Extent:
    """`np.repeat` and `np.cumsum`: one dimension, unless they go along one."""
    receiver = () if call.receiver is None else (call.receiver,)
    args = (*receiver, *call.args)
    at = 2 if call.name.endswith("repeat") else 1
    axis = call.kwargs.get("axis", args[at] if len(args) > at else None)
    if is_none(axis):
        return exactly((None,))
    shape = extent_of(args[0])[0] if args and type(constant(axis)) is int else None
    return SOME if shape is None else exactly(None for _ in shape)


def register_all() -> None:
    for names, (row, rule) in (*_BOTH.items(), *_FUNCTIONS.items()):
        for name in words(names):
            FUNCTIONS[f"numpy.{name}"] = _by_rule(row, rule, name)
    for names, (row, rule) in _BOTH.items():
        for name in words(names):
            FUNCTIONS[f"{ARRAY}.{name}"] = _by_rule(row, rule, f"ndarray.{name}")
    made = {
        "arange": _range,
        "linspace logspace geomspace": _spaced,
        "eye identity outer tri": _matrix,
        "concatenate": _joined,
        "stack": _stacked,
        "hstack": _at_least(1),
        "vstack column_stack": _at_least(2),
        "dstack": _at_least(3),
        "where": _chosen,
        "repeat cumsum ndarray.repeat ndarray.cumsum": _repeated,
    }
    for names, extent in made.items():
        for name in words(names):
            FUNCTIONS[f"numpy.{name}"] = _made(extent, name)
    FUNCTIONS[f"{ARRAY}.__getitem__"] = item
