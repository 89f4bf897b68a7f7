"""What a dict holds under a key that nobody knows: one of its values, each followed on its own.

A program that is told by name which model, dataset or optimizer to take keeps them in a dict. The
key that it is asked for decides as a chain of `if key == …` would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function, Namespace
from device_lens.domain.guard import choose, undecided
from device_lens.domain.heap import DictObject, ListObject, ModuleObject
from device_lens.domain.similarity import similar
from device_lens.domain.values import BoundExternal, External, Partial, TupleValue, Unknown
from device_lens.interpreter.conditions import opaque
from device_lens.models import registry

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MAX_CHOICES = 8
"""Values that are told apart; whatever is done with the choice is done with each."""
_CODE = (Function, BoundMethod, ClassValue, Namespace, Partial, BoundExternal)

Decision = Callable[[tuple[Any, ...]], Any]
"""The condition under which the key is one of these."""


def choice(machine: Machine, table: DictObject, index: Any) -> Any:
    """`table[index]` for an index that is not known, where the dict holds code or modules that
    differ; None where it holds anything else, or too many."""
    entries = table.entries
    if table.rest is not None or len(entries) < 2:
        return None
    groups: list[tuple[Any, list[Any]]] = []
    for key, value in entries.items():
        if not _is_told_apart(value):
            return None
        same = next((keys for each, keys in groups if each == value), None)
        if same is not None:
            same.append(key)
        elif len(groups) == MAX_CHOICES:
            return None
        else:
            groups.append((value, [key]))
    if all(similar(groups[0][0], value) for value, _ in groups[1:]):
        return None
    # What one name stands for in a loop may be another key in each pass.
    is_asked_again = type(index) is Unknown and not any(frame.loops for frame in machine.stack)
    return _tree(groups, _asked_of(index) if is_asked_again else _asked_anew)


def among(modules: dict[str, Any], name: Unknown) -> Any:
    """The module of a name, of those that there are; None where there are none."""
    groups = [(module, [key]) for key, module in modules.items()]
    return _tree(groups, _asked_of(name)) if groups else None


def _is_told_apart(value: Any) -> bool:
    """Whether what is done with a value may be something else than with its neighbours: code, a
    module, or a row of a table that holds one."""
    kind = type(value)
    if kind is TupleValue or (kind is ListObject and value.rest is None):
        return any(map(_is_told_apart, value.items))
    if kind is External:
        return registry.names_code(value.name)
    return kind is ModuleObject or kind in _CODE


def _asked_of(index: Unknown) -> Decision:
    """As `==` decides it, so that a test of the key agrees with the choice."""

    def decision(keys: tuple[Any, ...]) -> Any:
        return opaque(index, ("==", keys[0]) if len(keys) == 1 else ("among", keys))

    return decision


def _asked_anew(keys: tuple[Any, ...]) -> Any:
    return undecided()


def _tree(groups: list[tuple[Any, list[Any]]], decision: Decision) -> Any:
    """A tree as flat as can be: conditions are told apart to a depth."""
    if len(groups) == 1:
        return groups[0][0]
    half = len(groups) // 2
    left, right = groups[:half], groups[half:]
    condition = decision(tuple(key for _, keys in left for key in keys))
    yes, no = _tree(left, decision), _tree(right, decision)
    return choose(condition, yes, no)
