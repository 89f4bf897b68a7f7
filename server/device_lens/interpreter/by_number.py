"""What a comprehension over a range makes at each number, where the range may have any length and
the element is computed from the number alone: texts, numbers and devices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.by_number import first_items, keep_places, number_of
from device_lens.domain.device import Device, parse_device
from device_lens.domain.heap import ListObject
from device_lens.domain.values import Const, DeviceValue, External
from device_lens.models.call import constant

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_LONGEST = 64
"""Letters of a text that is computed."""


def keep_elements(
    machine: Machine, node: Any, made: ListObject, iterable: Any, frame: Frame
) -> None:
    """Keeps of the list that a comprehension made what each of its first items is. `frame` is
    where the element is evaluated."""
    counts = getattr(iterable, "kind", "") == "range" or number_of(iterable) is not None
    numbers = first_items(iterable) if counts else ()
    if not numbers or made.rest is None or len(node.generators) != 1:
        return
    generator = node.generators[0]
    if generator.ifs or generator.is_async or not isinstance(generator.target, ast.Name):
        return
    found: list[Any] = []
    for number in numbers:
        element = _Element(machine, frame, generator.target.id, number).of(node.elt)
        if element is None:
            break
        found.append(element)
    if found:
        keep_places(made, tuple(found), number_of(iterable))


class _Element:
    """Computes an element for one number; Python's None where it hangs on anything else."""

    def __init__(self, machine: Machine, frame: Frame, name: str, number: Any) -> None:
        self.machine = machine
        self.frame = frame
        self.name = name
        self.number = number

    def of(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() | int()):
                return Const(node.value)
            case ast.Name(id=name) if name == self.name:
                return self.number
            case ast.Name() | ast.Attribute():
                known = self.machine.evaluate(node, self.frame)
                return known if type(known) is Const else None
            case ast.JoinedStr(values=parts):
                return _text_of(list(map(self._part, parts)))
            case ast.BinOp(left=left, op=op, right=right):
                return _combined(op, self.of(left), self.of(right))
            case ast.Call(func=func, args=args, keywords=[]):
                return self._call(func, list(map(self.of, args)))
        return None

    def _part(self, node: ast.expr) -> Any:
        if isinstance(node, ast.FormattedValue):
            plain = node.conversion == -1 and node.format_spec is None
            return self.of(node.value) if plain else None
        return self.of(node)

    def _call(self, func: ast.expr, args: list[Any]) -> Any:
        if any(arg is None for arg in args) or not args:
            return None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Constant):
            return _formatted(func.value.value, args) if func.attr == "format" else None
        called = self.machine.evaluate(func, self.frame)
        name = called.name if type(called) is External else ""
        if name == "torch.device":
            return _device(*args) if len(args) < 3 else None
        return _text_of(args) if name == "builtins.str" and len(args) == 1 else None


def _text_of(parts: list[Any]) -> Const | None:
    """The text that some texts and numbers are one after the other."""
    if not all(type(constant(part)) in (str, int) for part in parts):
        return None
    return _short("".join(str(constant(part)) for part in parts))


def _short(text: str) -> Const | None:
    return Const(text) if len(text) <= _LONGEST else None


def _formatted(template: Any, args: list[Any]) -> Const | None:
    """`"cuda:{}".format(i)`."""
    pieces = template.split("{}") if isinstance(template, str) else []
    if len(pieces) != 2 or len(args) != 1 or any("{" in each or "}" in each for each in pieces):
        return None
    return _text_of([Const(pieces[0]), args[0], Const(pieces[1])])


def _combined(op: ast.operator, left: Any, right: Any) -> Const | None:
    """What an operator gives of two numbers or two texts, or puts into a text."""
    one, other = constant(left), constant(right)
    if type(one) is str:
        if isinstance(op, ast.Add) and type(other) is str:
            return _short(one + other)
        begun, mark, rest = one.partition("%d" if "%d" in one else "%s")
        if isinstance(op, ast.Mod) and mark and "%" not in begun + rest:
            return _text_of([Const(begun), right, Const(rest)])
        return None
    if type(one) is not int or type(other) is not int:
        return None
    match op:
        case ast.Add():
            return Const(one + other)
        case ast.Sub():
            return Const(one - other)
        case ast.Mult():
            return Const(one * other)
        case ast.FloorDiv() if other > 0:
            return Const(one // other)
        case ast.Mod() if other > 0:
            return Const(one % other)
    return None


def _device(kind: Any, index: Any = None) -> DeviceValue | None:
    """`torch.device("cuda:1")`, `torch.device("cuda", 1)`, `torch.device(1)`."""
    name, number = constant(kind), 0 if index is None else constant(index)
    if type(number) is not int or number < 0 or type(name) is not str:
        return None
    found = parse_device(name)
    if found is None or index is None:
        return None if found is None else DeviceValue(found, placed=False)
    return DeviceValue(Device(found.type, number), placed=False) if found.index is None else None
