"""`torch.nn.init`: every initialiser writes into its tensor and gives it back."""

from __future__ import annotations

from device_lens.domain.values import TupleValue
from device_lens.models.call import Call, Value
from device_lens.models.numbers import number
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.objects import first
from device_lens.models.words import words

NAMESPACE = "torch.nn.init"
INITIALISERS = words(
    """uniform_ normal_ trunc_normal_ constant_ ones_ zeros_ eye_ dirac_ xavier_uniform_
    xavier_normal_ kaiming_uniform_ kaiming_normal_ orthogonal_ sparse_ uniform normal constant eye
    dirac xavier_uniform xavier_normal kaiming_uniform kaiming_normal orthogonal sparse"""
)


def _gain(call: Call) -> Value:
    return number("the gain")


def _fans(call: Call) -> Value:
    return TupleValue((number("fan in"), number("fan out")))


def register_all() -> None:
    for name in INITIALISERS:
        FUNCTIONS[f"{NAMESPACE}.{name}"] = first
    FUNCTIONS[f"{NAMESPACE}.calculate_gain"] = _gain
    FUNCTIONS[f"{NAMESPACE}._calculate_fan_in_and_fan_out"] = _fans
    FUNCTIONS[f"{NAMESPACE}._calculate_correct_fan"] = _gain
