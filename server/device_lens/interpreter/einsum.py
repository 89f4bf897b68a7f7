"""An einsum of two operands as the batched matrix product that it amounts to."""

from __future__ import annotations

from math import prod

from device_lens.domain.values import Dim, Shape


def as_product(
    equation: str, left: tuple[Dim, ...], right: tuple[Dim, ...]
) -> tuple[Shape, Shape] | None:
    """Shapes of the product's operands, `(batch…, rows, inner)` and `(batch…, inner, columns)`.

    None for more than a product (a repeated letter, a sum over one operand alone, an ellipsis), or
    where letters and dimensions do not fit together or are not known.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    first, comma, second = inputs.partition(",")
    if not arrow or not comma or not (first + second + output).isalpha():
        return None
    if any(len(set(letters)) != len(letters) for letters in (first, second, output)):
        return None
    sizes = _sizes(first, left, second, right)
    if sizes is None:
        return None
    shared = set(first) & set(second)
    rows, columns = set(first) - shared, set(second) - shared
    if not rows | columns <= set(output) <= set(first) | set(second):
        return None

    def size(letters: set[str]) -> int:
        return prod(sizes[letter] for letter in letters)

    batch = tuple(sizes[letter] for letter in first if letter in shared & set(output))
    inner = size(shared - set(output))
    return (*batch, size(rows), inner), (*batch, inner, size(columns))


def _sizes(
    first: str, left: tuple[Dim, ...], second: str, right: tuple[Dim, ...]
) -> dict[str, int] | None:
    """What each letter stands for."""
    if len(first) != len(left) or len(second) != len(right):
        return None
    sizes: dict[str, int] = {}
    for letter, dim in zip(first + second, (*left, *right), strict=True):
        if not isinstance(dim, int) or sizes.setdefault(letter, dim) != dim:
            return None
    return sizes
