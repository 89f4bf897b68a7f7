"""The files that a program saves: what it saves only where there is an accelerator has come from
another machine where there is none, and what it saves under no name at all has come from elsewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from device_lens.domain.values import External
from device_lens.models.call import constant
from device_lens.models.words import words

if TYPE_CHECKING:
    from device_lens.domain.code import Function
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall, Watched

SAVES = "saves"
"""Evidence that a program saves something."""
_UNDER_ANY_NAME = "saves under a name that is not known"
_COPYING = words("copy copy2 copyfile copytree move rename renames replace link symlink system run")
"""The last names of functions that may give another name to a file."""

_SAVING = re.compile(r"(\w+)\.save\(")


def accelerator_is_there(machine: Machine) -> bool:
    """Whether what runs does so only where there is an accelerator."""
    return any(atom.kind == "accelerator" and value for atom, value in machine.path.literals)


def saved(machine: Machine, seen: LibraryCall) -> None:
    """`torch.save(x, path)`, which tells of all that call it."""
    name = constant(seen.get(1, "f"))
    for frame in machine.stack:
        path = frame.namespace.path
        machine.watched.note(SAVES, path)
        machine.watched.note(_name_of_file(name) or _UNDER_ANY_NAME, path)
    if isinstance(name, str):
        there = accelerator_is_there(machine)
        machine.watched.note(_evidence(name, there), machine.stack[0].namespace.path)


def left_out(machine: Machine, function: Function) -> None:
    """A call is not followed of what may save a file, for all that call this."""
    if any(_is_torch(name, function) for name in _SAVING.findall(function.chunk.text)):
        for frame in machine.stack:
            machine.watched.note(SAVES, frame.namespace.path)
            machine.watched.note(_UNDER_ANY_NAME, frame.namespace.path)


def _is_torch(name: str, function: Function) -> bool:
    """Whether a name stands for PyTorch in a function, which may import it for itself."""
    value = function.namespace.scope.names.get(name)
    return name == "torch" or (type(value) is External and value.name == "torch")


def escaped(machine: Machine, name: str) -> None:
    """`shutil.copyfile(path, "best.pt")`, `model.save_pretrained(folder)`."""
    last = name.rpartition(".")[2]
    if last in _COPYING or last.startswith("save"):
        for frame in machine.stack:
            machine.watched.note(_UNDER_ANY_NAME, frame.namespace.path)


def beside_source(seen: LibraryCall) -> bool:
    """Whether the function looks for files where its own source is: they came with the program."""
    function = seen.frame.function
    node: ast.AST = seen.node if function is None else function.node
    return any(isinstance(each, ast.Name) and each.id == "__file__" for each in ast.walk(node))


def name_loaded(seen: LibraryCall) -> str:
    """The name of the file that `torch.load(path)` reads; empty where it is not known."""
    return _name_of_file(constant(seen.get(0, "f")))


def may_have_saved(watched: Watched, name: str, paths: Iterable[str]) -> bool:
    """Whether the code of some files may have saved what is loaded under a name."""
    paths = tuple(paths)
    if not watched.shows(SAVES, paths):
        return False
    return not name or watched.shows(name, paths) or watched.shows(_UNDER_ANY_NAME, paths)


def _name_of_file(path: object) -> str:
    """What tells of a file by its name, wherever it lies."""
    return f"saves {path.rpartition('/')[2]}" if isinstance(path, str) and path else ""


def needs_accelerator(machine: Machine, seen: LibraryCall) -> bool:
    """Whether `torch.load(path)` runs where there may be no accelerator, and reads what the program
    has saved nowhere but where there is one."""
    name, entry = constant(seen.get(0, "f")), (machine.stack[0].namespace.path,)
    if not isinstance(name, str) or accelerator_is_there(machine):
        return False
    shows = machine.watched.shows
    return shows(_evidence(name, True), entry) and not shows(_evidence(name, False), entry)


def _evidence(name: str, there: bool) -> str:
    return f"saves to {name} {'with an accelerator' if there else 'anywhere'}"
