"""What is at hand where something is loaded, by the names that the program has for it: a device,
and the module that takes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import CPU, is_accelerator
from device_lens.domain.guard import leaves
from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import DeviceValue, Unknown
from device_lens.models.torch.parts import is_without_storage
from device_lens.syntax.names import is_own_attribute

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.load_facts import Loaded

_NAME_OF_MODULE = re.compile(
    r"(?!.*(?:opt|ema|sched|train))"
    r".*(?:model|net|module|encoder|decoder|backbone|discriminator|critic|policy|actor|head)",
    re.IGNORECASE,
)
"""Names of modules, where nothing else tells."""


def device_name(frame: Frame) -> str | None:
    """A name in scope that holds a device, whatever the case."""
    return next(
        (
            name
            for name, value in device_names(frame)
            if all(type(leaf) is DeviceValue for leaf in leaves(value))
        ),
        None,
    )


def device_names(frame: Frame) -> Iterator[tuple[str, Any]]:
    for names in (frame.scope.names, frame.namespace.scope.names):
        for name, value in names.items():
            if isinstance(name, str) and any(type(leaf) is DeviceValue for leaf in leaves(value)):
                yield name, value


def is_chosen(value: Any) -> bool:
    """Whether the program runs with an accelerator and without: a flag says which."""
    found = [each for leaf in leaves(value) for each in leaves(getattr(leaf, "device", None))]
    return CPU in found and any(map(is_accelerator, found))


def device_of_module(call: ast.Call, receiver: Any, note: Loaded) -> str | None:
    """An expression for the device of the module that a call of `load_state_dict` gives a state,
    where the function that has loaded that has a name for the module."""
    func = call.func
    name = _name_there(func.value, note) if isinstance(func, ast.Attribute) else ""
    if not name or not _is_module(receiver, name.rpartition(".")[2]):
        return None
    to_host = _takes_over(call) or any(map(is_without_storage, leaves(receiver)))
    return '"cpu"' if to_host else f"next({name}.parameters()).device"


def _name_there(module: ast.expr, note: Loaded) -> str:
    """How a function has a module by name where it loads something: `net`, or `self.net` that it
    does not set itself; empty for others."""
    function = note.frame.function
    if isinstance(module, ast.Name):
        return module.id if module.id in note.names else ""
    if not is_own_attribute(module) or function is None:
        return ""
    own = [each for each in ast.walk(function.node) if is_own_attribute(each)]
    is_set = any(each.attr == module.attr and isinstance(each.ctx, ast.Store) for each in own)
    return "" if is_set else ast.unparse(module)


def _takes_over(call: ast.Call) -> bool:
    """Whether the module takes the loaded tensors for its own: it is where they are then."""
    named = (each.value for each in call.keywords if each.arg == "assign")
    return any(not (isinstance(each, ast.Constant) and not each.value) for each in named)


def _is_module(receiver: Any, name: str) -> bool:
    """Whether what takes a state is a module, as far as its value or its name tells: an optimizer
    has no `parameters()`."""
    if type(receiver) is Unknown:
        return _NAME_OF_MODULE.match(name) is not None
    return all(isinstance(leaf, ModuleObject) for leaf in leaves(receiver))
