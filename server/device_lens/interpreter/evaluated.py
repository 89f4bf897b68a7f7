"""One device tree for all observations of an expression."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, shared
from device_lens.domain.guard import MAX_DEPTH, Guarded, choose, combine, depth, node
from device_lens.interpreter.observations import Seen
from device_lens.interpreter.omissions import Missed


class _Bottom:
    __slots__ = ()


_BOTTOM = _Bottom()


def over_all(entries: list[Seen], missed: Missed) -> DeviceTree:
    """One tree for all observations: each counts where its condition holds, and where several
    do they must agree. A module that has no parts (yet) is nowhere and disagrees with none. Where
    nothing was seen the expression is not evaluated, unless calls were left out there, and where
    a call was answered as one alike it is what that one has seen. What is so only after a failure
    counts where there is nothing else."""
    tree: Any = _BOTTOM
    entries = [entry for entry in entries if not entry.failed] or entries
    placed = [entry for entry in entries if entry.device is not None]
    for entry in placed or entries:
        device = entry.device if entry.device is not None else UNKNOWN_DEVICE
        here = device if entry.condition is True else choose(entry.condition, device, _BOTTOM)
        tree = here if tree is _BOTTOM else combine(_both, tree, here)
        if depth(tree) > MAX_DEPTH + 4:
            tree = _over_named(tree)
        if depth(tree) > MAX_DEPTH + 4:
            return UNKNOWN_DEVICE
    if type(tree) is Guarded:
        for condition, source in missed.alike:
            tree = _with_alike(tree, condition, source)
        for condition, source in missed.like:
            there = _evaluated(combine(_masked, tree, source))
            there = UNKNOWN_DEVICE if there is _BOTTOM else there
            tree = combine(_filled, tree, choose(condition, there, _BOTTOM))
        if missed.left_out is not False:
            tree = combine(_filled, tree, choose(missed.left_out, UNKNOWN_DEVICE, _BOTTOM))
    found: DeviceTree = UNKNOWN_DEVICE if tree is _BOTTOM else _evaluated(tree)
    return found


def _with_alike(tree: Any, condition: Any, source: Any) -> Any:
    """The tree where under a condition all is as it is under another one."""
    there = combine(_masked, tree, source)
    if there is _BOTTOM or depth(tree) > MAX_DEPTH + 4:
        return tree
    return combine(_both, tree, choose(condition, _evaluated(there), _BOTTOM))


def _masked(leaf: Any, holds: Any) -> Any:
    return leaf if holds else _BOTTOM


def _evaluated(tree: Any) -> Any:
    """The tree where the expression is evaluated. Where that takes one of several flags, they have
    to agree: none of them is the usual case."""
    if type(tree) is not Guarded:
        return tree
    yes, no = _evaluated(tree.yes), _evaluated(tree.no)
    if yes is _BOTTOM or no is _BOTTOM:
        return no if yes is _BOTTOM else yes
    atom = tree.atom
    starts = atom.kind == "flag" and _is_idle(tree.yes if atom.default else tree.no)
    if starts and combine(_is_seen, tree.yes) != combine(_is_seen, tree.no):
        return combine(_both, yes, no)
    return node(atom, yes, no)


def _is_seen(leaf: Any) -> bool:
    return leaf is not _BOTTOM


def _is_idle(tree: Any) -> bool:
    """Whether nothing is evaluated where flags have their defaults."""
    if type(tree) is not Guarded:
        return tree is _BOTTOM
    sides = (tree.yes, tree.no)
    if tree.atom.kind == "flag" and tree.atom.default is not None:
        return _is_idle(sides[0 if tree.atom.default else 1])
    return all(map(_is_idle, sides))


def _filled(leaf: Any, instead: Any) -> Any:
    return instead if leaf is _BOTTOM else leaf


def _over_named(tree: Any) -> Any:
    """The tree over named atoms alone: what the others tell apart has to agree."""
    if type(tree) is not Guarded:
        return tree
    yes, no = _over_named(tree.yes), _over_named(tree.no)
    if not tree.atom.named:
        return combine(_both, yes, no)
    return choose(Guarded(tree.atom, True, False), yes, no)


def _both(left: Any, right: Any) -> Any:
    if left is _BOTTOM:
        return right
    if right is _BOTTOM or left is right:
        return left
    return shared(left, right)
