"""What the module graph keeps of a file: its imports, and whether it is meant to be run.

Small enough to be kept on disk, so that a file that is as it was need not be parsed to be placed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from device_lens.syntax.import_statements import Import, imports_of
from device_lens.syntax.main_guard import is_main_guard
from device_lens.syntax.source import SourceFile

Json = list[object]


@dataclass(frozen=True, slots=True)
class Outline:
    """The imports of a file, those inside functions and branches included."""

    imports: tuple[Import, ...]
    has_main: bool
    does_something: bool
    """Whether importing it runs more than definitions."""
    lines: int


def outline_of(file: SourceFile) -> Outline:
    """The outline of a parsed file."""
    statements = [statement for chunk in file.chunks for statement in chunk.body]
    return Outline(
        tuple(imports_of(file)),
        any(map(is_main_guard, statements)),
        any(map(_does_something, statements)) or _only_computes(statements),
        file.lines.count,
    )


def outline_to_json(outline: Outline) -> Json:
    """The outline as plain data."""
    imports = [[each.module, each.level, list(each.names)] for each in outline.imports]
    return [imports, outline.has_main, outline.does_something, outline.lines]


def outline_from_json(data: object) -> Outline | None:
    """The outline that plain data stands for; None where it stands for none."""
    if not isinstance(data, list) or len(data) != 4 or not isinstance(data[0], list):
        return None
    found, has_main, does_something, lines = data
    imports = [_import(each) for each in found]
    if None in imports or not isinstance(has_main, bool) or not isinstance(does_something, bool):
        return None
    if type(lines) is not int:
        return None
    return Outline(tuple(each for each in imports if each), has_main, does_something, lines)


def _import(data: object) -> Import | None:
    if not isinstance(data, list) or len(data) != 3:
        return None
    module, level, names = data
    if not isinstance(module, str) or type(level) is not int or not isinstance(names, list):
        return None
    if not all(isinstance(name, str) for name in names):
        return None
    return Import(module, level, tuple(names))


def _does_something(statement: ast.stmt) -> bool:
    """Whether a top-level statement runs more than definitions."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, (ast.Call, ast.Await))
    return isinstance(statement, (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith))


def _only_computes(statements: list[ast.stmt]) -> bool:
    """Whether statements define no function or class that others could want, and call some."""
    defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return not any(isinstance(each, defined) for each in statements) and any(
        isinstance(each, ast.Assign | ast.AnnAssign) and isinstance(each.value, ast.Call)
        for each in statements
    )
