"""What `torch.finfo` and `numpy.finfo` tell: numbers of a dtype, in host memory."""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.values import External, HostArray
from device_lens.models.call import Call, Model, Value
from device_lens.models.numbers import number
from device_lens.models.registry import ATTRIBUTES, FUNCTIONS
from device_lens.models.words import words

_NUMBERS = words(
    """eps epsneg min max tiny smallest_normal smallest_subnormal resolution bits precision nexp
    nmant machep negep iexp minexp maxexp"""
)


def _limits(name: str) -> Model:
    return lambda call: Instance(External(name), call.site.node)


def _number(call: Call) -> Value:
    return number(call.name)


def _scalar(call: Call) -> Value:
    """A number with an array's methods."""
    return HostArray(shape=())


def register_all() -> None:
    """Fills the registry with both libraries' tellers of limits."""
    for library, read in (("torch", _number), ("numpy", _scalar)):
        for kind in ("finfo", "iinfo"):
            name = f"{library}.{kind}"
            FUNCTIONS[name] = _limits(name)
            for attribute in _NUMBERS:
                ATTRIBUTES[f"{name}.{attribute}"] = read
