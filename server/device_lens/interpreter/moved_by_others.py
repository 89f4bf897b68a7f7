"""Which parts of objects others move: `user.model.to(device)`. Of an object of which a method runs
that no one calls nobody knows whether that has happened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.models.torch import module as torch_module

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.program import Program
    from device_lens.interpreter.unit import Unit

_MOVE = re.compile(r"\.(?:to|cuda|cpu|xpu)\(")
_PART = re.compile(r"(?<![\w.])(?!(?:self|cls)\b)\w+(?:\[[^\]]*\])?\.(\w+)\Z")
"""What ends with an attribute of what a name or an item stands for."""


class MovedByOthers:
    """The names of the attributes that a program moves from outside of their classes."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self._known: dict[str, tuple[Any, frozenset[str]]] = {}

    def look(self, program: Program, scripts: Iterable[tuple[str, Unit]]) -> None:
        """Finds them anew. What ran as if there were others, or none, is forgotten."""
        files = {path: load.namespace.file for path, load in program.loads.items()}
        files.update((path, unit.source) for path, unit in scripts)
        found = frozenset(name for path, file in files.items() for name in self._of(path, file))
        changed, self.names = found ^ self.names, found
        made = (each.instance for each in program.instances.values() if each is not None)
        if changed and any(not changed.isdisjoint(each.fields) for each in made):
            program.forget_uncalled()

    def _of(self, path: str, file: Any) -> frozenset[str]:
        known = self._known.get(path)
        if known is None or known[0] is not file:
            known = self._known[path] = file, frozenset(_moved(file))
        return known[1]

    def lose(self, machine: Machine, instance: Instance) -> None:
        """Where the parts of an object are that others move is not known."""
        for name in self.names.intersection(instance.fields):
            for leaf in leaves(instance.fields[name]):
                if isinstance(leaf, ModuleObject):
                    torch_module.lose(machine, leaf)


def _moved(file: Any) -> Iterator[str]:
    """The attributes of others that the text of a file moves. It is asked at each keystroke: few
    lines have a move, which is found in a twentieth of the time that looking for names takes."""
    for chunk in file.chunks:
        for move in _MOVE.finditer(chunk.text):
            end = move.start()
            part = _PART.search(chunk.text[chunk.text.rfind("\n", 0, end) + 1 : end])
            if part is not None:
                yield part[1]
