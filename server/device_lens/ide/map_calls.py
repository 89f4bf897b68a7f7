"""The functions of a file that a device map walks through where they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from device_lens.ide.map_regions import Function, own_nodes, trains
from device_lens.interpreter.facts import FileFacts


@dataclass(frozen=True, slots=True)
class Callee:
    """A function of the file. `is_method`: its first parameter is the receiver."""

    node: Function
    chunk: Any
    is_method: bool

    def given(self, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        """The parameters that a call gives, with the arguments."""
        spec = self.node.args
        names = [each.arg for each in (*spec.posonlyargs, *spec.args)][self.is_method :]
        for name, argument in zip(names, call.args, strict=False):
            if isinstance(argument, ast.Starred):
                break
            yield name, argument
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword.value


class Callables:
    """The functions of a file in which something moves or trains: by name, and methods of one
    class."""

    def __init__(self, facts: FileFacts, class_node: ast.ClassDef | None) -> None:
        moving = {id(each.site.node) for each in facts.transfers if each.moves and each.called}
        self._functions: dict[str, Callee] = {}
        self._methods: dict[str, Callee] = {}
        for chunk in facts.source.chunks:
            for node in chunk.body:
                if isinstance(node, Function):
                    self._note(self._functions, Callee(node, chunk, False), moving)
                elif node is class_node and isinstance(node, ast.ClassDef):
                    for each in node.body:
                        if isinstance(each, Function):
                            self._note(self._methods, Callee(each, chunk, True), moving)

    def find(self, call: ast.Call) -> Callee | None:
        """The function that a call surely runs, where it is worth walking through."""
        func = call.func
        if isinstance(func, ast.Name):
            return self._functions.get(func.id)
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            return self._methods.get(func.attr) if func.value.id == "self" else None
        return None

    def _note(self, found: dict[str, Callee], callee: Callee, moving: set[int]) -> None:
        if callee.node.decorator_list:
            return
        inside = (node for each in callee.node.body for node in own_nodes(each))
        if any(id(node) in moving for node in inside) or trains(callee.node):
            found[callee.node.name] = callee
