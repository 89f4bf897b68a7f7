"""`torch.distributions`: samples are where the distribution's parameters are."""

from __future__ import annotations

from typing import Any

from device_lens.domain.code import ClassValue
from device_lens.domain.device import (
    CPU,
    UNKNOWN_DEVICE,
    Device,
    DeviceTree,
    is_unknown,
    same_everywhere,
)
from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ListObject
from device_lens.domain.values import (
    FALSE,
    NONE,
    TRUE,
    External,
    Shape,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models import gradient, wording
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Model, Value, is_none, tensor_of
from device_lens.models.numbers import dimension, is_number, sequence
from device_lens.models.registry import ALIASES, ATTRIBUTES, BASES, FUNCTIONS
from device_lens.models.shapes.extent import broadcast, of_tensor
from device_lens.models.torch.distribution_kinds import (
    ARITHMETIC,
    BROADCASTING,
    ELEMENTWISE,
    FILES,
    KEEPING,
    PARAMETERS,
    POSITION,
    WHOLE,
    WRAPPERS,
)
from device_lens.models.words import words

NAMESPACE = "torch.distributions"
BASE = f"{NAMESPACE}.Distribution"
_Held = tuple[tuple[Tensor, Value], ...]
_Parameters = tuple[DeviceTree | None, _Held]

DEVICE = "<device>"
HELD = "<operands>"
GIVEN = "<given>"
"""The field with the tensors that the constructor was given, by their names."""
SEEN = "<seen>"
"""The field that tells whether all of the parameters are known."""


def _constructor(name: str, parameters: list[str]) -> Model:
    def model(call: Call) -> Value:
        made = _new(call, name)
        if made is None:
            return NONE
        held: list[Placed] = []
        unseen = False
        for position, parameter in enumerate(parameters):
            value = call.get(position, parameter)
            unseen |= any(type(leaf) is Unknown and not is_number(leaf) for leaf in leaves(value))
            tensor = tensor_of(value)
            if tensor is not None:
                call.write(made.fields, parameter, value)
            if tensor is not None and (parameter != "temperature" or tensor.zero_dim is False):
                held.append((tensor, value, call.place(position, parameter)))
        call.write(made.fields, HELD, tuple(operand[:2] for operand in held))
        call.write(made.fields, SEEN, FALSE if unseen else TRUE)
        device = _agreed(call, name, held) if held else None
        if device is None and unseen:
            device = UNKNOWN_DEVICE
        call.write(made.fields, DEVICE, device)
        given = {each: made.fields[each] for each in parameters if each in made.fields}
        call.write(made.fields, GIVEN, tuple(given.items()))
        return _answer(call, made)

    return model


def _agreed(call: Call, name: str, held: list[Placed]) -> DeviceTree:
    """Where the parameters are together, which most constructors ask for."""
    if name not in KEEPING:
        return common_device(call.services, f"{NAMESPACE}.{name}", held, False)
    alike = _are_together(tuple(operand[:2] for operand in held))
    return held[0][0].device if alike else UNKNOWN_DEVICE


def _are_together(held: _Held) -> bool:
    return all(same_everywhere(each.device, held[0][0].device) for each, _ in held)


def _take_together(call: Call) -> None:
    """What a constructor has only kept meets in a sample or a density."""
    _, held = _parameters(call.receiver)
    if len(held) > 1 and _short_name(call) in KEEPING:
        common_device(call.services, call.name, [(*each, -1) for each in held], False)


def _new(call: Call, name: str) -> Instance | None:
    """What a constructor fills: a new instance, or that of the program's own class."""
    if not call.name.endswith(".__init__"):
        return Instance(External(f"{NAMESPACE}.{name}"), call.site.node)
    return call.receiver if isinstance(call.receiver, Instance) else None


def _answer(call: Call, made: Instance | None) -> Value:
    return NONE if made is None or made is call.receiver else made


def _wrapper(name: str, attribute: str) -> Model:
    def model(call: Call) -> Value:
        made = _new(call, name)
        base = call.get(POSITION.get(name, 0), attribute)
        if made is not None and isinstance(base, Instance):
            call.write(made.fields, "base_dist", base)
            device, held = _parameters(base)
            call.write(made.fields, HELD, held)
            if name == "MixtureSameFamily":
                device = _beside_mixture(call, base)
            call.write(made.fields, DEVICE, device)
        return _answer(call, made)

    return model


def _beside_mixture(call: Call, base: Instance) -> DeviceTree | None:
    """Where the components of a mixture and its weights are, which samples and densities take
    together."""
    mixture = call.get(0, "mixture_distribution")
    if not isinstance(mixture, Instance):
        return UNKNOWN_DEVICE
    operands: list[Placed] = []
    for position, each in enumerate((mixture, base)):
        where, held = _parameters(each)
        if held:
            together = _together(UNKNOWN_DEVICE if where is None else where, held)
            operands.append((together, together, position))
    if not operands:
        return _parameters(base)[0]
    return common_device(call.services, call.name, operands, False)


def _result(
    call: Call, grad: bool, others: tuple[Value, ...] = (), parameters: _Parameters | None = None
) -> Tensor:
    """A tensor beside the distribution's parameters, as they are now if others are not given."""
    device, held = parameters or _parameters(call.receiver)
    if device is None:
        device = UNKNOWN_DEVICE if held else call.services.default_device()
    own = _together(device, held)
    operands: list[Placed] = [(own, own, -1)]
    for position, value in enumerate(others):
        tensor = tensor_of(value)
        if tensor is not None:
            operands.append((tensor, value, position))
    where = common_device(call.services, call.name, operands, True)
    if not grad:
        return Tensor(where, _sample_type(call), zero_dim=None)
    tensors = [tensor for tensor, _ in held] + [operand[0] for operand in operands[1:]]
    needs, leaf = gradient.of_result(call.services, tensors, "float32")
    return Tensor(where, "float32", requires_grad=needs, leaf=leaf, zero_dim=None)


def _parameters(value: Value) -> _Parameters:
    """Where the parameters of a distribution are, None where all are numbers, and those that are
    tensors. A program may have put others in their place."""
    if not isinstance(value, Instance):
        return UNKNOWN_DEVICE, ()
    fields = value.fields
    device, held = fields.get(DEVICE, UNKNOWN_DEVICE), fields.get(HELD, ())
    base = fields.get("base_dist")
    if isinstance(base, Instance):
        now = _parameters(base)
        return (device, held) if now[1] == base.fields.get(HELD, ()) else (now[0], now[1])
    given = dict(fields.get(GIVEN, ()))
    if type(value.cls) is not External or DEVICE not in fields:
        return device, held
    names = words(PARAMETERS.get(value.cls.name.rpartition(".")[2], ""))
    present = {
        name: tensor
        for name in fields
        if isinstance(name, str) and name[:1] != "<" and (tensor := tensor_of(fields[name]))
    }
    if all(given.get(name) is fields[name] for name in present):
        return device, held
    tensors = list(present.values())
    whole = all(name in present or name in _ALTERNATIVE for name in names)
    together = all(same_everywhere(each.device, tensors[0].device) for each in tensors)
    where = tensors[0].device if whole and together else UNKNOWN_DEVICE
    return where, tuple((tensor, fields[name]) for name, tensor in present.items())


_ALTERNATIVE = frozenset(
    words("probs logits covariance_matrix precision_matrix scale_tril total_count temperature dim")
)
"""Parameters that may be left out for others, or have defaults."""


def _together(device: DeviceTree, held: tuple[tuple[Tensor, Value], ...]) -> Tensor:
    """A distribution's parameters as one operand, with the history of the first."""
    trail = held[0][0].trail if held else None
    return Tensor(device, zero_dim=False, trail=trail)


def _short_name(call: Call) -> str:
    """The name of the library's class that a distribution is of."""
    cls: Any = call.receiver.cls if isinstance(call.receiver, Instance) else None
    name = cls.foreign[0] if type(cls) is ClassValue and cls.foreign else getattr(cls, "name", "")
    return str(name).rpartition(".")[2]


def _sample_type(call: Call) -> str | None:
    short = _short_name(call)
    return "int64" if short == "Categorical" else None if short in WHOLE else "float32"


def _sample(call: Call) -> Value:
    return _drawn(call, grad=False)


def _rsample(call: Call) -> Value:
    return _drawn(call, grad=True)


def _drawn(call: Call, grad: bool) -> Value:
    """Samples: more than one number where several are asked for, or where the parameters are more
    than one, which only a category is drawn from as a whole."""
    _take_together(call)
    drawn = _result(call, grad)
    asked = call.get(0, "sample_shape")
    shape = _shape_drawn(call, asked)
    many = type(asked) in (TupleValue, ListObject) and bool(asked.items)
    if not many and _sample_type(call) != "int64" and isinstance(call.receiver, Instance):
        held = _parameters(call.receiver)[1]
        many = any(tensor.zero_dim is False for tensor, _ in held)
    trail = None
    if not _parameters(call.receiver)[1]:
        trail = call.trail("created", wording.created(call.name, drawn.device))
    if shape is not None:
        return drawn.with_(shape=shape, zero_dim=not shape, trail=trail)
    return drawn.with_(zero_dim=False if many else None, trail=trail)


def _shape_drawn(call: Call, asked: Value) -> Shape:
    """The shape of samples of a distribution over numbers; None where it is not known."""
    made = call.receiver
    of_library = type(made) is Instance and type(made.cls) is External
    if not of_library or made.fields.get(SEEN) != TRUE:
        return None
    if made.cls.name.rpartition(".")[2] not in ELEMENTWISE:
        return None
    sizes = () if is_none(asked) or asked is None else sequence(asked)
    batch, _ = broadcast(of_tensor(tensor) for tensor, _ in _parameters(made)[1])
    return None if sizes is None or batch is None else (*map(dimension, sizes), *batch)


def _beside(call: Call) -> Value:
    """An attribute or a statistic: a tensor beside the parameters."""
    return _result(call, grad=True)


def _parameter(call: Call) -> Value:
    """A parameter that nobody has put another in the place of: beside those that were given."""
    if not isinstance(call.receiver, Instance):
        return call.unknown()
    fields = call.receiver.fields
    given = fields.get(DEVICE, UNKNOWN_DEVICE), fields.get(HELD, ())
    return _result(call, grad=True, parameters=given)


def _of_value(call: Call) -> Value:
    """`log_prob(value)`, `cdf(value)`: the value has to be beside the parameters, but where these
    are numbers or one number each, which some distributions take anywhere."""
    given = call.args[:1] or tuple(call.kwargs.values())[:1]
    _, held = _parameters(call.receiver)
    _take_together(call)
    made = _result(call, grad=True)
    if is_unknown(made.device) or any(not tensor.zero_dim for tensor, _ in held):
        return _result(call, grad=True, others=given)
    tensors = [tensor for tensor in map(tensor_of, given) if tensor is not None]
    if all(tensor.device == made.device for tensor in tensors):
        return made
    if call.name.endswith("log_prob") and all(tensor.zero_dim is False for tensor in tensors):
        name = _short_name(call)
        if name in BROADCASTING:
            return _result(call, grad=True, others=given)
        if name in ARITHMETIC and made.device is CPU:
            return made.with_(device=tensors[0].device)
        if name in ARITHMETIC and type(made.device) is Device and made.device is not CPU:
            return _result(call, grad=True, others=given)
    return made.with_(device=UNKNOWN_DEVICE)


def _expand(call: Call) -> Value:
    """The same distribution for more numbers."""
    if type(call.receiver) is not Instance or SEEN not in call.receiver.fields:
        return call.receiver
    made = Instance(call.receiver.cls, call.site.node)
    made.fields.update(call.receiver.fields)
    made.fields[SEEN] = FALSE
    return made


def _divergence(call: Call) -> Value:
    """`kl_divergence(p, q)`: element by element, so what has one number each on the host may meet
    any other."""
    operands: list[Placed] = []
    for position, value in enumerate(call.args[:2]):
        where, held = _parameters(value)
        if not isinstance(value, Instance) or where is None:
            continue
        if not _are_together(held):
            operands += [(*each, position) for each in held]
        else:
            dims = {tensor.zero_dim for tensor, _ in held}
            zero_dim = False if False in dims else None if None in dims else bool(dims)
            together = _together(where, held).with_(zero_dim=zero_dim)
            operands.append((together, together, position))
    if not operands:
        return Tensor(requires_grad=None, leaf=None)
    device = common_device(call.services, call.name, operands, True)
    return Tensor(device, "float32", requires_grad=None, leaf=None)


def _file_of(name: str) -> str:
    """The module that defines a distribution: `log_normal` for `LogNormal`."""
    known = FILES.get(name)
    return known or "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def register_all() -> None:
    for name, parameters in PARAMETERS.items():
        made = FUNCTIONS[f"{NAMESPACE}.{name}"] = _constructor(name, words(parameters))
        FUNCTIONS[f"{NAMESPACE}.{name}.__init__"] = made
        BASES[f"{NAMESPACE}.{name}"] = (BASE,)
        ALIASES[f"{NAMESPACE}.{_file_of(name)}.{name}"] = f"{NAMESPACE}.{name}"
    for name, attribute in WRAPPERS.items():
        made = FUNCTIONS[f"{NAMESPACE}.{name}"] = _wrapper(name, attribute)
        FUNCTIONS[f"{NAMESPACE}.{name}.__init__"] = made
        BASES[f"{NAMESPACE}.{name}"] = (BASE,)
        ALIASES[f"{NAMESPACE}.{_file_of(name)}.{name}"] = f"{NAMESPACE}.{name}"
    for name in words("sample sample_n"):
        FUNCTIONS[f"{BASE}.{name}"] = _sample
    FUNCTIONS[f"{BASE}.rsample"] = _rsample
    for name in words("entropy perplexity enumerate_support"):
        FUNCTIONS[f"{BASE}.{name}"] = _beside
    for name in words("log_prob cdf icdf"):
        FUNCTIONS[f"{BASE}.{name}"] = _of_value
    FUNCTIONS[f"{BASE}.expand"] = _expand
    for name in words("mean mode variance stddev probs logits covariance_matrix"):
        ATTRIBUTES[f"{BASE}.{name}"] = _beside
    for name in words("scale loc"):
        ATTRIBUTES[f"{BASE}.{name}"] = _parameter
    FUNCTIONS[f"{NAMESPACE}.kl_divergence"] = _divergence
    FUNCTIONS[f"{NAMESPACE}.kl.kl_divergence"] = _divergence
