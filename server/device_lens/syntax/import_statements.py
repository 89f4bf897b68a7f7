"""The import statements of a file, read off its tree without visiting expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from device_lens.syntax.resting import Resting
from device_lens.syntax.source import Chunk, SourceFile
from device_lens.syntax.statements import child_statements


@dataclass(frozen=True, slots=True)
class Import:
    """``import module`` or, with names, ``from module import names`` (``*`` included)."""

    module: str
    level: int
    names: tuple[str, ...] = ()


_IMPORTING = ast.Import | ast.ImportFrom
_INSIDE = "_imports"
"""The entry of a statement under which its imports are kept."""
_KNOWN: WeakKeyDictionary[Chunk, tuple[Import, ...]] = WeakKeyDictionary()


def imports_of(file: SourceFile) -> Iterator[Import]:
    """All imports of a file, those inside functions and branches included."""
    for chunk in file.chunks:
        known = _KNOWN.get(chunk)
        if known is None:
            has_any = "import" in chunk.text
            known = tuple(_imports(chunk.body)) if has_any else ()
            _KNOWN[chunk] = known
        yield from known


def _imports(body: Iterable[ast.stmt]) -> Iterator[Import]:
    stack: list[ast.stmt] = list(body)[::-1]
    while stack:
        statement = stack.pop()
        if isinstance(statement, ast.Import):
            yield from (Import(alias.name, 0) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            names = tuple(alias.name for alias in statement.names)
            yield Import(statement.module or "", statement.level, names)
        elif type(statement) is Resting:
            continue
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in statement.body:
                yield from _imports_of(inner)
        elif _is_compound(statement):
            stack += list(child_statements(statement))[::-1]


def _imports_of(statement: ast.stmt) -> Iterable[Import]:
    """Those of a statement of a function, remembered with it: typing leaves most as they are."""
    if not _is_compound(statement):
        return _imports((statement,)) if isinstance(statement, _IMPORTING) else ()
    known: tuple[Import, ...] | None = statement.__dict__.get(_INSIDE)
    if known is None:
        known = statement.__dict__[_INSIDE] = tuple(_imports((statement,)))
    return known


def _is_compound(statement: ast.stmt) -> bool:
    return hasattr(statement, "body") or isinstance(statement, ast.Match)
