"""Parameter lists of library functions as rows write them, and the binding of a call to them.

A row's parameter list is text: names in positional order, each with a mark that says what its
tensors have to do with the others':

    @input   shares a device with every other `@`
    &input   the same, and the operation writes into it: the result is this very tensor
    >out     a destination: shares the device; the keyword `out` is one everywhere
    ^index   may be on the host whatever the others are; elsewhere it has to agree
    !lengths has to be on the host
    ~source  may be anywhere
    %value   shares the device unless it has no dimensions
    dim      carries no tensor that matters
    *        what follows is given by keyword only
    ...size  takes all further positional arguments
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from device_lens.domain.heap import MISSING
from device_lens.domain.values import Const, Tensor
from device_lens.models.call import Call, Value

Place = int | str
"""How `Services` knows an argument: its position, -1 for the receiver, or its keyword; `0[2]` and
`tensors[2]` are an item of what is given there."""


class Role(Enum):
    PLAIN = ""
    AGREES = "@"
    WRITTEN = "&"
    OUT = ">"
    INDEX = "^"
    HOST = "!"
    ANYWHERE = "~"
    UNLESS_POINT = "%"


_ROLES = {role.value: role for role in Role if role.value}
_SYNONYMS = {
    "axis": "dim",
    "keepdims": "keepdim",
    "self": "input",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
    "dims": "size",
    "shape": "size",
    "sizes": "size",
    "split_size": "sizes",
    "split_size_or_sections": "sizes",
    "split_sizes": "sizes",
    "indices_or_sections": "sections",
    "tensor_indices_or_sections": "sections",
}
"""Keywords that PyTorch takes for others' sake, with its own name of the parameter."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter."""

    name: str
    role: Role
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """A parameter list. `positional` counts the leading slots that a position can fill."""

    slots: tuple[Slot, ...]
    positional: int


@cache
def signature(text: str) -> Signature:
    """The parameter list that `text` writes."""
    slots: list[Slot] = []
    positional = None
    for word in text.replace(",", " ").split():
        if word == "*":
            positional = len(slots)
            continue
        variadic = word.startswith("...")
        name = word[3:] if variadic else word
        role = _ROLES.get(name[0], Role.PLAIN)
        slots.append(Slot(name if role is Role.PLAIN else name[1:], role, variadic))
    return Signature(tuple(slots), len(slots) if positional is None else positional)


class Bound:
    """The arguments of a call by parameter name. A variadic parameter holds a Python tuple."""

    __slots__ = ("call", "places", "signature", "tensors", "tensors_complete", "values")

    def __init__(self, form: Signature, call: Call) -> None:
        self.signature = form
        self.call = call
        self.values: dict[str, Value] = {}
        self.places: dict[str, Place] = {}
        self.tensors: dict[str, Tensor] = {}
        """The operands that are single tensors, once they are collected."""
        self.tensors_complete = True
        """Whether lists of operands have no items beyond those that were seen."""
        self._positional()
        self._keywords()

    def _positional(self) -> None:
        call = self.call
        given: list[tuple[Value, Place]] = [] if call.receiver is None else [(call.receiver, -1)]
        given.extend((value, position) for position, value in enumerate(call.args))
        for order, slot in enumerate(self.signature.slots[: self.signature.positional]):
            if order >= len(given):
                return
            value, place = given[order]
            self.places[slot.name] = place
            if slot.variadic:
                self.values[slot.name] = tuple(value for value, _ in given[order:])
                return
            self.values[slot.name] = value

    def _keywords(self) -> None:
        names = {slot.name for slot in self.signature.slots}
        for keyword, value in self.call.kwargs.items():
            name = keyword if keyword in names else _SYNONYMS.get(keyword, keyword)
            self.values[name] = value
            self.places[name] = keyword

    def get(self, name: str) -> Value:
        """The argument, or Python's None where it is left out."""
        value = self.values.get(name)
        return None if value is MISSING else value

    def constant(self, name: str, default: Any = None) -> Any:
        """The Python constant that was given; `default` where the argument is left out; None
        where it is given and not known."""
        value = self.get(name)
        if value is None:
            return default
        return value.value if type(value) is Const else None

    def given(self, name: str) -> bool:
        """Whether the argument is there and not the constant None."""
        value = self.get(name)
        return value is not None and not (type(value) is Const and value.value is None)

    def known(self, name: str) -> bool:
        """Whether it is known what the argument is: it is left out, or a constant."""
        value = self.get(name)
        return value is None or type(value) is Const
