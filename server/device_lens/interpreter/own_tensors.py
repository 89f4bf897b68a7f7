"""Tensors of classes of the program's own, which derive from `torch.Tensor`.

What such a tensor remembers by itself is not known: its methods are followed, and operations leave
it of its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.heap import MISSING
from device_lens.domain.values import External, Tensor, Unknown
from device_lens.interpreter import calls, class_attributes
from device_lens.interpreter.frames import Frame
from device_lens.models import registry

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_TENSOR = "torch.Tensor"
_HOOKS = """__new__ __init__ __torch_function__ __torch_dispatch__ __getattr__ __getattribute__
    __setattr__""".split()
"""Methods with which a class makes tensors in a way of its own, or sees what is done to them."""


def derives(cls: ClassValue) -> bool:
    """Whether objects of a class are tensors."""
    return _TENSOR in cls.foreign


def is_plain(cls: ClassValue) -> bool:
    """Whether a class makes tensors as PyTorch does, and sees nothing of what is done to them."""
    if cls.foreign[:1] != (_TENSOR,):
        return False  # of parameters and the like the nearest class of a library decides
    return all(cls.lookup(name) is None for name in _HOOKS)


def made(
    machine: Machine,
    cls: ClassValue,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    node: Any,
    frame: Frame,
    complete: bool,
) -> Any:
    """What the class gives where it is called: a tensor as `torch.Tensor` makes it."""
    value = calls.call(machine, External(_TENSOR), args, kwargs, node, frame, complete)
    return value.with_(cls=cls) if type(value) is Tensor else value


def attribute(machine: Machine, receiver: Tensor, name: str, node: Any, frame: Frame) -> Any:
    """An attribute that the class defines, or that PyTorch does not; `MISSING` for any other."""
    found = receiver.cls.lookup(name)
    if type(found) is Function and found.kind in ("function", "static", "property"):
        return class_attributes.through_instance(machine, receiver, found, node, frame)
    qualified = f"{_TENSOR}.{name}"
    if found is None and (registry.function(qualified) or registry.attribute(qualified)):
        return MISSING
    return Unknown(name)
