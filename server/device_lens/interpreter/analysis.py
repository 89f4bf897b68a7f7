"""The way in: runs entry scripts and what no one calls, and gives the facts by file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function, Namespace
from device_lens.domain.heap import ModuleObject
from device_lens.interpreter import imports, module_facts, reports, standalone
from device_lens.interpreter.budget import never
from device_lens.interpreter.demand import Demand
from device_lens.interpreter.facts import FileFacts
from device_lens.interpreter.findings import Findings
from device_lens.interpreter.frame_room import in_one_piece
from device_lens.interpreter.fuel import Extent, Fuel
from device_lens.interpreter.loads import Load
from device_lens.interpreter.program import Program
from device_lens.interpreter.protocol import Workspace
from device_lens.interpreter.recording import Sizes, expression_at, expressions
from device_lens.interpreter.self_tests import hidden_nodes
from device_lens.interpreter.tables import fill_tables
from device_lens.interpreter.unit import Unit
from device_lens.models.torch.parts import bytes_and_count
from device_lens.syntax.main_guard import is_main_guard

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

fill_tables()
MAX_SIZED = 8
"""Files for which modules are measured too: an editor asks for one, a batch for none."""


@in_one_piece
def analyse(
    program: Program,
    workspace: Workspace,
    targets: Sequence[str],
    entries: Sequence[str] = (),
    cancelled: Callable[[], bool] = never,
    extent: Extent | None = None,
) -> dict[str, FileFacts]:
    """The facts of `targets`. What `program` knows of an earlier version is used again where it
    still holds.

    `entries` are scripts whose top level runs first, so that knowledge flows from callers into
    every file that they reach. A target with a `__main__` guard is such a script itself; what no
    script reaches runs with symbols for its parameters. With the `extent` of the program to which
    all belong, its scripts together have steps for its lines. Raises `Cancelled` when `cancelled`
    says so, and nothing else.
    """
    program.begin(workspace, cancelled)
    run = _Run(program, workspace, extent)
    run.all(targets, entries)
    stale = [path for path, load in run.reached.items() if load.follows]
    if stale:
        program.drop(stale)  # they are asked for more than for what nobody calls now
        run = _Run(program, workspace, extent)
        run.all(targets, entries)
    return run.facts(targets)


@in_one_piece
def load(program: Program, workspace: Workspace, targets: Sequence[str]) -> None:
    """Runs the modules of `targets`, of which later analyses will ask."""
    program.begin(workspace, never)
    _Run(program, workspace).load(targets)
    if program.options.only_findings:
        Demand(program, frozenset())  # what their texts show is remembered


class _Run:
    """One analysis: the units that it consists of."""

    def __init__(
        self, program: Program, workspace: Workspace, extent: Extent | None = None
    ) -> None:
        self.program = program
        self.workspace = workspace
        self.extent = extent
        self.fuel: Fuel | None = None
        self.unguarded: frozenset[str] = frozenset()
        """Scripts that run when they are imported."""
        self.scripts: list[tuple[str, Unit]] = []
        self.functions: list[Unit] = []
        self.reached: dict[str, Load] = {}
        self._relevant: dict[str, tuple[Load, list[Function]]] = {}
        """The functions of each module that may handle what matters."""

    def all(self, targets: Sequence[str], entries: Sequence[str]) -> None:
        """Runs the scripts, and what none of them reaches."""
        mattering = self.program.relevance.files((*entries, *targets))
        known = dict.fromkeys((*entries, *(t for t in targets if self.is_script(t))))
        scripts = [entry for entry in known if entry in mattering]
        if self.extent is not None:
            self.unguarded = mattering.intersection(targets, self.extent.scripts).difference(known)
            self.fuel = Fuel(self.extent, len(scripts) + len(self.unguarded))
        for entry in scripts:
            self.script(entry)
        self._again()
        self.library([target for target in targets if target in mattering])

    def is_script(self, path: str) -> bool:
        file = self.workspace.source(path)
        return file is not None and any(
            is_main_guard(statement) for chunk in file.chunks for statement in chunk.body
        )

    def _again(self) -> None:
        """Runs those scripts once more that have run out of steps before others left some, as long
        as there is more for each than it has had."""
        short = [(path, unit) for path, unit in self.scripts if unit.budget.is_short]
        for index, (path, unit) in enumerate(short):
            most = 0 if self.fuel is None else self.fuel.part(len(short) - index)
            if most > unit.budget.spent:
                self.scripts.remove((path, unit))
                key = ("script", path)
                if key in self.program.units:  # not where a later script has changed its modules
                    self.program.forget_unit(key)
                self.script(path, most)

    def script(self, path: str, most: int | None = None) -> None:
        """Runs a script as `python script.py` would."""
        file = self.workspace.source(path)
        if file is None:
            return
        program, key = self.program, ("script", path)
        unit = program.units.get(key)
        if unit is None:
            lines = file.lines.count
            options = program.options
            steps = options.max_steps + options.steps_per_line * lines
            if self.fuel is not None and most is None:
                most = self.fuel.share()
            unit = program.unit(steps, own=program.edited | {path}, most=most)
            unit.files[path] = self.workspace.stamp(path)
            unit.source = file
            unit.namespace = namespace = Namespace(path, "__main__", file)
            program.run(unit, partial(_run_script, program.machine, namespace), key)
            program.leave(unit)
            program.units[key] = unit
        if self.fuel is not None:
            self.fuel.take(unit.budget.spent)
        self.scripts.append((path, unit))

    def library(self, targets: Sequence[str]) -> None:
        """Runs what no script has reached: top levels, then functions with symbols. What makes
        objects comes first: a method that only they call runs before anyone can move them."""
        program = self.program
        activated = set[Any]().union(*(unit.activated for _, unit in self.scripts))
        self.load(
            path
            for path in targets
            if not self._is_ground(path) or self._has_uncalled(path, activated)
        )
        wanted = [*targets, *(path for _, unit in self.scripts for path in unit.imports)]
        reached = program.reached(wanted)
        self.reached = {path: each for path, each in reached.items() if not self._is_ground(path)}
        for load in self.reached.values():
            activated |= load.unit.activated
        settled = frozenset(activated)
        program.unseen_defaults.look(program, self.scripts)
        program.moved_by_others.look(program, self.scripts)
        if not program.options.only_findings:
            self._all_alone(targets, activated, settled, lambda function: True)
            return
        demand = Demand(program, settled)
        while self._all_alone(targets, activated, settled, demand.wants, demand.learn):
            pass

    def load(self, paths: Iterable[str]) -> None:
        """Runs modules as if they were imported first of all."""
        program = self.program
        for path in paths:
            program.stand()
            fuel = self.fuel if path in self.unguarded else None
            most = None if fuel is None else fuel.share()
            imports.load(program.machine, path, _module_name(path), most)
            if fuel is not None and path in program.loads:
                fuel.take(program.loads[path].unit.budget.spent)
            program.set_aside()

    def _all_alone(
        self,
        targets: Sequence[str],
        activated: set[Any],
        settled: frozenset[Any],
        wanted: Callable[[Function], bool],
        learn: Callable[[Function, bool], None] = lambda function, gives: None,
    ) -> bool:
        """Runs what no one calls and is wanted; whether there was any."""
        program, before = self.program, len(self.functions)
        for creating in (True, False):
            for path in targets:
                for function in self._uncalled(path, activated):
                    if (function.name == "__init__") is creating and wanted(function):
                        unit = self._alone(function, settled)
                        self.functions.append(unit)
                        activated |= unit.activated
                        learn(function, unit.gives)
                program.set_aside()
        return len(self.functions) > before

    def _is_ground(self, path: str) -> bool:
        """Whether the module of a script tells nothing that the script does not."""
        imported = any(path in unit.imports for _, unit in self.scripts)
        ran = any(path == script for script, _ in self.scripts)
        return ran and not imported and self.program.is_ground(path)

    def _has_uncalled(self, path: str, called: set[Any]) -> bool:
        """Whether a file has functions or methods that no script calls."""
        file = self.workspace.source(path)
        return file is not None and any(
            node not in called for chunk in file.chunks for node in _defined_in(chunk.body)
        )

    def _uncalled(self, path: str, activated: set[Any]) -> Iterator[Function]:
        """The functions of a module that nobody calls by the time that they are asked for."""
        program = self.program
        load = program.loads.get(path)
        if load is None:
            return
        program.stand(path)
        program.put_back(path)
        known = self._relevant.get(path)
        if known is None or known[0] is not load:
            known = self._relevant[path] = load, self._relevant_of(load.namespace)
        for function in known[1]:
            if function.node not in activated:
                yield function

    def _relevant_of(self, namespace: Namespace) -> list[Function]:
        """Every function and method of a module that was defined when it ran and may handle what
        matters."""
        chunks = namespace.file.chunks
        statements = (statement for chunk in chunks for statement in chunk.body)
        defined = (found for each in statements for found in _functions_in(self.program, each))
        return list(filter(self.program.relevance.function, defined))

    def _alone(self, function: Function, settled: frozenset[Any]) -> Unit:
        """The unit of a function that no one calls, run with symbols."""
        program, node = self.program, function.node
        unit = program.units.get(node)
        if unit is None or unit.rests_on != unit.activated & settled:
            if unit is not None:
                program.forget_unit(node)
            unit = program.unit(program.options.max_standalone_steps)
            unit.standalone = True
            unit.recorder.settled = settled
            unit.activated.add(node)
            run = partial(standalone.run_function, self.program.machine, function)
            program.run(unit, run)
            unit.rests_on = unit.activated & settled
            program.units[node] = unit
        return unit

    def facts(self, targets: Sequence[str]) -> dict[str, FileFacts]:
        """Every fact of the targets, and of the other files that were reached what rules need to
        tell of them."""
        program = self.program
        units: dict[int, Unit] = {}
        for unit in (*(unit for _, unit in self.scripts), *self.functions):
            units.update(unit.flat())
        loads = [load.unit for load in self.reached.values()]
        units = {**{id(unit): unit for unit in loads}, **units}
        found: dict[str, FileFacts] = {}
        for path in targets:
            source = self.workspace.source(path)
            if source is not None:
                found[path] = FileFacts(path, source)
        for path, load in self.reached.items():
            if path not in found:
                found[path] = FileFacts(path, load.namespace.file)
        for path, unit in self.scripts:
            if path not in found:
                found[path] = FileFacts(path, unit.source)
        self._conclude(loads, units).into(found)
        limits = list(dict.fromkeys(limit for unit in units.values() for limit in unit.limits))
        sizes = _remembered(bytes_and_count) if len(targets) <= MAX_SIZED else None
        recorders = [unit.recorder for unit in units.values()]
        hidden = hidden_nodes(self.scripts, program.reached, program.defined.get)
        for path, facts in found.items():
            facts.limits += limits
            if path in targets:
                facts.read_expressions = partial(expressions, recorders, path, sizes, hidden)
                facts.expression_at = partial(expression_at, recorders, path, sizes)
        return found

    def _conclude(self, loads: list[Unit], units: dict[int, Unit]) -> Findings:
        """What all units found, with what can be said only of them together."""
        program = self.program
        whole = program.unit(0)
        for unit in units.values():
            whole.findings.take(unit.findings)
        for _, script in self.scripts:
            self._concluded(whole, (*loads, *script.flat().values()))
        whole.standalone = True
        functions = {key: each for unit in self.functions for key, each in unit.flat().items()}
        self._concluded(whole, (*loads, *functions.values()))
        module_facts.met_unmoved(whole.findings, whole.watched, (each.findings for each in loads))
        return whole.findings

    def _concluded(self, whole: Unit, units: Iterable[Unit]) -> None:
        for unit in units:
            if not unit.is_silent():
                whole.watched.take(unit.watched)
        with self.program.machine.apart(whole):
            reports.concluded(self.program.machine)


def _run_script(machine: Machine, namespace: Namespace) -> None:
    before = machine.modules.get(namespace.path)
    machine.modules[namespace.path] = namespace
    try:
        imports.run_module(machine, namespace, machine.program.top_level(namespace))
    finally:
        del machine.modules[namespace.path]
        if before is not None:
            machine.modules[namespace.path] = before


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


def _defined_in(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The functions and methods of some statements that may be run by themselves."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement
        elif isinstance(statement, ast.ClassDef):
            yield from _defined_in(statement.body)
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _defined_in((*statement.body, *getattr(statement, "orelse", ())))


def _functions_in(program: Program, statement: ast.stmt) -> Iterable[Function]:
    """Every function and method of a statement that was defined when it ran."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        found = program.defined.get(statement)
        if found is not None:
            yield found
    elif isinstance(statement, ast.ClassDef):
        if isinstance(program.classes.get(statement), ClassValue):
            for inner in statement.body:
                yield from _functions_in(program, inner)
    elif isinstance(statement, ast.If | ast.Try | ast.With):
        for inner in (*statement.body, *getattr(statement, "orelse", ())):
            yield from _functions_in(program, inner)
