"""Shapes of the parameters of `torch.nn` modules, as rows write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain.values import Const, Dim, Shape
from device_lens.models.call import Value
from device_lens.models.numbers import dimension, sequence

Arguments = dict[str, Value]


def part_shape(text: str, arguments: Arguments) -> Shape:
    """The shape that `text` says: words that are numbers, constructor arguments, or products such
    as `4*hidden_size`; `=name` calls a rule of `RULES`; `?` is unknown."""
    if text == "?":
        return None
    if text.startswith("="):
        return RULES[text[1:]](arguments)
    return tuple(_dim(word, arguments) for word in text.split())


def _dim(word: str, arguments: Arguments) -> Dim:
    product = 1
    for factor in word.split("*"):
        size: Any = int(factor) if factor.isdigit() else number(arguments, factor)
        if not isinstance(size, int):
            return None
        product *= size
    return product


def number(arguments: Arguments, name: str) -> int | None:
    """The integer that an argument is."""
    found = dimension(arguments.get(name))
    return found if isinstance(found, int) else None


def convolution(spatial: int, transposed: bool = False) -> Callable[[Arguments], Shape]:
    """The weight of a convolution over `spatial` dimensions."""

    def rule(arguments: Arguments) -> Shape:
        inner, outer = number(arguments, "in_channels"), number(arguments, "out_channels")
        if transposed:
            inner, outer = outer, inner
        groups = number(arguments, "groups")
        grouped = inner // groups if inner is not None and groups else None
        return (outer, grouped, *_kernel(arguments.get("kernel_size"), spatial))

    return rule


def _kernel(value: Value, spatial: int) -> tuple[Dim, ...]:
    items = sequence(value)
    if items is not None and len(items) == spatial:
        return tuple(dimension(item) for item in items)
    return (dimension(value),) * spatial


def normalized(arguments: Arguments) -> Shape:
    """The weight of a layer norm."""
    value = arguments.get("normalized_shape")
    items = sequence(value)
    if items is not None:
        return tuple(dimension(item) for item in items)
    return (dimension(value),) if type(value) is Const else None


RULES: dict[str, Callable[[Arguments], Shape]] = {
    "conv1": convolution(1),
    "conv2": convolution(2),
    "conv3": convolution(3),
    "transposed1": convolution(1, transposed=True),
    "transposed2": convolution(2, transposed=True),
    "transposed3": convolution(3, transposed=True),
    "normalized": normalized,
}
