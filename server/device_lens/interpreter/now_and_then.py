"""Tests that hold in some turns of a loop and not in others: every so many steps, or where a result
is the best one so far.

Of most tests that nobody can answer it is not known whether they ever hold. These hold in some turn
that others follow, or nobody would have written them: what one leaves behind is what the next turn
finds. The first turn often has to be one of these, so that nothing is known of what would be if
none were.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import SOME_TURNS
from device_lens.domain.condition import conjunction
from device_lens.domain.device import CPU
from device_lens.domain.guard import Guarded, Literals, assume, atom_set, undecided
from device_lens.interpreter.frames import Frame, LoopRecord
from device_lens.interpreter.strays import stands_in
from device_lens.syntax.gathering import gather
from device_lens.syntax.names import names_in
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.facts import Operand
    from device_lens.interpreter.machine import Machine

_LONGEST = 1_000
"""Turns that are looked at for one of which a remainder is what a test asks for."""
_APART = ", which has others between them"
_AFTER_FIRST = ", which held in the first turn and has others between them"
"""How an atom ends that says so."""
_ASKS_NOTHING = frozenset(
    (
        *dir(builtins),
        *("format", "append", "write", "debug", "info", "warning", "log", "add_scalar"),
        *("add_scalars", "set_description", "set_postfix", "set_epoch", "manual_seed"),
    )
)
"""What is called with the number of a turn as a rule to tell of it, or to keep it."""
_VERDICTS = "_what_names_are_given"
"""The entry of a loop or function under which is kept what it gives to names."""
_OF_TURN = "_test_of_turn"
"""The entry of a loop or function under which is kept which `if`s are such tests."""
_SIZES = "_compared_by_size"


def in_some_turns(machine: Machine, node: ast.If, condition: Any, frame: Frame) -> Any:
    """The condition of an `if`, or one that is decided either way, anew on each turn, in place of
    what is not known of it, where it is a test of a turn that nothing else in the loop asks for."""
    loop = _innermost(machine)
    if type(condition) is not Guarded or loop is None:
        return condition
    if not _is_of_turn(node, frame) or not _comes_before_the_last(node.test, frame):
        return condition
    opaque = [atom for atom in atom_set(condition) if not atom.named]
    if any(atom.goes_both_ways or atom.tells_items_apart for atom in opaque):
        return condition
    turn = undecided(f"{SOME_TURNS}{id(loop)} {id(node)}{_apart(node, frame)}")
    if len(opaque) == len(atom_set(condition)):
        return turn
    if len(opaque) != 1:
        return condition
    where = [assume(condition, opaque[0], holds) for holds in (True, False)]
    return conjunction(max(where, key=bool), turn) if False in where else condition


def cannot_be(machine: Machine, literals: Literals) -> bool:
    """Whether something needs, on the present path, that a test has not held in any turn before, or
    that it has in the last turn, or that it holds in two turns in a row where it asks for a
    remainder."""
    where = machine.path.literals
    if not any(atom.is_of_turn for atom, _ in (*literals, *where)):
        return False
    running = {str(id(record.node)) for frame in machine.stack for record in frame.loops}
    tests: dict[str, dict[int, bool]] = {}
    for atom, held in (*literals, *where):
        if atom.is_of_turn:
            tests.setdefault(atom.text, {})[atom.order] = held
    asked = {atom.text for atom, _ in literals}
    for text in asked & tests.keys():
        turns = tests[text]
        if text.removeprefix(SOME_TURNS).partition(" ")[0] not in running:
            return True
        if not turns[min(turns)] or (text.endswith(_APART) and sum(turns.values()) > 1):
            return True
    return any(
        held and atom.is_of_turn and atom.text.endswith(_AFTER_FIRST) for atom, held in where
    )


def may_be_apart_in_time(
    machine: Machine, operands: tuple[Operand, ...], literals: Literals
) -> bool:
    """Whether the number of a step decides, and another such number may exclude it, or what is
    kept from one step to the next may have been put in its place by then."""
    if not any(atom.is_counted for atom, _ in literals):
        return False
    asked = {atom for atom, _ in (*literals, *machine.path.literals) if atom.is_counted}
    functions = [frame.function.node for frame in machine.stack if frame.function is not None]
    made = [each.trail.first for each in operands if each.trail and each.device is CPU]
    return len(asked) > 1 or not any(
        stands_in(step.site.node, function) for step in made for function in functions
    )


def _apart(node: ast.If, frame: Frame) -> str:
    """How the atom of a test ends: whether turns for which it holds have others between them, which
    do something else, and whether the first was one of these."""
    if _counted(node.test) is None or not any(
        isinstance(each, ast.Assign | ast.Call) for part in node.orelse for each in walk(part)
    ):
        return ""
    return _AFTER_FIRST if any(node in each.held for each in frame.loops) else _APART


def _innermost(machine: Machine) -> Any:
    """The innermost loop that runs."""
    running = (record.node for frame in reversed(machine.stack) for record in reversed(frame.loops))
    return next(running, None)


def _is_of_turn(node: ast.If, frame: Frame) -> bool:
    """Whether an `if` is such a test, kept with the loop or function whose text decides that."""
    loop = frame.loops[-1].node if frame.loops else None
    scope: Any = loop or (frame.function and frame.function.node)
    if scope is None:
        return False
    known: dict[Any, bool] = scope.__dict__.setdefault(_OF_TURN, {})
    if node not in known:
        known[node] = (
            (loop is not None and _asks_for_remainder(node.test, loop))
            or _asks_for_best(node, scope)
            or _is_called_best(node.test, scope)
        )
    return known[node]


def told_by(nodes: list[ast.AST], loops: list[Any], function: Any) -> tuple[Any, ...]:
    """What some statements in loops of a function tell of which tests around them are such: what
    they ask of what is counted or compared there, or hand on of it, and what they give to it."""
    scope = function or (loops[0] if loops else None)
    if scope is None:
        return ()
    counted = {name for loop in loops for name in _counters(loop)}
    known = counted.union(gather(scope, _SIZES, _compared_by_size))
    asked = (part for each in nodes for part in told_of_turn(each))
    given = (each for each in nodes if isinstance(each, ast.Assign) and len(each.targets) == 1)
    return (
        tuple(sorted(name for test in asked for name in _mentioned(test) & known)),
        frozenset(
            (_text(each.targets[0]), ast.unparse(each.value))
            for each in given
            if isinstance(each.value, ast.Compare) or _text(each.targets[0]) in known
        ),
    )


def _compared_by_size(node: ast.AST) -> Iterable[str]:
    """What the test of an `if` compares by size."""
    if not isinstance(node, ast.If):
        return ()
    compared = (each for test in walk(node.test) for each in _compared(test))
    return {name for names, _ in compared for name in names}


def _asked_by(node: ast.AST) -> Iterable[ast.expr]:
    """What a node asks for, a comparison that no branch hangs on too."""
    return (node,) if isinstance(node, ast.Compare) else _tested(node)


def told_of_turn(node: ast.AST) -> Iterable[ast.expr]:
    """What may ask for the number of a turn where a node names it: the node, or what it hands the
    number to."""
    return (*_asked_by(node), *_handed_by(node))


def _handed_by(node: ast.AST) -> Iterable[ast.expr]:
    """The numbers and names that a node gives to a call or an attribute, which others may ask."""
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else _text(node.func)
        if called in _ASKS_NOTHING:
            return ()
        given = (*node.args, *(each.value for each in node.keywords))
        return [each for each in given if isinstance(each, ast.Name | ast.BinOp)]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        return (node.value,) if isinstance(node.value, ast.Name | ast.BinOp) else ()
    return ()


def _tested(node: ast.AST) -> Iterable[ast.expr]:
    """What a node has others run under."""
    if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
        return (node.test,)
    if isinstance(node, ast.comprehension):
        return node.ifs
    return (node.subject,) if isinstance(node, ast.Match) else ()


def _asks_for_remainder(test: ast.expr, loop: Any) -> bool:
    """Whether a test asks for nothing but a remainder of what a loop counts, alone in the loop."""
    counter = _counted(test)
    if counter is None or counter not in _counters(loop):
        return False
    return _times_asked(counter, loop) == 1 and all(
        not isinstance(each, ast.Compare) or counter in _mentioned(each) for each in walk(test)
    )


def _counted(test: ast.expr) -> str | None:
    """The name of which a test asks for a remainder."""
    for each in walk(test):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod):
            names = _mentioned(each.left)
            return max(names, key=len) if names and _are_one(names) else None
    return None


def _are_one(names: set[str]) -> bool:
    """Whether names are one, or an attribute and what has it."""
    longest = max(names, key=len)
    return all(f"{longest}.".startswith(f"{name}.") for name in names)


def _counters(loop: Any) -> set[str]:
    """The names that count the turns of a loop: its targets, and what it adds a constant to."""
    if isinstance(loop, ast.For | ast.AsyncFor):
        found = names_in(loop.target)
    else:
        found = set()
    for each in loop.body:
        if isinstance(each, ast.AugAssign) and isinstance(each.value, ast.Constant):
            found.add(_text(each.target))
    return found


def _times_asked(text: str, within: Any) -> int:
    """How many tests in a loop, function or class mention what reads so."""
    nodes = (each for statement in within.body for each in walk(statement))
    return sum(text in _mentioned(test) for each in nodes for test in _tested(each))


def _text(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _asks_for_best(node: ast.If, within: Any) -> bool:
    """`if loss < best: best = loss`, or with the way that keeps it under `else`."""
    tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    sides = [pair for test in tests for pair in _compared(test)]
    for statement in (*node.body, *node.orelse):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            kept, value = _text(statement.targets[0]), ast.unparse(statement.value)
            if any(kept in best and value == other for best, other in sides):
                return _times_asked(kept, within) == 1
    return False


def _is_called_best(test: ast.expr, within: Any) -> bool:
    """`is_best = loss < best`, `best = min(loss, best)` and `if is_best:`."""
    found = _verdicts(within).get(test.id, []) if isinstance(test, ast.Name) else []
    if len(found) != 1 or found[0] is None or _times_asked(ast.unparse(test), within) != 1:
        return False
    kept = [(_text(each.targets[0]), each.value) for each in _assigned(within)]
    for names, other in _compared(found[0]):
        for name, value in kept:
            if name in names and other in {ast.unparse(value), *_mentioned(value)}:
                return not _times_asked(name, within)
    return False


def _verdicts(within: Any) -> dict[str, list[ast.Compare | None]]:
    """What a loop or function gives to names: comparisons, and None for what is none."""
    known: dict[str, list[ast.Compare | None]] | None = within.__dict__.get(_VERDICTS)
    if known is not None:
        return known
    found: dict[str, list[ast.Compare | None]] = {}
    for each in _assigned(within):
        if isinstance(target := each.targets[0], ast.Name):
            value = each.value if isinstance(each.value, ast.Compare) else None
            found.setdefault(target.id, []).append(value)
    within.__dict__[_VERDICTS] = found
    return found


def _assigned(within: Any) -> Iterator[ast.Assign]:
    for statement in within.body:
        for each in walk(statement):
            if isinstance(each, ast.Assign) and len(each.targets) == 1:
                yield each


def _compared(test: ast.AST) -> Iterator[tuple[set[str], str]]:
    """The sides of a comparison by size: what the one mentions, and how the other reads."""
    order = ast.Lt | ast.LtE | ast.Gt | ast.GtE
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], order):
        left, right = test.left, test.comparators[0]
        yield _mentioned(left), ast.unparse(right)
        yield _mentioned(right), ast.unparse(left)


def _mentioned(side: ast.expr) -> set[str]:
    return {_text(each) for each in walk(side)} - {""}


def _comes_before_the_last(test: ast.expr, frame: Frame) -> bool:
    """Whether a remainder is, or may be, what a test asks for before the last turn."""
    counter = _counted(test)
    for record in frame.loops if counter else ():
        if isinstance(record.node, ast.For) and counter in names_in(record.node.target):
            return _may_be_before_the_last(test, record)
    return True


def _may_be_before_the_last(test: ast.expr, record: LoopRecord) -> bool:
    match test:
        case ast.Compare(
            left=ast.BinOp(left=number, op=ast.Mod(), right=ast.Constant(value=int(step))),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value=int(sought))],
        ) if record.trip_count is not None and step:
            pass
        case _:
            return not names_in(test) & names_in(record.node.iter) - names_in(record.node.target)
    match number:
        case ast.Name():
            ahead = 0
        case ast.BinOp(left=ast.Name(), op=ast.Add(), right=ast.Constant(value=int(ahead))):
            pass
        case _:
            return False
    turns = range(min(record.trip_count - 1, _LONGEST))
    return any((turn + ahead) % step == sought for turn in turns)
