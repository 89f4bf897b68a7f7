"""Writes fixed files back as they were written: encoding, byte order mark, notebook format."""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from collections.abc import Iterator, Mapping

from device_lens.ide.project import Content
from device_lens.project.reading import FileProblem, FileText, read_text
from device_lens.syntax.notebook import NotebookProblem, replace_cells


class CannotWrite(Exception):
    """A file that stays as it is; the message says why."""


def new_text(path: str, content: Content) -> tuple[FileText, str]:
    """The file as it is, and its new text. Raises `CannotWrite`."""
    read = read_text(path)
    if isinstance(read, FileProblem):
        raise CannotWrite(read.message)
    if isinstance(content, str):
        return read, content
    replaced = replace_cells(read.text, {cell.number: cell.text for cell in content.cells})
    if isinstance(replaced, NotebookProblem):
        raise CannotWrite(replaced.message)
    return read, replaced


def write(path: str, content: Content) -> None:
    """Replaces a file in one step, its permissions kept. Raises `CannotWrite`."""
    read, text = new_text(path, content)
    target = os.path.realpath(path)
    temporary = ""
    try:
        data = read.encoded(text)
        mode = os.stat(target).st_mode
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".device-lens-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except (OSError, UnicodeError) as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CannotWrite(f"cannot be written: {reason}") from error


def diff(contents: Mapping[str, Content], names: Mapping[str, str]) -> Iterator[str]:
    """Unified diffs of the files, in order of their names; a notebook's is that of its cells'
    file."""
    for path in sorted(contents, key=names.__getitem__):
        read, text = new_text(path, contents[path])
        name = names[path]
        lines = difflib.unified_diff(
            read.text.splitlines(keepends=True),
            text.splitlines(keepends=True),
            f"a/{name}",
            f"b/{name}",
        )
        for line in lines:
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
