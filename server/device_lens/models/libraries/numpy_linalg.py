"""`numpy.linalg`: how many dimensions decompositions of matrices leave."""

from __future__ import annotations

from device_lens.domain.device import CPU
from device_lens.domain.values import Tensor, TupleValue
from device_lens.models.call import Call, Model, Value, treated_as_tensor
from device_lens.models.libraries.host import read_arguments, written
from device_lens.models.libraries.numpy_shapes import array, double, extent_of
from device_lens.models.registry import FUNCTIONS
from device_lens.models.shapes.extent import SOME, Extent, exactly
from device_lens.models.words import words

_RESULTS = {
    "cholesky": "matrix",
    "eig": "line matrix",
    "eigh": "line matrix",
    "eigvals": "line",
    "eigvalsh": "line",
    "inv": "matrix",
    "matrix_power": "array",
    "pinv": "matrix",
    "qr": "matrix matrix",
    "svd": "matrix line matrix",
}
"""What functions of a matrix, or of several, give for each: arrays of as many dimensions or one
less. A `matrix` is a tensor where one was given, on the CPU."""
_MAYBE_COMPLEX = words("eig eigvals")


def _decomposed(name: str, results: list[str]) -> Model:
    what = written(f"linalg.{name}")

    def model(call: Call) -> Value:
        read_arguments(call, what)
        if not call.args or not call.complete or _asks_for_less(call):
            return call.unknown()
        dtype = None if name in _MAYBE_COMPLEX else double(call, name)
        extents = [_extent(call.args[0], result) for result in results]
        if treated_as_tensor(call.args[0]):
            trail = call.trail("created", "is computed on the CPU by numpy")
            made: list[Value] = [
                Tensor(CPU, None, extent[0], trail, zero_dim=extent[1])
                if result == "matrix"
                else array(extent)
                for result, extent in zip(results, extents, strict=True)
            ]
        else:
            made = [array(extent, dtype) for extent in extents]
        return made[0] if len(made) == 1 else TupleValue(tuple(made))

    return model


def _asks_for_less(call: Call) -> bool:
    """Whether options decide what is given: `mode="r"`, `compute_uv=False`."""
    return "mode" in call.kwargs or "compute_uv" in call.kwargs or len(call.args) > 2


def _extent(value: Value, result: str) -> Extent:
    shape = extent_of(value)[0]
    if shape is None:
        return SOME
    return exactly(None for _ in (shape[:-1] if result == "line" else shape))


def register_all() -> None:
    for name, results in _RESULTS.items():
        FUNCTIONS[f"numpy.linalg.{name}"] = _decomposed(name, words(results))
