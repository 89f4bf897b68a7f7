"""What a call gives that is not followed: what calls alike gave, which were, and did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Function
from device_lens.domain.values import Unknown
from device_lens.interpreter import effects

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def not_followed(
    machine: Machine,
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    like: Any,
) -> Any:
    """What a call gives that is not followed for want of steps: what one alike gave, which changed
    nothing."""
    answer = answered(machine, function, like, short=True)
    if answer is not None:
        return answer
    omissions, source = machine.recorder.omissions, machine.alikes.followed.get(like)
    if source is None:
        omissions.leave_out(function.node, machine.path.named)
    else:
        omissions.leave_out_like(function.node, machine.path.named, source)
    effects.left_out(machine, function, args, kwargs, machine.alikes.place(like))
    return Unknown(f"{function.name}(…)")


def answered(machine: Machine, function: Function, like: Any, short: bool) -> Any:
    """What a call gave that was followed and is like another one; Python's None where none was.
    `short` tells that steps are wanting."""
    path = machine.path
    known = machine.alikes.find(like, path)
    if known is None:
        return None
    given, answer = known
    machine.premises.update(atom for atom, _ in given)
    omissions = machine.recorder.omissions
    omissions.answer(function.node, path.named, answer.condition, short)
    if machine.watched.open_calls:
        machine.watched.steps.append(None)  # what it computes is not counted
    return answer.again()
