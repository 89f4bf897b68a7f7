"""Instances of library classes that carry a few values and otherwise do nothing."""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.values import NONE, External
from device_lens.models.call import Call, Model, Value
from device_lens.models.registry import FUNCTIONS
from device_lens.models.words import words


def instance(call: Call, name: str, **fields: Value) -> Instance:
    """An instance of the library class `name` with these attributes."""
    made = Instance(External(name), call.site.node)
    made.fields.update(fields)
    return made


def class_model(name: str) -> Model:
    """A constructor whose arguments do not matter."""

    def model(call: Call) -> Value:
        return instance(call, name)

    return model


def returns(value: Value) -> Model:
    """A function that gives the same value whatever its arguments."""

    def model(call: Call) -> Value:
        return value

    return model


def nothing(call: Call) -> Value:
    """A function called for an effect that does not matter here."""
    return NONE


def itself(call: Call) -> Value:
    """A method that gives its receiver back."""
    return call.receiver


def first(call: Call) -> Value:
    """A function that gives its first argument back."""
    return call.args[0] if call.args else next(iter(call.kwargs.values()), call.unknown())


def unknown(call: Call) -> Value:
    """A function whose result is no tensor."""
    return call.unknown()


def register_names(namespace: str, names: str, model: Model) -> None:
    """Gives several functions of a namespace one model."""
    for name in words(names):
        FUNCTIONS[f"{namespace}.{name}"] = model
