"""What `register_…_hook` answers."""

from __future__ import annotations

from device_lens.domain.heap import Instance, ModuleObject, Table
from device_lens.domain.values import NONE, External
from device_lens.models.call import Call, Model, Value, is_none
from device_lens.models.registry import FUNCTIONS

NAME = "torch.utils.hooks.RemovableHandle"


_TABLE, _KEY, _HOOK = "<table>", "<key>", "<hook>"
"""The fields of a handle for where its hook is kept."""


def add(call: Call, table: Table, key: str, hook: Value, first: bool = False) -> Value:
    """Adds a hook to those that a table has under a key, before the others if it is to be `first`;
    gives its handle."""
    known = table.get(key)
    hooks = known if isinstance(known, tuple) else ()
    call.write(table, key, (hook, *hooks) if first else (*hooks, hook))
    found = Instance(External(NAME), call.site.node)
    found.fields.update({_TABLE: table, _KEY: key, _HOOK: hook})
    return found


def registers(key: str) -> Model:
    """A module's method that adds a hook to those that it has under a key."""

    def model(call: Call) -> Value:
        module, hook = call.receiver, call.get(0, "hook")
        if not isinstance(module, ModuleObject) or is_none(hook):
            return handle(call)
        return add(call, module.own, key, hook)

    return model


def handle(call: Call) -> Value:
    """A handle of what is not followed."""
    return Instance(External(NAME), call.site.node)


def _remove(call: Call) -> Value:
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    table = fields.get(_TABLE)
    hooks = table.get(fields[_KEY]) if isinstance(table, dict) else None
    if isinstance(table, dict) and isinstance(hooks, tuple):
        kept = list(hooks)
        place = next((n for n, each in enumerate(kept) if each is fields[_HOOK]), None)
        if place is not None:
            del kept[place]
            call.write(table, fields[_KEY], tuple(kept))
    return NONE


def register_all() -> None:
    """Fills the registry with the handle's methods."""
    FUNCTIONS[f"{NAME}.remove"] = FUNCTIONS[f"{NAME}.__exit__"] = _remove
