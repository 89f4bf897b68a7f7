"""Arguments of a call: add, replace or remove one, commas and line breaks kept."""

from __future__ import annotations

import ast
import re

from device_lens.fixes.edit import Edit
from device_lens.fixes.place import Place, indentation
from device_lens.syntax.position import Position, Range

_CLOSING = re.compile(r"(?:(?:[ \t\f\r\n\\]|#[^\r\n]*)*\))+")
"""Closing parentheses with the white space and comments before each."""


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((each for each in call.keywords if each.arg == name), None)


def is_true(value: ast.expr) -> bool:
    """Whether an expression is the constant `True`."""
    return isinstance(value, ast.Constant) and value.value is True


def has_unpacking(call: ast.Call) -> bool:
    """Whether `**` may bring a keyword that is not seen."""
    return any(each.arg is None for each in call.keywords)


def add_keyword(place: Place, name: str, value: str) -> Edit | None:
    """Adds `name=value` behind the last argument, before a trailing comma; replaces the value
    where the keyword is there. None where `**` may bring it already."""
    call = place.node
    if not isinstance(call, ast.Call) or has_unpacking(call):
        return None
    present = keyword(call, name)
    if present is not None:
        return place.at(present.value).replace(value)
    nodes: list[ast.AST] = [*call.args, *call.keywords]
    if not nodes:
        inside = _between_parentheses(place)
        if place.source.text_of(inside).strip():
            return None  # a comment
        return place.edit(inside, f"{name}={value}")
    last = max(nodes, key=lambda node: place.at(node).range.end)
    if len(call.args) == 1 and isinstance(last, ast.GeneratorExp) and _bare_generator(place, last):
        return None
    stop = place.at(last).range.end
    end = _past_parentheses(place, stop)
    gap = _line_of_its_own(place, last) if end.line == stop.line else None
    return place.edit(Range(end, end), f",{gap or ' '}{name}={value}")


def _line_of_its_own(place: Place, last: ast.AST) -> str | None:
    """The line break and indentation of the last argument where each has a line of its own."""
    call = place.node
    if not isinstance(call, ast.Call):
        raise TypeError("only calls have arguments")
    first = min((*call.args, *call.keywords), key=lambda node: place.at(node).range.start)
    opening, where = _between_parentheses(place).start, place.at(last).range.start
    before = place.source.lines.line(where.line)[: where.column]
    own_line = not before.strip(" \t(") and place.at(first).range.start.line > opening.line
    return f"\n{indentation(place.source, where.line)}" if own_line else None


def remove_keyword(place: Place, name: str) -> Edit | None:
    """Removes `name=…` with the comma that goes with it. None where it is not there."""
    call = place.node
    present = keyword(call, name) if isinstance(call, ast.Call) else None
    if present is None or not isinstance(call, ast.Call):
        return None
    return remove_argument(place, present)


def remove_argument(place: Place, argument: ast.AST) -> Edit:
    """Removes an argument of a call with the comma that goes with it."""
    call = place.node
    if not isinstance(call, ast.Call):
        raise TypeError("arguments belong to calls")
    nodes = sorted([*call.args, *call.keywords], key=lambda node: place.at(node).range)
    number = next(i for i, node in enumerate(nodes) if node is argument)
    where = place.at(argument).range
    if number > 0:
        start = _past_parentheses(place, place.at(nodes[number - 1]).range.end)
        return place.edit(Range(start, _past_parentheses(place, where.end)), "")
    if len(nodes) > 1:
        return place.edit(Range(where.start, place.at(nodes[1]).range.start), "")
    return place.edit(_between_parentheses(place), "")


def _between_parentheses(place: Place) -> Range:
    """The inside of a call's parentheses."""
    call = place.node
    if not isinstance(call, ast.Call):
        raise TypeError("only calls have arguments")
    end = place.range.end
    start = _past_parentheses(place, place.at(call.func).range.end)
    lines = place.source.lines
    opening = lines.text.index("(", lines.offset(start))
    return Range(lines.position(opening + 1), Position(end.line, end.column - 1))


def _past_parentheses(place: Place, end: Position) -> Position:
    """Behind the parentheses that close around what ends at `end`, within the call: those of an
    argument such as `(a + b)`, whose node does not cover them. Comments may stand before them."""
    lines = place.source.lines
    start, stop = lines.offset(end), lines.offset(place.range.end) - 1
    closing = _CLOSING.match(lines.text, start, stop)
    return lines.position(start if closing is None else closing.end())


def _bare_generator(place: Place, generator: ast.GeneratorExp) -> bool:
    """Whether a generator shares the call's parentheses, as in `sum(x for x in y)`."""
    return place.at(generator).range.end == place.range.end
