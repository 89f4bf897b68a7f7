"""ContextVar, threading.local: values that each thread has for itself."""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.join import join
from device_lens.domain.presence import presence
from device_lens.domain.values import NONE, Unknown
from device_lens.models.call import Call, Value
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.objects import class_model, instance

IN_THREAD = "thread"
"""The state of a program that tells whether what runs is run by another thread than its first."""
OF_THREADS = ("default_device", "current_cuda", "grad", IN_THREAD)
"""State that each thread has of its own: a new one begins as the program did."""
LOCAL = "threading.local"
_VARIABLE, _TOKEN = "contextvars.ContextVar", "contextvars.Token"
_VALUE = "<value>"


def _variable(call: Call) -> Value:
    made = instance(call, _VARIABLE)
    if (default := call.kwargs.get("default")) is not None:
        made.fields["<default>"] = default
    return made


def _set(call: Call) -> Value:
    """`variable.set(value)`: what a coroutine sets is not set for all who go on after it."""
    held, value = call.receiver, call.get(0, "value", Unknown())
    if not isinstance(held, Instance):
        return call.unknown()
    token = instance(call, _TOKEN, var=held)
    if _VALUE in held.fields:
        before = held.fields[_VALUE]
        token.fields[_VALUE] = before if presence(held.fields, _VALUE) is True else Unknown()
    apart = call.services.globals.get(IN_THREAD) or call.services.in_coroutine()
    call.write(held.fields, _VALUE, Unknown() if apart else value)
    return token


def _get(call: Call) -> Value:
    held = call.receiver
    if not isinstance(held, Instance) or call.services.globals.get(IN_THREAD):
        return call.unknown()
    default = call.get(0, "default", held.fields.get("<default>", Unknown()))
    if call.services.is_called_unseen():
        default = Unknown()
    if _VALUE not in held.fields:
        return default
    return join(presence(held.fields, _VALUE), held.fields[_VALUE], default)


def _reset(call: Call) -> Value:
    held, token = call.receiver, call.get(0, "token")
    if not isinstance(held, Instance):
        return NONE
    if not isinstance(token, Instance) or call.services.in_coroutine():
        call.write(held.fields, _VALUE, Unknown())
    elif _VALUE in token.fields:
        call.write(held.fields, _VALUE, token.fields[_VALUE])
    else:
        call.services.journal.delete(held.fields, _VALUE)
    return NONE


def register() -> None:
    """Fills the registry."""
    FUNCTIONS[_VARIABLE] = _variable
    FUNCTIONS[f"{_VARIABLE}.set"] = _set
    FUNCTIONS[f"{_VARIABLE}.get"] = _get
    FUNCTIONS[f"{_VARIABLE}.reset"] = _reset
    FUNCTIONS[LOCAL] = class_model(LOCAL)
