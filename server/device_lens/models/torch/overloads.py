"""Functions whose arguments decide what they are: `max`, `median`, `where`, `normal` …"""

from __future__ import annotations

from device_lens.domain.heap import ListObject
from device_lens.domain.values import NONE, Const, TupleValue, Unknown
from device_lens.models.call import (
    Call,
    Model,
    Value,
    constant,
    is_none,
    tensor_of,
    treated_as_tensor,
)
from device_lens.models.numbers import is_number
from device_lens.models.operation import apply, parse
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.creation import SIZED_NORMAL
from device_lens.models.words import words

_WHOLE = "(@input) -> none.keep"
_OVER = "(@input, dim, keepdim) -> (values=along.keep, indices=along.int64)"
_PAIR = "(@input, @other) -> broadcast.promote scalars"
_SCALED = "(@input, alpha, @other) -> broadcast.promote scalars"
_INDICES = "(@input) -> list[line.int64] waits"
_NONZERO = "(@input, *, as_tuple) -> indices.int64 waits"
_CHOICE = "(@condition, @input, @other) -> broadcast.promote scalars"


def argument(call: Call, position: int, *names: str) -> Value:
    """The argument at a position that counts the receiver, or of one of the keywords."""
    if call.receiver is not None:
        position -= 1
    if 0 <= position < len(call.args):
        return call.args[position]
    return next((call.kwargs[name] for name in names if name in call.kwargs), None)


def extremum(call: Call) -> Value:
    """`max(x)`, `max(x, dim)` with indices, or `max(x, other)` element-wise."""
    second = argument(call, 1, "dim", "other")
    if second is None:
        return apply(parse(_WHOLE), call)
    if is_number(second):
        return apply(parse(_OVER), call)
    if tensor_of(second) is not None and (
        not isinstance(second, Unknown) or second.tensor_evidence
    ):
        return apply(parse(_PAIR), call)
    if "dim" in call.kwargs:
        return apply(parse(_OVER), call)
    return call.unknown()


def scaled(model: Model, written: bool) -> Model:
    """`x.add(a, y)`, the old form of `x.add(y, alpha=a)`: `a` is read as a number."""
    old = parse(_SCALED).in_place() if written else parse(_SCALED)

    def run(call: Call) -> Value:
        is_old = len(call.args) == 2 and tensor_of(call.args[1]) is not None
        return apply(old, call) if is_old else model(call)

    return run


def middle(call: Call) -> Value:
    """`median(x)`, or `median(x, dim)` with indices."""
    row = _WHOLE if argument(call, 1, "dim") is None else _OVER
    return apply(parse(row), call)


def nonzero(call: Call) -> Value:
    """One tensor of indices, or a tuple of one per dimension."""
    as_tuple = constant(call.kwargs.get("as_tuple"), False)
    return apply(parse(_INDICES if as_tuple else _NONZERO), _without(call, "as_tuple"))


def _without(call: Call, keyword: str) -> Call:
    kwargs = {name: value for name, value in call.kwargs.items() if name != keyword}
    return Call(
        call.name, call.receiver, call.args, kwargs, call.site, call.services, call.complete
    )


def where(call: Call) -> Value:
    """`where(condition)` gives indices, `where(condition, x, y)` chooses. As a method the
    receiver is `x`."""
    if argument(call, 1, "input", "self", "x") is None:
        return apply(parse(_INDICES), call)
    if call.receiver is None:
        return apply(parse(_CHOICE), call)
    condition = argument(call, 1, "condition")
    other = argument(call, 2, "other")
    args = tuple(value for value in (condition, call.receiver, other) if value is not None)
    return apply(
        parse(_CHOICE), Call(call.name, None, args, {}, call.site, call.services, call.complete)
    )


def normal(call: Call) -> Value:
    """`normal(mean, std)` of tensors, or of numbers with a size."""
    mean, std = argument(call, 0, "mean"), argument(call, 1, "std")
    if argument(call, 2, "size") is not None:
        return SIZED_NORMAL(call)
    if all(is_none(value) or is_number(value) for value in (mean, std)):
        return call.unknown()
    return apply(parse("(@mean, @std, *, generator) -> broadcast.keep"), call)


_UNIQUE = "(@input, sorted, return_inverse, return_counts, dim)"
_CONSECUTIVE = "(@input, return_inverse, return_counts, dim)"


def _unique(head: str) -> Model:
    """`unique`: the values, and what `return_inverse` and `return_counts` add."""

    def model(call: Call) -> Value:
        names = head[1:-1].replace("@", "").split(", ")
        along = not is_none(argument(call, names.index("dim"), "dim"))
        shape = "some.keep" if along else "line.keep"
        inverse = "=line.int64" if along else "=same.int64"
        wanted = [_flag(call, names, name) for name in ("return_inverse", "return_counts")]
        if None in wanted or not call.complete:
            values = apply(parse(f"{head} -> some.unknown waits"), call)
            return ListObject((), values, "tuple", call.site.node)
        extra = [text for text, on in zip((inverse, "=line.int64"), wanted, strict=True) if on]
        tail = f"(={shape}, {', '.join(extra)})" if extra else shape
        return apply(parse(f"{head} -> {tail} waits"), call)

    return model


def _flag(call: Call, names: list[str], name: str) -> bool | None:
    value = argument(call, names.index(name), name)
    if value is None:
        return False
    return bool(value.value) if type(value) is Const else None


def with_indices(plain: Model, both: Model, position: int) -> Model:
    """A pooling function that gives indices too where `return_indices` is true."""

    def model(call: Call) -> Value:
        value = argument(call, position, "return_indices")
        if value is None:
            return plain(call)
        known = constant(value, Ellipsis)
        if known is Ellipsis:
            return call.unknown()
        return both(call) if known else plain(call)

    return model


def histogram_of_points(call: Call) -> Value:
    """`histogramdd`: the counts, and the bounds of the bins of each dimension."""
    row = "(@input, bins, *, range, @weight, density)"
    counts = apply(parse(f"{row} -> some.keep hosted"), call)
    edge = apply(parse("(@input) -> line.keep view hosted"), call)
    edges = ListObject((), edge, "tuple", call.site.node)
    return TupleValue((counts, edges), ("hist", "bin_edges"))


def factored(call: Call) -> Value:
    """`lu(x)`: the factors and the pivots, and what went wrong where `get_infos` is true."""
    infos = constant(argument(call, 2, "get_infos"), None) is True
    tail = "=some.keep, =some.int32" + (", =any.int32" if infos else "")
    return apply(parse(f"(@input, pivot, get_infos) -> ({tail})"), call)


def gradient(call: Call) -> Value:
    """`torch.gradient`: one tensor per dimension."""
    return apply(parse("(@input, *, @spacing, dim, edge_order) -> list[same.float]"), call)


def repeat_interleave(call: Call) -> Value:
    """`repeat_interleave(x, repeats)`; repeats alone give indices. The size of the result hangs on
    a tensor's values, unless the call tells it; of what may be a number it is not known to."""
    repeats = argument(call, 1, "repeats")
    counts = argument(call, 0, "input") if repeats is None else repeats
    told = not is_none(call.kwargs.get("output_size", NONE))
    waits = "" if told or not treated_as_tensor(counts) else " waits"
    if repeats is None:
        return apply(parse(f"(@input, *, output_size) -> line.int64{waits}"), call)
    row = "(@input, @repeats, dim, *, output_size) -> interleaved.keep"
    return apply(parse(f"{row}{waits}"), call)


def _bounded(model: Model) -> Model:
    """`clamp`, between numbers or between tensors: beside a number a tensor without dimensions is
    read as one, and what may be a number is taken for one."""

    def clamped(call: Call) -> Value:
        bounds = [argument(call, 1, "min"), argument(call, 2, "max")]
        by_numbers = any(is_number(bound) for bound in bounds)
        if not by_numbers and any(map(treated_as_tensor, bounds)):
            return model(call)

        def kept(name: int | str, value: Value) -> Value:
            is_input = call.receiver is None and name in (0, "input")
            return value if is_input or is_number(value) or name == "out" else NONE

        args = tuple(kept(place, value) for place, value in enumerate(call.args))
        kwargs = {name: kept(name, value) for name, value in call.kwargs.items()}
        services, site = call.services, call.site
        return model(Call(call.name, call.receiver, args, kwargs, site, services, call.complete))

    return clamped


_BOUNDED = ("clamp", "clip", "clamp_min", "clamp_max")
_METHODS = """
    max min median nanmedian nonzero where unique unique_consecutive repeat_interleave lu
"""


def register_all() -> None:
    models: dict[str, Model] = {
        "max": extremum,
        "min": extremum,
        "median": middle,
        "nanmedian": middle,
        "nonzero": nonzero,
        "where": where,
        "normal": normal,
        "unique": _unique(_UNIQUE),
        "unique_consecutive": _unique(_CONSECUTIVE),
        "gradient": gradient,
        "lu": factored,
        "histogramdd": histogram_of_points,
        "repeat_interleave": repeat_interleave,
    }
    for name, model in models.items():
        FUNCTIONS[f"torch.{name}"] = model
    for name in words(_METHODS):
        FUNCTIONS[f"torch.Tensor.{name}"] = models[name]


def register_bounded() -> None:
    """To be called after the methods are there."""
    for name in _BOUNDED:
        for each in (name, f"{name}_"):
            for qualified in (f"torch.{each}", f"torch.Tensor.{each}"):
                FUNCTIONS[qualified] = _bounded(FUNCTIONS[qualified])
