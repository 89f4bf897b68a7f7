"""`PackedSequence`: the data on a device, the batch sizes always on the host."""

from __future__ import annotations

from device_lens.domain.device import CPU
from device_lens.domain.heap import Instance
from device_lens.domain.values import NONE, External, Tensor, TupleValue
from device_lens.models.call import Call, Value, tensor_of

PACKED = "torch.nn.utils.rnn.PackedSequence"
FIELDS = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")


def packed(call: Call, data: Tensor) -> Instance:
    """A packed sequence with `data`; its sorting indices are beside the data."""
    made = Instance(External(PACKED), call.site.node)
    indices = Tensor(data.device, "int64", (None,))
    made.fields.update(
        data=data,
        batch_sizes=Tensor(CPU, "int64", (None,)),
        sorted_indices=indices,
        unsorted_indices=indices,
    )
    return made


def rebuilt(call: Call) -> Value:
    """`PackedSequence(data, batch_sizes, …)`: what it is given, where that is."""
    given = {name: call.get(place, name, NONE) for place, name in enumerate(FIELDS)}
    data = given["data"]
    if given["batch_sizes"] == NONE and type(data) is TupleValue and len(data.items) == 2:
        given["data"], given["batch_sizes"] = data.items
    if given["unsorted_indices"] == NONE:
        given["unsorted_indices"] = given["sorted_indices"]
    made = Instance(External(PACKED), call.site.node)
    made.fields.update(given)
    return made


def packed_data(value: Value) -> Value | None:
    """The data of a packed sequence; None for anything else."""
    if type(value) is Instance and value.cls == External(PACKED):
        return value.fields.get("data")
    return None


def packed_like(call: Call, value: Value, data: Tensor) -> Instance:
    """A packed sequence like `value` with other data."""
    made = packed(call, data)
    made.fields.update({name: value.fields[name] for name in FIELDS[1:] if name in value.fields})
    return made


def unpacked_device(value: Value) -> Tensor | None:
    """The tensor that a packed sequence or tensor is about."""
    data = packed_data(value)
    return tensor_of(value if data is None else data)
