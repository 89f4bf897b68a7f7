"""Facts about values that go from an accelerator to the host and come back."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.device import CPU, is_accelerator
from device_lens.domain.guard import leaves, primary
from device_lens.domain.heap import ListObject, ModuleObject
from device_lens.domain.trail import Site
from device_lens.domain.values import Const, TupleValue
from device_lens.interpreter import places
from device_lens.interpreter.rarer_facts import RoundTrip
from device_lens.models.call import tensor_of
from device_lens.models.numbers import is_number

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

_DOWN = frozenset(f"torch.Tensor.{name}" for name in "cpu to numpy tolist item".split())
_UP = frozenset({"torch.Tensor.to", "torch.Tensor.cuda"})
_MADE = frozenset(f"torch.{name}" for name in "tensor as_tensor asarray from_numpy".split())
_LEGACY = frozenset(f"torch.{kind}Tensor" for kind in ("", "Float", "Long", "Int", "Bool"))
_COUNTERPARTS = frozenset(
    "argmax argmin argsort sort max min amax amin sum mean std var prod cumsum exp log sqrt abs "
    "clip round floor ceil sign square power maximum minimum where stack concatenate squeeze "
    "expand_dims transpose reshape ravel flatten array asarray ascontiguousarray copy astype tanh "
    "sin cos nonzero flip roll tile repeat matmul dot add subtract multiply divide".split()
)
"""NumPy functions that PyTorch has too, by whatever name."""
_FUNCTIONS = ("torch", "torch.nn.functional")
_DEPTH = 2


class HostCopy(NamedTuple):
    """A value on the host that was on an accelerator: where it came down, through what, and the
    functions that ran there, which outlive edits of their text."""

    site: Site
    through: str
    running: tuple[Any, ...]


def called(machine: Machine, seen: LibraryCall) -> None:
    """A way down."""
    known = machine.watched.copies.get(seen.receiver)
    tensor = tensor_of(seen.receiver)
    if known is not None or tensor is None or not isinstance(seen.node, ast.Call):
        return
    if places.accelerator_case(machine, tensor.device) and _reaches_host(seen):
        machine.watched.copies.put(seen.value, _copy(machine, seen))


def _reaches_host(seen: LibraryCall) -> bool:
    if seen.name.endswith((".tolist", ".item", ".numpy")):
        return True
    result = tensor_of(seen.value)
    return result is not None and all(leaf is CPU for leaf in leaves(primary(result.device)))


def _copy(machine: Machine, seen: LibraryCall) -> HostCopy:
    running = tuple(frame.function for frame in machine.stack)
    site = machine.site(seen.node, seen.frame)
    return HostCopy(site, f".{seen.name.rpartition('.')[2]}()", running)


def followed(machine: Machine, seen: LibraryCall) -> None:
    """Any call while there are such copies: what is made of one alone is one, and one that gets
    to an accelerator has come back."""
    copies = machine.watched.copies
    found = _source(machine, seen)
    if found is None or not isinstance(seen.node, ast.Call):
        return
    if _came_back(seen):
        _report(machine, found, seen)
    elif copies.get(seen.value) is None and type(seen.value) is not Const:
        nested = getattr(seen.node.func, "value", None) is found.site.node
        note = _copy(machine, seen) if nested and seen.name in _DOWN else found
        several = seen.value.items if type(seen.value) is TupleValue else ()
        for made in (seen.value, *several):
            copies.put(made, note)


def operated(machine: Machine, operands: tuple[Any, ...], value: Any) -> None:
    """An operator on arrays while there are such copies: of one alone, or with numbers, it makes
    one."""
    copies = machine.watched.copies
    notes = [copies.get(operand) for operand in operands if not is_number(operand)]
    if notes and all(note is not None for note in notes) and copies.get(value) is None:
        copies.put(value, notes[0])


def _source(machine: Machine, seen: LibraryCall) -> HostCopy | None:
    """The copy that the call works on, if it works on nothing else."""
    copies = machine.watched.copies
    if seen.receiver is not None:
        if not seen.name.startswith("torch.Tensor.") and not _is_counterpart(seen.name):
            return None
        found: HostCopy | None = copies.get(seen.receiver)
        return found if not any(tensor_of(value) for value in seen.args) else None
    made = seen.name in _MADE | _LEGACY or _is_counterpart(seen.name)
    if not made and not _is_of_one(seen):
        return None
    return _inside(machine, seen.args[0], _DEPTH) if seen.args else None


def _is_of_one(seen: LibraryCall) -> bool:
    """Whether a function of PyTorch computes something of its first argument alone."""
    package, _, _ = seen.name.rpartition(".")
    if package not in _FUNCTIONS or not seen.args or tensor_of(seen.args[0]) is None:
        return False
    return not any(tensor_of(value) for value in (*seen.args[1:], *seen.kwargs.values()))


def _is_counterpart(name: str) -> bool:
    return name.startswith("numpy.") and name.rpartition(".")[2] in _COUNTERPARTS


def _inside(machine: Machine, value: Any, depth: int) -> HostCopy | None:
    """The copy that a value is, or that a list of nothing else holds."""
    found: HostCopy | None = machine.watched.copies.get(value)
    if found is not None or not depth:
        return found
    items: tuple[Any, ...] = ()
    if type(value) is TupleValue or (type(value) is ListObject and value.rest is None):
        items = value.items
    notes = [_inside(machine, item, depth - 1) for item in items]
    return notes[0] if notes and all(note is not None for note in notes) else None


def _came_back(seen: LibraryCall) -> bool:
    result = tensor_of(seen.value)
    if result is None or seen.name not in _UP | _MADE:
        return False
    return any(is_accelerator(leaf) for leaf in leaves(primary(result.device)))


def _report(machine: Machine, copy: HostCopy, seen: LibraryCall) -> None:
    """The way back, in code that runs often and that the way down is part of: what one function
    keeps on the host for another one to take up has reasons of its own."""
    if not _is_hot(machine) or not _same_stretch(machine, copy):
        return
    machine.findings.add(
        RoundTrip(
            copy.site,
            machine.site(seen.node, seen.frame),
            copy.through,
            places.loops_around(seen.frame),
            places.condition_text(machine),
        )
    )


def _is_hot(machine: Machine) -> bool:
    if places.in_hot_loop(machine):
        return True
    frame = machine.stack[-1]
    function = frame.function
    return function is not None and (
        type(frame.self_value) is ModuleObject and function.name == "forward"
    )


def _same_stretch(machine: Machine, copy: HostCopy) -> bool:
    running = [frame.function for frame in machine.stack]
    return any(running[-1] is each for each in copy.running) or any(
        copy.running[-1] is each for each in running
    )


WATCHERS = dict.fromkeys(_DOWN, called)
