"""`torch.distributions`: samples are where the distribution's parameters are, which meet when
something is drawn or asked."""

from __future__ import annotations

from device_lens.domain.device import (
    CONTESTED,
    UNKNOWN_DEVICE,
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
from device_lens.models.torch.distribution_parameters import (
    DEVICE,
    GIVEN,
    HELD,
    MIXTURE,
    SEEN,
    WEIGHTED,
    Held,
    Parameters,
    are_numbers_apart,
    as_operands,
    needed,
    parameters_of,
    short_name,
    together,
    where_shared,
)
from device_lens.models.torch.distribution_tables import (
    ARITHMETIC,
    BROADCASTING,
    ELEMENTWISE,
    IF_VALIDATED,
    LENIENT,
    MEETING_AT_ONCE,
    PARAMETERS,
    POSITION,
    TAKING_VALUES,
    UNMOVED,
    WHOLE,
    WRAPPERS,
)
from device_lens.models.torch.distribution_transforms import held_by
from device_lens.models.words import words

NAMESPACE = "torch.distributions"
BASE = f"{NAMESPACE}.Distribution"


def _constructor(name: str, parameters: list[str]) -> Model:
    def model(call: Call) -> Value:
        made = _new(call, name)
        if made is None:
            return NONE
        held: list[tuple[Tensor, Value, str]] = []
        places: dict[str, int | str] = {}
        unseen = False
        for position, parameter in enumerate(parameters):
            value = call.get(position, parameter)
            unseen |= any(type(leaf) is Unknown and not is_number(leaf) for leaf in leaves(value))
            tensor = tensor_of(value)
            if tensor is not None:
                call.write(made.fields, parameter, value)
                held.append((tensor, value, parameter))
                places[parameter] = call.place(position, parameter)
        moved = [each for each in held if each[2] not in UNMOVED]
        for tensor, _, parameter in held if moved else ():
            if parameter in UNMOVED:  # the constructor takes it to where the others are
                call.write(made.fields, parameter, tensor.with_(device=moved[0][0].device))
        held = moved or held
        call.write(made.fields, HELD, tuple(held))
        call.write(made.fields, SEEN, FALSE if unseen else TRUE)
        _meet_at_once(call, name, tuple(held), places)
        device = where_shared(call, tuple(held)) if held else None
        if device is None and unseen:
            device = UNKNOWN_DEVICE
        call.write(made.fields, DEVICE, device)
        given = {each: made.fields[each] for each in parameters if each in made.fields}
        call.write(made.fields, GIVEN, tuple(given.items()))
        return _answer(call, made)

    return model


def _meet_at_once(call: Call, name: str, held: Held, places: dict[str, int | str]) -> None:
    """Reports parameters that the constructor itself reckons with and that are apart."""
    meeting = words(MEETING_AT_ONCE.get(name, ""))
    if name in IF_VALIDATED:
        asked = call.get(len(PARAMETERS[name].split()), "validate_args")
        if not is_none(asked) and asked != TRUE:
            return
    met = tuple(each for each in held if each[2] in meeting)
    if met:
        operands: list[Placed] = [
            (*operand[:2], places[each[2]])
            for operand, each in zip(as_operands(met), met, strict=True)
        ]
        common_device(call.services, f"{NAMESPACE}.{name}", operands, name in LENIENT)


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
            device, held = parameters_of(base)
            if name == MIXTURE:
                device, held = _with_weights(call, base)
            elif name == "TransformedDistribution":
                device, held = _with_transforms(call, base)
            call.write(made.fields, HELD, held)
            call.write(made.fields, DEVICE, device)
        return _answer(call, made)

    return model


def _with_weights(call: Call, base: Instance) -> Parameters:
    """The components of a mixture and its weights, which samples and densities take together."""
    mixture = call.get(0, "mixture_distribution")
    if not isinstance(mixture, Instance):
        return UNKNOWN_DEVICE, parameters_of(base)[1]
    made: list[tuple[Tensor, Value, str]] = []
    for name, each in zip(WEIGHTED, (mixture, base), strict=True):
        where, held = parameters_of(each)
        if where is not None and CONTESTED in leaves(where):
            made += held  # the two ask for all of them, but for the mean
        elif held:
            part = together(UNKNOWN_DEVICE if where is None else where, held)
            made.append((part, part, name))
    return (where_shared(call, tuple(made)), tuple(made)) if made else parameters_of(base)


def _with_transforms(call: Call, base: Instance) -> Parameters:
    """What the transforms are made from meets what the base draws."""
    device, held = parameters_of(base)
    more = held_by(call.get(1, "transforms"))
    if not more:
        return device, held
    made = (*held, *more)
    return (where_shared(call, made) if held else UNKNOWN_DEVICE), made


def _result(
    call: Call,
    grad: bool,
    others: tuple[Value, ...] = (),
    parameters: Parameters | None = None,
    point: bool = False,
) -> Tensor:
    """A tensor beside the distribution's parameters, as they are now if others are not given.
    `point`: these are one number each, also where they meet `others`."""
    device, held = parameters or needed(call)
    if device is None:
        device = UNKNOWN_DEVICE if held else call.services.default_device()
    own = together(device, held).with_(zero_dim=point)
    operands: list[Placed] = [(own, own, -1)]
    if CONTESTED in leaves(device) and short_name(call) not in MEETING_AT_ONCE:
        operands = as_operands(held)
    for position, value in enumerate(others):
        tensor = tensor_of(value)
        if tensor is not None:
            operands.append((tensor, value, position))
    where = common_device(call.services, call.name, operands, True)
    if not grad:
        return Tensor(where, _sample_type(call), zero_dim=None)
    tensors = [tensor for tensor, *_ in held] + [tensor_of(other) for other in others]
    needs, leaf = gradient.of_result(call.services, [each for each in tensors if each], "float32")
    return Tensor(where, "float32", requires_grad=needs, leaf=leaf, zero_dim=None)


def _sample_type(call: Call) -> str | None:
    short = short_name(call)
    return "int64" if short == "Categorical" else None if short in WHOLE else "float32"


def _sample(call: Call) -> Value:
    return _drawn(call, grad=False)


def _rsample(call: Call) -> Value:
    return _drawn(call, grad=True)


def _drawn(call: Call, grad: bool) -> Value:
    """Samples: more than one number where several are asked for, or where the parameters are more
    than one, which only a category is drawn from as a whole."""
    drawn = _result(call, grad)
    asked = call.get(0, "sample_shape")
    shape = _shape_drawn(call, asked)
    many = type(asked) in (TupleValue, ListObject) and bool(asked.items)
    held = parameters_of(call.receiver)[1]
    if are_numbers_apart(held):
        return drawn.with_(device=UNKNOWN_DEVICE)
    if not many and _sample_type(call) != "int64" and isinstance(call.receiver, Instance):
        many = any(tensor.zero_dim is False for tensor, *_ in held)
    trail = None
    if not held:
        trail = call.trail("created", wording.created(call.name, drawn.device))
    if shape is not None:
        return drawn.with_(shape=shape, zero_dim=not shape, trail=trail)
    return drawn.with_(zero_dim=False if many else None, trail=trail)


def _shape_drawn(call: Call, asked: Value) -> Shape:
    """The shape of samples of a distribution over numbers or categories; None where it is not
    known."""
    made = call.receiver
    of_library = type(made) is Instance and type(made.cls) is External
    if not of_library or made.fields.get(SEEN) != TRUE:
        return None
    name = made.cls.name.rpartition(".")[2]
    if name not in ELEMENTWISE and name != "Categorical":
        return None
    sizes = () if is_none(asked) or asked is None else sequence(asked)
    batch, _ = broadcast(of_tensor(tensor) for tensor, *_ in parameters_of(made)[1])
    if name == "Categorical":
        batch = batch[:-1] if batch else None
    return None if sizes is None or batch is None else (*map(dimension, sizes), *batch)


def _beside(call: Call) -> Value:
    """An attribute or a statistic: a tensor beside the parameters."""
    return _result(call, grad=True)


def _parameter(call: Call) -> Value:
    """A parameter that is a number and that nobody has put another in the place of: beside the
    first of the tensors that were given."""
    if not isinstance(call.receiver, Instance):
        return call.unknown()
    fields = call.receiver.fields
    given = fields.get(DEVICE, UNKNOWN_DEVICE), fields.get(HELD, ())
    if CONTESTED in leaves(given[0]):
        given = given[1][0][0].device, given[1][:1]
    return _result(call, grad=True, parameters=given)


def _of_value(call: Call) -> Value:
    """`log_prob(value)`, `cdf(value)`: the value has to be beside the parameters, but where these
    are numbers or one number each, which some distributions take anywhere."""
    given = call.args[:1] or tuple(call.kwargs.values())[:1]
    held = needed(call)[1]
    name, is_density = short_name(call), call.name.endswith("log_prob")
    takes_values = is_density and name in TAKING_VALUES
    if not takes_values and any(not tensor.zero_dim for tensor, *_ in held):
        return _result(call, grad=True, others=given)
    made = _result(call, grad=True)
    if takes_values:
        return made.with_(requires_grad=None, leaf=None)
    if is_unknown(made.device):
        return _result(call, grad=True, others=given)
    tensors = [tensor for tensor in map(tensor_of, given) if tensor is not None]
    if all(tensor.device == made.device for tensor in tensors):
        return made
    if any(tensor.zero_dim is not False for tensor in tensors):
        return made.with_(device=UNKNOWN_DEVICE)
    if is_density and name in BROADCASTING:
        return _result(call, grad=True, others=given)
    beside = _result(call, grad=True, others=given, point=True)
    if (is_density and name in ARITHMETIC) or same_everywhere(beside.device, made.device):
        return beside
    return beside.with_(device=UNKNOWN_DEVICE)


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
        where, held = parameters_of(value)
        if where is not None and CONTESTED in leaves(where):
            operands.extend(as_operands(held))
        elif isinstance(value, Instance) and where is not None:
            dims = {tensor.zero_dim for tensor, *_ in held}
            zero_dim = False if False in dims else None if None in dims else bool(dims)
            part = together(where, held).with_(zero_dim=zero_dim)
            operands.append((part, part, position))
    if not operands:
        return Tensor(requires_grad=None, leaf=None)
    device = common_device(call.services, call.name, operands, True)
    return Tensor(device, "float32", requires_grad=None, leaf=None)


def _file_of(name: str) -> str:
    """The module that defines a distribution: `log_normal` for `LogNormal`."""
    known = _FILES.get(name)
    return known or "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


_FILES = {
    "Chi2": "chi2",
    "FisherSnedecor": "fishersnedecor",
    "LKJCholesky": "lkj_cholesky",
    "LowRankMultivariateNormal": "lowrank_multivariate_normal",
    "OneHotCategoricalStraightThrough": "one_hot_categorical",
    "RelaxedOneHotCategorical": "relaxed_categorical",
    "StudentT": "studentT",
}


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
