"""Whether what a loop evaluates in each round can be evaluated above it: once, also where the loop
does not run at all, and before whatever may leave a round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from device_lens.fixes.absent import before, may_be_absent
from device_lens.fixes.bindings import surely_bound
from device_lens.fixes.bound_value import at_top, bound_value
from device_lens.fixes.names import is_local, name_for
from device_lens.fixes.place import FUNCTIONS, LOOPS, Place
from device_lens.syntax.names import is_own_attribute, last_name, root_name
from device_lens.syntax.walking import walk

_CANNOT_RAISE = frozenset(
    """to cuda cpu float half double bfloat16 long int bool contiguous clone detach flatten squeeze
    t type_as""".split()
)
"""Methods that every tensor answers, whatever its shape."""
_SAYS_SHAPES = frozenset("view reshape unsqueeze transpose permute expand size dim".split())
"""Methods that do where the shape is such as they are told."""
_DEVICES = re.compile(r"cuda|device|gpu|mps|xpu|accelerator", re.IGNORECASE)
_ABOUT_DEVICES = re.compile(r"is_cuda|is_available|device_count|device\.type|device ==")
_ASKING = frozenset("isinstance hasattr getattr len callable bool get keys any all type".split())
"""Calls whose result hangs on nothing but what they are given."""
_CHANCE = frozenset({"random", "time", "rng"})
_CATCHING = frozenset("suppress raises assertRaises".split())
"""Managers that go on below their block where it raises."""


def can_run_above(call: Place, loop: Place, left_out: ast.AST | None = None) -> bool:
    """Whether nothing speaks against it. `left_out` is an argument that is written otherwise
    there."""
    guards = list(_guards(call, loop))
    if not guards and all(_surely_runs(call.at(each)) for each in _loops(call, loop)):
        return True
    assert isinstance(call.node, ast.Call)
    receiver = call.at(call.node.func.value) if isinstance(call.node.func, ast.Attribute) else call
    given = (*call.node.args, *(each.value for each in call.node.keywords))
    parts = [receiver, *(call.at(each) for each in given if each is not left_out)]
    if may_be_absent(receiver, loop) or not all(_is_bound(each, loop.statement) for each in parts):
        return False
    if not all(_is_sure(each, loop, each is receiver and bool(guards)) for each in parts):
        return False
    headers = (test for each in _loops(call, loop) for test in _header(each))
    if any(_names(each, receiver) or _DEVICES.search(ast.unparse(each)) for each in headers):
        return False
    return not any(_protects(each, receiver, loop) for each in guards)


def surely_runs(call: Place, loop: Place) -> bool:
    """Whether a call runs whenever the loops around it, up to one, are come to."""
    around = all(_surely_runs(call.at(each)) for each in _loops(call, loop))
    return around and not any(True for _ in _guards(call, loop))


def _loops(call: Place, loop: Place) -> Iterator[ast.AST]:
    """The loops around the call, out to one, that evaluate it in their rounds alone: the test of a
    `while` is evaluated though there is none, and what a `for` goes through before."""
    child: ast.AST = call.node
    for node in call.ancestors():
        if isinstance(node, LOOPS) and child is not _evaluated_first(node):
            yield node
        if node is loop.node:
            return
        child = node


def _evaluated_first(loop: ast.AST) -> ast.AST | None:
    """What is evaluated of a loop that has no round."""
    return loop.test if isinstance(loop, ast.While) else getattr(loop, "iter", None)


def _header(loop: ast.AST) -> Iterator[ast.AST]:
    """What decides whether a loop has a first round."""
    if isinstance(loop, ast.While):
        yield loop.test
    elif isinstance(loop, ast.For | ast.AsyncFor):
        for node in walk(loop.iter):
            counts = isinstance(node, ast.Call) and last_name(node.func) == "device_count"
            if counts or isinstance(node, ast.IfExp | ast.BoolOp | ast.Compare):
                yield node


def _surely_runs(loop: Place) -> bool:
    """Whether a loop has a first round by what its text says."""
    match loop.node:
        case ast.While(test=ast.Constant(value=value)):
            return bool(value)
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=args)):
            known = [_number(loop.at(each)) for each in args]
            numbers = [each for each in known if each is not None]
            return len(numbers) == len(known) > 0 and len(range(*numbers)) > 0
        case ast.For(iter=ast.List(elts=items) | ast.Tuple(elts=items)):
            return any(not isinstance(each, ast.Starred) for each in items)
    return False


def _number(place: Place) -> int | None:
    value = place if isinstance(place.node, ast.Constant) else bound_value(place)
    node = None if value is None else value.node
    found = node.value if isinstance(node, ast.Constant) else None
    return found if type(found) is int else None


def _is_bound(expression: Place, loop: Place) -> bool:
    """Whether the names of an expression that its function or the file binds have a value above the
    loop."""
    function = expression.function
    return all(
        surely_bound(loop, node.id)
        for node in walk(expression.node)
        if isinstance(node, ast.Name) and _is_bound_here(expression, function, node.id)
    )


def _is_bound_here(place: Place, function: ast.AST | None, name: str) -> bool:
    if function is not None:
        return is_local(function, name)
    nodes = (each for statement in place.top_level for each in at_top(statement))
    return any(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
        for each in nodes
    )


def _is_sure(expression: Place, loop: Place, guarded: bool) -> bool:
    """Whether the evaluation of an expression whose names have values raises nothing. Behind what
    may leave the round, only what every tensor and object has counts."""
    node = expression.node
    match node:
        case ast.Name() | ast.Constant() | ast.JoinedStr():
            return True
        case ast.Attribute(value=value):
            known = not guarded or is_own_attribute(node) or _is_torch(expression, node)
            return known and _is_sure(expression.at(value), loop, guarded)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args, keywords=keywords):
            if not _is_torch(expression, value) and name not in _CANNOT_RAISE:
                told = all(isinstance(each, ast.Constant) for each in args)
                if guarded or keywords or not told or name not in _SAYS_SHAPES:
                    return False
            inner = (value, *args, *(each.value for each in keywords))
            return all(_is_sure(expression.at(each), loop, guarded) for each in inner)
        case ast.Subscript():
            return _is_there(expression, loop)
        case ast.IfExp() | ast.BinOp() | ast.BoolOp():
            return not guarded and not any(
                isinstance(each, ast.Subscript | ast.Call) for each in walk(node)
            )
    return False


def _is_torch(place: Place, node: ast.expr) -> bool:
    """Whether PyTorch itself has what an expression names."""
    return root_name(node) == name_for(place.source, "torch")


def _is_there(item: Place, loop: Place) -> bool:
    """Whether an item is surely there: a statement before the loop reads it, or it is in what the
    text makes and nothing takes anything out of."""
    node = item.node
    assert isinstance(node, ast.Subscript)
    text = ast.unparse(node)
    if any(_reads(each, text) for each in _before(loop)):
        return True
    made = bound_value(item.at(node.value))
    if made is None or not isinstance(node.slice, ast.Constant):
        return False
    name = ast.unparse(node.value)
    if any(_takes_out(each, name) for root in item.top_level for each in walk(root)):
        return False
    key = node.slice.value
    match made.node:
        case ast.Dict(keys=keys):
            return any(isinstance(each, ast.Constant) and each.value == key for each in keys)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            starred = any(isinstance(each, ast.Starred) for each in items)
            return type(key) is int and -len(items) <= key < len(items) and not starred
    return False


def _takes_out(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Delete(targets=targets):
            return any(isinstance(each, ast.Subscript) for each in targets)
        case ast.Call(
            func=ast.Attribute(value=holder, attr="pop" | "popitem" | "clear" | "remove")
        ):
            return ast.unparse(holder) == name
        case ast.AugAssign(target=target):
            return ast.unparse(target) == name
    return False


def _before(loop: Place) -> Iterator[ast.stmt]:
    """The statements that have run, in full, whenever the loop is come to."""
    child: ast.AST = loop.statement.node
    for node in (*loop.ancestors(), None):
        if node is None:
            top = loop.top_level
            index = next((i for i, each in enumerate(top) if each is child), 0)
            yield from top[:index]
        else:
            yield from before(node, child)
        if isinstance(node, FUNCTIONS):
            return
        child = node if node is not None else child


def _reads(statement: ast.stmt, text: str) -> bool:
    """Whether a simple statement surely evaluates an expression."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
        return False
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda | ast.comprehension):
            continue
        if isinstance(node, ast.Subscript) and ast.unparse(node) == text:
            return True
        pending += ast.iter_child_nodes(node)
    return False


def _guards(call: Place, loop: Place) -> Iterator[ast.AST]:
    """The statements of the loop before the call that may leave the round, and managers around it
    that catch what it raises."""
    child: ast.AST = call.node
    for node in call.ancestors():
        if isinstance(node, ast.With | ast.AsyncWith):
            managers = (each.context_expr for each in node.items)
            if any(_catches(each) for each in managers) and child in node.body:
                yield node
        if isinstance(node, ast.stmt):
            yield from (each for each in before(node, child) if _may_leave(each))
        if node is loop.node:
            return
        child = node


def _catches(manager: ast.expr) -> bool:
    return isinstance(manager, ast.Call) and last_name(manager.func) in _CATCHING


def _may_leave(statement: ast.AST, inner: bool = False) -> bool:
    """Whether a statement may end the round; what leaves a loop `inner` to it does not."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    if isinstance(statement, ast.Return | ast.Raise | ast.Assert):
        return True
    if isinstance(statement, ast.Break | ast.Continue):
        return not inner
    deeper = inner or isinstance(statement, LOOPS)
    return any(_may_leave(each, deeper) for each in ast.iter_child_nodes(statement))


def _tests_of(statement: ast.AST) -> Iterator[ast.AST]:
    """What decides on the way through a statement."""
    for node in walk(statement):
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test):
                yield test
            case ast.Match(subject=test) | ast.For(iter=test):
                yield test
            case ast.Try(body=body):
                yield from body
            case ast.With(items=items):
                yield from (each.context_expr for each in items)


def _protects(guard: ast.AST, receiver: Place, loop: Place) -> bool:
    """Whether a guard may leave the round, each time, where the transfer would raise: it asks for
    what is moved or for devices, or for nothing that differs from round to round."""
    tests = list(_tests_of(guard))
    computed = _computed_in(loop.node, tests)
    parts = [*tests, *computed]
    if any(_names(each, receiver) for each in parts):
        return True
    if any(_DEVICES.search(ast.unparse(each)) for each in tests):
        return True
    if any(_ABOUT_DEVICES.search(ast.unparse(each)) for each in computed):
        return True
    return not any(_differs(each, loop.node) for each in parts) and not any(map(_calls, computed))


def _names(test: ast.AST, receiver: Place) -> bool:
    """Whether a test reads a name or attribute that the receiver does."""
    wanted = {
        ast.unparse(each)
        for each in walk(receiver.node)
        if isinstance(each, ast.Name) or is_own_attribute(each)
    } - {"self"}
    return any(
        isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each) in wanted
        for each in walk(test)
    )


def _computed_in(loop: ast.AST, tests: list[ast.AST]) -> list[ast.expr]:
    """The values that a loop gives the names of some tests, and the names in these."""
    assigned = [each for each in walk(loop) if isinstance(each, ast.Assign)]
    found: list[ast.expr] = []
    pending = list(tests)
    while pending:
        names = {each.id for each in walk(pending.pop()) if isinstance(each, ast.Name)}
        for each in assigned:
            targets = {
                part.id for t in each.targets for part in walk(t) if isinstance(part, ast.Name)
            }
            if not names.isdisjoint(targets) and not any(each.value is known for known in found):
                found.append(each.value)
                pending.append(each.value)
    return found


def _calls(value: ast.expr) -> bool:
    """Whether a value is computed anew by a call, whose result may be another one each time."""
    calls = (each for each in walk(value) if isinstance(each, ast.Call))
    return any(last_name(each.func) not in _ASKING for each in calls)


def _differs(test: ast.AST, loop: ast.AST) -> bool:
    """Whether a test reads what each round has anew: by a loop's variable, a count, a call."""
    anew = {
        name.id
        for node in walk(loop)
        if isinstance(
            node, ast.For | ast.AsyncFor | ast.AugAssign | ast.NamedExpr | ast.comprehension
        )
        for name in walk(node.target)
        if isinstance(name, ast.Name)
    }
    return any(
        isinstance(each, ast.Name) and (each.id in anew or each.id in _CHANCE)
        for each in walk(test)
    )
