"""Puts an edit inside of a statement of the top level into the tree that is known already.

Typing changes a few statements of one block. The statements before and after them, and those
around them, stay the nodes that they were, moved to the lines where they stand now, so that what
is known of them holds on; only a function that has the block in it becomes a new node.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from device_lens.syntax.alike import alike
from device_lens.syntax.chunk import Chunk, Splice
from device_lens.syntax.twins import move

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Block: TypeAlias = list[ast.stmt]
ENTERED = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
)
_BLOCKS = ("body", "orelse", "finalbody")
MARK = "device-lens"
"""A comment with it means something to the analysis."""


@dataclass(frozen=True, slots=True)
class Change:
    """The lines of a chunk that differ between two versions: the first `head` and the last `tail`
    ones are the same. `old_first` and `new_first` are what the nodes call the first line."""

    head: int
    tail: int
    old_count: int
    new_count: int
    old_first: int
    new_first: int

    @property
    def lines(self) -> int:
        """How much further down the lines behind the change stand now."""
        return self.new_count - self.old_count

    @property
    def moved(self) -> int:
        """What makes a line of the new tree one of the old tree's count."""
        return self.old_first - self.new_first

    def is_before(self, line: int) -> bool:
        """Whether the change is below a line of the old tree."""
        return line - self.old_first < self.head

    def is_behind(self, line: int) -> bool:
        """Whether the change is above a line of the old tree."""
        return line - self.old_first >= self.old_count - self.tail


@dataclass(frozen=True, slots=True)
class _Place:
    """The innermost block in which two statements differ, in both versions; how many statements
    are the same at its ends; the statements around it, outermost first."""

    block: Block
    other: Block
    first: int
    last: int
    around: list[tuple[ast.stmt, ast.stmt]]


def splice(old: Chunk, new: Chunk) -> Chunk | None:
    """The new chunk with the old one's statements wherever they are the same; None where the
    change is not inside of one block. The old chunk is used up by it."""
    change = _change(old, new)
    if change is None or len(old.body) != 1 or len(new.body) != 1:
        return None
    before, after = old.body[0], new.body[0]
    classes: list[tuple[ast.ClassDef, ast.ClassDef, int]] = []
    while isinstance(before, ast.ClassDef) and isinstance(after, ast.ClassDef):
        first, last = _matching(before.body, after.body, change)
        alone = _one_left(before.body, after.body, first, last)
        if not alone or not _same_head(before, after, change):
            return None
        classes.append((before, after, first))
        before, after = before.body[first], after.body[first]
    if not isinstance(before, Definition if classes else ENTERED):
        return None
    if type(before) is not type(after) or not _same_head(before, after, change):
        return None
    place = _place(before, after, change)
    if place is None:
        return None
    if isinstance(before, Definition) and isinstance(after, Definition):
        made = _join(before, after, place, change)
    elif any(isinstance(mine, Definition) for mine, _ in place.around):
        return None
    else:
        made = _put_in(before, place, change)
        _end_like(before, after, change)
        forget_answers(before)
        old.use_up()
        return _following(old, new, (before,), made)
    for left, right, number in classes:
        shift_behind(left, change)
        _move_head(right, change.moved)
        right.body = [*left.body[:number], right.body[number], *left.body[number + 1 :]]
    old.use_up()
    return _following(old, new, new.body, made)


def _following(old: Chunk, new: Chunk, body: tuple[ast.stmt, ...], made: Splice) -> Chunk:
    return replace(
        new,
        body=body,
        first_line=old.first_line,
        lineage=old.lineage,
        revision=old.revision + 1,
        splice=made,
    )


def _change(old: Chunk, new: Chunk) -> Change | None:
    """What differs between the texts; None where it means more than its statements."""
    before, after = old.text.split("\n"), new.text.split("\n")
    most = min(len(before), len(after))
    head = 0
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    changed = (*before[head : len(before) - tail], *after[head : len(after) - tail])
    change = Change(head, tail, len(before), len(after), old.first_line, new.first_line)
    if old.used_up or any(MARK in line for line in changed):
        return None
    if _straddles(old, change, change.old_count) or _straddles(new, change, change.new_count):
        return None
    return change if _omit_alike(old, new, change) else None


def _straddles(chunk: Chunk, change: Change, count: int) -> bool:
    """Whether something broken is partly in the change: what it is read as hangs on all of it,
    and stands in one of its lines alone."""
    first, last = change.head, count - change.tail
    return any(
        start < last and stop > first and (start < first or stop > last)
        for start, stop in chunk.mended
    )


def _omit_alike(old: Chunk, new: Chunk, change: Change) -> bool:
    """Whether what is left out as broken is the same outside of the change."""

    def outside(parts: tuple[tuple[int, int], ...], count: int) -> list[tuple[int, int]]:
        stop = count - change.tail
        return [part for part in parts if part[0] < change.head or part[1] > stop]

    known = [
        part if part[1] <= change.head else (part[0] + change.lines, part[1] + change.lines)
        for part in outside(old.omitted, change.old_count)
    ]
    return known == outside(new.omitted, change.new_count)


def _place(before: ast.stmt, after: ast.stmt, change: Change) -> _Place | None:
    around: list[tuple[ast.stmt, ast.stmt]] = []
    mine, theirs = before, after
    while True:
        differing = _differing(mine, theirs, change)
        if differing is None or len(differing) > 1:
            return None
        around.append((mine, theirs))
        if not differing:  # only comments and blank lines do
            left, right = blocks(mine)[0], blocks(theirs)[0]
            return _Place(left, right, len(left), 0, around)
        left, right, first, last = differing[0]
        if not _one_left(left, right, first, last):
            return _Place(left, right, first, last, around)
        mine, theirs = left[first], right[first]
        if not _may_enter(mine, theirs, change):
            return _Place(left, right, first, last, around)


def _differing(
    before: ast.stmt, after: ast.stmt, change: Change
) -> list[tuple[Block, Block, int, int]] | None:
    """The blocks in which two statements differ; None where they do not pair."""
    mine, theirs = blocks(before), blocks(after)
    if len(mine) != len(theirs):
        return None
    found = []
    for left, right in zip(mine, theirs, strict=True):
        if bool(left) != bool(right):
            return None
        first, last = _matching(left, right, change)
        if first + last < max(len(left), len(right)):
            found.append((left, right, first, last))
    return found


def _may_enter(before: ast.stmt, after: ast.stmt, change: Change) -> bool:
    if not isinstance(before, ENTERED) or type(before) is not type(after):
        return False
    if not _same_head(before, after, change):
        return False
    differing = _differing(before, after, change)
    return differing is not None and len(differing) <= 1


def blocks(node: ast.stmt) -> list[Block]:
    """The blocks of a statement, in the order of the text."""
    if isinstance(node, ast.Try):
        handlers = [handler.body for handler in node.handlers]
        return [node.body, *handlers, node.orelse, node.finalbody]
    return [getattr(node, name) for name in _BLOCKS if hasattr(node, name)]


def _same_head(before: ast.stmt, after: ast.stmt, change: Change) -> bool:
    """Whether two statements say the same outside of their blocks, in lines that stayed."""
    stays = before.lineno == after.lineno + change.moved and change.is_before(before.lineno)
    if not stays or row(before) != row(after) + change.moved:
        return False
    if isinstance(before, ast.Try) and isinstance(after, ast.Try):
        if len(before.handlers) != len(after.handlers):
            return False
        pairs = zip(before.handlers, after.handlers, strict=True)
        return all(
            left.name == right.name and alike(left.type, right.type) for left, right in pairs
        )
    return all(
        _same(getattr(before, name, None), getattr(after, name, None), change)
        for name in before._fields
        if name not in _BLOCKS
    )


def _same(mine: object, theirs: object, change: Change) -> bool:
    if isinstance(mine, list):
        return (
            isinstance(theirs, list)
            and len(mine) == len(theirs)
            and all(_same(a, b, change) for a, b in zip(mine, theirs, strict=True))
        )
    if isinstance(mine, ast.AST):
        ends = [getattr(part, "end_lineno", None) for part in ast.walk(mine)]
        if not all(change.is_before(end) for end in ends if end is not None):
            return False
    return alike(mine, theirs)


def _matching(
    before: Sequence[ast.stmt], after: Sequence[ast.stmt], change: Change
) -> tuple[int, int]:
    """How many statements of a block are the same at its beginning, and at its end."""
    most = min(len(before), len(after))
    first = 0
    while first < most and _is_before(before[first], after[first], change):
        first += 1
    last = 0
    while last < most - first and _is_behind(before[-1 - last], after[-1 - last], change):
        last += 1
    return first, last


def _is_before(before: ast.stmt, after: ast.stmt, change: Change) -> bool:
    end = before.end_lineno or before.lineno
    return change.is_before(end) and _stand_alike(before, after, change.moved)


def _is_behind(before: ast.stmt, after: ast.stmt, change: Change) -> bool:
    moved = change.moved - change.lines
    return change.is_behind(row(before)) and _stand_alike(before, after, moved)


def _stand_alike(before: ast.stmt, after: ast.stmt, moved: int) -> bool:
    """Whether two statements are of one kind and take the same text, moved by some lines."""
    return (
        type(before) is type(after)
        and row(before) == row(after) + moved
        and before.lineno == after.lineno + moved
        and before.col_offset == after.col_offset
        and (before.end_lineno or 0) == (after.end_lineno or 0) + moved
        and before.end_col_offset == after.end_col_offset
    )


def row(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _one_left(before: Sequence[ast.stmt], after: Sequence[ast.stmt], first: int, last: int) -> bool:
    return len(before) - first - last == 1 == len(after) - first - last


def _join(before: Definition, after: Definition, place: _Place, change: Change) -> Splice:
    """Puts the new statements into the old block. The function becomes `after`, with the head and
    the statements of the old one."""
    made = _put_in(before, place, change)
    after.lineno = before.lineno
    _end_like(after, after, change)
    after.args, after.returns = before.args, before.returns
    after.decorator_list, after.body = before.decorator_list, before.body
    return replace(made, owner=after)


def _put_in(before: ast.stmt, place: _Place, change: Change) -> Splice:
    """Puts the new statements into the old block of a statement."""
    block, first, stop = place.block, place.first, len(place.block) - place.last
    added = place.other[first : len(place.other) - place.last]
    for statement in added:
        move(statement, change.moved)
    shift_behind(before, change)
    for mine, theirs in place.around[1:]:
        shift_behind(mine, change)
        _end_like(mine, theirs, change)
        forget_answers(mine)
    block[first:stop] = added
    return Splice(before, block, first, stop - first, len(added))


def shift_behind(node: ast.stmt, change: Change) -> None:
    """Moves what a statement has behind the change to the lines where it stands now."""
    if not change.lines:
        return
    for block in [getattr(node, name) for name in _BLOCKS if hasattr(node, name)]:
        _shift(block, change)
    for handler in getattr(node, "handlers", ()):
        if change.is_behind(handler.lineno):
            move(handler, change.lines)
        else:
            _shift(handler.body, change)


def _shift(block: Block, change: Change) -> None:
    for statement in reversed(block):
        if not change.is_behind(row(statement)):
            break
        move(statement, change.lines)


def _end_like(mine: ast.stmt, theirs: ast.stmt, change: Change) -> None:
    """Lets a statement with its handlers end where the other one does."""
    handlers = getattr(mine, "handlers", ()), getattr(theirs, "handlers", ())
    for left, right in ((mine, theirs), *zip(*handlers, strict=True)):
        left.end_lineno = (right.end_lineno or right.lineno) + change.moved
        left.end_col_offset = right.end_col_offset


def forget_answers(node: ast.AST) -> None:
    """Drops what was remembered of a statement whose block is another one now."""
    for name in list(node.__dict__):  # who looks at the file on another thread may add some
        if name.startswith("_"):
            node.__dict__.pop(name, None)


def _move_head(node: ast.ClassDef, moved: int) -> None:
    """Moves a class without its body."""
    for part in (*node.bases, *node.keywords, *node.decorator_list):
        move(part, moved)
    node.lineno += moved
    node.end_lineno = (node.end_lineno or node.lineno) + moved
