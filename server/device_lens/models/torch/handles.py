"""What `register_…_hook` answers."""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.values import NONE, External
from device_lens.models.call import Call, Value
from device_lens.models.registry import FUNCTIONS

NAME = "torch.utils.hooks.RemovableHandle"


def handle(call: Call) -> Value:
    """A handle whose `remove` does nothing that is followed."""
    return Instance(External(NAME), call.site.node)


def register_all() -> None:
    """Fills the registry with the handle's methods."""
    FUNCTIONS[f"{NAME}.remove"] = lambda call: NONE
