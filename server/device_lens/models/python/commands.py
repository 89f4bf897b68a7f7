"""Libraries that make command lines of classes and functions: defaults are the primary case."""

from __future__ import annotations

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import Instance, ListObject
from device_lens.domain.values import NONE, Const, Unknown
from device_lens.models.call import Call, Value
from device_lens.models.python.configuration import unless_given
from device_lens.models.registry import FUNCTIONS
from device_lens.models.words import words

OF_CLASSES = words(
    "tyro.cli simple_parsing.parse jsonargparse.CLI jsonargparse.auto_cli draccus.parse"
)
OF_FUNCTIONS = words("fire.Fire typer.run defopt.run")


def _from_class(call: Call) -> Value:
    """`tyro.cli(Config)`: an instance whose fields have their defaults, or what was given."""
    target = call.args[0] if call.args else NONE
    made = call.services.invoke(target, (), {})
    if type(target) is ClassValue and type(made) is Instance:
        for name, _ in target.data_fields or ():
            if name in made.fields:
                call.write(made.fields, name, _given(name, made.fields[name]))
    return made


def _given(name: str, default: Value) -> Value:
    """A field that the command line may set. Numbers decide no device."""
    if type(default) is not Const or not isinstance(default.value, bool | str):
        return default
    return unless_given(f"--{name.replace('_', '-')}", default, f"args.{name}")


def _from_function(call: Call) -> Value:
    """`fire.Fire(main)`: calls it with its defaults."""
    return call.services.invoke(call.args[0], (), {}) if call.args else NONE


def _from_main(call: Call) -> Value:
    """`absl.app.run(main)`: calls it with what the flags left of the command line."""
    if not call.args:
        return NONE
    rest = ListObject((), Unknown("an argument"), "list", call.site.node)
    return call.services.invoke(call.args[0], (rest,), {})


def register() -> None:
    """Fills the registry."""
    for name in OF_CLASSES:
        FUNCTIONS[name] = _from_class
    for name in OF_FUNCTIONS:
        FUNCTIONS[name] = _from_function
    FUNCTIONS["absl.app.run"] = _from_main
