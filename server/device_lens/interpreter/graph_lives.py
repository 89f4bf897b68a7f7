"""Under which names a sum or list is still there in the next iteration of a loop around the calls
that lead to it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import MISSING, ListObject
from device_lens.domain.values import External
from device_lens.interpreter import scan
from device_lens.interpreter.graph_names import container_of, hands_on
from device_lens.interpreter.graph_sharing import is_computed_of
from device_lens.interpreter.graph_steps import starts_anew, targets_in
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame, LoopRecord
    from device_lens.interpreter.machine import Machine

Holders = frozenset[str] | None
"""The names that hold a sum or list. None: what outlives the calls does."""


def holders_of(accumulator: ast.expr) -> Holders:
    """Who holds what an expression stands for: a name, or an object by an attribute. What is
    calculated is held by nobody."""
    node = container_of(accumulator)
    if isinstance(node, ast.Name):
        return frozenset({node.id})
    return None if isinstance(node, ast.Attribute) else frozenset()


def that_go_on(run: Any, holders: Holders, adding: ast.AST) -> Holders:
    """Those holders to which the iterations of a loop, or the calls of a function, give nothing
    new. What a loop goes through has the list that is added to; what is added up in its place is
    gone with it."""
    if holders is None:
        return None
    gone = targets_in(run) if isinstance(adding, ast.Assign | ast.AugAssign) else frozenset()
    return frozenset(name for name in holders - gone if not starts_anew(run, name))


def held_by_caller(
    frame: Frame, caller: Frame | None, holders: Holders, adding: ast.AST
) -> Holders:
    """Who holds the sum or list once a function has ended. A name of its own ends with it: what it
    holds is there yet where the function returns it, and, unless `adding` binds the name to
    something new, where the function was given it."""
    function = frame.function
    if holders is None or function is None or caller is None:
        return None
    own = _names_of(function.node)
    binds = isinstance(adding, ast.Assign) and isinstance(adding.targets[0], ast.Name)
    found = set[str]()
    for name in holders:
        if name not in own:
            return None
        found |= answered(frame, caller, {name})
        given = None if binds else _given_as(frame, name)
        outer = frozenset() if given is None else holders_of(given)
        if outer is None:
            return None
        found |= outer
    return frozenset(found)


def answered(frame: Frame, caller: Frame | None, names: set[str]) -> set[str]:
    """The names that a caller gives what a function returns, where that is one of `names`."""
    if frame.function is None or caller is None:
        return set()
    statement = caller.statement
    if not isinstance(statement, ast.Assign) or not hands_on(statement.value, frame.call_site):
        return set()
    run = frame.function.node
    returns = (node.value for node in walk(run) if isinstance(node, ast.Return))
    if not any(value is not None and is_computed_of(run, value, names) for value in returns):
        return set()
    return {target.id for target in statement.targets if isinstance(target, ast.Name)}


def _names_of(function: Any) -> frozenset[str]:
    """The names that belong to each call of a function: its parameters, and what it binds."""
    parameters = {each.arg for each in walk(function.args) if isinstance(each, ast.arg)}
    bound = frozenset[str]()
    if not isinstance(function, ast.Lambda):
        bound = scan.loop_info(function).names - scan.globals_of(function)
    return bound | parameters


def _given_as(frame: Frame, name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where its text does not tell."""
    call, function = frame.call_site, frame.function
    if not isinstance(call, ast.Call) or function is None:
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    arguments = function.node.args
    listed = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    own = 1 if frame.self_value is not None else 0
    place = listed.index(name) - own if name in listed else -1
    before = call.args[: place + 1]
    if place < 0 or len(before) <= place or any(isinstance(e, ast.Starred) for e in before):
        return None
    return before[place]


def was_filled(machine: Machine, receiver: Any, record: LoopRecord) -> bool:
    """Whether a list held anything when the present pass of a loop began. Of what is not known one
    by one there is no telling."""
    if type(receiver) is not ListObject:
        return True
    before = machine.journal.value_at(record.mark)
    for key in ("items", "rest"):
        changed = before.get((id(receiver.fields), key))
        held = receiver.fields[key] if changed is None else changed[2]
        if held is not MISSING and held is not None and held != ():
            return True
    return False


def is_of_own_class(frame: Frame) -> bool:
    """Whether a method runs for an object of the class that defines it, which has no bases: no
    other class has methods that read what it keeps."""
    owner = getattr(frame.function, "owner", None)
    bases = () if owner is None else owner.bases
    is_own = owner is not None and owner is getattr(frame.self_value, "cls", None)
    return is_own and all(each == External("builtins.object") for each in bases)
