"""Parts that are put into modules which have moved already."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue
from device_lens.domain.device import CPU, is_accelerator
from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject, Parameter
from device_lens.interpreter import places
from device_lens.interpreter.rarer_facts import LatePart
from device_lens.models.torch.parts import all_parts, tensor_in

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def put_in(
    machine: Machine,
    module: ModuleObject,
    name: str,
    value: Any,
    node: Any,
    frame: Frame,
    source: Any,
) -> None:
    """A new part for a module that has already moved to an accelerator."""
    moved = module.own.get("moved")
    if moved is None or source is None or _is_input(module, source, frame):
        return
    whole = module.own.get("device")
    if whole is None or not any(is_accelerator(leaf) for leaf in leaves(whole)):
        return
    part = stays_at(value)
    if part is not CPU or (type(value) is Parameter and value.tensor.zero_dim):
        return  # one number on the host meets what is anywhere
    text = places.whole_text(node)
    site, origin = machine.site(node, frame), machine.site(source, frame)
    machine.watched.late.put(value, (LatePart, node, None))
    fact = LatePart(site, name, text, origin, part, whole, moved, False)
    fact.part_trail = value.tensor.trail if type(value) is Parameter else None
    machine.findings.add(fact)


def _is_input(module: ModuleObject, source: Any, frame: Frame) -> bool:
    """Whether a module only remembers what its `forward` is given, which is no part of its own."""
    function = frame.function
    if frame.self_value is not module or function is None or function.name != "forward":
        return False
    given = (each.arg for each in ast.walk(function.node.args) if isinstance(each, ast.arg))
    return isinstance(source, ast.Name) and source.id in given


def stays_at(value: ModuleObject | Parameter) -> Any:
    """Where a part is; the CPU where something of it is. What a class of the program inherits from
    a library, which may be nothing, counts where the class has no parts of its own."""
    if type(value) is Parameter:
        return value.tensor.device
    assert isinstance(value, ModuleObject)
    listed: list[Any] = []
    unlisted: list[Any] = []
    for part in all_parts(value):
        tensor = tensor_in(part.value)
        if tensor is not None:
            guessed = part.key == "" and type(value.cls) is ClassValue
            (unlisted if guessed else listed).append(tensor.device)
    return CPU if CPU in (listed or unlisted) else None
