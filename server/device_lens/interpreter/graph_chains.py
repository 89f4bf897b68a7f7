"""The functions that run, one within the other, and what becomes of a value on its way out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.interpreter.graph_flow import Fate, fate

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame


class Level(NamedTuple):
    """A function that runs, and the call in it that leads to the next inner one."""

    body: list[ast.stmt]
    call: Any


def chain_of(frame: Frame) -> tuple[Level, ...]:
    """The functions that run, innermost first."""
    found: list[Level] = []
    call: Any = None
    inner: Frame | None = frame
    while inner is not None:
        function = inner.function
        body: Any
        if function is not None:
            body = function.node.body
        else:
            body = [statement for chunk in inner.namespace.file.chunks for statement in chunk.body]
        if not isinstance(body, list):
            body = [ast.Expr(body)]
        found.append(Level(body, call))
        call, inner = inner.call_site, inner.parent
    return tuple(found)


def reaches(chain: tuple[Level, ...], names: set[str], nodes: frozenset[Any]) -> Fate:
    """What becomes of the values of names and nodes of the innermost function, followed out
    through its callers. Returned to callers that are not seen, they escape."""
    for index, level in enumerate(chain):
        found = fate(level.body, names, nodes)
        if found & (Fate.BACKWARD | Fate.ESCAPED) or not found & Fate.RETURNED:
            return found & (Fate.BACKWARD | Fate.ESCAPED)
        if index + 1 == len(chain):
            return Fate.ESCAPED
        call = chain[index + 1].call
        names, nodes = set(), frozenset() if call is None else frozenset({call})
    return Fate.ESCAPED
