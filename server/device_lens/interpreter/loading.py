"""Runs the top level of a module, while the program waits, and takes down what it did to others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from device_lens.domain.code import Namespace
from device_lens.domain.heap import moment
from device_lens.domain.values import forgetting
from device_lens.interpreter import ambient
from device_lens.interpreter.loads import Activations, Load, effects_of, patches
from device_lens.interpreter.unit import Unit

if TYPE_CHECKING:
    from device_lens.interpreter.program import Program


def imported(program: Program, path: str) -> None:
    """Takes note of who asks for a module."""
    machine = program.machine
    machine.unit.imports.add(path)
    load = program.loads.get(path)
    if load is not None:
        program.put_back(path)
    if load is not None and program.loading:
        load.importers.add(program.loading[-1])
        for name, value in (load.left or {}).items():
            machine.journal.write(machine.globals, name, value)


@contextmanager
def loaded(
    program: Program, namespace: Namespace, steps: int, most: int | None = None
) -> Iterator[None]:
    """Around the run of a module's top level, for which the whole program waits. What is not
    run to its end is forgotten. `most` bounds the steps however many files it reaches."""
    machine, path = program.machine, namespace.path
    unit = program.unit(steps, lasting=True, own=frozenset((path,)), most=most)
    load = Load(namespace, unit, machine.workspace.stamp(path))
    program.loads[path] = load
    imported(program, path)
    machine.modules[path] = namespace
    found = {name: machine.globals[name] for name in ambient.DEVICES}
    ordinary = is_ordinary(program)
    load.unit.activations = load.activations = Activations(program.activations)
    load.unit.defined, load.unit.classes = program.defined, program.classes
    complete = False
    try:
        with _for_all(program, load):
            yield
        complete = True
    finally:
        load.unit.close()
        load.told = _told(program, load.unit)
        load.placed = frozenset(load.unit.findings.lineages())
        left = {name: machine.globals[name] for name in ambient.DEVICES}
        load.left = left if left != found else None
        if not ordinary and load.unit.recorder.sites:
            load.shared = False
        if any(patches(*effect) for effect in load.effects):
            load.shared = False
        state = load.unit.watched.mask, load.unit.watched.started
        if state != (program.watched.mask, program.watched.started):
            program.watched.mask, program.watched.started = state
            load.shared = False
        program.watched.settle(load.unit.watched)
        if not complete:
            program.drop([path])


def is_ordinary(program: Program) -> bool:
    """Whether what is made goes where it goes in a program that starts."""
    found = program.machine.globals
    return all(found[name] == program.start[name] for name in ambient.DEVICES)


@contextmanager
def resumed(program: Program, path: str) -> Iterator[None]:
    """Around a part of a module's top level that has waited: it runs as it would have run when the
    module was loaded, for all that use the module."""
    machine, load = program.machine, program.loads[path]
    state = {name: machine.globals[name] for name in ambient.DEVICES}
    machine.globals.update({name: program.start[name] for name in ambient.DEVICES})
    is_over = path not in program.loading
    if is_over:
        load.unit.activations = load.activations
    try:
        with _for_all(program, load):
            yield
    finally:
        if is_over:
            load.unit.close()
        machine.globals.update(state)


@contextmanager
def _for_all(program: Program, load: Load) -> Iterator[None]:
    """Around a run for a module, which no rollback of what is under way undoes, and of which the
    module takes down what it did to others."""
    journal = program.machine.journal
    born, outside = moment(), journal.outside
    written = journal.set_apart()
    program.loading.append(load.namespace.path)
    try:
        with program.machine.apart(load.unit), forgetting(lasting=True):
            yield
    finally:
        program.loading.pop()
        passes = journal.passing(born)
        load.effects += effects_of(journal.entries, load.namespace.scope.names, passes)
        journal.resume(written)
        journal.outlive(born)
        journal.outside = outside


def _told(program: Program, unit: Unit) -> frozenset[object]:
    """The lineages of the chunks of which a module's top level has shown something."""
    read = unit.activated | unit.consulted | unit.weighed.keys()
    functions = (program.defined.get(node) for node in read)
    return frozenset(
        {
            *unit.noted,
            *(each.chunk.lineage for each in functions if each is not None),
            *(site.chunk.lineage for site in unit.recorder.sites.values()),
        }
    )
