"""What an operation demands of its first operand: how many dimensions that has at least.

Dimension 0 and -1 of a tensor without dimensions may be named for most operations: it is taken for
a line of one number. All others have to be there.
"""

from __future__ import annotations

from device_lens.models.operands import Operands
from device_lens.models.shapes import SHAPES
from device_lens.models.shapes.extent import Rule, demanded, listed, numbers
from device_lens.models.signature import Bound, Signature

_COUNTING = frozenset("dim dim0 dim1 dims source destination start_dim end_dim".split())
"""Parameters that name dimensions of the operand."""
_ABOUT_OPERAND = frozenset(
    map(
        SHAPES.__getitem__,
        "reduced along same rank transposed narrowed selected flattened squeezed "
        "interleaved".split(),
    )
)
"""Results whose dimensions are those of the operand, or fewer: its own are what is named."""
_OF_LINES = frozenset(
    map(
        SHAPES.__getitem__,
        "selected narrowed resized pool adaptive conv conv_transpose linear".split(),
    )
)
"""Results of what raises for an operand without dimensions, whatever it is told."""


class Demands:
    """What the operation of one row demands."""

    __slots__ = ("_always", "_names", "_permutes")

    def __init__(self, form: Signature, shapes: list[Rule]) -> None:
        about = not _ABOUT_OPERAND.isdisjoint(shapes)
        self._names = tuple(s.name for s in form.slots if about and s.name in _COUNTING)
        self._always = not _OF_LINES.isdisjoint(shapes)
        self._permutes = SHAPES["permuted"] in shapes

    def __bool__(self) -> bool:
        return self._always or self._permutes or bool(self._names)

    def note(self, bound: Bound, operands: Operands) -> None:
        """Tells of the operand that it has dimensions, if the call demands some."""
        if not operands.agreeing:
            return
        name = bound.signature.slots[0].name
        tensor, value, place = operands.agreeing[0]
        if tensor.zero_dim is not None or bound.places.get(name) != place or not self._any(bound):
            return
        tensor = tensor.with_(zero_dim=False)
        operands.agreeing[0] = tensor, value, place
        bound.tensors[name] = tensor
        bound.call.services.has_dimensions(place)

    def _any(self, bound: Bound) -> bool:
        if self._always or (self._permutes and listed(bound, "size")):
            return True
        return any(demanded(numbers(bound.get(name)) or ()) for name in self._names)
