"""Hooks of all modules: `torch.nn.modules.module.register_module_forward_hook(hook)`."""

from __future__ import annotations

from dataclasses import dataclass

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.models.call import Call, Model, Services, Value, is_none
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.handles import add, handle
from device_lens.models.words import words

HOOKS = "module_hooks"
"""The entry of the interpreter's state with the hooks of all modules, and those that wait for a
backward pass, as a tuple."""
MODULE = "torch.nn.modules.module"


@dataclass(frozen=True, slots=True, eq=False)
class Everywhere:
    """A hook of all modules, and what those are kept under that a module has for itself."""

    key: str
    hook: Value


def of_all(services: Services, key: str) -> tuple[Value, ...]:
    """The hooks that all modules have under a key."""
    known = services.globals.get(HOOKS)
    kept = known if isinstance(known, tuple) else ()  # a loop that adds to them forgets them
    return tuple(each.hook for each in kept if each.key == key)


def registers_everywhere(key: str) -> Model:
    def model(call: Call) -> Value:
        hook = call.get(0, "hook")
        if is_none(hook):
            return handle(call)
        return add(call, call.services.globals, HOOKS, Everywhere(key, hook))

    return model


def _registering(call: Call) -> Value:
    """A hook that may put another part in the place of each that a module is given: where modules
    are that are made from here on is not known."""
    call.services.set_global("default_device", UNKNOWN_DEVICE)
    return handle(call)


def register_all() -> None:
    """Fills the registry with those of parts; the others are registered where they are run."""
    for kind in words("buffer module parameter"):
        FUNCTIONS[f"{MODULE}.register_module_{kind}_registration_hook"] = _registering
