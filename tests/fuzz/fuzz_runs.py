"""Runs a drawn program with the stand-in for torch, and writes down what each expression was."""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import fuzz_torch
from fuzz_checks import MAIN
from fuzz_torch_nn import Module

MOST_SEEN = 4_000
"""Values in one run: a loop of coins may be long, if hardly ever."""
Place = tuple[int, int, int, int]
_VALUES = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp, ast.IfExp)
SEE, BEGIN = "_see", "_begin"


class Enough(BaseException):
    """A run is long enough."""


@dataclass
class Sight:
    """Where a tensor was that an expression stood for; None of a module."""

    place: Place
    was: str | None


@dataclass
class Run:
    """What happened in a run, in its order. `completed` counts how often an expression had a value,
    `failed` is the one that raised."""

    sights: list[Sight] = field(default_factory=list)
    completed: Counter[Place] = field(default_factory=Counter)
    moved: Counter[Place] = field(default_factory=Counter)
    """Transfers that gave another tensor than they were called on."""
    failed: Place | None = None
    error: str = ""


class Program:
    """A program that is ready to run."""

    def __init__(self, text: str) -> None:
        marker = _Marker(ast.parse(text))
        self._places, self._receivers = marker.places, marker.receivers
        self._code = compile(ast.fix_missing_locations(marker.tree), MAIN, "exec")

    def run(self, seed: int) -> Run:
        run, coins = Run(), Random(seed)
        parts = {**fuzz_torch.modules(coins), "random": coins}
        open_places: list[int] = []
        names: dict[str, Any] = {
            "__builtins__": {**vars(builtins), "__import__": _importing(parts)},
            "__name__": "__main__",
            SEE: self._observer(run, open_places),
            BEGIN: _beginner(open_places),
        }
        try:
            exec(self._code, names)
        except (Exception, Enough) as error:
            run.error = f"{type(error).__name__}: {error}"
            if open_places and not isinstance(error, Enough):
                run.failed = self._places[open_places[-1]]
        return run

    def _observer(self, run: Run, open_places: list[int]) -> Callable[[int, Any], Any]:
        last: dict[Place, Any] = {}

        def see(number: int, value: Any) -> Any:
            failing = sys.exc_info()[0]
            if failing is GeneratorExit:
                return value
            if len(run.sights) >= MOST_SEEN or failing is not None:
                raise Enough  # what is so only after a failure does not count
            while open_places and open_places.pop() != number:
                pass
            place = self._places[number]
            run.completed[place] += 1
            if isinstance(value, fuzz_torch.Tensor):
                run.sights.append(Sight(place, value.place))
                last[place] = value
                receiver = self._receivers.get(place)
                if receiver is not None and last.get(receiver) is not value:
                    run.moved[place] += 1
            elif isinstance(value, Module):
                run.sights.append(Sight(place, None))
            return value

        return see


def _beginner(open_places: list[int]) -> Callable[[int], int]:
    def begin(number: int) -> int:
        open_places.append(number)
        return number

    return begin


def _importing(parts: dict[str, Any]) -> Callable[..., Any]:
    def importing(name: str, *args: Any, **more: Any) -> Any:
        return parts.get(name) or __import__(name, *args, **more)

    return importing


class _Marker(ast.NodeTransformer):
    """Has the value of each expression looked at as soon as it is there. `receivers` tells what a
    transfer is called on."""

    def __init__(self, tree: ast.Module) -> None:
        self.places: list[Place] = []
        self.receivers: dict[Place, Place] = {}
        self.tree = self.visit(tree)

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.MatchValue):
            return node
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in ("to", "cuda", "cpu"):
            self.receivers[place_of(node)] = place_of(called.value)
        node = super().generic_visit(node)
        if isinstance(node, ast.AugAssign):
            number = self._number(node)
            begin = ast.Call(ast.Name(BEGIN, ast.Load()), [ast.Constant(number)], [])
            end = ast.Call(ast.Name(SEE, ast.Load()), [ast.Constant(number), begin.args[0]], [])
            around = [ast.Expr(begin), node, ast.Expr(end)]
            return [ast.copy_location(each, node) for each in around]
        if not isinstance(node, _VALUES) or isinstance(getattr(node, "ctx", None), ast.Store):
            return node
        if isinstance(getattr(node, "ctx", None), ast.Del) or _is_super(node):
            return node
        begin = ast.Call(ast.Name(BEGIN, ast.Load()), [ast.Constant(self._number(node))], [])
        return ast.copy_location(ast.Call(ast.Name(SEE, ast.Load()), [begin, node], []), node)

    def _number(self, node: Any) -> int:
        self.places.append(place_of(node))
        return len(self.places) - 1


def place_of(node: Any) -> Place:
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return node.lineno, node.col_offset, end_line, end


def _is_super(node: ast.AST) -> bool:
    """`super` must be called by its name."""
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Name) and called.id == "super"
