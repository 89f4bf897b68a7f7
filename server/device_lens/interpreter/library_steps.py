"""Methods that a library calls with its model and a batch, both on the device that it trains on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function, Scope
from device_lens.domain.device import SymbolicDevice
from device_lens.domain.heap import Instance
from device_lens.models.libraries import transformers_trainer

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def bind(machine: Machine, function: Function, receiver: Any, scope: Scope) -> None:
    """Gives `compute_loss(self, model, inputs)` of a trainer its model and its batch, wherever that
    trains. What has an annotation or a default is what these say."""
    if type(receiver) is not Instance or type(receiver.cls) is not ClassValue:
        return
    if not any(transformers_trainer.calls(name, function.name) for name in receiver.cls.foreign):
        return
    parameters = (*function.node.args.posonlyargs, *function.node.args.args)[1:3]
    if len(parameters) < 2:
        return
    home = SymbolicDevice(parameters[0].arg, of_module_input=True)
    pair = transformers_trainer.model_and_batch(home, *parameters)
    for parameter, value in zip(parameters, pair, strict=True):
        scope.names[parameter.arg] = value
