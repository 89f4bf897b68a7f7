"""The parts of a transfer's call: what it moves, where to, and what else it is asked to do."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from device_lens.fixes.place import Place, in_quotes
from device_lens.syntax.position import Range

DEVICE_WORDS = re.compile(r"dev|gpu|cpu|cuda|rank|accelerator", re.IGNORECASE)
"""What the name of a device says: `x.to(y)` takes a dtype or a tensor as well."""
_DTYPE_WORDS = ("dtype", "float", "double", "half", "int", "long", "bool", "short", "uint")


@dataclass(frozen=True, slots=True)
class TransferCall:
    """A call `receiver.method(...)` taken apart; texts are source texts."""

    receiver: Place
    suffix: Range
    """From the dot (and the line break before it) to the end of the call."""
    device: str | None
    """What `device=` would be; None where the target is a tensor, or not read."""
    rest: tuple[str, ...]
    """Arguments that a factory's `device=` does not cover: a dtype, a memory format."""

    @property
    def says_device(self) -> bool:
        """Whether the target is a device by what is written: a variable may be a dtype."""
        if self.device is None or "dtype" in self.device:
            return False
        return DEVICE_WORDS.search(self.device) is not None


def read_transfer(call: Place) -> TransferCall | None:
    """Takes `x.to(d)`, `x.cuda()`, `x.cpu()` apart; None for any other call."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if any(isinstance(each, ast.Starred) for each in node.args):
        return None
    receiver = call.at(node.func.value)
    suffix = _suffix(call, node.func)
    if node.func.attr == "to":
        device, rest = _to_arguments(call, node)
        return TransferCall(receiver, suffix, device, rest)
    if node.func.attr in ("cuda", "xpu", "cpu", "mps"):
        return TransferCall(receiver, suffix, _method_device(call, node), ())
    return None


def _suffix(call: Place, func: ast.Attribute) -> Range:
    """From the dot to the end; with the white space before the dot when that breaks a line."""
    text = call.source.lines.text
    dot = text.rindex(".", 0, call.source.lines.offset(call.at(func).range.end) - len(func.attr))
    start = dot
    while start > 0 and text[start - 1] in " \t\r\n\\":
        start -= 1
    if "\n" not in text[start:dot] or "#" in text[text.rfind("\n", 0, start) + 1 : start]:
        start = dot
    return Range(call.source.lines.position(start), call.range.end)


def _to_arguments(call: Place, node: ast.Call) -> tuple[str | None, tuple[str, ...]]:
    device: str | None = None
    rest: list[str] = []
    for number, argument in enumerate(node.args):
        text = call.at(argument).text
        if number == 0 and not _looks_like_dtype(argument):
            device = text
        elif number == 1 and not _is_none(argument):
            rest.append(text)
    for each in node.keywords:
        text = call.at(each.value).text
        if each.arg == "device":
            device = text
        elif each.arg not in ("non_blocking", "copy") and not _is_none(each.value):
            rest.append(f"{each.arg}={text}" if each.arg else f"**{text}")
    return device, tuple(rest)


def _is_none(argument: ast.expr) -> bool:
    """Whether an argument says what is so without it: no dtype, no memory format."""
    return isinstance(argument, ast.Constant) and argument.value is None


def _looks_like_dtype(argument: ast.expr) -> bool:
    """Whether an argument is written as a dtype: `torch.float16`, `x.dtype`."""
    return isinstance(argument, ast.Attribute) and argument.attr.startswith(_DTYPE_WORDS)


def _method_device(call: Place, node: ast.Call) -> str | None:
    """The target of `.cuda()` or `.cuda(1)` as an argument."""
    if not isinstance(node.func, ast.Attribute):
        return None
    kind = node.func.attr
    positional = node.args[0] if node.args else None
    named = next((each.value for each in node.keywords if each.arg == "device"), None)
    index = positional if positional is not None else named
    if index is None:
        return in_quotes(call, kind)
    if isinstance(index, ast.Constant) and isinstance(index.value, int):
        return in_quotes(call, f"{kind}:{index.value}")
    return call.at(index).text if isinstance(index, ast.Attribute) else None


def method_suffix(call: Place) -> Range | None:
    """`.method(...)` behind what it is called on; None for a call of another form."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    return _suffix(call, node.func)
