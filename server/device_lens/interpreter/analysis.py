"""The way in: runs entry scripts and what no one calls, and gives the facts by file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from device_lens.domain.code import ClassValue, Function, Namespace
from device_lens.domain.heap import ModuleObject
from device_lens.interpreter import imports, standalone
from device_lens.interpreter.budget import Budget, Options
from device_lens.interpreter.facts import FileFacts
from device_lens.interpreter.findings import Findings
from device_lens.interpreter.machine import Machine
from device_lens.interpreter.protocol import Workspace
from device_lens.interpreter.recording import Recorder, Sizes
from device_lens.interpreter.relevance import Relevance
from device_lens.interpreter.tables import fill_tables
from device_lens.models.torch.parts import bytes_and_count

fill_tables()
MAX_SIZED = 8
"""Files for which modules are measured too: an editor asks for one, a batch for none."""


def never() -> bool:
    return False


def analyse(
    workspace: Workspace,
    targets: Sequence[str],
    entries: Sequence[str] = (),
    options: Options | None = None,
    cancelled: Callable[[], bool] = never,
) -> dict[str, FileFacts]:
    """The facts of `targets`.

    `entries` are scripts whose top level runs first, so that knowledge flows from callers into
    every file that they reach. A target with a `__main__` guard is such a script itself; what no
    script reaches runs with symbols for its parameters. Raises `Cancelled` when `cancelled` says
    so, and nothing else.
    """
    run = _Run(workspace, options or Options(), cancelled)
    mattering = run.relevance.files((*entries, *targets))
    for entry in dict.fromkeys((*entries, *(t for t in targets if run.is_script(t)))):
        if entry in mattering:
            run.script(entry)
    run.library([target for target in targets if target in mattering])
    return run.facts(targets)


class _Run:
    """One analysis: several machines that share what they find."""

    def __init__(
        self, workspace: Workspace, options: Options, cancelled: Callable[[], bool]
    ) -> None:
        self.workspace = workspace
        self.options = options
        self.cancelled = cancelled
        self.recorder = Recorder()
        self.findings = Findings()
        self.limits: list[str] = []
        self.activated: set[Any] = set()
        self.reached: set[str] = set()
        self.granted: set[str] = set()
        self.relevance = Relevance(workspace)

    def machine(self) -> Machine:
        budget = Budget(self.options.max_steps, self.cancelled, self.limits, self.granted)
        machine = Machine(self.workspace, self.options, budget)
        machine.recorder = self.recorder
        machine.findings = self.findings
        machine.activated = self.activated
        machine.prepare()
        return machine

    def is_script(self, path: str) -> bool:
        file = self.workspace.source(path)
        return file is not None and any(
            _is_main_guard(statement) for chunk in file.chunks for statement in chunk.body
        )

    def script(self, path: str) -> None:
        """Runs a script as `python script.py` would."""
        file = self.workspace.source(path)
        if file is None:
            return
        machine = self.machine()
        namespace = Namespace(path, "__main__", file)
        machine.modules[path] = namespace
        lines = len(file.lines.lines)
        machine.budget.steps += self.options.steps_per_line * lines
        self.granted.add(path)
        imports.run_module(machine, namespace)
        self.reached.update(machine.modules)
        self.finish(machine)

    def library(self, targets: Sequence[str]) -> None:
        """Runs what no script has reached: top levels, then functions with symbols."""
        machine = self.machine()
        machine.standalone = True
        self.recorder.settled = frozenset(self.activated)
        for path in targets:
            imports.load(machine, path, _module_name(path))
        for path in targets:
            namespace = machine.modules.get(path)
            if namespace is None:
                continue
            for function in _functions(machine, namespace):
                if function.node not in self.activated and self.relevance.function(function):
                    standalone.run_function(machine, function)
        self.finish(machine)

    def finish(self, machine: Machine) -> None:
        machine.conclude()

    def facts(self, targets: Sequence[str]) -> dict[str, FileFacts]:
        """Every fact of the targets, and of the other files that scripts reached what rules need
        to tell of them."""
        found: dict[str, FileFacts] = {}
        for path in (*targets, *self.reached):
            source = self.workspace.source(path)
            if source is not None and path not in found:
                found[path] = FileFacts(path, source, limits=list(self.limits))
        sizes = _remembered(bytes_and_count) if len(targets) <= MAX_SIZED else None
        for path, expressions in self.recorder.expressions(frozenset(targets), sizes).items():
            found[path].expressions = expressions
        self.findings.into(found)
        return found


def _remembered(sizes: Sizes) -> Sizes:
    known: dict[int, tuple[int | None, int | None]] = {}

    def size(module: ModuleObject) -> tuple[int | None, int | None]:
        if id(module) not in known:
            known[id(module)] = sizes(module)
        return known[id(module)]

    return size


def _module_name(path: str) -> str:
    name = path.replace("\\", "/").rpartition("/")[2]
    return name[:-3] if name.endswith(".py") else name


def _is_main_guard(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    sides = [statement.test.left, *statement.test.comparators]
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    return "__name__" in names


def _functions(machine: Machine, namespace: Namespace) -> Iterable[Function]:
    """Every function and method of a module that was defined when it ran."""
    for chunk in namespace.file.chunks:
        for statement in chunk.body:
            yield from _functions_in(machine, statement)


def _functions_in(machine: Machine, statement: ast.stmt) -> Iterable[Function]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        found = machine.defined.get(statement)
        if found is not None:
            yield found
    elif isinstance(statement, ast.ClassDef):
        if isinstance(machine.classes.get(statement), ClassValue):
            for inner in statement.body:
                yield from _functions_in(machine, inner)
    elif isinstance(statement, ast.If | ast.Try | ast.With):
        for inner in (*statement.body, *getattr(statement, "orelse", ())):
            yield from _functions_in(machine, inner)
