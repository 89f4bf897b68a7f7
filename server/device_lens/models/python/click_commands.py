"""click and typer: functions that get their arguments from the command line.

A decorated function is one whose options are given already: their defaults in the primary case.
"""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.values import NONE, TRUE, Const, External, Partial, Unknown
from device_lens.models.call import Call, Value, constant
from device_lens.models.python.configuration import flag_value
from device_lens.models.registry import FUNCTIONS

_GIVES = "click.<gives>"
"""The function that a decorator is, with what it gives the decorated one before."""
_RUNS = "click.<runs>"
"""A command: what it is called with are words of a command line, no arguments."""
_MAKES = "click.<makes>"
"""The decorator that makes one."""
_APP = "typer.Typer"
_COMMANDS = "<commands>"
"""The field of an application with the functions that are its commands."""
_ADDS = "typer.<adds>"


def _option(call: Call) -> Value:
    """`@click.option("--device", default="cuda")`."""
    names = [text for text in map(constant, call.args) if isinstance(text, str)]
    if not names:
        return NONE
    long = max(names, key=lambda name: (name.startswith("--"), len(name)))
    destination = next((name for name in names if name.isidentifier()), None)
    destination = destination or long.lstrip("-").split("/")[0].replace("-", "_").lower()
    flag = long.split("/")[0].strip()
    kwargs = dict(call.kwargs)
    is_flag = constant(kwargs.get("is_flag")) is True
    if is_flag and kwargs.get("default", Const(False)) == Const(False):
        kwargs["action"] = Const("store_true")
    if constant(kwargs.get("multiple")) is True or "prompt" in kwargs:
        kwargs["required"] = TRUE
    given = Call(call.name, call.receiver, call.args, kwargs, call.site, call.services)
    return _giving(destination, flag_value(given, destination, flag))


def _argument(call: Call) -> Value:
    """`@click.argument("path")`."""
    name = constant(call.args[0]) if call.args else None
    if not isinstance(name, str):
        return NONE
    destination = name.replace("-", "_").lower()
    return _giving(destination, Unknown(f"args.{destination}"))


def _giving(destination: str, value: Value) -> Partial:
    return Partial(External(_GIVES), (Const(destination), value), {})


def _gives(call: Call) -> Value:
    """A decorator is applied to a function, or to what another decorator made of one."""
    if len(call.args) != 3:
        return call.unknown()
    name, value, function = call.args
    if type(function) is Partial and type(function.function) is not External:
        return Partial(function.function, function.args, {name.value: value, **function.kwargs})
    return Partial(function, (), {name.value: value})


def _with_context(call: Call) -> Value:
    """`@click.pass_context`."""
    function = call.args[0] if call.args else NONE
    context = Unknown("the context")
    if type(function) is Partial:
        return Partial(function.function, (context, *function.args), function.kwargs)
    return Partial(function, (context,), {})


def _makes(call: Call) -> Value:
    function = call.args[-1] if call.args else NONE
    return Partial(External(_RUNS), (function,), {}) if call.complete else call.unknown()


def _runs(call: Call) -> Value:
    return call.services.invoke(call.args[0], (), {}) if call.args else NONE


def _typed_option(call: Call) -> Value:
    """`device: str = typer.Option("cuda")`: the default of a parameter."""
    default = call.get(0, "default", NONE)
    return Unknown("an option") if default == Const(...) else default


def _application(call: Call) -> Value:
    return Instance(External(_APP), call.site.node)


def _command(call: Call) -> Value:
    """`@app.command()`."""
    return Partial(External(_ADDS), (call.receiver,), {})


def _adds(call: Call) -> Value:
    if len(call.args) != 2 or not isinstance(call.args[0], Instance):
        return call.unknown()
    application, function = call.args
    known = application.fields.get(_COMMANDS, ())
    call.write(application.fields, _COMMANDS, (*known, function))
    return function


def _run(call: Call) -> Value:
    """`app()`: any of its commands."""
    application = call.receiver
    if isinstance(application, Instance):
        for function in application.fields.get(_COMMANDS, ()):
            call.services.invoke_beside(function, (), {}, False)
    return NONE


def register() -> None:
    """Fills the registry."""
    FUNCTIONS["click.option"] = _option
    FUNCTIONS["click.argument"] = _argument
    FUNCTIONS["click.pass_context"] = FUNCTIONS["click.pass_obj"] = _with_context
    FUNCTIONS[_GIVES] = _gives
    FUNCTIONS["click.command"] = lambda call: Partial(External(_MAKES), (), {})
    FUNCTIONS[_MAKES] = _makes
    FUNCTIONS[_RUNS] = _runs
    FUNCTIONS["typer.Option"] = FUNCTIONS["typer.Argument"] = _typed_option
    FUNCTIONS[_APP] = _application
    FUNCTIONS[f"{_APP}.command"] = _command
    FUNCTIONS[f"{_APP}.callback"] = _command
    FUNCTIONS[f"{_APP}.__call__"] = _run
    FUNCTIONS[_ADDS] = _adds
