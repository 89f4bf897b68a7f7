"""Names coloured by where their value is: opt-in, since another extension owns Python's tokens."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from device_lens.domain.device import CPU, Device, DeviceTree, flatten_device, is_accelerator
from device_lens.domain.guard import Guarded, primary
from device_lens.ide.places import range_of
from device_lens.interpreter.facts import Expression, FileFacts, Kind
from device_lens.syntax.position import Position, Range

TYPES = ("variable", "parameter", "property")
MODIFIERS = ("cpu", "accelerator", "conditional")
"""`conditional` is added where another case has another device."""


@dataclass(frozen=True, slots=True)
class SemanticToken:
    """A name on one line: `type` and `modifiers` are of `TYPES` and `MODIFIERS`."""

    range: Range
    type: str
    modifiers: tuple[str, ...]


def semantic_tokens(facts: FileFacts, window: Range | None = None) -> list[SemanticToken]:
    """The tokens of a file or of a part of it, in order and without overlap."""
    found: dict[Position, SemanticToken] = {}
    for expression in facts.expressions:
        token = _token(facts, expression)
        if token is not None and (window is None or window.covers(token.range)):
            found.setdefault(token.range.start, token)
    return [found[start] for start in sorted(found)]


def _token(facts: FileFacts, expression: Expression) -> SemanticToken | None:
    if expression.kind not in (Kind.TENSOR, Kind.MODULE):
        return None
    modifiers = _modifiers(expression.device)
    named = _named(facts, expression)
    if not modifiers or named is None:
        return None
    return SemanticToken(named[1], named[0], modifiers)


def _named(facts: FileFacts, expression: Expression) -> tuple[str, Range] | None:
    """The token type and the place of the name that an expression is."""
    node = expression.site.node
    if isinstance(node, ast.arg):
        return "parameter", range_of(facts.source, expression.site)
    if isinstance(node, ast.Name):
        return "variable", range_of(facts.source, expression.site)
    if isinstance(node, ast.Attribute):
        end = range_of(facts.source, expression.site).end
        start = Position(end.line, end.column - len(node.attr))
        return ("property", Range(start, end)) if start.column >= 0 else None
    return None


def _modifiers(device: DeviceTree) -> tuple[str, ...]:
    leaf = flatten_device(primary(device))
    if not isinstance(leaf, Device):
        return ()
    name = "cpu" if leaf is CPU else "accelerator" if is_accelerator(leaf) else ""
    if not name:
        return ()
    return (name, "conditional") if type(device) is Guarded else (name,)
