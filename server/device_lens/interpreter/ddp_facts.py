"""Facts about calls that go past the forward of a `DistributedDataParallel`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.atom import Atom
from device_lens.domain.code import BoundMethod, ClassValue
from device_lens.domain.heap import ListObject, ModuleObject
from device_lens.domain.path import Path
from device_lens.domain.trail import Site
from device_lens.domain.values import FALSE, External, TupleValue
from device_lens.interpreter import places
from device_lens.interpreter.graph_chains import chain_of, reaches
from device_lens.interpreter.graph_facts import has_graph
from device_lens.interpreter.graph_flow import Fate
from device_lens.interpreter.rarer_facts import DdpBypass
from device_lens.models.torch.availability import TEXTS, several

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

WRAPPER = "torch.nn.parallel.DistributedDataParallel"
_WRAPPERS = (External(WRAPPER), External("torch.nn.DataParallel"))


_SEVERAL = frozenset(map(several, TEXTS))
_OF_WRAPPERS = frozenset(
    "forward scatter gather replicate parallel_apply module device_ids".split()
)
"""What a wrapper has whatever it wraps."""


class Bypass(NamedTuple):
    """A call of the wrapped module whose result has a graph."""

    fact: DdpBypass
    chain: Any
    body: Any


class Wrapping(NamedTuple):
    """Where a module came into a wrapper, and on which path."""

    site: Site
    path: Path


def wrapped(machine: Machine, seen: LibraryCall) -> None:
    """`DistributedDataParallel(module)`."""
    inner = seen.get(0, "module")
    if isinstance(inner, ModuleObject):
        note = Wrapping(machine.site(seen.node, seen.frame), machine.path)
        machine.watched.wrapped.put(inner, note)


def called(machine: Machine, node: ast.Call, function: Any, value: Any, frame: Frame) -> None:
    """A call that the program writes, while there are wrapped modules."""
    if _is_wrapper(function):
        machine.watched.forwarded.update(map(_body, machine.stack))
    else:
        _past_forward(machine, node, function, value, frame)


def _is_wrapper(value: Any) -> bool:
    return isinstance(value, ModuleObject) and value.cls == External(WRAPPER)


def _body(frame: Frame) -> Any:
    return frame.function.node if frame.function is not None else frame.namespace.path


def missing(machine: Machine, wrapper: Any, name: str, node: Any, frame: Frame) -> None:
    """`ddp.method`, `ddp.layer`: what only the wrapped module has, whatever the conditions are but
    for those that tell how many accelerators there are."""
    if not isinstance(wrapper, ModuleObject) or wrapper.cls not in _WRAPPERS:
        return
    if not isinstance(node, ast.Attribute) or name in _OF_WRAPPERS or hasattr(object, name):
        return
    inner = wrapper.modules.get("module")
    if not isinstance(inner, ModuleObject) or type(inner.cls) is not ClassValue:
        return
    if not all(map(_tells_of_machine, machine.path.literals)):
        return
    tables = (inner.fields, inner.modules, inner.parameters, inner.buffers)
    if inner.cls.lookup(name) is not None or any(name in table for table in tables):
        made = machine.watched.wrapped.get(inner)
        site = made.site if made is not None else None
        class_name = wrapper.cls.name.rpartition(".")[2]
        place = machine.site(node, frame)
        condition = places.condition_text(machine)
        machine.findings.add(DdpBypass(place, "attribute", name, site, class_name, condition))


def _tells_of_machine(literal: tuple[Atom, bool]) -> bool:
    """Whether a condition asks for accelerators, or for more than one, and finds as many."""
    atom, value = literal
    return atom.kind == "accelerator" or (value and atom in _SEVERAL)


def _past_forward(
    machine: Machine, node: ast.Call, function: Any, value: Any, frame: Frame
) -> None:
    module = function.receiver if type(function) is BoundMethod else function
    made = machine.watched.wrapped.get(module) if isinstance(module, ModuleObject) else None
    if made is None or module.fields.get("training") == FALSE:
        return
    if machine.path.excludes(made.path):
        return
    if any(outer.self_value is module for outer in machine.stack):
        return
    if machine.globals["grad"] is not True or not any(map(has_graph, _tensors(value))):
        return
    name = ast.unparse(node.func)
    form = "method-call" if type(function) is BoundMethod else "module-call"
    fact = DdpBypass(machine.site(node, frame), form, name, made.site)
    machine.watched.bypasses.append(Bypass(fact, chain_of(frame), _body(frame)))


def _tensors(value: Any) -> tuple[Any, ...]:
    if type(value) is TupleValue:
        return value.items
    if type(value) is ListObject:
        return value.items
    return (value,)


def conclude(machine: Machine) -> None:
    """Tells of the calls that are trained on, where the wrapper is not called beside them, nor in
    what is called there: that is enough to have gradients gathered."""
    for bypass in machine.watched.bypasses:
        if bypass.body in machine.watched.forwarded:
            continue
        nodes = frozenset({bypass.fact.site.node})
        if reaches(bypass.chain, set(), nodes) & Fate.BACKWARD:
            machine.findings.add(bypass.fact)


WATCHERS = {WRAPPER: wrapped}
