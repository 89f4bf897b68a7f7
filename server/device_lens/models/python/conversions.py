"""`float(x)`, `int(x)`, `bool(x)`, `complex(x)`: what makes a number of something else."""

from __future__ import annotations

from typing import Any

from device_lens.domain.guard import combine
from device_lens.domain.values import Const, Unknown
from device_lens.models.call import Call, Model, Value, tensor_of, treated_as_tensor
from device_lens.models.numbers import fraction, number, whole_number


def converts(what: str) -> Model:
    """`float(t)`, `int(t)`, `bool(t)`: a tensor is waited for."""
    kinds: dict[str, Any] = {"float": float, "int": int, "bool": bool, "complex": complex}
    made = {"float": fraction, "int": whole_number}.get(what, number)

    def model(call: Call) -> Value:
        value = call.args[0] if call.args else Unknown()
        if tensor_of(value) is not None:
            if treated_as_tensor(value):
                call.services.synchronize(f"{what}()", value, 0)
            return made("a number")
        if what == "bool" and call.args:
            return combine(Const, call.services.truth(value))
        return combine(converted, value) if len(call.args) == 1 else made("a number")

    def converted(value: Value) -> Value:
        if type(value) is Const:
            try:
                return Const(kinds[what](value.value))
            except (TypeError, ValueError, OverflowError):
                return made("a number")
        return made(value.label if type(value) is Unknown else "a number")

    return model
