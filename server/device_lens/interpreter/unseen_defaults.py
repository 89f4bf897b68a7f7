"""Where code that no script calls creates: a script that sets the default device, or the default
tensor type, does so for every module that it reaches, and nobody knows whether before it calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import UNKNOWN_DEVICE

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.program import Program
    from device_lens.interpreter.unit import Unit

_SETTERS = ("set_default_device", "set_default_tensor_type")
_DEFAULTS = ("default_device", "default_type")


class UnseenDefaults:
    """The files whose code may be called with other defaults than those of a program that
    starts."""

    def __init__(self) -> None:
        self.paths: frozenset[str] = frozenset()
        self._setting: dict[str, tuple[Any, bool]] = {}

    def look(self, program: Program, scripts: Iterable[tuple[str, Unit]]) -> None:
        """Finds them anew. What ran for such files, or as if there were none, is forgotten."""
        modules = {path: load.namespace.file for path, load in program.loads.items()}
        setting = {path for path, file in modules.items() if self._sets(path, file)}
        found: set[str] = set()
        for path, unit in scripts:
            sets = self._sets(path, unit.source)
            reached = program.reached(unit.imports) if sets or setting else ()
            if sets or not setting.isdisjoint(reached):
                found.update((path, *reached))
        if found != self.paths:
            self.paths = frozenset(found)
            program.forget_uncalled()

    def _sets(self, path: str, file: Any) -> bool:
        """Whether the text of a file names what sets a default."""
        known = self._setting.get(path)
        if known is None or known[0] is not file:
            sets = any(word in chunk.text for chunk in file.chunks for word in _SETTERS)
            known = self._setting[path] = file, sets
        return known[1]

    def enter(self, machine: Machine, path: str) -> None:
        """Before code of a file runs that no one calls, or a class of it is made."""
        if path in self.paths:
            for name in _DEFAULTS:
                machine.journal.write(machine.globals, name, UNKNOWN_DEVICE)
