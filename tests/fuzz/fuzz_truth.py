"""Holds what is said of a program's devices against what they are when it runs."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from random import Random
from typing import Any

import fuzz_torch
from fuzz_checks import MAIN, snapshot_of

from device_lens.domain.device import ANY_INDEX, Device, flatten_device
from device_lens.domain.guard import primary
from device_lens.ide.project import Project

RUNS = 6
"""Times that a program is run, each with other coins."""
MOST_SEEN = 4_000
"""Values in one run: a loop of coins may be long, if hardly ever."""
Place = tuple[int, int, int, int]
_VALUES = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp, ast.IfExp)


class Enough(BaseException):
    """A run is long enough."""


def check_truth(text: str, random: Random) -> None:
    """Raises AssertionError where an expression was elsewhere than is said of it."""
    said = _said(text)
    for _ in range(RUNS):
        for place, was in _seen(text, random.randrange(1 << 30)):
            device = said.get(place)
            if device is not None and not _agrees(device, was):
                line, column, end_line, end = place
                source = text.splitlines()[line - 1]
                shown = source[column:end] if line == end_line else source[column:]
                raise AssertionError(f"line {line}: `{shown}` was on {was}, not on {device}")


def _said(text: str) -> dict[Place, Device]:
    """The device that is said of each expression, where one is."""
    facts = Project("/device-lens-fuzz").analyse(MAIN, snapshot_of({MAIN: text})).facts
    said: dict[Place, Device] = {}
    for expression in facts.expressions:
        device = flatten_device(primary(expression.device))
        if isinstance(device, Device):
            where = facts.source.range(expression.site.chunk, expression.site.node)
            start, end = where.start, where.end
            said[start.line + 1, start.column, end.line + 1, end.column] = device
    return said


def _agrees(said: Device, was: str) -> bool:
    """`cuda` is the first GPU; of another one it says nothing wrong."""
    kind, _, number = was.partition(":")
    open_number = said.index is None or said.index == ANY_INDEX
    return said.type == kind and (kind == "cpu" or open_number or str(said.index) == number)


def _seen(text: str, seed: int) -> list[tuple[Place, str]]:
    """Where the tensors and modules were, in the order of a run."""
    tree = ast.parse(text)
    found: list[tuple[Place, str]] = []
    marked = _Marker(tree)
    parts = {**fuzz_torch.modules(), "random": Random(seed)}
    names: dict[str, Any] = {
        "__builtins__": {**vars(builtins), "__import__": _importing(parts)},
        "__name__": "__main__",
        _Marker.SEE: _observer(marked.places, found),
    }
    code = compile(ast.fix_missing_locations(marked.tree), MAIN, "exec")
    try:
        exec(code, names)
    except (Exception, Enough):
        pass  # where it raises, nothing was seen
    finally:
        fuzz_torch.forget()
    return found


def _importing(parts: dict[str, Any]) -> Callable[..., Any]:
    def importing(name: str, *args: Any, **more: Any) -> Any:
        return parts.get(name) or __import__(name, *args, **more)

    return importing


def _observer(places: list[Place], found: list[tuple[Place, str]]) -> Callable[[int, Any], Any]:
    def see(number: int, value: Any) -> Any:
        if len(found) >= MOST_SEEN:
            raise Enough
        if isinstance(value, fuzz_torch.Tensor):
            found.append((places[number], value.place))
        return value

    return see


class _Marker(ast.NodeTransformer):
    """Has the value of each expression looked at as soon as it is there."""

    SEE = "_see"

    def __init__(self, tree: ast.Module) -> None:
        self.places: list[Place] = []
        self.tree = self.visit(tree)

    def visit(self, node: ast.AST) -> Any:
        node = super().generic_visit(node)
        if not isinstance(node, _VALUES) or isinstance(getattr(node, "ctx", None), ast.Store):
            return node
        if isinstance(getattr(node, "ctx", None), ast.Del) or _is_super(node):
            return node
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        self.places.append((node.lineno, node.col_offset, end_line, end))
        name = ast.Name(self.SEE, ast.Load())
        number = ast.Constant(len(self.places) - 1)
        return ast.copy_location(ast.Call(name, [number, node], []), node)


def _is_super(node: ast.AST) -> bool:
    """`super` must be called by its name."""
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Name) and called.id == "super"
