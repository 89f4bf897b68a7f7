"""Calls of what is not known: what may be any of several functions runs each of them, perhaps."""

from __future__ import annotations

import ast
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from device_lens.domain.atom import WHICH_ITEM
from device_lens.domain.bound_code import any_of_code
from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, is_unknown
from device_lens.domain.guard import undecided
from device_lens.domain.heap import ModuleObject, moment
from device_lens.domain.join import join_all
from device_lens.domain.objects import any_one
from device_lens.interpreter import async_facts, attribute_calls, choices, effects, one_of_many
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.picks import picking
from device_lens.models.torch import picked_parts

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def call_unknown(
    machine: Machine,
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Any:
    """What a call gives of a value that is no code by itself."""
    from device_lens.interpreter import calls

    async_facts.waited(machine)  # it may wait for the device
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "setattr":
        # A test's `monkeypatch.setattr`.
        return attribute_calls.set_by_call(machine, "setattr", args, node, frame)
    meant = choices.meant(machine, function, args, kwargs, node)
    if meant is not None:
        with choices.guessing(machine, function):
            return calls.call(machine, meant, args, kwargs, node, frame)
    codes = any_of_code(function)
    if codes:
        return _call_any(machine, codes, args, kwargs, node, frame, complete)
    modules = one_of_many.one_of_each_kind(function)
    if modules:
        home = picked_parts.home_of(function)
        return one_of_many.without_sizes(
            _call_any(machine, modules, args, kwargs, node, frame, complete, home)
        )
    machine.skip_at(node, frame, "the called value is not known")
    machine.escape(args, kwargs, getattr(function, "label", ""))
    return effects.answered(machine, function, args, kwargs, node)


def _at_home(machine: Machine, code: Any, home: DeviceTree) -> AbstractContextManager[None]:
    is_placed = type(code) is ModuleObject and not is_unknown(home)
    return picked_parts.at_home(machine, code, home) if is_placed else nullcontext()


def _call_any(
    machine: Machine,
    codes: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
    home: DeviceTree = UNKNOWN_DEVICE,
) -> Any:
    """One of several functions is called, and nobody knows which; where it is a module, that is at
    `home`."""
    from device_lens.interpreter import calls

    found: list[Any] = []
    path, stuck = machine.path, frame.stuck
    with picking(machine, undecided(WHICH_ITEM).atom):
        for each in codes:
            with _at_home(machine, each, home):
                mark, since = machine.journal.mark(), moment()
                found.append(calls.call(machine, each, args, kwargs, node, frame, complete))
                machine.path, frame.stuck = path, stuck
                machine.doubt(mark, since)
    return any_one(tuple(found), join_all(found))
