"""Factories of `torch`: they create on the default device unless `device=` says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from device_lens.domain.device import DeviceTree
from device_lens.domain.guard import Guarded, combine, leaves, primary
from device_lens.domain.values import Const, Dim, Tensor
from device_lens.models import dtypes
from device_lens.models.call import Call, Value, is_none
from device_lens.models.numbers import dimension, is_number, sequence
from device_lens.models.registry import FUNCTIONS
from device_lens.models.shapes.extent import ANY, SOME, Extent, exactly, sizes
from device_lens.models.signature import Bound, signature
from device_lens.models.torch.target import factory_device
from device_lens.models.wording import created

_OPTIONS = "*, generator, >out, dtype, layout, device, pin_memory, requires_grad, memory_format"
FactoryRule = Callable[[Bound], tuple[Extent, "str | None"]]
"""The extent and the dtype of what a factory makes, where no dtype is asked for."""


def make(
    bound: Bound, extent: Extent, dtype: str | None, device: DeviceTree, default_made: bool
) -> Tensor:
    """A new tensor; `dtype=`, `requires_grad=` and `pin_memory=` of the call hold."""
    call = bound.call
    if not is_none(bound.get("dtype")):
        dtype = dtypes.named(bound.get("dtype"))
    needs = bound.constant("requires_grad", False if call.complete else None)
    shape, zero_dim = extent
    return Tensor(
        device,
        dtype,
        shape,
        call.trail("created", created(call.name, device)),
        requires_grad=needs if isinstance(needs, bool) else None,
        leaf=True,
        pinned=_is_pinned(bound),
        default_made=default_made,
        zero_dim=zero_dim,
    )


def _is_pinned(bound: Bound) -> bool:
    """Whether a tensor is put in page-locked memory in the usual case, as one is by
    `pin_memory=torch.cuda.is_available()`: where there is no accelerator nobody asks."""
    asked = bound.get("pin_memory")
    return not is_none(asked) and primary(bound.call.services.truth(asked)) is True


class Factory:
    """The model of a factory: a parameter list and a rule. `by_type`: a default device is not heard
    (`torch/utils/_device.py` lists those that hear it), the default tensor type is."""

    __slots__ = ("by_type", "parameters", "rule")

    def __init__(self, parameters: str, rule: FactoryRule, by_type: bool = False) -> None:
        self.parameters = f"{parameters}, {_OPTIONS}"
        self.rule = rule
        self.by_type = by_type

    def __call__(self, call: Call) -> Value:
        bound = Bound(signature(self.parameters), call)
        if bound.given("out"):
            return bound.get("out")
        extent, dtype = self.rule(bound)
        device, by_default = factory_device(bound, by_keyword=True)
        if by_default and self.by_type:
            device = call.services.default_type_device()
        cases = _size_by_case(bound) if extent == ANY else None
        if cases is not None:
            of = partial(make, bound, dtype=dtype, device=device, default_made=by_default)
            return combine(lambda size: of(extent=sizes((size,))), cases)
        return make(bound, extent, dtype, device, by_default)


def _filled(bound: Bound) -> tuple[Extent, str | None]:
    return _size(bound), dtypes.DEFAULT


def _size(bound: Bound) -> Extent:
    """The sizes given one by one, as one tuple, or by keyword."""
    value = bound.get("size")
    values = value if isinstance(value, tuple) else () if value is None else (value,)
    return sizes(values) if bound.call.complete else ANY


def _size_by_case(bound: Bound) -> Guarded | None:
    """A size that is a sequence in one case of a flag or the like and not known in another, as that
    of a tensor is of which so much is known: in the former the tensor surely has dimensions."""
    given = bound.get("size")
    size = given[0] if isinstance(given, tuple) and len(given) == 1 else given
    if type(size) is not Guarded or not size.atom.named or not bound.call.complete:
        return None
    found = [*leaves(size)]
    return size if any(sequence(leaf) for leaf in found) else None


def _full(bound: Bound) -> tuple[Extent, str | None]:
    value = bound.get("fill_value")
    return _size(bound), dtypes.of_constant(value.value) if type(value) is Const else None


def _random_integers(bound: Bound) -> tuple[Extent, str | None]:
    """`randint(high, size)` or `randint(low, high, size)`."""
    third = bound.get("size")
    size = third if third is not None else bound.get("high")
    return (ANY if size is None or is_number(size) else sizes((size,))), "int64"


def _permutation(bound: Bound) -> tuple[Extent, str | None]:
    return exactly((dimension(bound.get("n")),)), "int64"


def _range(bound: Bound) -> tuple[Extent, str | None]:
    """`arange(end)` or `arange(start, end, step)`."""
    names = ("start", "end", "step")
    given = {name: bound.get(name) for name in names if bound.given(name)}
    bounds = {name: value.value for name, value in given.items() if type(value) is Const}
    floats = any(isinstance(each, float) for each in bounds.values())
    known = bounds and all(isinstance(each, (int, float)) for each in bounds.values())
    if not known or len(bounds) < len(given):
        return exactly((None,)), dtypes.DEFAULT if floats else None
    return exactly((_count(bounds),)), dtypes.DEFAULT if floats else "int64"


def _count(bounds: dict[str, float]) -> Dim:
    start, step = bounds.get("start", 0), bounds.get("step", 1)
    if "end" not in bounds:
        start, bounds = 0, {"end": start}
    steps = (bounds["end"] - start) / step if step else math.inf
    return max(0, math.ceil(steps)) if math.isfinite(steps) else None


def _closed_range(bound: Bound) -> tuple[Extent, str | None]:
    return exactly((None,)), dtypes.DEFAULT


def _steps(bound: Bound) -> tuple[Extent, str | None]:
    return exactly((dimension(bound.get("steps")),)), dtypes.DEFAULT


def _square(bound: Bound) -> tuple[Extent, str | None]:
    rows = dimension(bound.get("n"))
    columns = dimension(bound.get("m")) if bound.given("m") else rows
    return exactly((rows, columns)), dtypes.DEFAULT


def _window(bound: Bound) -> tuple[Extent, str | None]:
    return exactly((dimension(bound.get("window_length")),)), dtypes.DEFAULT


def _pairs(bound: Bound) -> tuple[Extent, str | None]:
    return exactly((2, None)), "int64"


def _scalar(bound: Bound) -> tuple[Extent, str | None]:
    return exactly(()), dtypes.DEFAULT


def _line(bound: Bound) -> tuple[Extent, str | None]:
    return exactly((dimension(bound.get("n")),)), dtypes.DEFAULT


def _unclear(bound: Bound) -> tuple[Extent, str | None]:
    return SOME, None


FACTORIES: dict[str, tuple[str, FactoryRule]] = {
    "zeros": ("...size", _filled),
    "ones": ("...size", _filled),
    "empty": ("...size", _filled),
    "rand": ("...size", _filled),
    "randn": ("...size", _filled),
    "full": ("size, fill_value", _full),
    "empty_strided": ("size, stride", _filled),
    "empty_permuted": ("size, physical_layout", _filled),
    "empty_quantized": ("size, qtensor", _unclear),
    "randint": ("low, high, size", _random_integers),
    "randperm": ("n", _permutation),
    "arange": ("start, end, step", _range),
    "range": ("start, end, step", _closed_range),
    "linspace": ("start, end, steps", _steps),
    "logspace": ("start, end, steps, base", _steps),
    "eye": ("n, m", _square),
    "scalar_tensor": ("s", _scalar),
    "tril_indices": ("row, col, offset", _pairs),
    "triu_indices": ("row, col, offset", _pairs),
    "bartlett_window": ("window_length, periodic", _window),
    "blackman_window": ("window_length, periodic", _window),
    "hamming_window": ("window_length, periodic, alpha, beta", _window),
    "hann_window": ("window_length, periodic", _window),
    "kaiser_window": ("window_length, periodic, beta", _window),
    "fft.fftfreq": ("n, d", _line),
    "fft.rfftfreq": ("n, d", _unclear),
}
SIZED_NORMAL = Factory("mean, std, size", _filled, by_type=True)
"""`normal(0.0, 1.0, size)`, the overload of `normal` that takes no tensors."""
_WINDOWS = """
    bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann
    kaiser nuttall
"""


def register_all() -> None:
    for name, (parameters, rule) in FACTORIES.items():
        FUNCTIONS[f"torch.{name}"] = Factory(parameters, rule)
    for name in _WINDOWS.split():
        FUNCTIONS[f"torch.signal.windows.{name}"] = Factory("window_length, a, b", _unclear)
