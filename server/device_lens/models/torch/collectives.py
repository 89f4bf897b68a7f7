"""Collective operations: what a process group does with tensors of all processes, on the devices
for which it has a backend. NCCL is one for GPUs alone."""

from __future__ import annotations

from collections.abc import Iterator

from device_lens.domain.device import CPU
from device_lens.domain.guard import cases
from device_lens.domain.heap import ListObject
from device_lens.domain.values import NONE, Tensor, TupleValue
from device_lens.models.call import Call, Value, constant, is_none, tensor_of
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.objects import register_names
from device_lens.models.torch.target import CURRENT_CUDA
from device_lens.models.words import words

NAMESPACE = "torch.distributed"
GROUP = "process group"
"""The state that tells where the default process group works: as a tensor would be there, where it
is made for NCCL alone."""
_TAKEN = {
    "all_reduce": "tensor",
    "reduce": "tensor",
    "broadcast": "tensor",
    "send": "tensor",
    "recv": "tensor",
    "isend": "tensor",
    "irecv": "tensor",
    "all_gather": "tensor_list tensor",
    "gather": "tensor gather_list",
    "scatter": "tensor scatter_list",
    "reduce_scatter": "output input_list",
    "all_to_all": "output_tensor_list input_tensor_list",
    "all_gather_into_tensor": "output_tensor input_tensor",
    "reduce_scatter_tensor": "output input",
    "all_to_all_single": "output input",
}
"""The tensors that an operation begins with, and lists of them."""


def _init(call: Call) -> Value:
    """`init_process_group("nccl")`. Other names have backends for the CPU, and so has none."""
    name = constant(call.get(0, "backend", NONE))
    there: Value = NONE
    if name == "nccl" and call.complete:
        trail = call.trail("received", "is made for NCCL")
        there = Tensor(CURRENT_CUDA, trail=trail, zero_dim=False)
    call.services.set_global(GROUP, there)
    return NONE


def _destroy(call: Call) -> Value:
    call.services.set_global(GROUP, NONE)
    return NONE


def _collective(call: Call) -> Value:
    """Raises where a tensor is on the CPU and the group is made for NCCL."""
    group = call.services.globals[GROUP]
    named = call.kwargs.get("group", NONE)
    if type(group) is not Tensor or not is_none(named) or not call.complete:
        return NONE
    for value, place in _tensors(call):
        one = _any_of(call, value)
        tensor = tensor_of(one)
        for literals, device in cases(tensor.device) if tensor is not None else ():
            if device is CPU:
                there = group, "process_group"
                call.services.conflict(call.name, (one, place), there, literals)
    return NONE


def _any_of(call: Call, value: Value) -> Value:
    """What stands for the tensors of a list: the first, if there are any that are known."""
    if type(value) not in (ListObject, TupleValue):
        return value
    items, rest = call.services.iterate(value)
    return items[0] if items else rest


def _tensors(call: Call) -> Iterator[tuple[Value, int | str]]:
    for position, name in enumerate(words(_TAKEN[call.name.rpartition(".")[2]])):
        value = call.get(position, name)
        if value is not None:
            yield value, call.place(position, name)


def register_all() -> None:
    register_names(NAMESPACE, " ".join(_TAKEN), _collective)
    FUNCTIONS[f"{NAMESPACE}.init_process_group"] = _init
    FUNCTIONS[f"{NAMESPACE}.destroy_process_group"] = _destroy
