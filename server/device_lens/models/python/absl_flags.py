"""`absl.flags`, and `gflags` before it: flags that any file of a program declares, and that all
read from one object."""

from __future__ import annotations

from device_lens.domain.guard import Guarded
from device_lens.domain.heap import Instance
from device_lens.domain.values import NONE, Const, External, Unknown
from device_lens.models.call import Call, Value, constant
from device_lens.models.python.configuration import unless_given
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.words import words

FLAGS = "absl.flags.FLAGS"
_KINDS = words(
    "string boolean bool integer float enum enum_class list spaceseplist multi_string "
    "multi_integer multi_float multi_enum"
)


def _define(call: Call) -> Value:
    """`flags.DEFINE_string("device", "cuda", "…")`; gives what holds the flag's `value`."""
    name, default = constant(call.get(0, "name")), call.get(1, "default", NONE)
    holder = Instance(External("absl.flags.FlagHolder"), call.site.node)
    if isinstance(name, str):
        holder.fields["default"] = default
        is_required = constant(call.kwargs.get("required")) is True
        value = _required(name) if is_required else _value(name, default)
        holder.fields["value"] = value
        call.services.set_global(f"{FLAGS}.{name}", value)
    return holder


def _value(name: str, default: Value) -> Value:
    """The default in the primary case, else what was given. Numbers decide no device."""
    if type(default) is Const and type(default.value) in (int, float):
        return default
    if type(default) not in (Const, Guarded):
        return default
    return unless_given(f"--{name}", default, _label(name))


def _required(name: str) -> Unknown:
    return Unknown(_label(name))


def _label(name: str) -> str:
    return f"FLAGS.{name}"


def _require(call: Call) -> Value:
    """`flags.mark_flags_as_required(["mode"])`: these have no default."""
    names = call.get(0, "flag_names", call.kwargs.get("flag_name", NONE))
    items = (names,) if type(names) is Const else call.services.iterate(names)[0]
    for name in filter(None, map(constant, items)):
        if type(call.services.attribute(External(FLAGS), name)) is not External:
            call.services.set_global(f"{FLAGS}.{name}", _required(name))
    return NONE


def register() -> None:
    """Fills the registry."""
    for kind in _KINDS:
        FUNCTIONS[f"absl.flags.DEFINE_{kind}"] = _define
    for name in ("mark_flag_as_required", "mark_flags_as_required"):
        FUNCTIONS[f"absl.flags.{name}"] = _require
    for name in ("FLAGS", "mark_flag_as_required", *(f"DEFINE_{kind}" for kind in _KINDS)):
        ALIASES[f"gflags.{name}"] = f"absl.flags.{name}"
