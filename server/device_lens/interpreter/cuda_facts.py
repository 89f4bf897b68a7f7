"""Facts about `torch.cuda.device`: taken to be what `torch.device` is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance
from device_lens.domain.trail import Site
from device_lens.domain.values import External, Tensor
from device_lens.interpreter.rarer_facts import CudaContext

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

CONTEXT = External("torch.cuda.device")
_TAKERS = ("torch.Tensor.to", "torch.nn.Module.to")


def entered(machine: Machine, expression: ast.expr, frame: Frame) -> Callable[[], Any]:
    """A block begins. Gives what ends it."""
    open_blocks = machine.watched.contexts
    open_blocks.append(machine.site(expression, frame))
    return open_blocks.pop


def created(machine: Machine, seen: LibraryCall) -> None:
    """A factory without `device=` inside a block: remembered until its tensor meets another."""
    value, contexts = seen.value, machine.watched.contexts
    if contexts and type(value) is Tensor and value.default_made:
        made_there = contexts[-1], machine.site(seen.node, seen.frame)
        machine.watched.made_in_context.setdefault(seen.node, made_there)


def given(machine: Machine, seen: LibraryCall) -> None:
    """The context where a device is asked for."""
    values = [seen.kwargs.get("device")]
    if seen.name in _TAKERS and seen.args:
        values.append(seen.args[0])
    for value in values:
        for leaf in leaves(value):
            if type(leaf) is Instance and leaf.cls == CONTEXT:
                _argument(machine, leaf, seen)


def _argument(machine: Machine, context: Instance, seen: LibraryCall) -> None:
    made = context.fields.get("<site>")
    if isinstance(made, Site):
        call = machine.site(seen.node, seen.frame)
        machine.findings.add(CudaContext(made, "argument", made, _index(made), (call,)))


def met(machine: Machine, node: Any, site: Site) -> bool:
    """Whether a tensor that met one elsewhere was made by a factory in such a block."""
    found = machine.watched.made_in_context.get(node)
    if found is None:
        return False
    context = found[0]
    machine.findings.add(CudaContext(site, "factories", context, _index(context)))
    return True


def conclude(machine: Machine) -> None:
    """Shows beside each such factory the others of its block."""
    inside = machine.watched.made_in_context.values()
    for fact in machine.findings.others.values():
        if isinstance(fact, CudaContext) and fact.form == "factories":
            others = [site for context, site in inside if context == fact.context]
            fact.factories = tuple(site for site in others if site != fact.site)


def _index(context: Site) -> str:
    node = context.node
    argument = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return ast.unparse(argument) if argument is not None else ""


def made(machine: Machine, seen: LibraryCall) -> None:
    """`torch.cuda.device(i)`: remembers where. As a statement it selects nothing."""
    if type(seen.value) is Instance:
        site = seen.value.fields["<site>"] = machine.site(seen.node, seen.frame)
        statement = seen.frame.statement
        if isinstance(statement, ast.Expr) and statement.value is seen.node:
            machine.findings.add(CudaContext(site, "idle", site, _index(site)))


WATCHERS = {"torch.cuda.device": made}
