"""Containers that make parameters of the tensors that they are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import contents
from device_lens.domain.values import Tensor
from device_lens.interpreter.tensor_facts import begins_anew

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

_CONTAINERS = {
    "torch.nn.ParameterList": "__init__ append extend insert __iadd__ __setitem__",
    "torch.nn.ParameterDict": "__init__ update __setitem__",
}
_DEEPEST = 2
"""How deep in lists a container is given tensors: `update` takes pairs."""


def taken(machine: Machine, seen: LibraryCall) -> None:
    """What the container keeps is a leaf again, whatever a tensor that it is given was."""
    for given in seen.values():
        for tensor in _tensors(given, _DEEPEST):
            begins_anew(machine, tensor)


def _tensors(value: Any, deepest: int) -> Iterator[Tensor]:
    """The tensors that a value is or holds."""
    for leaf in leaves(value):
        if type(leaf) is Tensor:
            yield leaf
        elif deepest:
            for part in contents(leaf):
                yield from _tensors(part, deepest - 1)


WATCHERS = {
    **dict.fromkeys(_CONTAINERS, taken),
    **{
        f"{name}.{method}": taken
        for name, methods in _CONTAINERS.items()
        for method in methods.split()
    },
}
