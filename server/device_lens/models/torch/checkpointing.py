"""`torch.utils.checkpoint`: functions that are run now and, for gradients, once more later."""

from __future__ import annotations

from device_lens.domain.heap import ModuleObject
from device_lens.models.call import Call, Value
from device_lens.models.registry import FUNCTIONS

NAMESPACE = "torch.utils.checkpoint"
OPTIONS = frozenset(
    {
        "use_reentrant",
        "preserve_rng_state",
        "context_fn",
        "determinism_check",
        "debug",
        "early_stop",
    }
)


def _checkpoint(call: Call) -> Value:
    """`checkpoint(function, *args)`."""
    if not call.args:
        return call.unknown()
    given = {name: value for name, value in call.kwargs.items() if name not in OPTIONS}
    return call.services.invoke(call.args[0], call.args[1:], given)


def _sequential(call: Call) -> Value:
    """`checkpoint_sequential(functions, segments, input)`."""
    functions, value = call.get(0, "functions"), call.get(2, "input")
    if functions is None or value is None:
        return call.unknown()
    if isinstance(functions, ModuleObject):
        return call.services.invoke(functions, (value,), {})
    items, rest = call.services.iterate(functions)
    for function in (*items, *([] if rest is None else [rest])):
        value = call.services.invoke(function, (value,), {})
    return value


def register_all() -> None:
    """Fills the registry."""
    FUNCTIONS[f"{NAMESPACE}.checkpoint"] = _checkpoint
    FUNCTIONS[f"{NAMESPACE}.checkpoint_sequential"] = _sequential
