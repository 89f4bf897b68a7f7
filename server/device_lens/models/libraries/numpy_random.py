"""numpy.random: what generators draw is in host memory, floating-point numbers of double size."""

from __future__ import annotations

from device_lens.domain.code import ClassValue
from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ListObject, contents
from device_lens.domain.values import NONE, External, HostArray, Shape, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value
from device_lens.models.libraries.host import read_arguments, written
from device_lens.models.libraries.numpy_shapes import array, extent_of, sizes
from device_lens.models.numbers import DRAWN, dimension, is_number, number, share
from device_lens.models.python.picked import one_of, some_of
from device_lens.models.python.standard_library import disorder
from device_lens.models.registry import FUNCTIONS
from device_lens.models.words import words

GENERATOR = "numpy.random.Generator"

_SCALED = words("exponential poisson geometric rayleigh standard_gamma chisquare pareto weibull")
"""Distributions of one number, before the size."""
_LOCATED = words(
    "normal uniform beta gamma laplace logistic gumbel lognormal integers randint binomial vonmises"
)
"""Those of two."""
_FREE = words("random random_sample standard_normal")
"""Those of none."""
_SHARES = words("random random_sample")
"""Those that give numbers from 0 on, below 1."""
_COUNTS = words("poisson geometric integers randint binomial")
"""Those that give whole numbers."""
_SINGLE = words("random standard_normal")
"""Those that are asked for a dtype of floating-point numbers."""


def _generator(call: Call) -> Value:
    return Instance(External(GENERATOR), call.site.node)


def _size(call: Call, at: int) -> Value | None:
    """The size that is asked for, by its name or at a position."""
    return call.kwargs.get("size", call.args[at] if len(call.args) > at else None)


def _drawn(at: int) -> Model:
    """A model of a distribution whose size is the argument at a position. Without one, numbers
    give a number."""

    def model(call: Call) -> Value:
        read_arguments(call, written(call.name))
        name = call.name.rpartition(".")[2]
        size = _size(call, at)
        if size is None or size is NONE:
            named = (value for key, value in call.kwargs.items() if key not in ("size", "dtype"))
            if name in _SHARES:
                return share()
            return number(DRAWN) if all(map(is_number, (*call.args[:at], *named))) else HostArray()
        return HostArray(_dtype(call, name), sizes(size))

    return model


def _dtype(call: Call, name: str) -> str | None:
    if name in _SINGLE and len(call.args) < 2 and "dtype" not in call.kwargs:
        return "float64"
    if name in _COUNTS or name in _SINGLE:
        return None  # of the size that is asked for, or that the platform has
    return "float64"


def _counted(call: Call) -> Value:
    """`rand(2, 3)`."""
    if not call.args:
        return share()
    shape: Shape = tuple(dimension(value) for value in call.args)
    return HostArray("float64", shape)


def _permuted(call: Call) -> Value:
    """`permutation(x)`: the items of an array in another order."""
    read_arguments(call, written(call.name))
    given = call.get(0, "x")
    if _holds_objects(given):
        return some_of(call, given, picked=False)
    return array(extent_of(given)) if type(given) is HostArray else HostArray()


def _chosen(call: Call) -> Value:
    """`choice(items, size)`."""
    read_arguments(call, written(call.name))
    size = _size(call, 1)
    given = call.get(0, "a")
    if _holds_objects(given):
        return one_of(call, given) if size is None else some_of(call, given)
    return HostArray(shape=None if size is None else sizes(size))


def _holds_objects(given: Value) -> bool:
    """Whether numpy is given a list of the program's objects, of which it makes an array."""
    items = contents(given) if type(given) in (ListObject, TupleValue) else []
    return bool(items) and all(
        type(leaf) is Instance and type(leaf.cls) is ClassValue
        for item in items
        for leaf in leaves(item)
    )


def _python(call: Call) -> Value:
    return Unknown(call.name)


def register_all() -> None:
    for maker in words("default_rng RandomState Generator"):
        FUNCTIONS[f"numpy.random.{maker}"] = _generator
    for at, names in enumerate((_FREE, _SCALED, _LOCATED)):
        for name in names:
            FUNCTIONS[f"{GENERATOR}.{name}"] = FUNCTIONS[f"numpy.random.{name}"] = _drawn(at)
    for name in words("rand randn"):
        FUNCTIONS[f"{GENERATOR}.{name}"] = FUNCTIONS[f"numpy.random.{name}"] = _counted
    FUNCTIONS[f"{GENERATOR}.choice"] = FUNCTIONS["numpy.random.choice"] = _chosen
    FUNCTIONS[f"{GENERATOR}.permutation"] = FUNCTIONS[f"{GENERATOR}.permuted"] = _permuted
    FUNCTIONS["numpy.random.permutation"] = _permuted
    FUNCTIONS[f"{GENERATOR}.shuffle"] = FUNCTIONS["numpy.random.shuffle"] = disorder
    for name in words("spawn bytes bit_generator get_state set_state seed tomaxint"):
        FUNCTIONS.setdefault(f"{GENERATOR}.{name}", _python)
