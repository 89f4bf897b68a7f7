"""The import statements of a file, read off its tree without visiting expressions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from device_lens.syntax.resting import Resting
from device_lens.syntax.search_folders import added_folders, in_folders
from device_lens.syntax.source import Chunk, SourceFile
from device_lens.syntax.statements import child_statements


@dataclass(frozen=True, slots=True)
class Import:
    """``import module`` or, with names, ``from module import names`` (``*`` included)."""

    module: str
    level: int
    names: tuple[str, ...] = ()


ANY = ".?"
"""What stands between a package's name and a number for one of its modules after the other, in the
order of their names: a program chooses among them at run time."""
MOST_MODULES = 12
"""Modules of a package that a program may choose among."""
_IMPORTING = ast.Import | ast.ImportFrom
_CHOOSING = ("import_module", "__import__")
_NAMED = re.compile(r"import_module\(\s*(?:name\s*=\s*)?(?!name\s*=)[A-Za-z_]")
"""Imports by a name that stands elsewhere. Like those below it begins with letters, not with `\\b`,
and is looked for thirty times as fast: each letter asks."""
_JOINED = re.compile(r"""\.(?:["']\s*\+|\{|%s)""")
"""What every such beginning ends with."""
_CHOSEN = re.compile(r"""["']([A-Za-z_][\w.]*)\.(?:["']\s*\+|\{|%s)""")
"""The beginning of a name that is put together."""
_WRITTEN = r"""\(\s*(?:name\s*=\s*)?(["'])([A-Za-z_][\w.]*)\1"""
_WHOLE = [re.compile(f"{importing}{_WRITTEN}") for importing in _CHOOSING]
"""Names that are written out."""
_WITHIN = re.compile(
    r"""import_module\(\s*f?(?:["'](\.[\w.]*)["'])?([^()]*?),\s*(?:package\s*=\s*)?["']([A-Za-z_][\w.]*)"""
)
"""The first part of a name that begins with dots, what else it is made of, and the package."""
_INSIDE = "_imports"
"""The entry of a statement under which its imports are kept."""
_KNOWN: WeakKeyDictionary[Chunk, tuple[Import, ...]] = WeakKeyDictionary()


def bound_names(statement: ast.AST) -> Iterator[tuple[str, str]]:
    """The modules that a statement imports (from), dots before those that are told from its own,
    with the names that it binds."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.name, alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, ast.ImportFrom):
        module = "." * statement.level + (statement.module or "")
        for alias in statement.names:
            yield module, alias.asname or alias.name


def imports_of(file: SourceFile) -> Iterator[Import]:
    """All imports of a file, those inside functions and branches included, with all names that
    they may have."""
    folders = [*added_folders(file)]
    for chunk in file.chunks:
        known = _KNOWN.get(chunk)
        if known is None:
            has_any = "import" in chunk.text
            known = (*_imports(chunk.body), *_chosen(chunk.text)) if has_any else ()
            _KNOWN[chunk] = known
        yield from known
        if not folders:
            continue
        for each in known:
            if not each.level:
                yield from (Import(n, 0, each.names) for n in in_folders(file, each.module))
        if _NAMED.search(chunk.text) is not None:
            for folder in folders:
                yield from (Import(name, 0) for name in any_module(folder))


def any_module(package: str) -> Iterator[str]:
    """The names under which the modules of a package are asked for one by one."""
    return (f"{package}{ANY}{number}" for number in range(MOST_MODULES))


def _chosen(text: str) -> Iterator[Import]:
    """What `import_module("package.module")`, `__import__("module")` and
    `import_module("package." + name)` may import."""
    if any(word in text for word in _CHOOSING):
        written = (name for each in _WHOLE for _, name in each.findall(text))
        yield from (Import(name, 0) for name in written)
        for name, more, package in _WITHIN.findall(text):
            whole = within(package, name or ".")
            several = any_module(whole.rstrip(".")) if more.strip() else (whole,)
            yield from (Import(each, 0) for each in several)
        joined = _CHOSEN.findall(text) if _JOINED.search(text) is not None else ()
        for package in dict.fromkeys(joined):
            yield from (Import(name, 0) for name in any_module(package))


def within(package: str, name: str) -> str:
    """What `import_module(".module", "package")` names; a name without a dot in front is whole."""
    rest = name.lstrip(".")
    above = package.split(".")[: len(rest) - len(name) + 1 or None]
    return name if rest == name else ".".join([*above, rest])


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
