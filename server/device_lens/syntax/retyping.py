"""Reads the lines that somebody types inside of a function, or of another statement of the top
level that has blocks, by themselves.

The statements that the changed lines belong to are taken out of their block, and what stands there
now is put in. That is what a parse of the whole chunk gives, as long as these lines begin and end
where statements of that block do, and say nothing that reaches beyond them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

from device_lens.syntax.alike import alike
from device_lens.syntax.chunk import Chunk, Splice
from device_lens.syntax.outline import Entry, outline
from device_lens.syntax.quiet import parse_text
from device_lens.syntax.recovery import may_mend_within, mend_block
from device_lens.syntax.scanner import indentation, is_blank, logical_line_at
from device_lens.syntax.segments import CLAUSES
from device_lens.syntax.splicing import (
    ENTERED,
    MARK,
    Block,
    Change,
    Definition,
    blocks,
    forget_answers,
    row,
    shift_behind,
)
from device_lens.syntax.twins import move

_MOST_LINES = 60
_LONGEST = 400
_DEEPEST = 20
"""Lines that are read by themselves, characters of one, and blocks around them: beyond that it may
depend on what is around whether Python, and we, read them."""
_ODD = ("\f", "\ufeff", "\0", "\\", '"""', "'''")
"""What means something else where it stands alone, or may reach beyond its line."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass)
_Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Region:
    """Statements of a block, from `first` to before `last`, and the lines that these and the change
    take, counted from the chunk's first. `around` are the statements around it, outermost first,
    each with the block that has it."""

    around: list[tuple[ast.stmt, Block]]
    first: int
    last: int
    start: int
    stop: int

    @property
    def block(self) -> Block:
        return self.around[-1][1]


@dataclass(frozen=True, slots=True)
class _Typed:
    """What some lines say: statements, where the block ends with them (None: there are none), and
    which of the lines are left out as broken or mended."""

    body: list[ast.stmt]
    end: _Place | None
    omitted: tuple[tuple[int, int], ...] = ()
    mended: tuple[tuple[int, int], ...] = ()


def retype(old: Chunk, lines: Sequence[str], head: int, tail: int) -> Chunk | None:
    """The chunk with other lines, of which `head` and `tail` are the same at both ends, most of its
    nodes those of the old one, which is used up; None where the whole of it has to be read."""
    if len(old.body) != 1 or old.used_up or "\0" in old.text:
        return None
    if is_blank(old.line(old.line_count - 1)):
        return None  # something broken in it may have taken these lines
    change = Change(head, tail, old.line_count, len(lines), old.first_line, old.first_line)
    region = _region(old, change, lines)
    if region is None or not _may_change(region):
        return None
    if any(start < region.start or stop > region.stop for start, stop in old.mended):
        return None  # what is broken elsewhere may be read in another way now
    typed = lines[region.start : region.stop + change.lines]
    if not _stands_alone(typed, old, region):
        return None
    read = _read(typed, old, region, lines)
    if read is None or not _leaves_blocks(read, typed, old, region):
        return None
    return _joined(old, lines, change, region, read)


def _region(old: Chunk, change: Change, lines: Sequence[str]) -> _Region | None:
    """The statements to which a change belongs, in the innermost block that has them all."""
    around: list[tuple[ast.stmt, Block]] = []
    block: Block = list(old.body)
    start, stop = change.head, change.old_count - change.tail
    typed = lines[start : len(lines) - change.tail]
    while len(around) < _DEEPEST:
        touched = [each for each in block if _touches(old, each, start, stop)]
        if touched:
            owner = touched[0]
            inner = _block_around(old, owner, start, stop) if len(touched) == 1 else None
            if inner is None:
                first, last = block.index(owner), block.index(touched[-1])
                start = min(start, _first(old, owner))
                stop = max(stop, _last(old, touched[-1]) + 1)
                return _Region(around, first, last + 1, start, stop)
        else:
            at = sum(_first(old, each) < start for each in block)
            if not at or (inner := _block_above(old, block[at - 1], typed)) is None:
                return _Region(around, at, at, start, stop)
            owner = block[at - 1]
        around.append((owner, inner))
        block = inner
    return None


def _first(old: Chunk, statement: ast.stmt) -> int:
    return row(statement) - old.first_line


def _last(old: Chunk, statement: ast.stmt) -> int:
    return (statement.end_lineno or statement.lineno) - old.first_line


def _touches(old: Chunk, statement: ast.stmt, start: int, stop: int) -> bool:
    """Whether some lines are a statement's; a place between two lines, if it has both."""
    first, last = _first(old, statement), _last(old, statement)
    return first < start <= last if start == stop else first < stop and start <= last


def _block_around(old: Chunk, statement: ast.stmt, start: int, stop: int) -> Block | None:
    """The block of a statement that has all of some lines, or has them at one of its ends."""
    if not isinstance(statement, (*ENTERED, ast.ClassDef)):
        return None
    for block in filter(None, blocks(statement)):
        if _indent(old, block).strip(" \t"):
            return None  # it begins in the line of its header
        above = range(start, _first(old, block[0]))
        below = range(_last(old, block[-1]) + 1, max(start, stop))
        if all(is_blank(old.line(at)) for at in (*above, *below)):
            return block
    return None


def _block_above(old: Chunk, statement: ast.stmt, typed: Sequence[str]) -> Block | None:
    """The block that ends before some lines, if these are as deep as it."""
    first = next((line for line in typed if not is_blank(line)), "")
    if not isinstance(statement, ENTERED) or indentation(first) <= statement.col_offset:
        return None
    return [block for block in blocks(statement) if block][-1]


def _may_change(region: _Region) -> bool:
    """Whether there is a function, under classes alone and without a class in it, or neither
    functions nor classes are around."""
    kinds = [type(statement) for statement, _ in region.around]
    if kinds and not any(kind in (ast.ClassDef, *_FUNCTIONS) for kind in kinds):
        return True
    while kinds and kinds[0] is ast.ClassDef:
        del kinds[0]
    return bool(kinds) and kinds[0] in _FUNCTIONS and ast.ClassDef not in kinds


def _stands_alone(typed: Sequence[str], old: Chunk, region: _Region) -> bool:
    """Whether some lines mean the same by themselves as in the place of a region."""
    block, first, last = region.block, region.first, region.last
    indent = _indent(old, block)
    removed = [old.line(at) for at in range(region.start, region.stop)]
    if indent.strip(" \t") or len(typed) > _MOST_LINES or old.line(region.start - 1)[-1:] == "\\":
        return False
    if any(MARK in line for line in (*typed, *removed)) or _is_decorated(old, region):
        return False
    if any(len(line) > _LONGEST or any(odd in line for odd in _ODD) for line in typed):
        return False
    if first and _last(old, block[first - 1]) >= region.start:
        return False
    if last < len(block) and _first(old, block[last]) < region.stop:
        return False
    code = [line for line in typed if not is_blank(line)]
    return not code or (
        all(line.startswith(indent) for line in code) and not code[0][len(indent)].isspace()
    )


def _indent(old: Chunk, block: Block) -> str:
    """What stands before the first statement of a block: white space, where it has a line."""
    return old.line(_first(old, block[0]))[: block[0].col_offset]


def _read(typed: Sequence[str], old: Chunk, region: _Region, lines: Sequence[str]) -> _Typed | None:
    """What some lines say in the place of a region; `lines` are all of the chunk."""
    moved = old.first_line + region.start - 2
    found = _parsed(typed, moved)
    if found is not None:
        return found
    entries = outline(typed)
    width = indentation(_indent(old, region.block) + "x")
    owners = [statement for statement, _ in region.around]
    if not entries or entries[0].line.word in (*CLAUSES, "case") or _decorates(typed):
        return None
    closed = entries[:-1] if _never_closes(entries[-1], lines, region) else entries
    if not all(_is_closed(entry) for entry in closed):
        return None
    if any(entry.line.indent != width for entry in entries):
        return None
    if not may_mend_within(len(old.text), [len(list(_children(each))) for each in owners]):
        return None
    mender = mend_block(typed, entries)
    found = _parsed(mender.lines, moved)
    if found is None:
        return None
    at = region.start
    omitted, mended = _further_down(mender.omitted, at), _further_down(mender.changed, at)
    return _Typed(found.body, found.end, omitted, mended)


def _further_down(parts: Sequence[tuple[int, int]], lines: int) -> tuple[tuple[int, int], ...]:
    return tuple((start + lines, stop + lines) for start, stop in parts)


def _parsed(typed: Sequence[str], moved: int) -> _Typed | None:
    """What lines that parse say; `moved` is what the nodes' lines are more in their chunk."""
    if all(map(is_blank, typed)):
        return _Typed([], None)
    tree = parse_text("\n".join(("if 1:", *typed)))
    block = tree.body[0] if isinstance(tree, ast.Module) else None
    if not isinstance(block, ast.If):
        return None
    for statement in block.body:
        move(statement, moved)
    end = (block.end_lineno or block.lineno) + moved, block.end_col_offset or 0
    return _Typed(block.body, end)


def _never_closes(entry: Entry, lines: Sequence[str], region: _Region) -> bool:
    """Whether a bracket is left open by the last of some lines, and a later line of the chunk ends
    it: then no line is taken for a part of another one."""
    if entry.line.open != "(" or entry.children:
        return False
    start = region.start + entry.line.start
    whole = logical_line_at(lines, start, len(lines))
    return whole.open == "(" and not whole.suspect and whole.stop < len(lines)


def _is_closed(entry: Entry) -> bool:
    """Whether nothing leads beyond the lines of an entry."""
    line = entry.line
    return not line.open and not line.suspect and all(map(_is_closed, entry.children))


def _is_decorated(old: Chunk, region: _Region) -> bool:
    """Whether a decorator stands above a region, which belongs to what comes next."""
    above = (old.line(at) for at in range(region.start - 1, -1, -1))
    line = next((line for line in above if not is_blank(line)), "")
    return line.lstrip().startswith("@")


def _decorates(typed: Sequence[str]) -> bool:
    return any(line.lstrip().startswith("@") for line in typed)


def _children(statement: ast.stmt) -> Iterator[ast.stmt]:
    for block in blocks(statement):
        yield from block


def _leaves_blocks(read: _Typed, typed: Sequence[str], old: Chunk, region: _Region) -> bool:
    """Whether no block is left empty, and it is known where those around end."""
    ends_block = region.last == len(region.block)
    if not read.body and ends_block and region.last > region.first:
        return False
    return region.stop < old.line_count or (bool(read.body) and not is_blank(typed[-1]))


def _joined(
    old: Chunk, lines: Sequence[str], change: Change, region: _Region, read: _Typed
) -> Chunk:
    """The old tree with other statements in a region: the functions and classes around it are new
    nodes, as they are where the whole is read."""
    around, block = region.around, region.block
    known = [statement for statement, _ in around]
    head = next((at for at, each in enumerate(known) if isinstance(each, Definition)), -1)
    new = [copy(each) if at <= head else each for at, each in enumerate(known)]
    first, last, found = region.first, region.last, read.body
    while not change.lines and found and first < last and _is_same(block[first], found[0]):
        first, found = first + 1, found[1:]
    for statement in known:
        shift_behind(statement, change)
    end = read.end if region.last == len(block) else None
    block[first:last] = found
    for at in range(len(around) - 1, -1, -1):
        forget_answers(new[at])
        end = _end(new[at], around[at][1], end, old.first_line + region.stop, change.lines)
        if at and around[at - 1][1][-1] is not known[at]:
            end = None
    for at in range(head - 1, -1, -1):
        inner = known[at + 1]
        body = [new[at + 1] if each is inner else each for each in around[at][1]]
        new[at].body = body  # type: ignore[attr-defined]
    old.use_up()
    return Chunk(
        (new[0],),
        "\n".join(lines),
        old.first_line,
        bool(read.mended),
        read.omitted,
        read.mended,
        old.lineage,
        old.revision + 1,
        Splice(new[max(head, 0)], block, first, last - first, len(found)),
    )


def _is_same(old: ast.stmt, new: ast.stmt) -> bool:
    """Whether two statements say the same at the same place: most letters of what is not closed yet
    change nothing of what is read of it."""
    if type(old) is not type(new) or not isinstance(old, _SIMPLE):
        return False
    return alike(old, new, placed=True)


def _end(
    statement: ast.stmt, block: Block, end: _Place | None, behind: int, lines: int
) -> _Place | None:
    """Lets a statement end where its block does, if that is its last one and has another `end`
    now; what ends `behind` the region goes down with it. Gives where the statement has its end
    anew."""
    is_last = [each for each in blocks(statement) if each][-1] is block
    clauses = [each for each in getattr(statement, "handlers", ()) if each.body is block]
    for node in (*clauses, statement):
        if end is not None and (is_last or node is not statement):
            node.end_lineno, node.end_col_offset = end
        elif (node.end_lineno or node.lineno) >= behind:
            node.end_lineno = (node.end_lineno or node.lineno) + lines
    return end if is_last else None
