"""Places that a loop, or a function that one calls, reaches only now and then, as the tests on the
way there say: of a remainder of the turns, of one turn, of how long ago the last time was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.interpreter.full_names import value_of
from device_lens.interpreter.scan import own_nodes
from device_lens.syntax.names import last_name, names_in
from device_lens.syntax.walking import children, walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame

_TEXT = "_tests_on_the_way"
"""The entry of a loop or function under which what is read off its text is kept."""
_OUTER = (ast.Global, ast.Nonlocal)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DISPLAYS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_PASSES_ON = frozenset("tqdm track list tuple iter".split())
"""What gives its first argument's items."""
_MORE, _LESS = (ast.Gt, ast.GtE), (ast.Lt, ast.LtE)
_UNLIKE = (ast.NotEq, ast.IsNot, *_MORE, *_LESS)
"""Comparisons with a remainder that seldom fail."""


class _Text:
    """What is read off the text of a loop or function."""

    def __init__(self, run: Any) -> None:
        self.run = run
        self.is_function = isinstance(run, _FUNCTIONS)
        self.target: set[str] = names_in(getattr(run, "target", None))

    @cached_property
    def above(self) -> dict[ast.AST, ast.AST]:
        """The node around each."""
        return {inner: outer for outer in walk(self.run) for inner in children(outer)}

    @cached_property
    def bound(self) -> dict[str, list[ast.expr | None]]:
        """What is given to names and attributes; None where that is no expression of its own."""
        found: dict[str, list[ast.expr | None]] = {}
        for node in walk(self.run):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        found.setdefault(ast.unparse(target), []).append(value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    found.setdefault(ast.unparse(target), []).append(value)
                case ast.NamedExpr(target=target, value=value):
                    found.setdefault(target.id, []).append(value)
                case ast.AugAssign(target=target):
                    found.setdefault(ast.unparse(target), []).append(None)
        return found

    @cached_property
    def numbers(self) -> set[str]:
        """The names that number the turns."""
        counted = {
            ast.unparse(node.target)
            for node in walk(self.run)
            if isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Add)
            and isinstance(node.value, ast.Constant)
        }
        if isinstance(self.run, ast.For | ast.AsyncFor | ast.comprehension):
            counted |= _numbers(self.run.target, self.run.iter)
        return counted


def _text_of(run: Any) -> _Text:
    known: _Text | None = run.__dict__.get(_TEXT)
    if known is None:
        known = run.__dict__[_TEXT] = _Text(run)
    return known


def _numbers(target: ast.expr, iterated: ast.expr) -> set[str]:
    """The names of a loop's target that are the number of the turn."""
    if not isinstance(iterated, ast.Call):
        return set()
    name = last_name(iterated.func)
    if name in ("range", "trange", "count"):
        return names_in(target)
    if name == "enumerate" and isinstance(target, ast.Tuple):
        return names_in(target.elts[0])
    return _numbers(target, iterated.args[0]) if name in _PASSES_ON and iterated.args else set()


def is_now_and_then(node: Any, run: Any, frame: Frame | None) -> bool:
    """Whether a test of the loop's count, or of that of a list which begins anew there, or of
    what is kept from then on, stands between what runs and the node. `frame` is where it runs."""
    text = _text_of(run)
    if isinstance(run, ast.comprehension):
        return any(_is_seldom(each, True, text, frame) for each in run.ifs)
    inner: ast.AST = node
    while inner is not run:
        outer = text.above.get(inner)
        if outer is None:
            return False
        if _guards(outer, inner, text, frame):
            return True
        inner = outer
    return False


def _guards(outer: ast.AST, inner: ast.AST, text: _Text, frame: Frame | None) -> bool:
    """Whether a node lets what is right below it run only now and then."""
    match outer:
        case ast.IfExp(test=test) if inner is not test:
            return _is_seldom(test, inner is outer.body, text, frame)
        case ast.BoolOp(op=op, values=values):
            before = values[: next(i for i, each in enumerate(values) if each is inner)]
            return any(_is_seldom(each, isinstance(op, ast.And), text, frame) for each in before)
        case ast.match_case() if inner is not outer.pattern:
            return _fits_seldom(outer, text, frame)
    if isinstance(outer, _DISPLAYS):
        tests = (test for each in outer.generators if each is not inner for test in each.ifs)
        return any(_is_seldom(each, True, text, frame) for each in tests)
    block = _block(outer, inner)
    if isinstance(outer, ast.If) and block:
        holds = block is outer.body
        if _is_seldom(outer.test, holds, text, frame) or _counts_on(outer.test, holds, block):
            return True
        if holds and (_empties_what_it_counts(outer) or _keeps_what_it_misses(outer, text.run)):
            return True
    return _is_left_before(block, inner, text, frame)


def _block(outer: ast.AST, inner: ast.AST) -> list[ast.stmt]:
    """The block of a statement that another one stands in."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(outer, name, None)
        if isinstance(block, list) and any(each is inner for each in block):
            return block
    return []


def _is_left_before(
    block: Sequence[ast.stmt], inner: ast.AST, text: _Text, frame: Frame | None
) -> bool:
    """Whether a test before a statement of a block leaves the turn most of the times:
    `if step % 10: continue`."""
    for index, each in enumerate(block):
        if each is inner:
            break
        if not isinstance(each, ast.If):
            continue
        rest = block[index + 1 :]
        for holds, way in ((False, each.body), (True, each.orelse)):
            if (
                way
                and _leaves_turn(way[-1], text)
                and (
                    _is_seldom(each.test, holds, text, frame) or _counts_on(each.test, holds, rest)
                )
            ):
                return True
    return False


def _leaves_turn(last: ast.stmt, text: _Text) -> bool:
    return isinstance(last, ast.Continue) or (text.is_function and isinstance(last, ast.Return))


def _fits_seldom(case: ast.match_case, text: _Text, frame: Frame | None) -> bool:
    """`match step % 10: case 0: …`."""
    if case.guard is not None and _is_seldom(case.guard, True, text, frame):
        return True
    whole = text.above.get(case)
    if not isinstance(whole, ast.Match) or isinstance(case.pattern, ast.MatchAs):
        return False
    return _has_remainder(whole.subject) or _is_number(whole.subject, text.target | text.numbers)


def _is_seldom(
    test: ast.expr, holds: bool, text: _Text, frame: Frame | None, names: int = 2
) -> bool:
    """Whether a test holds only now and then; or, with `holds` False, whether it seldom fails.
    `names` are how many one after the other are looked up."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_seldom(operand, not holds, text, frame, names)
        case ast.BoolOp(values=values):
            return any(_is_seldom(each, holds, text, frame, names) for each in values)
        case ast.NamedExpr(value=value) | ast.Call(func=ast.Name(id="bool"), args=[value]):
            return _is_seldom(value, holds, text, frame, names)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if _is_one_turn(left, op, right, holds, text):
                return True
            if not holds:
                return isinstance(op, _UNLIKE) and _has_remainder(test, 3)
        case ast.BinOp(op=ast.Mod()) if not holds:
            return _has_remainder(test, 3)
        case ast.Name() | ast.Attribute():
            given = text.bound.get(ast.unparse(test))
            if given is not None:
                return names > 0 and all(
                    _is_given_seldom(each, holds, text, frame, names - 1) for each in given
                )
            return isinstance(test, ast.Attribute) and _answers_seldom(test, holds, frame)
        case ast.Call() if not _has_remainder(test):
            return _answers_seldom(test, holds, frame)
    return holds and _has_remainder(test)


def _is_given_seldom(
    given: ast.expr | None, holds: bool, text: _Text, frame: Frame | None, names: int
) -> bool:
    if isinstance(given, ast.Constant):
        return bool(given.value) is not holds
    return given is not None and _is_seldom(given, holds, text, frame, names)


def _has_remainder(test: ast.expr, least: int = 0) -> bool:
    """Whether a remainder is asked for; of at least so many, if that is a number."""
    for node in walk(test):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            count = node.right.value if isinstance(node.right, ast.Constant) else None
            if not isinstance(count, int) or count >= least:
                return True
    return False


def _is_one_turn(left: ast.expr, op: ast.cmpop, right: ast.expr, holds: bool, text: _Text) -> bool:
    """`step == 0`, `step in (10, 50)`, and their contrary where that is asked for."""
    if isinstance(op, ast.Eq if holds else ast.NotEq):
        counters = text.target | text.numbers
        return _is_number(left, counters) or _is_number(right, counters)
    if isinstance(op, ast.In if holds else ast.NotIn):
        return _is_number(left, text.numbers) and not isinstance(right, ast.Call)
    return False


def _is_number(side: ast.expr, counters: set[str]) -> bool:
    """Whether an expression is a count, or that many more or less: `step + 1`."""
    if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Add | ast.Sub):
        return _is_number(side.left, counters) and isinstance(side.right, ast.Constant)
    return isinstance(side, ast.Name | ast.Attribute) and ast.unparse(side) in counters


def _answers_seldom(asked: ast.Call | ast.Attribute, holds: bool, frame: Frame | None) -> bool:
    """Whether a function or property of the program gives what the test needs only now and then:
    `def is_due(step): return step % 10 == 0`."""
    function = _function(asked.func if isinstance(asked, ast.Call) else asked, frame)
    if function is None or (function.kind == "property") is isinstance(asked, ast.Call):
        return False
    node, text = function.node, _text_of(function.node)
    if isinstance(node, ast.Lambda):
        return _is_seldom(node.body, holds, text, None)
    ends = [each for each in own_nodes(node.body) if isinstance(each, ast.Return)]
    return bool(ends) and all(
        is_now_and_then(each, node, None)
        or _is_given_seldom(each.value or ast.Constant(None), holds, text, None, 1)
        for each in ends
    )


def _function(named: ast.expr, frame: Frame | None) -> Function | None:
    if frame is None:
        return None
    found: Any = None
    match named:
        case ast.Name(id=name):
            found = value_of(name, frame)
        case ast.Attribute(value=ast.Name(id=name), attr=method):
            receiver = value_of(name, frame)
            if isinstance(receiver, Instance | ModuleObject):
                found = receiver.cls.lookup(method) if type(receiver.cls) is ClassValue else None
    if type(found) is BoundMethod:
        found = found.function
    return found if type(found) is Function else None


def _counts_on(test: ast.expr, holds: bool, part: Sequence[ast.stmt]) -> bool:
    """Whether a test asks how far something is from where it was the last time that it held, or
    from where it will the next time: `if step - last >= 10: …; last = step`."""
    compared = [each for each in walk(test) if isinstance(each, ast.Compare) and not each.ops[1:]]
    sides = [
        (more, less)
        for each in compared
        for more, less in _by_size(each.left, each.ops[0], each.comparators[0], holds)
    ]
    moved = list(_moved_on(part)) if sides else []
    return any(
        (any(_is_less_than_it(inner, name) for inner in walk(more)))
        or (is_later and ast.unparse(less) == name)
        for more, less in sides
        for name, is_later in moved
    )


def _by_size(
    left: ast.expr, op: ast.cmpop, right: ast.expr, holds: bool
) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The sides of a comparison, what is more first."""
    if isinstance(op, _MORE if holds else _LESS):
        yield left, right
    elif isinstance(op, _LESS if holds else _MORE):
        yield right, left


def _is_less_than_it(node: ast.AST, name: str) -> bool:
    """`… - last`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return False
    return ast.unparse(node.right) == name


def _moved_on(part: Sequence[ast.stmt]) -> Iterator[tuple[str, bool]]:
    """What statements set anew, and whether that is a sum."""
    for statement in part:
        match statement:
            case ast.AugAssign(target=target, op=ast.Add()):
                yield ast.unparse(target), True
            case ast.Assign(targets=[target], value=value):
                yield ast.unparse(target), isinstance(value, ast.BinOp)


def _keeps_what_it_misses(outer: ast.If, run: Any) -> bool:
    """`if seen is None: seen = x.to(device)`, where that is a name of the function or module around
    what runs or of none but this place of a loop, or an attribute: nothing is missing next time."""
    match outer.test:
        case ast.Compare(left=missed, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            pass
        case ast.UnaryOp(op=ast.Not(), operand=missed):
            pass
        case _:
            return False
    if isinstance(missed, ast.Name):
        outer_names = (each.names for each in walk(run) if isinstance(each, _OUTER))
        here = not isinstance(run, _FUNCTIONS) and _sets(run, missed.id) == _sets(outer, missed.id)
        if not here and not any(missed.id in names for names in outer_names):
            return False
    elif not isinstance(missed, ast.Attribute):
        return False
    text = ast.unparse(missed)
    return any(
        ast.unparse(target) == text
        for statement in outer.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )


def _sets(whole: ast.AST, name: str) -> int:
    named = (each for each in walk(whole) if isinstance(each, ast.Name) and each.id == name)
    return sum(isinstance(each.ctx, ast.Store) for each in named)


def _empties_what_it_counts(branch: ast.If) -> bool:
    """`if len(kept) == 100: …; kept.clear()`."""
    counted = {
        ast.unparse(node.left.args[0])
        for node in walk(branch.test)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Call)
        and getattr(node.left.func, "id", "") == "len"
        and len(node.left.args) == 1
        and not _is_of_one(node.comparators[0])
    }
    inside = (node for part in branch.body for node in walk(part)) if counted else ()
    return any(not counted.isdisjoint(_emptied(node)) for node in inside)


def _is_of_one(count: ast.expr) -> bool:
    """Whether so many there are after one turn."""
    return isinstance(count, ast.Constant) and count.value in (0, 1)


def _emptied(node: ast.AST) -> list[str]:
    """The lists that a node leaves empty."""
    match node:
        case ast.Call(func=ast.Attribute(value=whole, attr="clear"), args=[]):
            return [ast.unparse(whole)]
        case ast.Assign(targets=targets, value=ast.List(elts=[]) | ast.Call(args=[])):
            return list(map(ast.unparse, targets))
        case ast.Delete(targets=[ast.Subscript(value=whole, slice=ast.Slice(None, None))]):
            return [ast.unparse(whole)]
    return []
