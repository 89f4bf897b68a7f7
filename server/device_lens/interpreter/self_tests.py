"""Scripts that only try something out: a file that others import, with a few lines under its main
guard for what it defines, and unit tests.

What they make stays where it was made, mostly on the host. Whoever looks at the file wants to know
where the programs that import it have its tensors, so these speak for what both of them run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from device_lens.domain.code import Function
from device_lens.domain.guard import primary
from device_lens.interpreter.facts import Kind
from device_lens.interpreter.recording import Recorder
from device_lens.interpreter.unit import Unit
from device_lens.syntax.import_statements import imports_of
from device_lens.syntax.test_files import is_test

Reached = Callable[[Iterable[str]], Collection[str]]
"""The files that some import, directly or not, with themselves."""
Defined = Callable[[Any], Any]
"""The function that a node defines."""
Hidden = Callable[[Recorder], frozenset[Any]]
"""The nodes of which what a recorder saw does not count."""


def hidden_nodes(scripts: Sequence[tuple[str, Unit]], reached: Reached, defined: Defined) -> Hidden:
    """What scripts that only try something out say of functions that a program runs too, and of the
    methods of modules: a program may call these in ways that are not followed. It counts where
    programs come only if they are asked for more than the usual. Of an imported script that
    trains, what the programs know nothing of in a function that they run too. A unit test tries
    something out, whether it trains or not."""
    imported = _imported(scripts, reached)

    @cache
    def parted() -> tuple[list[Unit], list[Unit], list[Unit]]:
        """The unit tests, these with all else that tries something out, and what remains. Most
        versions of a file are never asked for it."""
        tests = [unit for path, unit in scripts if is_test(path, _names(unit))]
        trials = [*(tests if len(tests) < len(scripts) else ()), *imported]
        return tests, trials, [unit for _, unit in scripts if unit not in trials]

    @cache
    def of(recorder: Recorder) -> frozenset[Any]:
        tests, trials, running = parted()
        unit = next((each for each in trials if recorder in each.recorders()), None)
        if unit is None:
            return frozenset()
        shared: set[Any] = set().union(*(each.activated for each in running))
        told = [each for program in running for each in program.recorders()]
        if unit not in tests and _trains(unit):
            return frozenset(
                node
                for node in _walked(unit.entered & shared)
                if not any(node in each.seen for each in told)
            )
        hidden = _walked(
            node
            for node in unit.entered
            if node in shared or _is_of_module(unit.defined.get(node) or defined(node))
        )
        return frozenset(hidden) - _seen_on_demand(told)

    return of


def _seen_on_demand(recorders: list[Recorder]) -> set[Any]:
    """The nodes that recorders have seen only where flags are not as they are by default: each of
    them was first seen under a condition."""
    return {
        node
        for node in set().union(*(each.within for each in recorders))
        if all(
            primary(entry.condition) is False
            for each in recorders
            for entry in each.seen.get(node, ())
        )
    }


def _names(unit: Unit) -> Iterator[str]:
    """The top-level names of what a script imports."""
    for each in () if unit.source is None else imports_of(unit.source):
        yield each.module.partition(".")[0]


def _walked(functions: Iterable[Any]) -> Iterator[Any]:
    return (inner for function in functions for inner in ast.walk(function))


def _imported(scripts: Sequence[tuple[str, Unit]], reached: Reached) -> list[Unit]:
    """Scripts that others import."""
    if len(scripts) < 2:
        return []
    wanted = [(path, frozenset(reached(unit.imports))) for path, unit in scripts]
    return [
        unit
        for path, unit in scripts
        if any(other != path and path in files for other, files in wanted)
    ]


def _trains(unit: Unit) -> bool:
    return any(
        entry.kind is Kind.OPTIMIZER
        for recorder in unit.recorders()
        for seen in recorder.seen.values()
        for entry in seen
    )


def _is_of_module(function: Any) -> bool:
    owner = function.owner if type(function) is Function else None
    return owner is not None and bool(owner.is_module)
