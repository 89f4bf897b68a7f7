"""A tensor made without `device=` that meets a tensor elsewhere.

## What it does
Flags `torch.zeros(n)`, `torch.arange(n)`, `torch.tensor(...)` and the like, without `device=`,
where the result meets a tensor that lives on another device: in `forward`, in a loss, in a mask or
a hidden state.

## Why is this bad?
Such a factory makes its tensor on the default device, the CPU, wherever the inputs are. The line
that combines the two raises as soon as the inputs are on an accelerator.

## Example
```python
target = torch.arange(a.size(0))
return F.cross_entropy(logits, target)
```

## Use instead
```python
target = torch.arange(a.size(0), device=a.device)
return F.cross_entropy(logits, target)
```

## Known limits
An error where both devices are known, a warning where a caller or a module's inputs show that
another device is meant, else a hint. Silent in datasets, transforms and collate functions, whose
tensors belong on the CPU. A hint in a method that tries its own module out, with inputs that it
makes up and an output that it only looks at: it runs where the module was made.

## Fix safety
Safe: `device=` follows a tensor or device at hand that is not None on any call. Unsafe for random
factories, since another device draws other numbers, and where it names a device of the file in a
function that other scripts use elsewhere. Where no device is at hand, the tensor moves where it is
used, or once below the assignment of its name, or where its object moves what it meets (unsafe).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.fixes.bindings import may_be_none
from device_lens.fixes.device_keyword import create_there
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.factories import takes_device
from device_lens.fixes.names import is_local
from device_lens.fixes.other_kinds import may_be_no_tensor
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Certainty, Conflict, Operand
from device_lens.rules.bound_moved import bind_moved
from device_lens.rules.callers_choice import is_lost_on_the_way
from device_lens.rules.causes import CREATED, Cause
from device_lens.rules.conflict_words import (
    SEVERITIES,
    followed,
    is_of_around,
    move_fix,
    of_part,
    operation,
    places,
    side,
)
from device_lens.rules.context import Context
from device_lens.rules.factory_scope import tries_out
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.kept_moved import keep_moved, move_beside
from device_lens.rules.rule import Rule
from device_lens.rules.wording import leaf, quoted, when

_MODULE = re.compile(r"next\((\w+)")

RULE = Rule(CREATED, Severity.ERROR, __doc__)


@RULE.reads(Cause)
def check(cause: Cause, context: Context) -> Finding | None:
    if cause.rule != RULE.name or cause.origin is None:
        return None
    conflict = cause.leading
    possible = conflict.certainty is Certainty.POSSIBLE
    if possible and all(is_lost_on_the_way(each, context) for each in cause.conflicts):
        return None
    factory = quoted(f"{cause.origin.name}(…)")
    made = f"makes {quoted(conflict.stray.text)} on"
    if takes_device(cause.origin.name):
        maker = f"{factory} without `device=` {made} the default device, the CPU"
    else:
        maker = f"{factory} {made} the CPU"
    message = (
        f"{maker}, but {side(conflict.other, conflict, context)}. {operation(conflict)} "
        f"({context.line(conflict.site)}) {_outcome(conflict)}."
    )
    severity = SEVERITIES[conflict.certainty]
    if conflict.certainty is not Certainty.SURE and tries_out(context.place(cause.site)):
        severity = Severity.HINT
    return context.finding(
        RULE,
        cause.site,
        message,
        conflict.stray.text,
        severity=severity,
        related=places(cause.conflicts, context),
        fixes=lambda: _fixes(cause, conflict, context),
    )


def _outcome(conflict: Conflict) -> str:
    if conflict.certainty is Certainty.SURE:
        return f"raises{when(conflict.condition)}"
    return "raises where that is not the CPU"


def _fixes(cause: Cause, conflict: Conflict, context: Context) -> Iterator[Fix | None]:
    place = context.place(cause.site)
    device = _device(conflict, place, context)
    moved = None
    if device is None or _asks_a_stranger(device, place):
        moved = move_beside(cause, context) or keep_moved(cause, context)
        moved = moved or bind_moved(cause, context) or move_fix(cause.conflicts, context)
    if moved is None and device is not None and cause.origin is not None:
        made = create_there(place, cause.origin.name, device)
        if made is not None and _may_be_elsewhere(device, place, conflict, context):
            made = replace(made, safety=Safety.UNSAFE)
        yield made
    else:
        yield moved


def _may_be_elsewhere(device: str, factory: Place, conflict: Conflict, context: Context) -> bool:
    """Whether a function would name a device of what is around it, where some caller's tensors are
    not on that one."""
    if not is_of_around(device, factory) or not context.knows(conflict.other.site):
        return False
    met = conflict.other.site
    known = context.all_facts[met.path].expression_at(met.node)
    return known is not None and leaf(known.device) is UNKNOWN_DEVICE


def _asks_a_stranger(device: str, factory: Place) -> bool:
    """Whether an expression asks a module of the top level, which a function there does not get
    and may outlive."""
    module = _MODULE.match(device)
    function = factory.function
    if module is None or function is None or module[1] == "self":
        return False
    return not is_local(function, module[1])


def _device(conflict: Conflict, factory: Place, context: Context) -> str | None:
    """The device to create on: the other operand's where the factory can see it."""
    followed_by = followed(conflict.other, context) if _is_seen(conflict.other, factory) else None
    if followed_by is not None and _can_follow(followed_by, conflict.other, factory, context):
        return followed_by
    device = context.at_hand.find(conflict.other.device, factory)
    if device is not None and not is_of_around(device, factory):
        return device
    part = of_part(conflict.other, context) if _is_seen(conflict.other, factory) else None
    if part is not None and _can_follow(part, conflict.other, factory, context):
        return part
    return device


def _is_seen(other: Operand, factory: Place) -> bool:
    return not other.is_parameter and other.site.path == factory.path


def _can_follow(device: str, other: Operand, factory: Place, context: Context) -> bool:
    """Whether the device of a tensor that is read beside the operand can be asked for here."""
    asked = device.removesuffix(".device")
    if may_be_none(factory, asked) or may_be_no_tensor(factory, asked):
        return False
    return context.at_hand.visible(device, context.place(other.site), factory)
