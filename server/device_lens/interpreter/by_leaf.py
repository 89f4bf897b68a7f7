"""What is done with a value that hangs on a condition: with each function, class and object once,
where any of the conditions holds under which it is the one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod
from device_lens.domain.condition import negation
from device_lens.domain.guard import Guarded, atoms, leaves, node
from device_lens.domain.path import literal
from device_lens.domain.values import NONE, BoundExternal
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.picks import picking

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_ELSEWHERE = object()
"""Where a tree that is left of another one need not say anything."""


def called(machine: Machine, tree: Guarded, frame: Frame, run: Callable[[Any], Any]) -> Any:
    """What `run` gives for the functions of a tree. None is none that is called."""
    if NONE in (tree.yes, tree.no):
        return run(tree.no if tree.yes == NONE else tree.yes)
    condition, chosen, others = parted(machine, tree)
    with ExitStack() as picks:
        for atom in atoms(condition):
            picks.enter_context(picking(machine, atom))
        return machine.choose(condition, frame, lambda: run(chosen), lambda: run(others))


def parted(machine: Machine, tree: Guarded) -> tuple[Any, Any, Any]:
    """A condition, what a tree is where it holds, and what it is elsewhere. One value stands in
    many places of a tree where flags that are asked one after the other choose by name: all of
    these are one condition, where paths can keep it. First comes the value without which least is
    left to be told apart."""
    told = leaves(tree)
    several: list[Any] = []
    for leaf in told:
        if not any(_is_same(each, leaf) for each in several):
            several.append(leaf)
    if len(several) < len(told):
        found = [(leaf, _without(tree, leaf)) for leaf in several]
        for leaf, others in sorted(found, key=_size):
            condition = _where(tree, leaf)
            if _is_kept(machine, condition) and _is_kept(machine, negation(condition)):
                return condition, leaf, others
    return literal(tree.atom), tree.yes, tree.no


def _size(found: tuple[Any, Any]) -> int:
    others = found[1]
    return others.size if type(others) is Guarded else 1


def _is_kept(machine: Machine, condition: Any) -> bool:
    """Whether it is known on the paths where a condition holds."""
    return machine.path.assume(condition).decide(condition) is True


def _is_same(left: Any, right: Any) -> bool:
    """Whether two are one value; functions, where they are bound to the same."""
    if type(left) is BoundMethod and type(right) is BoundMethod:
        return left.function is right.function and left.receiver is right.receiver
    if type(left) is BoundExternal and type(right) is BoundExternal:
        return left.name == right.name and bool(left.receiver == right.receiver)
    return left is right or bool(left == right)


def _where(tree: Any, value: Any) -> Any:
    """The condition under which a tree is one value."""
    if type(tree) is not Guarded:
        return _is_same(tree, value)
    return node(tree.atom, _where(tree.yes, value), _where(tree.no, value))


def _without(tree: Any, value: Any) -> Any:
    """What a tree is where it is not one value."""
    if type(tree) is not Guarded:
        return _ELSEWHERE if _is_same(tree, value) else tree
    yes, no = _without(tree.yes, value), _without(tree.no, value)
    if yes is _ELSEWHERE or no is _ELSEWHERE:
        return no if yes is _ELSEWHERE else yes
    return node(tree.atom, yes, no)
