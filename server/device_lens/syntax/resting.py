"""Functions of which only the head is in memory, until somebody looks at the body.

Most of what a large project defines is never run for the file that is edited, and trees take
twenty times the memory of their text. A function that rests is read from the text of its chunk
when its body is first asked for; then it is a function like any other. Whoever looks sees no
difference, save that the type is another one until then.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from threading import Lock

from device_lens.syntax.chunk import Chunk
from device_lens.syntax.quiet import parse_text, quiet
from device_lens.syntax.source import SourceFile

FEWEST_LINES = 3
"""Lines of a function from which on resting saves more than it costs."""
_ODD = re.compile("[\f\ufeff]")
"""What means something else in the middle of a text than at its beginning."""
_LOCK = Lock()


class Resting(ast.FunctionDef):
    """A function whose body is not in memory."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        if name != "body":
            raise AttributeError(name)
        with _LOCK:
            return self.__dict__["body"] if "body" in self.__dict__ else _wake(self)


Resting.__name__ = Resting.__qualname__ = ast.FunctionDef.__name__  # as `ast.dump` tells it


def rest(source: SourceFile) -> None:
    """Lets the functions of a file rest, at which nobody has looked yet, and its lines."""
    for chunk in source.chunks:
        if not chunk.broken and not _ODD.search(chunk.text):
            _rest(chunk, chunk.body)
    source.lines.forget()


def wake(source: SourceFile) -> None:
    """Brings all functions of a file to memory: it is edited."""
    for chunk in source.chunks:
        for function in _functions(chunk.body):
            if isinstance(function, Resting):
                _ = function.body


def _rest(chunk: Chunk, body: Iterable[ast.stmt]) -> None:
    lines: list[str] | None = None
    for function in _functions(body):
        last = function.end_lineno or function.lineno
        if type(function) is not ast.FunctionDef or last - function.lineno < FEWEST_LINES:
            continue
        lines = chunk.text.split("\n") if lines is None else lines
        first = function.lineno - chunk.first_line
        stop = last - chunk.first_line + 1
        if any("import" in line for line in lines[first:stop]):
            continue  # whoever looks for imports looks into it
        function.__dict__["resting"] = chunk.text, first, stop
        del function.body
        function.__class__ = Resting


def _functions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield statement
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body)


def _wake(function: Resting) -> list[ast.stmt]:
    text, first, stop = function.__dict__.pop("resting")
    own = "\n".join(text.split("\n")[first:stop])
    # The line before takes the block's indentation; those before it give every line its number.
    above = "\n" * (function.lineno - 2) + "if 1:\n" if function.col_offset else ""
    above = above or "\n" * (function.lineno - 1)
    with quiet():
        tree = parse_text(above + own)
    assert isinstance(tree, ast.Module), "what was parsed in its file is parsed by itself"
    (statement,) = tree.body
    found = statement.body[0] if isinstance(statement, ast.If) else statement
    assert isinstance(found, ast.FunctionDef)
    function.body = found.body
    function.__class__ = ast.FunctionDef  # type: ignore[assignment]
    return found.body
