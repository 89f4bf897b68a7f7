"""gymnasium and gym: environments are host code."""

from __future__ import annotations

from device_lens.domain.heap import DictObject, Instance
from device_lens.domain.values import External, HostArray, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value
from device_lens.models.numbers import number
from device_lens.models.registry import FUNCTIONS
from device_lens.models.words import words

PACKAGES_OF_ENVIRONMENTS = words("gymnasium gym")


def _make(name: str) -> Model:
    def model(call: Call) -> Value:
        made = Instance(External(f"{name}.Env"), call.site.node)
        for space in ("action_space", "observation_space"):
            made.fields[space] = _space(name, call)
        return made

    return model


def _space(name: str, call: Call) -> Instance:
    """A space; a `Box` has bounds for each of its numbers."""
    found = Instance(External(f"{name}.spaces.Space"), call.site.node)
    for bound in ("low", "high"):
        found.fields[bound] = HostArray("float32", zero_dim=False)
    return found


def _info(call: Call) -> Value:
    return DictObject({}, Unknown("info"), call.site.node)


def _reset(call: Call) -> Value:
    return TupleValue((HostArray("float32"), _info(call)))


def _step(call: Call) -> Value:
    flags = (number("reward"), Unknown("terminated"), Unknown("truncated"))
    return TupleValue((HostArray("float32"), *flags, _info(call)))


def _array(call: Call) -> Value:
    """What older versions give: an array, or a tuple that unpacks into host values."""
    return HostArray("float32")


def register_all() -> None:
    for name in PACKAGES_OF_ENVIRONMENTS:
        for maker in words("make make_vec vector.make vector.SyncVectorEnv vector.AsyncVectorEnv"):
            FUNCTIONS[f"{name}.{maker}"] = _make(name)
        FUNCTIONS[f"{name}.spaces.Space.sample"] = _array
        FUNCTIONS[f"{name}.Env.close"] = _info
        FUNCTIONS[f"{name}.Env.render"] = _array
        FUNCTIONS[f"{name}.Env.seed"] = _info
    FUNCTIONS["gymnasium.Env.reset"], FUNCTIONS["gymnasium.Env.step"] = _reset, _step
    FUNCTIONS["gym.Env.reset"] = FUNCTIONS["gym.Env.step"] = _array
