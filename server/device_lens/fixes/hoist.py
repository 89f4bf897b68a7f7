"""Takes a loop-invariant transfer above the loops that it does not depend on."""

from __future__ import annotations

import ast
import re

from device_lens.fixes.blocks import insert_above, move_above
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import fresh_name, loads
from device_lens.fixes.place import LOOPS, Place
from device_lens.syntax.position import Range
from device_lens.syntax.sharing import (
    MOVED,
    definitions,
    names_of,
    shared_attributes,
    sharing,
    written,
)

_LAST_WORD = re.compile(r"[A-Za-z_]\w*(?=\W*\Z)")


def hoist(
    call: Place, loop: Place, safety: Safety, instead: tuple[Place, str] | None = None
) -> Fix | None:
    """`loop` is the outermost loop to go above. A statement `x = w.to(d)` moves as it is where
    nothing else binds or changes `x` in the loop, else the transfer gets a name of its own.
    `instead` is a part of the call that means nothing above the loop, with what to write there."""
    outer = loop.statement
    if not _in_block_of(call, outer.node) or changes_copy(call, outer):
        return None
    statement = call.statement
    target = None if instead else _plain_target(statement.node, call.node)
    if target is not None and _moves_whole(statement, outer, target):
        edits = move_above(statement, outer)
        if edits:
            return Fix(f"Hoist above the loop: {statement.text}", safety, edits)
    name = fresh_name(call.source, f"{_stem(call)}_on_device")
    line = f"{name} = {_written(call, instead)}"
    if "\n" in line:
        return None
    edits = (insert_above(outer, line), call.replace(name))
    return Fix(f"Hoist above the loop: {line}", safety, edits)


def _written(call: Place, instead: tuple[Place, str] | None) -> str:
    if instead is None:
        return call.text
    part, text = instead
    source, whole = call.source, call.range
    before = source.text_of(Range(whole.start, part.range.start))
    return f"{before}{text}{source.text_of(Range(part.range.end, whole.end))}"


def _in_block_of(call: Place, outer: ast.AST) -> bool:
    """Whether the call runs on each iteration once the loop runs: no branch, no function and no
    other loop's `else` in between; the loop itself is not a comprehension's condition."""
    child: ast.AST = call.node
    for node in call.ancestors():
        if isinstance(node, ast.If | ast.IfExp | ast.BoolOp | ast.Try | ast.Match | ast.Lambda):
            return False
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
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
    """Whether a statement means the same above the loop."""
    start = statement.range.start
    own = {id(node) for node in ast.walk(statement.node)}
    stores = [
        node
        for node in ast.walk(loop.node)
        if isinstance(node, ast.Name) and node.id == target and not isinstance(node.ctx, ast.Load)
    ]
    if len(stores) != 1:
        return False
    earlier = (node for node in loads(loop.node, target) if id(node) not in own)
    return all(loop.at(node).range.start > start for node in earlier)


def changes_source(call: Place, loop: Place) -> bool:
    """Whether the loop may write into what the call copies, by this or another name of it."""
    function = call.node.func if isinstance(call.node, ast.Call) else None
    receiver = function.value if isinstance(function, ast.Attribute) else None
    return _writes(loop, call, set(names_of(receiver)))


def changes_copy(call: Place, loop: Place) -> bool:
    """Whether the loop may write into the copy, so that each iteration needs one of its own."""
    return _writes(loop, call, {MOVED})


def _writes(loop: Place, call: Place, names: set[str]) -> bool:
    body = call.top_level
    changed = written([loop.node], definitions(body), call.node)
    if not changed:
        return False
    own = [each for each in body if not isinstance(each, ast.FunctionDef | ast.ClassDef)]
    scope = own if call.function is None else [call.function]
    found = sharing(names, scope, call.node)
    if call.owner is not None:
        found = sharing(found | shared_attributes(found, call.owner), scope, call.node)
    return not changed.isdisjoint(found)


def _stem(call: Place) -> str:
    """The word that the receiver is known by: `self.mean` → `mean`."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return "value"
    found = _LAST_WORD.search(call.at(node.func.value).text)
    return (found.group().lstrip("_") if found else "") or "value"
