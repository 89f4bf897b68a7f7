"""What an optimizer keeps for each of its parameters: one dict stands for those of all of them,
until the program takes that of one, or of some, which is a dict of its own from there on."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.heap import (
    MEMBERS,
    STATE,
    DictObject,
    Instance,
    ListObject,
    Parameter,
    contents,
)
from device_lens.domain.join import join_all
from device_lens.domain.journal import Journal
from device_lens.domain.parameters import either, members
from device_lens.domain.values import FALSE, External, Tensor, Unknown
from device_lens.models.call import Call, Value, constant, tensor_of

ENTRIES = "<state entries>"
"""The field with the dict that `optimizer.state` is."""
TAKEN = "<state taken>"
"""The field that tells whether the program took `optimizer.state` since it was made: it may have
moved what it found there."""
FORM, LOADED = "<state form>", "loaded-state"
STATE_SITE = "<state site>"
STATE_OF = "torch.optim.Optimizer.<state of>"
KEPT_BY = "<kept by>"
"""The field of such a dict of dicts with its optimizer."""
TAKEN_FOR = "<taken for>"
"""The field of what is kept with the parameter for which the program has taken it last."""
STEP = "step"
"""What is kept under this is a number, which need not be beside the parameter."""
_COUNTS_BESIDE = frozenset({"torch.optim.ASGD"})
"""Optimizers that keep it there."""


def make(call: Call, made: Instance, form: str, loaded: Value = None) -> None:
    """Makes the state beside the parameters, wherever they are now."""
    pairs = _where(made)
    call.write(made.fields, STATE, tuple(pairs))
    call.write(made.fields, FORM, form)
    call.write(made.fields, STATE_SITE, call.site)
    devices = [device for _, device in pairs]
    same = bool(devices) and all(device == devices[0] for device in devices)
    device = devices[0] if same else UNKNOWN_DEVICE
    count = Tensor(_of_step_count(made, device, loaded), "float32", ())
    state = DictObject({STEP: count}, Tensor(device, zero_dim=False), call.site.node)
    state.many = None, None
    known = made.fields.get(ENTRIES)
    if form == LOADED and not _has_own(known):
        known = None  # what was there is gone
    if type(known) is DictObject and (known.entries or known.rest is not None):
        kept = _added_to(call, made, known, state, form == LOADED)
    else:
        kept = DictObject({}, state, call.site.node)
        kept.fields[KEPT_BY] = made
        kept.fields["rest_key"] = _any_owner(made)
    call.write(made.fields, ENTRIES, kept)
    call.write(made.fields, TAKEN, False)


def groups_of(made: Instance) -> list[DictObject]:
    """The groups of parameters that are known."""
    groups = made.fields.get("param_groups")
    items = groups.items if type(groups) is ListObject else ()
    return [group for group in items if type(group) is DictObject]


def state_of(call: Call) -> Value:
    """What a program reads of a parameter's state before any step has made it, which there is not,
    or after one that no path here has taken: what the library keeps beside the parameter."""
    tensor = tensor_of(call.get(0, "parameter"))
    entries: dict[Any, Value] = {STEP: Tensor(UNKNOWN_DEVICE, "float32", ())}
    device = UNKNOWN_DEVICE if tensor is None else tensor.device
    return DictObject(entries, Tensor(device, zero_dim=False), call.site.node)


def taken(journal: Journal, kept: DictObject, parameter: Any) -> Any:
    """What is kept for a parameter, or for any of several; Python's None where nobody knows for
    which."""
    if type(parameter) is not Parameter or parameter.many is not None:
        return None
    asked = members(parameter)
    found = _kept_for(kept, asked)
    if None in found:
        return None
    state = join_all(found)
    if type(state) is not DictObject:
        return state
    if len(found) == 1 and _is_of_others(kept, state, asked):
        state = _apart(journal, kept, state, asked)
    if state.fields.get(TAKEN_FOR) is not parameter:
        journal.write(state.fields, TAKEN_FOR, parameter)
    return state


def kept_at(kept: Any, parameter: Any) -> DeviceTree | None:
    """Where what the library keeps for a parameter is by now; None where nobody knows. What the
    program has put there by its name need not be all that there is."""
    if type(kept) is not DictObject or type(parameter) is not Parameter:
        return None
    held = [_place(each) for each in _kept_for(kept, members(parameter))]
    if KEPT_BY not in kept.fields or None in held:
        return None
    return held[0] if all(each == held[0] for each in held) else UNKNOWN_DEVICE


def lose(journal: Journal, made: Instance) -> None:
    """Code that is not seen has been given an optimizer: it may have moved what that keeps."""
    for state in contents(made.fields.get(ENTRIES)):
        if type(state) is DictObject:
            for key, value in list(state.entries.items()):
                journal.write(state.entries, key, _placed(value, UNKNOWN_DEVICE))
            journal.write(state.fields, "rest", _placed(state.rest, UNKNOWN_DEVICE))


def _where(made: Instance) -> list[tuple[Value, DeviceTree]]:
    found = []
    for value in made.fields.get(MEMBERS, ()):
        tensor = tensor_of(value)
        if tensor is not None:
            found.append((value, tensor.device))
    return found


def _of_step_count(made: Instance, device: DeviceTree, loaded: Value) -> DeviceTree:
    """Where the number of steps is kept: on the host, unless an option has it beside the parameter;
    one that is loaded is where it was saved."""
    if loaded is None and type(made.cls) is External and made.cls.name in _COUNTS_BESIDE:
        return device
    options = [
        constant(group.entries.get(name, FALSE), True)
        for group in groups_of(made)
        for name in ("capturable", "fused")
    ]
    if not any(options):
        return CPU if loaded is None else _count_in(loaded)
    alike = len(groups_of(made)) == 1 and any(each is True for each in options)
    return device if alike else UNKNOWN_DEVICE


def _count_in(loaded: Value) -> DeviceTree:
    """Where the number of steps is in what another optimizer has given, or a file."""
    if type(loaded) is Unknown:
        return loaded.device
    kept = loaded.entries.get("state") if type(loaded) is DictObject else None
    if type(kept) is not DictObject or kept.entries or type(kept.rest) is not DictObject:
        return UNKNOWN_DEVICE
    tensor = tensor_of(kept.rest.entries.get(STEP))
    return UNKNOWN_DEVICE if tensor is None else tensor.device


def _has_own(known: Value) -> bool:
    """Whether the program has put something of its own beside what an optimizer keeps."""
    return any(
        type(part) is not DictObject or set(part.entries) - {STEP} for part in contents(known)
    )


def _added_to(
    call: Call, made: Instance, known: DictObject, state: DictObject, loaded: bool
) -> Value:
    """The state of an optimizer of which the program has put something of its own there before: it
    stays, beside the parameter once it was loaded, and what the library adds is beside it."""
    parts = contents(known)
    if any(type(part) is not DictObject for part in parts):
        return call.unknown()
    for part in parts:
        for key, value in list(part.entries.items()) if loaded else ():
            call.write(part.entries, key, _placed(value, state.rest.device))
        for key, value in state.entries.items():
            if loaded or key not in part.entries:
                call.write(part.entries, key, value)
        afresh = loaded or part.rest is None
        rest = state.rest if afresh else join_all([part.rest, state.rest])
        call.write(part.fields, "rest", rest)
    covered = all(member in known.entries for member in made.fields.get(MEMBERS, ()))
    if known.rest is None and not covered:
        call.write(known.fields, "rest", state)
    return known


def _placed(value: Any, device: DeviceTree) -> Any:
    return value.with_(device=device) if type(value) is Tensor else value


def _any_owner(made: Instance) -> Parameter | None:
    """Any parameter of an optimizer; None where some of them are not known."""
    owners = made.fields.get(MEMBERS, ())
    known = [one for one in owners if type(one) is Parameter]
    return either(known) if known and len(known) == len(owners) else None


def _kept_for(kept: DictObject, parameters: tuple[Parameter, ...]) -> list[Any]:
    """What is kept for some parameters, each once."""
    found = (kept.entries.get(one, kept.rest) for one in parameters)
    return [*{id(each): each for each in found}.values()]


def _place(state: Any) -> DeviceTree | None:
    if type(state) is not DictObject or set(state.entries) - {STEP}:
        return None
    return state.rest.device if type(state.rest) is Tensor else None


def _is_of_others(kept: DictObject, state: DictObject, asked: tuple[Parameter, ...]) -> bool:
    """Whether what is kept for some parameters stands for what is kept for others too."""
    if state is not kept.rest:
        return any(each is state and one not in asked for one, each in kept.entries.items())
    made = kept.fields[KEPT_BY]
    owner = _any_owner(made) if isinstance(made, Instance) else None
    if owner is None:
        return True
    return any(each not in asked and each not in kept.entries for each in members(owner))


def _apart(
    journal: Journal, kept: DictObject, state: DictObject, asked: tuple[Parameter, ...]
) -> DictObject:
    made = DictObject(dict(state.entries), state.rest, state.site)
    made.fields["rest_key"] = state.fields["rest_key"]
    if len(asked) > 1:
        made.many = None, None
    for one in asked:
        journal.write(kept.entries, one, made)
    return made
