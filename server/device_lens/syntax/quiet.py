"""Parsing without the two side effects of ``ast.parse``: collector runs and printed warnings."""

from __future__ import annotations

import ast
import gc
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_NUMBER = re.compile(r" on line \d+| \(detected at line \d+\)")
_FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError, SystemError)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a text is not Python: a message and, where known, its place.

    Lines count from 1, columns from 1 in code points, as in ``SyntaxError``; 0 is "not known". The
    message names no line: the text may be a part of a file.
    """

    message: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the garbage collector and the warnings machinery out of parsing.

    A tree is many small objects and no garbage: collector runs during a parse cost up to four
    fifths of it and find nothing. The former state is restored in any case.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if collecting:
            gc.enable()


def legible(text: str) -> str:
    """The text with what ``ast.parse`` refuses to read replaced, each character by one.

    A byte order mark becomes a form feed (which takes no indentation), a null a control
    character, a lone surrogate the replacement character. Columns in code points stay.
    """
    if "\0" in text:
        text = text.replace("\0", "\x01")
    if text.startswith("\ufeff"):
        text = "\f" + text[1:]
    if not text.isascii() and _SURROGATE.search(text):
        text = _SURROGATE.sub("\ufffd", text)
    return text


def parse_text(text: str) -> ast.Module | Failure:
    """The tree of a text, or why there is none."""
    try:
        return ast.parse(legible(text), type_comments=False)
    except _FAILURES as error:
        return _failure(error)


def _failure(error: BaseException) -> Failure:
    if isinstance(error, SyntaxError):
        numbers = (error.lineno, error.offset, error.end_lineno, error.end_offset)
        message = _LINE_NUMBER.sub("", error.msg or "invalid syntax")
        return Failure(message, *(max(number or 0, 0) for number in numbers))
    if isinstance(error, (RecursionError, MemoryError)):
        return Failure("too deeply nested to be analysed")
    return Failure(str(error) or "cannot be parsed")
