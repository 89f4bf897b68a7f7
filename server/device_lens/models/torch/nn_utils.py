"""`torch.nn.utils`: packed sequences, gradient clipping, reparametrisation."""

from __future__ import annotations

from device_lens.domain.device import CPU, UNKNOWN_DEVICE
from device_lens.domain.heap import Instance, ListObject, Parameter
from device_lens.domain.values import NONE, DeviceValue, Tensor, TupleValue
from device_lens.models import gradient
from device_lens.models.agreement import Placed
from device_lens.models.call import Call, Model, Value, constant, tensor_of
from device_lens.models.operation import TableModel
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch import pruning
from device_lens.models.torch.nn_layer import agreeing
from device_lens.models.torch.objects import nothing, register_names, unknown
from device_lens.models.torch.packed import FIELDS, PACKED, packed, packed_data, rebuilt
from device_lens.models.torch.pruning import reparametrised
from device_lens.models.words import words

RNN = "torch.nn.utils.rnn"
_PACK = TableModel("(@input, !lengths, batch_first, enforce_sorted) -> some.keep")
_PACK_LISTED = TableModel("(@input, lengths, batch_first, enforce_sorted) -> some.keep")
_MODULES = """remove_weight_norm spectral_norm remove_spectral_norm
    parametrizations.weight_norm parametrizations.spectral_norm parametrizations.orthogonal
    fuse_conv_bn_eval convert_conv2d_weight_memory_format"""


def _skipping(call: Call) -> Value:
    """A module made without filling its parameters: on `device=`, else on the host, whatever the
    default device is."""
    made = {**call.kwargs, "device": call.kwargs.get("device", DeviceValue(CPU))}
    return call.services.invoke(call.get(0, "module_cls", NONE), call.args[1:], made)


def _items(call: Call, value: Value) -> list[Value]:
    if value is None:
        return []
    if tensor_of(value) is not None and type(value) is not ListObject:
        return [value]
    items, rest = call.services.iterate(value)
    return [*items, *([rest] if rest is not None else [])]


def _placed(call: Call, position: int, name: str) -> list[Placed]:
    found: list[Placed] = []
    for value in _items(call, call.get(position, name)):
        tensor = tensor_of(value)
        if tensor is not None:
            found.append((tensor, value, call.place(position, name)))
    return found


def _norm(call: Call) -> Value:
    """The total norm, beside the first gradient (norms of others are moved there). Where there is
    none, it is a zero on the host."""
    operands = _placed(call, 0, "parameters")
    device = operands[0][0].device if operands else UNKNOWN_DEVICE
    if call.services.gradients_cleared() or any(
        operand[0].device != device for operand in operands
    ):
        device = UNKNOWN_DEVICE
    return Tensor(device, "float32", ())


def _vector(call: Call) -> Value:
    """All parameters end to end: they must share a device."""
    operands = _placed(call, 0, "parameters")
    return agreeing(call, call.name, operands).with_(shape=(None,))


def _from_vector(call: Call) -> Value:
    """Each parameter is a part of the vector from then on, wherever that is."""
    vector = tensor_of(call.get(0, "vec"))
    items, rest = call.services.iterate(call.get(1, "parameters", NONE))
    for value in (*items, rest):
        if type(value) is Parameter:
            device = UNKNOWN_DEVICE if vector is None else vector.device
            call.write(value.fields, "tensor", value.tensor.with_(device=device))
    return NONE


def _packing(call: Call) -> Value:
    """Lengths in a list are read one by one, wherever they are."""
    listed = type(call.get(1, "lengths")) in (ListObject, TupleValue)
    data = (_PACK_LISTED if listed else _PACK)(call)
    return packed(call, data if type(data) is Tensor else Tensor())


def _pack_sequence(call: Call) -> Value:
    """Pads the sequences, and packs what that makes."""
    return packed(call, _padding(call))


def _unpacking(call: Call) -> Value:
    """The padded tensor beside the data, and the lengths on the host."""
    data = tensor_of(packed_data(call.get(0, "sequence")))
    padded = Tensor(requires_grad=None, leaf=None) if data is None else data.with_(shape=None)
    return TupleValue((padded, Tensor(CPU, "int64", (None,))))


def _padding(call: Call) -> Tensor:
    """`pad_sequence`: one tensor beside the first sequence, into which the others are copied."""
    operands = _placed(call, 0, "sequences")
    if not operands:
        return Tensor(requires_grad=None, leaf=None)
    first_one = operands[0][0]
    tensors = [operand[0] for operand in operands]
    grad, leaf = gradient.of_result(call.services, tensors, first_one.dtype)
    return first_one.with_(shape=None, zero_dim=False, requires_grad=grad, leaf=leaf)


def _unpack_sequence(call: Call) -> Value:
    data = tensor_of(packed_data(call.get(0, "packed_sequences")))
    item = Tensor(requires_grad=None, leaf=None) if data is None else data.with_(shape=None)
    return ListObject((), item, "list", call.site.node)


def _moved_sequence(method: str) -> Model:
    """`packed.to(d)`: another packed sequence, its batch sizes on the host still."""

    def model(call: Call) -> Value:
        receiver = call.receiver
        move = FUNCTIONS.get(f"torch.Tensor.{method}")
        if not isinstance(receiver, Instance) or move is None:
            return call.unknown()
        made = Instance(receiver.cls, call.site.node)
        for name in FIELDS:
            value = receiver.fields.get(name, NONE)
            if name != "batch_sizes" and type(value) is Tensor:
                inner = Call(call.name, value, call.args, call.kwargs, call.site, call.services)
                value = move(inner)
            made.fields[name] = value
        return made

    return model


def _fields(call: Call) -> Value:
    """A packed sequence is a named tuple."""
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    return TupleValue(tuple(fields.get(name, NONE) for name in FIELDS), FIELDS)


def _field(call: Call) -> Value:
    """`packed[0]`: the data."""
    position = constant(call.args[0]) if call.args else None
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    if not isinstance(position, int) or not -len(FIELDS) <= position < len(FIELDS):
        return call.unknown()
    return fields.get(FIELDS[position], NONE)


def register_all() -> None:
    for name in words("clip_grad_norm_ clip_grad_norm get_total_norm clip_grad.clip_grad_norm_"):
        FUNCTIONS[f"torch.nn.utils.{name}"] = _norm
    register_names("torch.nn.utils", "clip_grad_value_ clip_grads_with_norm_", nothing)
    FUNCTIONS["torch.nn.utils.parameters_to_vector"] = _vector
    FUNCTIONS["torch.nn.utils.vector_to_parameters"] = _from_vector
    for name in ("skip_init", "init.skip_init"):
        FUNCTIONS[f"torch.nn.utils.{name}"] = _skipping
    register_names("torch.nn.utils", _MODULES, reparametrised)
    pruning.register_all()
    register_names("torch.nn.utils.parametrize", "is_parametrized cached", unknown)
    FUNCTIONS[f"{RNN}.pack_padded_sequence"] = _packing
    FUNCTIONS[f"{RNN}.pack_sequence"] = _pack_sequence
    FUNCTIONS[f"{RNN}.pad_packed_sequence"] = _unpacking
    FUNCTIONS[f"{RNN}.pad_sequence"] = _padding
    for name in words("unpack_sequence unpad_sequence"):
        FUNCTIONS[f"{RNN}.{name}"] = _unpack_sequence
    FUNCTIONS[PACKED] = rebuilt
    FUNCTIONS[f"{PACKED}.__iter__"] = _fields
    FUNCTIONS[f"{PACKED}.__getitem__"] = _field
    for name in words("to cuda cpu float half double long int pin_memory"):
        FUNCTIONS[f"{PACKED}.{name}"] = _moved_sequence(name)
