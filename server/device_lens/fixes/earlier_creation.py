"""A tensor that one statement makes and a later one of its block moves, unread in between."""

from __future__ import annotations

import ast
from itertools import takewhile

from device_lens.fixes.bindings import means_the_same
from device_lens.fixes.blocks import block_of, remove_statement
from device_lens.fixes.create_on_device import create_on_device
from device_lens.fixes.edit import Fix
from device_lens.fixes.names import loads
from device_lens.fixes.place import Place, same_cell
from device_lens.fixes.same_value import Between, Program, is_current_device
from device_lens.fixes.transfer_call import read_transfer
from device_lens.syntax.names import names_in


def is_made_for(move: Place, made: Place) -> bool:
    """Whether `h = <made>` stands above `h = h.to(d)`, the call `move`, in the same cell of a
    notebook, each whenever its statement runs, and nothing between the two mentions the name."""
    if _is_chosen(move) or _is_chosen(made):
        return False
    name = _target(move)
    if not same_cell(move.source, move.range.start.line, made.range.start.line):
        return False
    if name is None or name != _target(made) or _is_read_besides(move, name):
        return False
    return _between(move, made, name) is not None


def create_at_once(move: Place, made: Place, factory: str, program: Program) -> Fix | None:
    """Makes the tensor on the device, and takes the move out: the whole statement where it does
    nothing else. None where the device may be another one, or none yet, where the tensor is
    made."""
    transfer = read_transfer(move)
    statements = _between(move, made, _target(move) or "")
    if transfer is None or statements is None or not isinstance(move.node, ast.Call):
        return None
    given = [*move.node.args, *(each.value for each in move.node.keywords)]
    names = {name for each in given for name in names_in(each)}
    if not all(means_the_same(name, move, made) for name in names):
        return None
    between = Between(move, statements, program)
    current = any(map(is_current_device, given)) or not given
    if not between.keeps(given) or (current and not between.keeps_current_device):
        return None
    fix = create_on_device(move, factory, made)
    if fix is None or transfer.rest or not _is_all(move):
        return fix
    return Fix(fix.title, fix.safety, (fix.edits[0], remove_statement(move.statement)))


def _is_all(move: Place) -> bool:
    """Whether the statement assigns what the move gives, as it is."""
    statement = move.statement.node
    return isinstance(statement, ast.Assign) and statement.value is move.node


def _is_read_besides(move: Place, name: str) -> bool:
    """Whether the statement reads the tensor in another place than where it is moved."""
    return len(loads(move.statement.node, name)) > 1


def _is_chosen(value: Place) -> bool:
    """Whether a part of the statement around a value decides if it is evaluated."""
    inside = takewhile(lambda each: not isinstance(each, ast.stmt), value.ancestors())
    return any(isinstance(each, _CHOICES) for each in inside)


_CHOICES = (
    ast.IfExp,
    ast.BoolOp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def _target(value: Place) -> str | None:
    """The one name that the statement around a value binds."""
    statement = value.statement.node
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else None


def _between(move: Place, made: Place, name: str) -> list[ast.stmt] | None:
    """The statements between the two; None where they are not of one block, where one mentions the
    name, or where a function that may be called there does."""
    block = block_of(move.statement)
    first, last = made.statement.node, move.statement.node
    order = {id(each): index for index, each in enumerate(block)}
    if made.path != move.path or order.get(id(first), len(block)) >= order.get(id(last), -1):
        return None
    between = block[order[id(first)] + 1 : order[id(last)]]
    others = between
    if move.function is None:
        others = [*between, *(each for each in block if isinstance(each, _DEFINITIONS))]
    return None if any(name in names_in(each) for each in others) else between


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
