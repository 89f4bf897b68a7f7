"""Sums and lists that keep graphs, with the ways that lead to them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import ModuleObject
from device_lens.interpreter.graph_chains import Level
from device_lens.interpreter.graph_names import operands
from device_lens.interpreter.graph_sharing import read_with_graph
from device_lens.interpreter.graph_windows import lets_go
from device_lens.interpreter.rarer_facts import RetainedGraph
from device_lens.syntax.names import is_own_attribute
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame

_MAX_CHAINS = 8
_OF_BATCH = re.compile("step|batch|backward")
"""In the names of methods that a trainer runs for each batch."""


class Kept:
    """A sum or list that keeps graphs, with the ways by which the program got there. `awaited`:
    the backward pass of what it adds follows the loop, so that what that frees had to be kept.
    `unused`, once somebody asked: no backward pass starts from it. `filled`: it was seen to hold
    anything before: what is emptied in each iteration is not. `bounded`: it lets go of items as
    others come."""

    __slots__ = ("awaited", "bounded", "chains", "fact", "filled", "unused")

    def __init__(self, fact: RetainedGraph, awaited: bool = False, filled: bool = False) -> None:
        self.fact = fact
        self.awaited = awaited
        self.bounded = False
        self.filled = filled
        self.unused: bool | None = None
        self.chains: list[tuple[Level, ...]] = []

    def reached(self, chain: tuple[Level, ...]) -> None:
        """Adds a way by which the program got there."""
        if len(self.chains) < _MAX_CHAINS:
            self.chains.append(chain)
            self.unused = None


def given_back(frame: Frame, accumulator: ast.expr, subject: ast.expr) -> bool:
    """Whether a step of a Lightning module puts into an attribute what it gives back as the loss:
    the trainer runs the step for each batch, and the backward pass of what it gives."""
    module, function = frame.self_value, frame.function
    if type(module) is not ModuleObject or function is None or function.name != "training_step":
        return False
    if not is_own_attribute(accumulator) or type(module.cls) is not ClassValue:
        return False
    if not any(name.endswith(".LightningModule") for name in module.cls.foreign):
        return False
    if any(_empties(each, accumulator) for each in module.cls.node.body):
        return False
    names = operands(subject)
    returns = (node.value for node in walk(function.node) if isinstance(node, ast.Return))
    return any(value is not None and names & set(read_with_graph(value)) for value in returns)


def _empties(method: ast.stmt, accumulator: ast.expr) -> bool:
    """Whether a method that runs for each batch sets an attribute anew, or takes items out."""
    if not isinstance(method, ast.FunctionDef) or not _OF_BATCH.search(method.name):
        return False
    text = ast.unparse(accumulator)
    sets = (
        isinstance(node, ast.Assign) and any(ast.unparse(each) == text for each in node.targets)
        for node in walk(method)
    )
    return lets_go(method, None, accumulator) or any(sets)
