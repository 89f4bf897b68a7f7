"""Tests of whether something is there, which the program's flags may have decided long before:
`if "latents" in batch` holds where a flag had them computed in advance."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import Atom
from device_lens.domain.guard import Literals, atoms
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_ASKING = frozenset({"hasattr", "isinstance", "get"})


def asks_what_is_there(test: ast.expr) -> bool:
    """Whether a test, or a part of it, asks for a key, an attribute, a type or None."""
    return any(map(_asks, walk(test)))


def _asks(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        sought = isinstance(node.ops[0], ast.In | ast.NotIn)
        return sought or any(
            isinstance(side, ast.Constant) and side.value is None for side in node.comparators
        )
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _ASKING


def has_no_words(condition: Any) -> bool:
    """Whether a condition rests on something that the analysis does not know at all."""
    return any(not atom.named for atom in atoms(condition))


def may_be_excluded(machine: Machine, literals: Literals) -> bool:
    """Whether what holds under some literals only takes a flag or a variable that an undecided test
    around it did not know: where that is set, what the test asks for may always be there."""
    asked = [frame.asked for frame in machine.stack if frame.asked is not None]
    if not asked:
        return False
    known = {atom for atom, _ in asked[0].literals}
    return any(
        atom not in known and (atom.kind == "flag" or _is_variable(atom))
        for atom, _ in (*literals, *machine.path.literals)
    )


def _is_variable(atom: Atom) -> bool:
    """Whether an atom asks for a variable of the environment, not for what the machine has."""
    return atom.kind == "environment" and not atom.text.startswith("torch.")


def contradicts(machine: Machine, literals: Literals) -> bool:
    """Whether the present path has decided one of them otherwise."""
    decided = dict(machine.path.literals)
    return any(decided.get(atom, holds) is not holds for atom, holds in literals)
