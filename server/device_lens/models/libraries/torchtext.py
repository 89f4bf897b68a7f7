"""torchtext before 0.12: iterators that put their batches on a device.

A batch has an attribute for each field of the data set, under any name: a tensor, or a tensor with
the lengths beside it, both on the device of the iterator, the CPU by default (`Iterator.__init__`
and `Field.numericalize` of torchtext 0.8).
"""

from __future__ import annotations

from device_lens.domain.device import CPU, UNKNOWN_DEVICE
from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ListObject
from device_lens.domain.values import External, Tensor, TupleValue
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.numbers import number
from device_lens.models.registry import ALIASES, ANY_ATTRIBUTE, ATTRIBUTES, FUNCTIONS
from device_lens.models.torch.conversions import device_argument
from device_lens.models.torch.copying import mark_fresh
from device_lens.models.words import words

PACKAGE = "torchtext.data"
BATCH = f"{PACKAGE}.Batch"
_ITERATORS = words("Iterator BucketIterator BPTTIterator")
_DEVICE = "<device>"


def _iterator(call: Call, name: str, position: int) -> Instance:
    """Before version 0.3 no device was the current GPU, and -1 the CPU: whoever says -1 may have
    that one."""
    device = device_argument(call, position)
    if any(constant(each) == -1 for each in leaves(call.get(position, "device"))):
        device = UNKNOWN_DEVICE
    made = Instance(External(name), call.site.node)
    made.fields[_DEVICE] = CPU if device is None else device
    return made


def _made(name: str) -> Model:
    """`BucketIterator(data, 32, device=device)`."""
    return lambda call: _iterator(call, name, 3)


def _split(name: str) -> Model:
    """`BucketIterator.splits((train, test), batch_size=32, device=device)`: one for each."""

    def model(call: Call) -> Value:
        datasets = call.get(0, "datasets")
        if type(datasets) is TupleValue:
            return TupleValue(tuple(_iterator(call, name, 4) for _ in datasets.items))
        return ListObject((), _iterator(call, name, 4), "tuple", call.site.node)

    return model


def _batches(call: Call) -> Value:
    made = Instance(External(BATCH), call.site.node)
    made.fields[_DEVICE] = _device(call)
    return ListObject((), mark_fresh(made), "iterator", call.site.node)


def _field(call: Call) -> Value:
    """A tensor; where it is one beside its lengths, taking it apart gives tensors as well."""
    return Tensor(_device(call))


def _device(call: Call) -> Value:
    return call.receiver.fields.get(_DEVICE, CPU) if isinstance(call.receiver, Instance) else CPU


def _number(label: str) -> Model:
    return lambda call: number(label)


def register_all() -> None:
    """Fills the registry."""
    for short in _ITERATORS:
        name = f"{PACKAGE}.{short}"
        FUNCTIONS[name], FUNCTIONS[f"{name}.splits"] = _made(name), _split(name)
        FUNCTIONS[f"{name}.__iter__"] = _batches
        FUNCTIONS[f"{name}.__len__"] = _number("the number of batches")
        for package in ("torchtext.data.iterator", "torchtext.legacy.data"):
            ALIASES[f"{package}.{short}"] = name
            ALIASES[f"{package}.{short}.splits"] = f"{name}.splits"
    ANY_ATTRIBUTE[BATCH] = _field
    FUNCTIONS[f"{BATCH}.__len__"] = _number("a batch size")
    ATTRIBUTES[f"{BATCH}.batch_size"] = _number("a batch size")
    for other in words("dataset fields input_fields target_fields"):
        ATTRIBUTES[f"{BATCH}.{other}"] = lambda call: call.unknown()
