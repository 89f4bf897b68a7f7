"""Facts about places that several kinds of facts share: loops around, conditions, invariance."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from device_lens.domain.condition import describe
from device_lens.domain.device import Device, is_accelerator
from device_lens.domain.guard import Literals, assume_all, cases
from device_lens.domain.trail import Site
from device_lens.interpreter import scan
from device_lens.interpreter.facts import Loop
from device_lens.interpreter.full_names import is_torch
from device_lens.models.torch.availability import (
    TEXTS,
    assumed_accelerator,
    availability,
    several,
)
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame, LoopRecord
    from device_lens.interpreter.machine import Machine


def loops_around(frame: Frame) -> tuple[Loop, ...]:
    """The loops of the function around the present statement, outermost first."""
    path = frame.namespace.path
    return tuple(
        Loop(
            Site(path, record.chunk, record.node),
            record.trip_count,
            record.hot or bool(record.each_time),
        )
        for record in frame.loops
    )


def invariant_loops(frame: Frame, expression: ast.expr) -> tuple[Site, ...]:
    """The loops through which `expression` gives the same value, innermost first, without a gap, up
    to one that runs the next only in some of its passes."""
    found: list[Site] = []
    for record in reversed(frame.loops):
        changes = changes_in(record)
        if changes is None or not _is_left_alone(expression, changes, frame):
            break
        if found and record.depth != frame.loops[-1].depth:
            break
        found.append(Site(frame.namespace.path, record.chunk, record.node))
    return tuple(found)


def changes_in(record: LoopRecord, left_out: ast.AST | None = None) -> scan.LoopInfo | None:
    """What a loop or comprehension may change, but for what the name of one call's method says;
    None where that is not known."""
    if isinstance(record.node, ast.comprehension):
        return scan.changed_by(record.each_time, left_out) if record.each_time else None
    if left_out is None:
        return scan.loop_info(record.node)
    return scan.changed_besides(record.node, left_out)


def _is_left_alone(expression: ast.expr, info: scan.LoopInfo, frame: Frame) -> bool:
    """Whether nothing that an expression reads is among what is changed."""
    for node in walk(expression):
        if isinstance(node, ast.Name):
            if node.id in info.names or node.id in info.mutated:
                return False
        elif isinstance(node, ast.Attribute):
            text = ast.unparse(node)
            if text in info.places or text in info.mutated:
                return False
            if node.attr in _OUT_OF_THE_GRAPH:
                return False
        elif isinstance(node, _UNREPEATABLE) or _is_impure_call(node, frame):
            return False
    return True


_OUT_OF_THE_GRAPH = ("detach", "data")
"""Reads of what requires grad: an optimizer writes into its memory, wherever it is stepped."""


_PURE_METHODS = frozenset(
    "to cuda cpu float half double bfloat16 long int bool contiguous view reshape "
    "unsqueeze squeeze clone device type_as flatten transpose permute expand size "
    "dim".split()
)


_UNREPEATABLE = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def _is_impure_call(node: ast.AST, frame: Frame) -> bool:
    """Calls that may give another tensor each time: all but moves, views, `torch.device(...)`, and
    `torch.from_numpy(array)`, as long as nobody writes into the array. A factory makes a fresh
    tensor, a random one another each time."""
    if not isinstance(node, ast.Call):
        return False
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="from_numpy"), args=[ast.Name()]
        ):
            return not is_torch(name, frame)
    if isinstance(node.func, ast.Attribute):
        return node.func.attr not in _PURE_METHODS
    pure = ("str", "int", "float", "device")
    return not (isinstance(node.func, ast.Name) and node.func.id in pure)


def condition_text(machine: Machine, literals: Literals = ()) -> str | None:
    """The named part of the present path condition and of `literals`, in the program's words.
    Accelerators being there and flags having their defaults is what a reader takes for granted
    only where the program asks for it, so these are named too; that others are not there beside one
    that is goes without saying."""
    path = machine.path.literals
    merged: dict[Any, bool] = {}
    for atom, value in (*path, *literals):
        if atom.named:
            merged[atom] = value
    is_there = any(value and atom.kind == "accelerator" for atom, value in merged.items())
    said = (
        (atom, value)
        for atom, value in merged.items()
        if value or not is_there or atom.kind != "accelerator"
    )
    return describe(tuple(said))


_NEVER_TOGETHER = {TEXTS["cuda"], TEXTS["mps"]}


def without_accelerator(literals: Literals) -> bool:
    """Whether a case lies where none of the accelerators is there that are asked for: nothing of
    ours to report there."""
    there = [value for atom, value in literals if atom.kind == "accelerator"]
    return bool(there) and not any(there)


def on_no_machine(machine: Machine, literals: Literals) -> bool:
    """Whether a case on the present path needs two accelerators that no machine has together."""
    found = {atom.text for atom, value in (*machine.path.literals, *literals) if value}
    return found >= _NEVER_TOGETHER


def is_absent(machine: Machine, device: Any, literals: Literals) -> bool:
    """Whether an accelerator is not there in a case on the present path: what made something on it
    has failed before."""
    if type(device) is not Device or device.type not in TEXTS:
        return False
    if (availability(device.type, assumed_accelerator(machine)), False) in machine.path.literals:
        return True
    is_further = device.index is not None and device.index > 0
    return is_further and (several(device.type), False) in (*literals, *machine.path.literals)


def primary_first(tree: Any) -> list[tuple[Literals, Any]]:
    """The cases of a tree, those first in which every atom has its default."""
    return sorted(
        cases(tree),
        key=lambda case: sum(atom.default is not None and atom.default != v for atom, v in case[0]),
    )


def named_case(
    machine: Machine, tree: Any, wanted: Callable[[Any], bool]
) -> tuple[Literals, Any] | None:
    """The first case of a device tree that the present path allows, that has words, needs no
    machine without an accelerator, and whose leaf is `wanted`."""
    for literals, leaf in primary_first(assume_all(tree, machine.path.literals)):
        named = all(atom.named for atom, _ in literals)
        if not wanted(leaf) or not named or without_accelerator(literals):
            continue
        if machine.path.allows(literals):
            return literals, leaf
    return None


def accelerator_case(machine: Machine, tree: Any) -> tuple[Literals, Any] | None:
    """The first such case in which a value is on an accelerator."""
    return named_case(machine, tree, is_accelerator)


def in_hot_loop(machine: Machine) -> bool:
    """Whether a hot loop runs in this function or in one that calls it."""
    return any(record.hot for frame in machine.stack for record in frame.loops)


def undecided(machine: Machine) -> bool:
    """Whether the present statement is under a condition that the analysis cannot decide."""
    return any(frame.branch_depth for frame in machine.stack)


def whole_text(node: Any) -> str:
    """The module that gets a part: of `m.part = p`, of `m[0] = p`, of `m.append(p)`, of
    `setattr(m, name, p)`."""
    if isinstance(node, ast.Call):
        given = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0]
        return ast.unparse(given)
    return ast.unparse(node.value) if isinstance(node, ast.Attribute | ast.Subscript) else "self"
