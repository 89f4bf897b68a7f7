"""The shape of `einsum`, whose equation names dimensions by letters."""

from __future__ import annotations

from device_lens.domain.values import Dim, Tensor
from device_lens.models.call import constant
from device_lens.models.shapes.extent import ANY, SOME, Extent, exactly
from device_lens.models.signature import Bound

_DOTS = "..."


def summed(bound: Bound, tensors: list[Tensor]) -> Extent:
    """One dimension per letter behind the arrow; without an arrow, per letter that occurs once,
    in the order of the alphabet."""
    value = bound.get("equation")
    equation = None if isinstance(value, tuple) else constant(value)
    if not isinstance(equation, str):
        return ANY
    head, arrow, tail = equation.replace(" ", "").partition("->")
    letters = {*head} - {",", "."}
    result = tail if arrow else "".join(sorted(c for c in letters if head.count(c) == 1))
    terms = head.split(",")
    if _DOTS in head or not {*result} <= letters:
        return SOME if result.replace(_DOTS, "") else ANY
    sizes: dict[str, list[Dim]] = {}
    if bound.tensors_complete and len(terms) == len(tensors):
        for term, tensor in zip(terms, tensors, strict=True):
            shape = tensor.shape
            known = shape if shape is not None and len(shape) == len(term) else (None,) * len(term)
            for letter, size in zip(term, known, strict=True):
                sizes.setdefault(letter, []).append(size)
    return exactly(_agreed(sizes.get(letter, [None])) for letter in result)


def _agreed(sizes: list[Dim]) -> Dim:
    """The size of a dimension that operands share: one of 1 is stretched to the others'."""
    for size in sizes:
        if isinstance(size, int) and size != 1:
            return size
    return 1 if all(size == 1 for size in sizes) else None
