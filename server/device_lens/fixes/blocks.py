"""Statements in their blocks: remove one, put lines above one, move one."""

from __future__ import annotations

import ast

from device_lens.fixes.comments import below_comments, comments_in
from device_lens.fixes.edit import Edit
from device_lens.fixes.place import Place, ends_cell, indentation, line_start, same_cell
from device_lens.syntax.position import Position, Range

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def block_of(statement: Place) -> list[ast.stmt]:
    """The statements of the block that a statement stands in, itself included."""
    parent = statement.parent
    if parent is None:
        return statement.top_level
    for name in _BLOCKS:
        block = getattr(parent, name, None)
        if isinstance(block, list) and any(each is statement.node for each in block):
            return block
    return []


def remove_statement(statement: Place) -> Edit:
    """Removes a statement with its lines; the only statement of a block becomes `pass`, and one
    that shares its lines leaves the others as they are. Its comments stay."""
    where = statement.range
    before, behind = _beside(statement)
    if before or behind:
        return _remove_from_line(statement, before, behind)
    if _is_only_child(statement) or _hides_another(statement):
        return statement.replace(below_comments(statement, "pass"))
    lines = _whole_lines(statement, where.start.line, where.end.line)
    space = indentation(statement.source, where.start.line)
    kept = [f"{space}{each}" for each in comments_in(statement, behind=True)]
    ends = ("\n", "") if lines.start.column else ("", "\n")
    return statement.edit(lines, "".join(f"{ends[0]}{each}{ends[1]}" for each in kept))


def insert_above(anchor: Place, line: str) -> Edit:
    """Puts a line above a statement (above its decorators), indented like it. Where the anchor
    shares its line with an earlier statement, it goes between the two."""
    first = _first_line(anchor)
    before, _ = _beside(anchor)
    if before:
        start = anchor.range.start
        return anchor.edit(Range(start, start), f"{line}; ")
    space = indentation(anchor.source, first)
    return anchor.edit(line_start(first), f"{space}{line}\n")


def insert_below(anchor: Place, line: str) -> Edit:
    """Puts a line below a simple statement, indented like it."""
    end = anchor.range.end
    if any(_beside(anchor)):
        return anchor.edit(Range(end, end), f"; {line}")
    space = indentation(anchor.source, anchor.range.start.line)
    stop = Position(end.line, len(anchor.source.lines.line(end.line)))
    return anchor.edit(Range(stop, stop), f"\n{space}{line}")


def replace_by(statement: Place, statements: list[str]) -> Edit:
    """Puts several simple statements in place of one: on lines of their own where it has those."""
    space = indentation(statement.source, statement.range.start.line)
    return statement.replace(("; " if any(_beside(statement)) else f"\n{space}").join(statements))


def move_above(statement: Place, anchor: Place) -> tuple[Edit, ...]:
    """Moves a statement above another one, with the comments directly above it and the one at
    its end. Empty where its lines are shared or the two are in different cells."""
    where = statement.range
    if any(_beside(statement)) or _beside(anchor)[0]:
        return ()
    if not same_cell(statement.source, where.start.line, anchor.range.start.line):
        return ()
    first = _first_comment(statement, where.start.line)
    lines = statement.source.lines.lines[first : where.end.line + 1]
    old = indentation(statement.source, where.start.line)
    new = indentation(anchor.source, _first_line(anchor))
    if _has_multiline_string(statement.node) and old != new:
        return ()
    moved = "".join(f"{_reindented(line, old, new)}\n" for line in lines)
    insertion = anchor.edit(line_start(_first_line(anchor)), moved)
    if _is_only_child(statement):
        start = Position(first, len(old))
        end = Position(where.end.line, len(statement.source.lines.line(where.end.line)))
        return insertion, statement.edit(Range(start, end), "pass")
    return insertion, statement.edit(_whole_lines(statement, first, where.end.line), "")


def move_below(statement: Place, anchor: Place) -> tuple[Edit, ...]:
    """Moves a statement of one line below a simple statement, its comment included."""
    where, to = statement.range, anchor.range
    if any(_beside(statement)) or any(_beside(anchor)):
        return ()
    if not same_cell(statement.source, where.start.line, to.end.line):
        return ()
    lines = statement.source.lines
    moved = [lines.line(number) for number in range(where.start.line, where.end.line + 1)]
    old = indentation(statement.source, where.start.line)
    new = indentation(anchor.source, to.start.line)
    if _is_only_child(statement) or (_has_multiline_string(statement.node) and old != new):
        return ()
    stop = Position(to.end.line, len(lines.line(to.end.line)))
    text = "".join(f"\n{_reindented(line, old, new)}" for line in moved)
    removal = statement.edit(_whole_lines(statement, where.start.line, where.end.line), "")
    return removal, anchor.edit(Range(stop, stop), text)


def _hides_another(statement: Place) -> bool:
    """Whether a cell would show the value of the expression above the statement without it."""
    if not ends_cell(statement):
        return False
    source, start = statement.source, statement.range.start
    tops = (Place(source, chunk, node) for chunk in source.chunks for node in chunk.body)
    above = max(
        (each for each in tops if each.range.start < start),
        key=lambda each: each.range.start,
        default=None,
    )
    if above is None or not same_cell(source, above.range.start.line, start.line):
        return False
    return _is_shown(above.node)


def _is_shown(statement: ast.AST) -> bool:
    """Whether a statement at the end of a cell shows something: not a call of `print`, which gives
    nothing."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return False
    return isinstance(statement, ast.Expr)


def _is_only_child(statement: Place) -> bool:
    """Whether the block would be empty without the statement."""
    return statement.parent is not None and len(block_of(statement)) == 1


def _first_line(anchor: Place) -> int:
    decorators = getattr(anchor.node, "decorator_list", [])
    return min(anchor.at(node).range.start.line for node in (anchor.node, *decorators))


def _beside(statement: Place) -> tuple[str, str]:
    """The code before and behind a statement on its own lines, comments left out."""
    where, lines = statement.range, statement.source.lines
    before = lines.line(where.start.line)[: where.start.column].strip()
    behind = lines.line(where.end.line)[where.end.column :].strip()
    code = behind if behind.lstrip("; \t").partition("#")[0] else ""
    return before.lstrip("@") if before != "@" else "", code


def _remove_from_line(statement: Place, before: str, behind: str) -> Edit:
    where, lines = statement.range, statement.source.lines
    if behind.startswith(";"):
        rest = lines.line(where.end.line)[where.end.column :]
        gap = len(rest) - len(rest.lstrip(" \t;"))
        if rest[gap:] and not rest[gap:].startswith("#"):
            end = Position(where.end.line, where.end.column + gap)
            return statement.edit(Range(where.start, end), "")
    if before.endswith(";"):
        head = lines.line(where.start.line)[: where.start.column].rstrip(" \t;")
        return statement.edit(Range(Position(where.start.line, len(head)), where.end), "")
    return statement.replace("pass")


def _whole_lines(statement: Place, first: int, last: int) -> Range:
    """The lines with their ends. A last line of a file or cell gives the line end before it."""
    source = statement.source
    if last + 1 < len(source.lines.lines) and same_cell(source, last, last + 1):
        return Range(Position(first, 0), Position(last + 1, 0))
    end = Position(last, len(source.lines.line(last)))
    if first > 0 and same_cell(source, first - 1, first):
        return Range(Position(first - 1, len(source.lines.line(first - 1))), end)
    return Range(Position(first, 0), end)


def _first_comment(statement: Place, line: int) -> int:
    """The first of the comment lines directly above a line that are indented like it."""
    source = statement.source
    space = indentation(source, line)
    while line > 0 and same_cell(source, line - 1, line):
        above = source.lines.line(line - 1)
        if not above.startswith(f"{space}#"):
            break
        line -= 1
    return line


def _reindented(line: str, old: str, new: str) -> str:
    return new + line[len(old) :] if line.startswith(old) else line


def _has_multiline_string(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Constant | ast.JoinedStr) and each.lineno != each.end_lineno
        for each in ast.walk(node)
    )
