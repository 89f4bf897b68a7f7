"""Operands that are parameters or buffers of the program's own modules: it is the module that did
not move, and its call that meets tensors elsewhere."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import ModuleObject
from device_lens.domain.trail import Site, Trail
from device_lens.models.torch.parts import tensor_in

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


class OwnPart(NamedTuple):
    """A part of a module one of whose methods is running."""

    call: Site
    """The call of the method, outside of the module."""
    text: str
    """The module as that call names it."""
    trail: Trail | None
    """Where the module was made, if that is known."""


def own_part(machine: Machine, trail: Trail | None, wherever_moved: bool = False) -> OwnPart | None:
    """The module that holds what has this history as a parameter or buffer of its own, where it
    never moved, or wherever it did."""
    if trail is None or trail.kind != "created":
        return None
    for depth in range(len(machine.stack) - 1, -1, -1):
        frame = machine.stack[depth]
        module = frame.self_value
        if type(module) is ModuleObject and _holds(module, trail):
            if module.own.get("moved") is not None and not wherever_moved:
                return None  # it was made since
            while depth and machine.stack[depth - 1].self_value is module:
                depth -= 1
            return _called(machine, machine.stack[depth], module)
    return None


def _holds(module: ModuleObject, trail: Trail) -> bool:
    if type(module.cls) is not ClassValue:
        return False
    for table in (module.parameters, module.buffers):
        for value in table.values():
            tensor = tensor_in(value)
            if tensor is not None and tensor.trail is trail:
                return True
    return False


def _called(machine: Machine, frame: Frame, module: ModuleObject) -> OwnPart | None:
    call = frame.call_site
    if frame.parent is None or not isinstance(call, ast.Call) or frame.function is None:
        return None
    if frame.function.name == "__init__":
        return None
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr == frame.function.name:
        function = function.value
    site = machine.site(call, frame.parent)
    return OwnPart(site, ast.unparse(function), _made(machine, module))


def _made(machine: Machine, module: ModuleObject) -> Trail | None:
    """The call that made the module, where it stands in a file of the functions that run."""
    node = module.site
    if not isinstance(node, ast.Call):
        return None
    for frame in machine.stack:
        for chunk in frame.namespace.file.chunks:
            if any(each is node for part in chunk.body for each in ast.walk(part)):
                text = f"is created on the CPU by `{ast.unparse(node.func)}`"
                return Trail("created", text, Site(frame.namespace.path, chunk, node))
    return None
