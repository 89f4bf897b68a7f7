"""`torch.distributions.transforms`: what a transform is made from meets what it is given, in
samples of a `TransformedDistribution` as well."""

from __future__ import annotations

from device_lens.domain.heap import Instance, ListObject
from device_lens.domain.values import NONE, External, Tensor, TupleValue
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Model, Value, tensor_of
from device_lens.models.registry import ALIASES, ATTRIBUTES, BASES, FUNCTIONS
from device_lens.models.torch.distribution_parameters import HELD, Held, OfTransform
from device_lens.models.words import words

NAMESPACE = "torch.distributions.transforms"
BASE = f"{NAMESPACE}.Transform"
_INVERSE = f"{NAMESPACE}._InverseTransform"
_PARAMETERS = {"AffineTransform": "loc scale", "PowerTransform": "exponent"}
_OF_NOTHING = words(
    """AbsTransform CorrCholeskyTransform ExpTransform LowerCholeskyTransform
    PositiveDefiniteTransform ReshapeTransform SigmoidTransform SoftmaxTransform SoftplusTransform
    StickBreakingTransform TanhTransform"""
)
_OF_OTHERS = {"ComposeTransform": "parts", "IndependentTransform": "base_transform"}
"""Transforms made from others, with the first parameter."""


def held_by(value: Value) -> Held:
    """The tensors that a transform, or several, is made from, as far as they are known."""
    if type(value) in (ListObject, TupleValue):
        return tuple(held for item in value.items for held in held_by(item))
    known = isinstance(value, Instance) and HELD in value.fields
    return value.fields[HELD] if known else ()


def _constructor(name: str, parameters: list[str]) -> Model:
    def model(call: Call) -> Value:
        held: list[tuple[Tensor, Value, str]] = []
        given: dict[str, Value] = {}
        for position, parameter in enumerate(parameters):
            value = call.get(position, parameter)
            tensor = tensor_of(value)
            if tensor is not None:
                held.append((tensor, value, OfTransform(parameter)))
            if value is not None:
                given[parameter] = value
        return _made(call, name, tuple(held), given)

    return model


def _around(name: str, parameter: str) -> Model:
    def model(call: Call) -> Value:
        others = call.get(0, parameter)
        return _made(call, name, held_by(others), {} if others is None else {parameter: others})

    return model


def _made(call: Call, name: str, held: Held, given: dict[str, Value]) -> Value:
    """What a constructor fills: a new instance, or that of the program's own class."""
    own = call.name.endswith(".__init__")
    if own and not isinstance(call.receiver, Instance):
        return NONE
    made = call.receiver if own else Instance(External(f"{NAMESPACE}.{name}"), call.site.node)
    for key, value in (*given.items(), (HELD, held)):
        call.write(made.fields, key, value)
    return NONE if own else made


def _is_of_library(transform: Value) -> bool:
    """Whether a transform is of no class of the program's, which may have tensors of its own."""
    return isinstance(transform, Instance) and type(transform.cls) is External


def _inverse(call: Call) -> Value:
    if not _is_of_library(call.receiver):
        return call.unknown()
    made = Instance(External(_INVERSE), call.site.node)
    made.fields[HELD] = held_by(call.receiver)
    return made


def _applied(call: Call) -> Value:
    """`transform(x)`: the result is where its parameters and the value meet."""
    value = call.get(0, "x")
    tensor = tensor_of(value)
    if tensor is None or not _is_of_library(call.receiver):
        return call.unknown()
    operands: list[Placed] = [(tensor, value, call.place(0, "x"))]
    operands += held_by(call.receiver)
    device = common_device(call.services, BASE, operands, True)
    return Tensor(device, requires_grad=None, leaf=None, zero_dim=None)


def register_all() -> None:
    rows = {**_PARAMETERS, **dict.fromkeys(_OF_NOTHING, "")}
    models = {name: _constructor(name, words(row)) for name, row in rows.items()}
    models |= {name: _around(name, parameter) for name, parameter in _OF_OTHERS.items()}
    for name, model in models.items():
        FUNCTIONS[f"{NAMESPACE}.{name}"] = FUNCTIONS[f"{NAMESPACE}.{name}.__init__"] = model
        BASES[f"{NAMESPACE}.{name}"] = (BASE,)
        ALIASES[f"torch.distributions.{name}"] = f"{NAMESPACE}.{name}"
    BASES[_INVERSE] = (BASE,)
    ATTRIBUTES[f"{BASE}.inv"] = _inverse
    FUNCTIONS[f"{BASE}.__call__"] = _applied
