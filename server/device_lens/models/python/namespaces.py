"""Namespaces: objects that have as attributes what they are made with."""

from __future__ import annotations

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.heap import DictObject, Instance
from device_lens.domain.values import NONE, External, Unknown
from device_lens.models.call import Call, Model, Value
from device_lens.models.python.configuration import NAMESPACE
from device_lens.models.registry import FUNCTIONS

SIMPLE = "types.SimpleNamespace"


def _constructor(name: str) -> Model:
    def model(call: Call) -> Value:
        made = Instance(External(name), call.site.node)
        made.fields.update(_given(call))
        return made

    return model


def _given(call: Call) -> dict[str, Value]:
    """What the attributes are that a call names; those of a dict that comes first among them."""
    found: dict[str, Value] = {}
    for source in call.args:
        if type(source) is DictObject:
            found.update({k: v for k, v in source.entries.items() if isinstance(k, str)})
    return {**found, **call.kwargs}


def _initialise(call: Call) -> Value:
    """`super().__init__(**attributes)` of a class of the program. Where it is not known which these
    are, each that the object or its class has may be another one."""
    target = call.receiver
    if not isinstance(target, Instance):
        return NONE
    given = _given(call)
    if not call.complete or any(not _is_known(source) for source in call.args):
        for name in {*target.fields, *_values_of_class(target.cls)} - given.keys():
            call.write(target.fields, name, Unknown(str(name)))
    for name, value in given.items():
        call.write(target.fields, name, value)
    return NONE


def _is_known(source: Value) -> bool:
    return type(source) is DictObject and source.rest is None


def _values_of_class(cls: Value) -> set[str]:
    if type(cls) is not ClassValue:
        return set()
    fields = (item for owner in cls.mro for item in owner.fields.items())
    return {name for name, value in fields if type(value) is not Function and name[:2] != "__"}


def register() -> None:
    """Fills the registry."""
    for name in (SIMPLE, NAMESPACE):
        FUNCTIONS[name] = _constructor(name)
        FUNCTIONS[f"{name}.__init__"] = _initialise
