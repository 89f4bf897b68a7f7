"""Takes a loop-invariant transfer above the loops that it does not depend on."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from device_lens.fixes.blocks import block_of, insert_above, move_above
from device_lens.fixes.bound_value import binders
from device_lens.fixes.definitions import definitions_of
from device_lens.fixes.early import surely_runs
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import fresh_name, loads, own_nodes, stores
from device_lens.fixes.place import FUNCTIONS, LOOPS, Place
from device_lens.syntax.position import Range
from device_lens.syntax.sharing import (
    MOVED,
    names_of,
    shared_attributes,
    sharing,
    written,
)
from device_lens.syntax.training import may_train

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LAST_WORD = re.compile(r"[A-Za-z_]\w*(?=\W*\Z)")


def hoist(
    call: Place,
    loop: Place,
    safety: Safety,
    instead: tuple[Place, str] | None = None,
    others: Sequence[Place] = (),
    where: str = "device",
) -> Fix | None:
    """`loop` is the outermost loop to go above. A statement `x = w.to(d)` moves as it is where
    nothing else binds or changes `x`, else the transfer gets a name of its own. `instead` is a part
    of the call that means nothing above the loop, with what to write there. `others` are transfers
    of the loop that become the same copy. `where` is the word for the place that it goes to."""
    outer = loop.statement
    if not _in_block_of(call, outer.node) or changes_copy(call, outer):
        return None
    statement = call.statement
    target = None if instead else _plain_target(statement.node, call.node)
    if target is not None and _moves_whole(statement, outer, target):
        edits = move_above(statement, outer)
        if edits:
            same = (each.replace(target) for each in others)
            return Fix(f"Hoist above the loop: {statement.text}", safety, (*edits, *same))
    text = _written(call, instead)
    made = _made_above(call, outer, text)
    if made is not None:
        edits = tuple(each.replace(made) for each in (call, *others))
        return Fix(f"Use the copy above the loop: {made}", safety, edits)
    name = fresh_name(call.source, f"{_stem(call)}_on_{where}")
    line = f"{name} = {text}"
    if "\n" in line:
        return None
    edits = (insert_above(outer, line), *(each.replace(name) for each in (call, *others)))
    return Fix(f"Hoist above the loop: {line}", safety, edits)


def alike(call: Place, loop: Place) -> list[Place]:
    """The other transfers of a loop that copy the same to the same place, whatever runs."""
    outer = loop.statement
    found = (
        call.at(node)
        for node in ast.walk(outer.node)
        if isinstance(node, ast.Call) and node is not call.node
    )
    return [
        each
        for each in found
        if each.text == call.text
        and _in_block_of(each, outer.node)
        and not any(isinstance(node, _COMPREHENSIONS) for node in each.ancestors())
        and not changes_copy(each, outer)
    ]


def _written(call: Place, instead: tuple[Place, str] | None) -> str:
    if instead is None:
        return call.text
    part, text = instead
    source, whole = call.source, call.range
    before = source.text_of(Range(whole.start, part.range.start))
    return f"{before}{text}{source.text_of(Range(part.range.end, whole.end))}"


def _made_above(call: Place, outer: Place, text: str) -> str | None:
    """The name of the same copy, where an assignment right above the loop makes it, or one above
    those of other copies, and the loop neither binds nor changes it."""
    wanted = ast.parse(f"({text}\n)", mode="eval").body
    needed = {each.id for each in ast.walk(wanted) if isinstance(each, ast.Name)}
    block = block_of(outer)
    for statement in reversed(block[: block.index(outer.node)] if outer.node in block else []):
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Attribute(value=copied, attr="to" | "cuda" | "cpu")
                ) as value,
            ) if name not in needed and not any(isinstance(e, ast.Call) for e in ast.walk(copied)):
                needed.add(name)
            case _:
                return None
        if ast.unparse(value) == ast.unparse(wanted):
            is_kept = not stores(outer.node, name) and not _changes(outer, call, {name})
            return name if is_kept else None
    return None


def _in_block_of(call: Place, outer: ast.AST) -> bool:
    """Whether the call runs on each iteration once the loop runs: no branch, no function, no end of
    a chain of comparisons and no other loop's `else` in between; the loop itself is not a
    comprehension's condition."""
    child: ast.AST = call.node
    for node in call.ancestors():
        if isinstance(node, ast.If | ast.IfExp | ast.BoolOp | ast.Try | ast.Match | ast.Lambda):
            return False
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return False
        if isinstance(node, ast.Compare) and any(child is each for each in node.comparators[1:]):
            return False
        if isinstance(node, LOOPS) and any(child is each for each in node.orelse):
            return False
        if node is outer:
            return not (isinstance(node, ast.For | ast.AsyncFor) and child is node.iter)
        child = node
    return False


def _plain_target(statement: ast.AST, call: ast.AST) -> str | None:
    """The name in `name = <the transfer>`."""
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return None
    target = statement.targets[0]
    return target.id if len(statement.targets) == 1 and isinstance(target, ast.Name) else None


def _moves_whole(statement: Place, loop: Place, target: str) -> bool:
    """Whether a statement means the same above the loop. What has another value before the loop
    keeps that where the loop does not run."""
    start = statement.range.start
    own = {id(node) for node in ast.walk(statement.node)}
    stores = [
        node
        for node in ast.walk(loop.node)
        if isinstance(node, ast.Name) and node.id == target and not isinstance(node.ctx, ast.Load)
    ]
    if len(stores) != 1:
        return False
    if _has_before(loop.at(stores[0]), loop, target) and not surely_runs(statement, loop):
        return False
    earlier = (node for node in loads(loop.node, target) if id(node) not in own)
    return all(loop.at(node).range.start > start for node in earlier)


def _has_before(target: Place, loop: Place, name: str) -> bool:
    """Whether a name may have a value where a loop begins: it is bound above it or in a loop around
    it, or others share it."""
    function = loop.function
    declared = own_nodes(function) if function is not None else ()
    if any(isinstance(each, ast.Global | ast.Nonlocal) and name in each.names for each in declared):
        return True
    again = _is_repeated(loop)
    starts = [each.range.start for each in binders(target, name)]
    outside = [each for each in starts if not loop.range.start <= each <= loop.range.end]
    return any(each < loop.range.start or again for each in outside)


def _is_repeated(loop: Place) -> bool:
    """Whether another loop of its function is around a loop."""
    for node in loop.ancestors():
        if isinstance(node, (*LOOPS, *FUNCTIONS)):
            return isinstance(node, LOOPS)
    return False


def changes_source(call: Place, loop: Place) -> bool:
    """Whether the loop may write into what the call copies, by this or another name of it, or may
    train it."""
    function = call.node.func if isinstance(call.node, ast.Call) else None
    receiver = function.value if isinstance(function, ast.Attribute) else None
    return _changes(loop, call, set(names_of(receiver)), trains=True)


def changes_copy(call: Place, loop: Place) -> bool:
    """Whether the loop may write into the copy, so that each iteration needs one of its own."""
    return _changes(loop, call, {MOVED})


def _changes(loop: Place, call: Place, names: set[str], trains: bool = False) -> bool:
    body = call.top_level
    known = definitions_of(call.source)
    changed = written([loop.node], known, call.node)
    if not changed and not trains:
        return False
    own = [each for each in body if not isinstance(each, ast.FunctionDef | ast.ClassDef)]
    scope = own if call.function is None else [call.function]
    found = sharing(names, scope, call.node)
    if call.owner is not None:
        found = sharing(found | shared_attributes(found, call.owner), scope, call.node)
    if trains and may_train(loop.node, found, scope, known):
        return True
    return not changed.isdisjoint(found)


def _stem(call: Place) -> str:
    """The word that the receiver is known by: `self.mean` → `mean`."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return "value"
    found = _LAST_WORD.search(call.at(node.func.value).text)
    return (found.group().lstrip("_") if found else "") or "value"
