"""Imports: modules of the workspace are run once, others are names of library symbols."""

from __future__ import annotations

import ast
import re
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Deferred, Function, Namespace, Waiting
from device_lens.domain.guard import Guarded, combine, leaves, undecided
from device_lens.domain.heap import MISSING, Entries, Presences, Table
from device_lens.domain.presence import settle
from device_lens.domain.values import NONE, Const, External, Unknown
from device_lens.interpreter import assignment, choices, loading, registering, scan, waiting
from device_lens.interpreter.budget import Exhausted
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.loads import GROWING
from device_lens.interpreter.merging import any_of_these
from device_lens.interpreter.top_level import TopLevel
from device_lens.models import registry
from device_lens.syntax.import_statements import any_module
from device_lens.syntax.search_folders import in_folders

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_MORE_NAMES = re.compile(r"import\s*\*|\b(?:exec|globals|setattr)\b")
"""What may give a module names that its text does not tell."""
MAX_IMPORT_DEPTH = 60
"""Modules importing modules."""
MODULE_STEPS = 2_000
"""Statements that the top level of an imported module may run, however short it is: it must be
whole, since the module runs once."""


def find(machine: Machine, name: str, level: int, frame: Frame) -> str | None:
    """The file of a module as the running one imports it, also out of folders that it puts on the
    search path."""
    here = frame.namespace
    path = machine.workspace.resolve(name, level, here.path)
    if path is None and not level:
        others = in_folders(here.file, name)
        found = (machine.workspace.resolve(other, 0, here.path) for other in others)
        path = next((each for each in found if each is not None), None)
    return path


def run_import(machine: Machine, node: ast.Import, frame: Frame) -> None:
    for alias in node.names:
        path = find(machine, alias.name, 0, frame)
        if path is None:
            top = alias.name if alias.asname else alias.name.partition(".")[0]
            bound = alias.asname or top
            inside = machine.workspace.resolve(top, 0, frame.namespace.path)
            value: Any = External(registry.canonical(top))
            if inside is not None:
                value = load(machine, inside, top)
            assignment.assign_name(machine, bound, value, frame)
            continue
        module = load(machine, path, alias.name)
        if alias.asname or "." not in alias.name:
            assignment.assign_name(machine, alias.asname or alias.name, module, frame)
            continue
        _bind_dotted(machine, alias.name, module, frame)


def _bind_dotted(machine: Machine, name: str, module: Any, frame: Frame) -> None:
    """`import a.b.c` binds `a`; the packages get their submodules as attributes."""
    parts = name.split(".")
    packages: list[Any] = []
    for index in range(1, len(parts)):
        path = machine.workspace.resolve(".".join(parts[:index]), 0, frame.namespace.path)
        packages.append(load(machine, path, parts[index - 1]) if path else None)
    packages.append(module)
    for outer, inner, part in zip(packages, packages[1:], parts[1:], strict=False):
        if isinstance(outer, Namespace):
            machine.journal.write(outer.scope.names, part, inner)
    if packages[0] is not None:
        assignment.assign_name(machine, parts[0], packages[0], frame)


def run_import_from(machine: Machine, node: ast.ImportFrom, frame: Frame) -> None:
    name = node.module or ""
    path = find(machine, name, node.level, frame)
    if path is None:
        _from_library(machine, node, name, frame)
        return
    if frame.deferring:
        names = [(alias.name, alias.asname or alias.name) for alias in node.names]
        if node.names[0].name == "*":
            names = [(exported, exported) for exported in machine.exports(path)]
        for attribute, bound in names:
            assignment.assign_name(machine, bound, Deferred(path, name, attribute), frame)
        return
    module = load(machine, path, name)
    for alias in node.names:
        if alias.name == "*":
            _star(machine, module, frame)
            continue
        value = member(machine, module, alias.name)
        assignment.assign_name(machine, alias.asname or alias.name, value, frame)


def _from_library(machine: Machine, node: ast.ImportFrom, name: str, frame: Frame) -> None:
    from device_lens.interpreter import attributes

    for alias in node.names:
        if alias.name == "*":
            if not node.level:
                _add_stars(machine, (name,), frame)
            continue
        dotted = f"{name}.{alias.name}" if name else alias.name
        # A folder without `__init__.py` is a package of the modules in it.
        inside = find(machine, dotted, node.level, frame)
        value: Any = Unknown(alias.name)
        if inside is not None:
            value = load(machine, inside, alias.name)
        elif not node.level:
            value = attributes.read(machine, External(name), alias.name, node, frame)
        assignment.assign_name(machine, alias.asname or alias.name, value, frame)


_STARS = "_<stars>"
"""The name of a module under which the libraries are kept that it takes all names of."""


def _add_stars(machine: Machine, libraries: tuple[str, ...], frame: Frame) -> None:
    known = frame.scope.names.get(_STARS)
    before = known.value if type(known) is Const else ()
    machine.journal.write(frame.scope.names, _STARS, Const((*before, *libraries)))


def of_stars(machine: Machine, node: ast.Name, frame: Frame) -> Any:
    """What a name stands for that `from library import *` brings, the last one first; None where no
    library is known to have it."""
    stars = frame.namespace.scope.names.get(_STARS)
    for library in reversed(stars.value if type(stars) is Const else ()):
        qualified = f"{library}.{node.id}"
        if registry.is_listed(qualified) or registry.module(qualified) is not None:
            from device_lens.interpreter import attributes

            return attributes.read(machine, External(library), node.id, node, frame)
    return None


def member(machine: Machine, module: Any, attribute: str) -> Any:
    """`from module import attribute`: a name in it, or a submodule."""
    if not isinstance(module, Namespace):
        return Unknown(attribute)
    value = module.scope.names.get(attribute, MISSING)
    if value is MISSING:
        value = machine.program.registries.missing(machine, module, attribute)
    if value is not MISSING:
        found = settled(machine, value, module.scope.names, attribute)
        return or_set_later(machine, found, module, attribute)
    found = submodule(machine, module, attribute)
    return found if found is not None else Unknown(attribute)


def or_set_later(machine: Machine, value: Any, module: Namespace, name: str) -> Any:
    """What a name of a module is for a function that no script calls: a None that another function
    replaces, by `global name`, has been replaced by whoever calls."""
    if value != NONE or not machine.standalone:
        return value
    replaced = any(
        type(each) is Function and name in scan.globals_of(each.node)
        for each in module.scope.names.values()
    )
    return Unknown(name) if replaced else value


def settled(machine: Machine, value: Any, names: Table, name: str) -> Any:
    """What a name of a module stands for: an import that waited is carried out."""
    if type(value) is Waiting:
        names[name] = value = value.settle()
    elif type(value) is Deferred:
        names[name] = Unknown(name)  # for imports that go round in circles
        names[name] = value = _carried_out(machine, value)
    elif type(value) is Guarded and any(isinstance(leaf, Deferred) for leaf in leaves(value)):
        before, value = value, combine(partial(_carried_out, machine), value)
        if names.get(name) is before:
            names[name] = value
    return value


def all_names(machine: Machine, module: Namespace) -> Table:
    """What a module defines, for who looks at all of it: nothing waits any more."""
    names = module.scope.names
    for name, value in list(names.items()):
        if type(value) is Waiting:
            settled(machine, value, names, name)
    return names


def _carried_out(machine: Machine, value: Any) -> Any:
    if type(value) is Waiting:
        return value.settle()
    if type(value) is not Deferred:
        return value
    return member(machine, load(machine, value.path, value.module), value.attribute)


def named(machine: Machine, text: str, frame: Frame) -> Any:
    """`importlib.import_module(text)`, `sys.modules[text]`: dots in front are of the package."""
    name = text.lstrip(".")
    if text == frame.namespace.name:
        return frame.namespace
    path = find(machine, name, len(text) - len(name), frame)
    if path is None:
        return Unknown(name) if text != name else External(registry.canonical(name))
    return load(machine, path, name)


def any_of(machine: Machine, start: str, name: Unknown, frame: Frame) -> Any:
    """`importlib.import_module("package." + name)` of a name that is not known: one of the modules
    of the package, each followed on its own."""
    package, dot, _ = start.rpartition(".")
    found: dict[str, Any] = {}
    before = dict(machine.globals)
    paths: list[str] = []
    for text in any_module(package) if dot else ():
        path = machine.workspace.resolve(text, 0, frame.namespace.path)
        if path is None:
            break
        file = PurePath(path)
        own = f"{package}.{file.parent.name if file.stem == '__init__' else file.stem}"
        found[own] = load(machine, path, own)
        paths.append(path)
    else:
        return Unknown("a module")
    for key, value in before.items():
        if machine.globals[key] is not value:
            machine.journal.write(machine.globals, key, value)
    _may_have_run(machine, paths)
    return choices.among(found, name) or Unknown("a module")


def _may_have_run(machine: Machine, paths: list[str]) -> None:
    """Of some modules only one is run: what each of them sets for others may be as it was, or as
    any other of them leaves it."""
    loads = (machine.program.loads.get(path) for path in paths)
    effects = [effect for load in loads if load is not None for effect in load.effects]
    places: dict[tuple[int, Any], list[Any]] = {}
    for table, key, old, new in effects:
        places.setdefault((id(table), key), [old]).append(new)
    for table, key, _, _ in effects:
        values = places.pop((id(table), key), [])
        now = table.get(key, MISSING)
        if key in GROWING or type(table) is Presences or all(now is not each for each in values):
            continue
        machine.journal.write(table, key, any_of_these([(each, True) for each in values], now))
        if type(table) is Entries and any(each is MISSING for each in values):
            settle(machine.journal, table, key, undecided())


def lacks(module: Namespace, name: str) -> bool:
    """Whether a file defines no such name, as its text tells."""
    names, text = module.scope.names, module.file.text
    if name in names or "__getattr__" in names or name.startswith("__"):
        return False
    return PurePath(module.path).stem != "__init__" and _MORE_NAMES.search(text) is None


def submodule(machine: Machine, package: Namespace, name: str) -> Any:
    """A module inside a package, or None."""
    if not machine.workspace.is_package(package.path):
        return None
    path = machine.workspace.resolve(name, 1, package.path)
    if path is None or path == package.path:
        return None
    return load(machine, path, f"{package.name}.{name}")


def _star(machine: Machine, module: Any, frame: Frame) -> None:
    if not isinstance(module, Namespace):
        return
    for name, value in list(module.scope.names.items()):
        if not name.startswith("_"):
            assignment.assign_name(machine, name, value, frame)
    stars = module.scope.names.get(_STARS)
    if type(stars) is Const:
        _add_stars(machine, stars.value, frame)
    machine.program.registries.spread(module, frame.namespace)


def load(machine: Machine, path: str, name: str, most: int | None = None) -> Any:
    """The module at `path`, run once, in `most` steps. A module that is still being run (a cycle)
    has the names that it has so far."""
    program = machine.program
    file = machine.workspace.source(path) if path not in machine.modules else None
    if path in machine.modules:
        loading.imported(program, path)
        namespace = machine.modules[path]
    elif file is None or len(program.loading) > MAX_IMPORT_DEPTH:
        return Unknown(name)
    else:
        namespace = Namespace(path, name, file)
        steps = MODULE_STEPS + _granted(machine, namespace)
        with loading.loaded(program, namespace, steps, most):
            run_module(machine, namespace)
    machine.budget.grant(path, _granted(machine, namespace))
    return namespace


def _granted(machine: Machine, namespace: Namespace) -> int:
    lines: int = namespace.file.lines.count
    return machine.options.steps_per_line * lines


def run_module(machine: Machine, namespace: Namespace, top: TopLevel | None = None) -> None:
    """Runs the top level of a module; `top` is that of a script that somebody edits. Of a module
    that is loaded for findings alone, statements wait until somebody uses what they bind, where
    nothing can tell the difference."""
    frame = Frame(namespace, namespace.scope, None)
    frame.top = top
    frame.lazily = lazily = waiting.may_wait(machine, namespace)
    machine.stack.append(frame)
    try:
        if top is not None:
            machine.execute(top.block, frame)
            return
        for chunk in namespace.file.chunks:
            frame.chunk = chunk
            if lazily and (
                waiting.waits(machine, chunk, frame) or registering.waits(machine, chunk, frame)
            ):
                continue
            if machine.execute(list(chunk.body), frame):
                break
    except Exhausted:
        machine.budget.note(f"`{namespace.name}` was not run to its end: too many steps")
        machine.recorder.omissions.leave_out(None, machine.path.named)
    finally:
        machine.stack.pop()
