"""Facts about float64 on MPS, which has none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import Device
from device_lens.domain.guard import assume_all
from device_lens.domain.heap import ModuleObject
from device_lens.interpreter import places
from device_lens.interpreter.rarer_facts import Float64OnMps
from device_lens.models.call import tensor_of
from device_lens.models.torch.parts import all_parts, tensor_in

if TYPE_CHECKING:
    from device_lens.domain.values import Tensor
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

_MOVES = ("to", "double", "type", "type_as", "new_tensor", "new_zeros", "new_ones", "new_full")
_FACTORIES = (
    "tensor as_tensor zeros ones empty full rand randn arange linspace logspace eye zeros_like "
    "ones_like full_like rand_like randn_like empty_like scalar_tensor"
)


def called(machine: Machine, seen: LibraryCall) -> None:
    """A factory, a move or a conversion, whose result would be float64 on MPS."""
    if not isinstance(seen.node, ast.Call):
        return
    result = _double(seen.value)
    if result is None:
        return
    literals = _on_mps(machine, result.device)
    if literals is None:
        return
    machine.findings.add(
        Float64OnMps(
            machine.site(seen.node, seen.frame),
            _subject(seen),
            result.trail,
            places.condition_text(machine, literals),
        )
    )


def _double(value: Any) -> Tensor | None:
    if isinstance(value, ModuleObject):
        parts = (tensor_in(part.value) for part in all_parts(value))
        return next((part for part in parts if part is not None and part.dtype == "float64"), None)
    tensor = tensor_of(value)
    return tensor if tensor is not None and tensor.dtype == "float64" else None


def _on_mps(machine: Machine, tree: Any) -> Any:
    """The case in which the device is MPS: one in which an accelerator is there."""
    for literals, leaf in places.primary_first(assume_all(tree, machine.path.literals)):
        if not isinstance(leaf, Device) or leaf.type != "mps":
            continue
        if all(atom.named for atom, _ in literals) and machine.path.allows(literals):
            return literals
    return None


def _subject(seen: LibraryCall) -> str:
    func = seen.node.func
    if isinstance(func, ast.Attribute) and seen.receiver is not None:
        return ast.unparse(func.value)
    return ast.unparse(func)


WATCHERS = {
    **{f"torch.{name}": called for name in _FACTORIES.split()},
    **{f"torch.Tensor.{name}": called for name in _MOVES},
    **{f"torch.nn.Module.{name}": called for name in ("to", "double", "type")},
}
