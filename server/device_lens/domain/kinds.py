"""One value for any item of a list that modules of several kinds were put into.

It is a tree of one module for each kind, whose atoms say nothing: which kind an item is of is open
anew for each item that is read.
"""

from __future__ import annotations

from typing import Any

from device_lens.domain.atom import Atom
from device_lens.domain.guard import Guarded, atoms, leaves, renamed
from device_lens.domain.heap import ModuleObject
from device_lens.domain.join import join_all, join_blind
from device_lens.domain.perhaps_none import IS_NONE, any_of
from device_lens.domain.similarity import similar
from device_lens.domain.values import External

MAX_KINDS = 10
"""Modules that are told apart; each is run on its own where an item is called."""
MOST_LAYERS = 24
"""The same where a library's own layers, which cost little to run, are among them."""
MOST_MET = 16
"""Modules that are told apart where paths meet, which would else leave nothing to run."""
_KIND = "of one kind"
"""The text of the atoms between kinds."""
_OPENED = {_KIND: "", IS_NONE: IS_NONE}
"""The texts of atoms that each item has its own of, with those of the new ones."""


def kinds(value: Any) -> list[Any] | None:
    """The modules that an item may be; None where it may be anything else."""
    if type(value) is ModuleObject:
        return [value]
    if type(value) is not Guarded:
        return None
    found = list(leaves(value))
    return found if all(type(each) is ModuleObject for each in found) else None


def gathered(items: tuple[Any, ...] | list[Any], rest: Any, most: int = MAX_KINDS) -> Any:
    """One value for any item; Python's None where there is none."""
    given = [*([] if rest is None else [rest]), *items]
    return any_of(given, lambda known: _gathered(known, most)) if given else None


def _gathered(given: list[Any], most: int) -> Any:
    result = given[0]
    for index, item in enumerate(given[1:], 1):
        if kinds(result) is None:
            return join_all([result, *given[index:]])
        result = gather(result, item, most)
    return result


def gather(left: Any, right: Any, most: int = MAX_KINDS) -> Any:
    """Either of two items of a list, with no condition that decides."""
    known, more = kinds(left), kinds(right)
    if known is None or more is None:
        return join_blind(left, right)
    are_kinds = _says_nothing(left)
    found = [*known] if are_kinds else []  # kinds differ already
    for module in more if are_kinds else (*known, *more):
        if not any(similar(each, module) for each in found):
            found.append(module)
    if len(found) == len(known) and are_kinds:
        return left
    if len(found) > most and (len(found) > MOST_LAYERS or sum(map(_is_of_program, found)) > most):
        return join_blind(left, right)
    tree = found[-1]
    between = [Atom(_KIND) for _ in found[:-1]]
    for atom, module in zip(reversed(between), reversed(found[:-1]), strict=True):
        tree = Guarded(atom, module, tree)
    return tree


def regathered(joined: Any, left: Any, right: Any) -> Any:
    """What two paths put into a list: told apart by what decides between them, or where that has
    become too much the kinds of both."""
    if not any(map(_is_gathered, (left, right))):
        return joined
    one, other = kinds(left), kinds(right)
    if one is None or other is None:
        return joined
    if _says_nothing(left) and _says_nothing(right) and set(map(id, one)) == set(map(id, other)):
        return left  # nothing hangs on what decides
    return joined if kinds(joined) is not None else gather(left, right, MOST_MET)


def _is_gathered(value: Any) -> bool:
    return type(value) is Guarded and any(atom.text == _KIND for atom in atoms(value))


def _says_nothing(value: Any) -> bool:
    """Whether no condition decides of which kind an item is."""
    return all(atom.text == _KIND for atom in atoms(value))


def _is_of_program(module: Any) -> bool:
    return type(module.cls) is not External


def opened(value: Any) -> Any:
    """An item as it is read: its kind, and whether it is None, has nothing to do with any other."""
    if type(value) is not Guarded:
        return value
    between = {atom: Atom(_OPENED[atom.text]) for atom in atoms(value) if atom.text in _OPENED}
    return renamed(value, between) if between else value
