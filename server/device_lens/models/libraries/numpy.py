"""numpy: arrays are in host memory."""

from __future__ import annotations

from device_lens.domain.device import CPU
from device_lens.domain.guard import combine
from device_lens.domain.heap import DictObject, ListObject, ModuleObject, Parameter
from device_lens.domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    DtypeValue,
    External,
    HostArray,
    SliceValue,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models.call import Call, Model, Value, is_none, tensor_of, treated_as_tensor
from device_lens.models.dtypes import named
from device_lens.models.libraries import numpy_linalg, numpy_random, numpy_shapes
from device_lens.models.libraries.host import host_function, read, read_arguments, written
from device_lens.models.libraries.numpy_shapes import (
    ARRAY,
    array,
    double,
    extent_of,
    sizes,
    together,
)
from device_lens.models.numbers import (
    is_number,
    is_text,
    number,
    of_dimension,
    of_shape,
)
from device_lens.models.registry import ATTRIBUTES, FUNCTIONS, PACKAGES
from device_lens.models.shapes.extent import ANY
from device_lens.models.torch.objects import unknown
from device_lens.models.words import words

_FILLED = words("zeros ones empty")
_INSPECTORS = words(
    "shape ndim size iterable broadcast_shapes issubdtype dtype array_equal random.seed"
)
"""Functions that look at their argument without reading it as an array."""
_ITEMS = words("ndarray.tolist ndarray.tobytes ndarray.dump ndarray.nonzero")
_KEEPING = words("ndarray.copy ndarray.clip ndarray.round ndarray.__neg__ ndarray.__abs__")
_OWN_METHODS = words("squeeze swapaxes nonzero real")
"""Functions that call the method of that name, which a tensor has too."""
_RESHAPING = words("squeeze swapaxes")
_GIVING_BACK = words(
    "argmax argmin argpartition argsort cumprod cumsum delete ptp repeat reshape take transpose"
)
"""Functions that read their first argument as an array and give a tensor for a tensor: what they
computed is put into what that makes of arrays."""
_PLACES = words("argmax argmin argpartition argsort")
"""Those whose result is indices."""
_SPLITTING = words("array_split split vsplit hsplit dsplit")
_OF_TENSORS = {"indices_or_sections": "sections", "axis": "dim"}
"""What PyTorch calls the arguments of these."""
_ELEMENTWISE = words("triu tril nan_to_num copy zeros_like ones_like empty_like full_like")
"""Functions whose result has the shape of their first argument."""
_UNIVERSAL = words(
    """abs absolute exp log sqrt square sin cos tan tanh sinh cosh arcsin arccos arctan floor ceil
    trunc rint sign negative reciprocal logical_not isnan isinf isfinite exp2 expm1 log1p log2 log10
    clip round around"""
)
"""Functions of one array that give a tensor back what they computed of it, as a tensor."""
_UNIVERSAL_PAIRS = words(
    """add subtract multiply divide true_divide floor_divide mod remainder power maximum minimum
    fmax fmin arctan2 hypot greater less equal logical_and logical_or"""
)
"""Those of two arrays."""
_NO_SCALARS = (Tensor, Parameter, ListObject, TupleValue, DictObject, ModuleObject)
_METHODS = frozenset(
    words(
        """
        all any argmax argmin argpartition argsort astype byteswap choose clip compress conj
        conjugate copy cumprod cumsum diagonal dot dump dumps fill flatten getfield item itemset max
        mean min newbyteorder nonzero partition prod ptp put ravel repeat reshape resize round
        searchsorted setfield setflags sort squeeze std sum swapaxes take to_device tobytes tofile
        tolist tostring trace transpose var view
        """
    )
)
"""The methods that an array has."""
_DTYPES = {
    **{name: name for name in words("float16 float32 float64 int8 int16 int32 int64 uint8")},
    "bool_": "bool",
    "double": "float64",
    "single": "float32",
    "half": "float16",
    "long": "int64",
}

_OF_NUMBERS = {float: "float64", int: "int64", bool: "bool"}


def dtype_name(value: Value) -> str | None:
    """The dtype that an argument names: `np.float32`, `"float32"`, `float`."""
    if type(value) is Const and isinstance(value.value, str):
        return _DTYPES.get(value.value)
    if type(value) is External:
        return _DTYPES.get(value.name.removeprefix("numpy.")) or named(value)
    return named(value) if type(value) is DtypeValue else None


def _holds_objects(dtype: Value) -> bool:
    """Whether what an array's items are says nothing of its dimensions."""
    if type(dtype) is External:
        return dtype.name.rpartition(".")[2] in ("object", "object_")
    return type(dtype) is Const and dtype.value in ("object", "O")


def _filled(call: Call) -> Value:
    """`np.zeros(shape)`."""
    dtype = call.kwargs.get("dtype", call.args[1] if len(call.args) > 1 else None)
    shape = None if _holds_objects(dtype) else sizes(call.get(0, "shape"))
    return HostArray("float64" if dtype is None else dtype_name(dtype), shape)


def _full(call: Call) -> Value:
    """`np.full(shape, value)` reads the value, and is of its dtype."""
    value, dtype = call.get(1, "fill_value"), call.get(2, "dtype")
    read(call, written(call.name), value, call.place(1, "fill_value"))
    shape = None if _holds_objects(dtype) else sizes(call.get(0, "shape"))
    return HostArray(_dtype_of(value) if is_none(dtype) else dtype_name(dtype), shape)


def _array(call: Call) -> Value:
    """`np.asarray(x)`: reads a tensor where it is. For a dtype with fields each number is asked for
    its value."""
    asked = call.kwargs.get("dtype", call.args[1] if len(call.args) > 1 else None)
    if type(asked) is ListObject:
        return HostArray()
    read_arguments(call, written(call.name))
    value = call.args[0] if call.args else None
    dtype = dtype_name(asked)
    if _holds_objects(asked):
        return HostArray()
    if type(value) is HostArray:
        return HostArray(dtype or value.dtype, value.shape, value.trail, value.zero_dim)
    tensor = tensor_of(value)
    if tensor is not None:
        return HostArray(dtype or tensor.dtype, tensor.shape, None, tensor.zero_dim)
    return array(extent_of(value), dtype or _dtype_of(value))


def _dtype_of(data: Value) -> str | None:
    """The dtype of the array that nested numbers of Python become; None where they are not known to
    be of one kind."""
    if type(data) is Const:
        return _OF_NUMBERS.get(type(data.value))
    if type(data) is TupleValue or (type(data) is ListObject and data.rest is None):
        found = set(map(_dtype_of, data.items))
        return found.pop() if len(found) == 1 else None
    return data.dtype if type(data) is HostArray else None


def _elementwise(call: Call) -> Value:
    """An array of its argument's shape. A triangle has two dimensions at least."""
    read_arguments(call, written(call.name))
    value = call.args[0] if call.args else None
    found = array(extent_of(value), double(call, call.name))
    if found.shape is None and call.name.endswith(("triu", "tril")):
        found = HostArray(found.dtype, None, found.trail, zero_dim=False)
    return found


def _loaded(call: Call) -> Value:
    """`np.loadtxt(file)`: double precision unless another one is asked for."""
    dtype = call.kwargs.get("dtype", call.args[1] if len(call.args) > 1 else None)
    return HostArray("float64" if dtype is None else dtype_name(dtype))


def _universal(call: Call) -> Value:
    """`np.sqrt(t)` reads a tensor in host memory, and its result is a tensor there."""
    read_arguments(call, written(call.name))
    count = 2 if call.name.rpartition(".")[2] in _UNIVERSAL_PAIRS else 1
    for value in call.args[:count]:
        tensor = tensor_of(value)
        if tensor is not None and treated_as_tensor(value):
            trail = call.trail("created", "is computed on the CPU by numpy")
            return Tensor(CPU, None, None if count == 2 else tensor.shape, trail)
    return array(together(*call.args[:count]), double(call, call.name))


def _giving_back(name: str) -> Model:
    """`np.argsort(t)` reads a tensor in host memory, and its result is a tensor there."""
    computed = FUNCTIONS.get(f"numpy.{name}") or host_function(written(name))

    def model(call: Call) -> Value:
        result = computed(call)
        tensor = tensor_of(call.args[0]) if call.args else None
        if tensor is None or not treated_as_tensor(call.args[0]):
            return result
        shape, zero_dim = extent_of(result)
        trail = call.trail("created", "is computed on the CPU by numpy")
        dtype = "int64" if name in _PLACES else None
        return Tensor(CPU, dtype, shape, trail, zero_dim=zero_dim)

    return model


def _own_method(call: Call) -> Value:
    """`np.squeeze(t)` is `t.squeeze()`: a tensor stays one, wherever it is."""
    tensor = tensor_of(call.args[0]) if call.args else None
    if tensor is None:
        name = call.name.rpartition(".")[2]
        return FUNCTIONS[f"{ARRAY}.{name}"](call) if name in _RESHAPING else HostArray()
    return tensor.with_(shape=None, zero_dim=None)


def _split(call: Call) -> Value:
    """`np.split(t, 2)` takes slices of what it is given: those of a tensor are where it is."""
    if not call.args or tensor_of(call.args[0]) is None or not treated_as_tensor(call.args[0]):
        return HostArray()
    short = call.name.rpartition(".")[2]
    name = "torch.tensor_split" if short in ("split", "array_split") else f"torch.{short}"
    kwargs = {_OF_TENSORS.get(key, key): value for key, value in call.kwargs.items()}
    site, services = call.site, call.services
    parts = FUNCTIONS[name](Call(name, None, call.args, kwargs, site, services, call.complete))
    if type(parts) is TupleValue:
        return ListObject(parts.items, None, "list", site.node)
    return ListObject((), parts.rest, "list", site.node)


def _astype(call: Call) -> Value:
    dtype = call.get(0, "dtype")
    extent = ANY if _holds_objects(dtype) else extent_of(call.receiver)
    return array(extent, dtype_name(dtype))


def _kept(call: Call) -> Value:
    return call.receiver if type(call.receiver) is HostArray else HostArray()


def _python(call: Call) -> Value:
    return Unknown(call.name)


def _float(call: Call) -> Value:
    """`np.float64(t)` is Python's `float(t)` as well, which asks a tensor of one number for it;
    only one of several is read as an array."""
    value = call.args[0] if call.args else None
    tensor = tensor_of(value)
    if tensor is None or _has_many(tensor):
        read_arguments(call, written(call.name))
    else:
        call.services.synchronize("float()", value, 0)
    return HostArray()


def _is_scalar(call: Call) -> Value:
    """`np.isscalar(x)`: a number or a text is one, a tensor of whatever shape is none."""
    return combine(lambda leaf: _scalar(call, leaf), call.args[0]) if call.args else call.unknown()


def _scalar(call: Call, value: Value) -> Value:
    if type(value) is Const:
        return Const(value.value is not None)
    if is_number(value) or is_text(value):
        return TRUE
    if type(value) is HostArray:
        return FALSE if value.shape else call.unknown()
    return FALSE if type(value) in _NO_SCALARS else call.unknown()


def _item(call: Call) -> Value:
    """`array.item()`: a number, unless the array may hold other things."""
    array = call.receiver
    numeric = type(array) is HostArray and array.dtype != "bool"
    return number(call.name) if numeric else Unknown(call.name)


def _shape(call: Call) -> Value:
    known = of_shape(call.receiver.shape) if type(call.receiver) is HostArray else None
    return known if known is not None else Unknown("shape")


def _size(call: Call) -> Value:
    return number("size")


def _ndim(call: Call) -> Value:
    shape = call.receiver.shape if type(call.receiver) is HostArray else None
    return number("ndim") if shape is None else Const(len(shape))


def _transposed(call: Call) -> Value:
    array = call.receiver
    if type(array) is not HostArray or array.shape is None:
        return HostArray()
    return HostArray(array.dtype, tuple(reversed(array.shape)))


def _length(call: Call) -> Value:
    shape = call.receiver.shape if type(call.receiver) is HostArray else None
    return of_dimension(shape[0]) if shape else number("length")


def _model(name: str) -> Model:
    if name.startswith(f"{ARRAY}.") and _is_foreign(name.removeprefix(f"{ARRAY}.")):
        return unknown  # no array has such a method: it is something else after all
    return host_function(written(name))


def _is_foreign(name: str) -> bool:
    return name not in _METHODS and not name.startswith("__")


def _set_item(call: Call) -> Value:
    """`array[i] = t`: numpy takes a tensor by its value where `i` names one number of the array,
    and reads it as an array where there is room for several."""
    array = call.receiver
    if type(array) is not HostArray or array.dtype is None or len(call.args) < 2:
        return NONE
    index, value = call.args
    tensor = tensor_of(value)
    if tensor is None:
        if type(value) in (ListObject, TupleValue) and _is_room(array, index):
            read(call, "array[…] =", value, 1)
    elif tensor.zero_dim is False and (_has_many(tensor) or _is_room(array, index)):
        call.services.host_read("array[…] =", value, 1)
    return NONE


def _has_many(tensor: Tensor) -> bool:
    """Whether a tensor surely has several numbers, which no value stands for."""
    return any(isinstance(size, int) and size > 1 for size in tensor.shape or ())


def _is_room(array: HostArray, index: Value) -> bool:
    """Whether `array[index]` surely is an array, not a number."""
    parts = index.items if type(index) is TupleValue else (index,)
    if any(type(each) in (SliceValue, ListObject) or _has_dimensions(each) for each in parts):
        return True
    return array.shape is not None and all(map(is_number, parts)) and len(parts) < len(array.shape)


def _has_dimensions(index: Value) -> bool:
    """Whether an index surely is an array of places or of truth values. One without dimensions is
    a number, as `np.argmax(a)` is."""
    return type(index) in (HostArray, Tensor) and index.zero_dim is False


def register_all() -> None:
    FUNCTIONS["numpy.ndarray.__setitem__"] = _set_item
    PACKAGES["numpy"] = _model
    numpy_shapes.register_all()
    numpy_random.register_all()
    numpy_linalg.register_all()
    groups: tuple[tuple[list[str], Model], ...] = (
        (_FILLED, _filled),
        (["full"], _full),
        (words("array asarray ascontiguousarray asanyarray"), _array),
        (_ELEMENTWISE, _elementwise),
        (_UNIVERSAL, _universal),
        (words("loadtxt genfromtxt"), _loaded),
        (_UNIVERSAL_PAIRS, _universal),
        (_OWN_METHODS, _own_method),
        (_INSPECTORS, _python),
        (_ITEMS, _python),
        (_KEEPING, _kept),
        (_SPLITTING, _split),
    )
    for names, model in groups:
        for name in names:
            FUNCTIONS[f"numpy.{name}"] = model
    for name in _GIVING_BACK:
        FUNCTIONS[f"numpy.{name}"] = _giving_back(name)
    FUNCTIONS["numpy.float64"] = FUNCTIONS["numpy.double"] = _float
    FUNCTIONS["numpy.isscalar"] = _is_scalar
    FUNCTIONS["numpy.fromiter"] = host_function(written("fromiter"), reads=False)
    FUNCTIONS[f"{ARRAY}.item"] = _item
    FUNCTIONS[f"{ARRAY}.astype"] = _astype
    FUNCTIONS[f"{ARRAY}.__len__"] = _length
    ATTRIBUTES[f"{ARRAY}.shape"] = _shape
    ATTRIBUTES[f"{ARRAY}.size"] = _size
    ATTRIBUTES[f"{ARRAY}.ndim"] = _ndim
    ATTRIBUTES[f"{ARRAY}.T"] = _transposed
    for name in words("dtype nbytes flags strides"):
        ATTRIBUTES[f"{ARRAY}.{name}"] = _python
    for name in words("real imag flat"):
        ATTRIBUTES[f"{ARRAY}.{name}"] = _kept
