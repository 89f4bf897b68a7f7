"""What an optimizer keeps for each of its parameters: one dict stands for those of all of them,
until the program takes that of one, or of some, which is a dict of its own from there on."""

from __future__ import annotations

from typing import Any

from device_lens.domain.heap import MEMBERS, DictObject, Instance, Parameter
from device_lens.domain.join import join_all
from device_lens.domain.journal import Journal
from device_lens.domain.parameters import either, members

KEPT_BY = "<kept by>"
"""The field of such a dict of dicts with its optimizer."""
TAKEN_FOR = "<taken for>"
"""The field of what is kept with the parameter for which the program has taken it last."""


def any_owner(made: Instance) -> Parameter | None:
    """Any parameter of an optimizer; None where some of them are not known."""
    owners = made.fields.get(MEMBERS, ())
    known = [one for one in owners if type(one) is Parameter]
    return either(known) if known and len(known) == len(owners) else None


def taken(journal: Journal, kept: DictObject, parameter: Any) -> Any:
    """What is kept for a parameter, or for any of several; Python's None where nobody knows for
    which."""
    if type(parameter) is not Parameter or parameter.many is not None:
        return None
    asked, rest = members(parameter), kept.rest
    found = {id(each): each for each in (kept.entries.get(one, rest) for one in asked)}
    if None in found.values():
        return None
    state = join_all([*found.values()])
    if type(state) is not DictObject:
        return state
    if len(found) == 1 and _is_of_others(kept, state, asked):
        state = _apart(journal, kept, state, asked)
    if state.fields.get(TAKEN_FOR) is not parameter:
        journal.write(state.fields, TAKEN_FOR, parameter)
    return state


def _is_of_others(kept: DictObject, state: DictObject, asked: tuple[Parameter, ...]) -> bool:
    """Whether what is kept for some parameters stands for what is kept for others too."""
    if state is not kept.rest:
        return any(each is state and one not in asked for one, each in kept.entries.items())
    made = kept.fields[KEPT_BY]
    owner = any_owner(made) if isinstance(made, Instance) else None
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
