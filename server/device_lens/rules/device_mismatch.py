"""An operation whose operands are on different devices.

## What it does
Flags operators and functions that need all their tensors on one device and get them from two.

## Why is this bad?
PyTorch moves nothing by itself: the line raises `RuntimeError: Expected all tensors to be on the
same device`.

## Example
```python
pred = model(features.to(device)).argmax(dim=1)
correct += (pred == labels).sum()
```

## Use instead
```python
pred = model(features.to(device)).argmax(dim=1)
correct += (pred == labels.to(device)).sum()
```

## Known limits
Silent where PyTorch allows the mix: 0-dimensional operands on the CPU, index tensors on the CPU,
`copy_`, slice assignment. Silent where a device is not known.

## Fix safety
Unsafe: it moves the operand on the host to the other one; where the tensor should have lived all
along is for the author to say.
"""

from __future__ import annotations

from device_lens.domain.device import DeviceTree, is_accelerator
from device_lens.domain.guard import leaves, primary
from device_lens.fixes.edit import Fix
from device_lens.fixes.move_operand import move_items
from device_lens.interpreter.facts import Certainty, Conflict, Kind
from device_lens.rules.bound_moved import bind_moved
from device_lens.rules.causes import MISMATCH, Cause
from device_lens.rules.conflict_words import (
    SEVERITIES,
    move_fix,
    operation,
    outcome,
    places,
    side,
)
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

RULE = Rule(MISMATCH, Severity.ERROR, __doc__)


@RULE.reads(Cause)
def check(cause: Cause, context: Context) -> Finding | None:
    if cause.rule != RULE.name or cause.certainty is Certainty.POSSIBLE:
        return None
    conflict = cause.leading
    stray = side(conflict.stray, conflict, context)
    if conflict.wants_cpu:
        message = (
            f"{stray}, but {operation(conflict)} needs {quoted(conflict.stray.text)} on the CPU: "
            f"it {outcome(conflict)}."
        )
    elif _is_of_one_list(conflict):
        held = side(conflict.other, conflict, context).removeprefix(quoted(conflict.other.text))
        message = (
            f"{stray.replace('` is ', '` holds a tensor ', 1)}, and one "
            f"{held.removeprefix(' is ')}: {operation(conflict)} {outcome(conflict)}."
        )
    else:
        other = side(conflict.other, conflict, context)
        message = f"{stray}, but {other}: {operation(conflict)} {outcome(conflict)}."
    return context.finding(
        RULE,
        conflict.site,
        message,
        conflict.stray.text,
        severity=SEVERITIES[conflict.certainty],
        related=places(cause.conflicts, context),
        fixes=lambda: [_move(cause, context)],
    )


def _move(cause: Cause, context: Context) -> Fix | None:
    return (
        bind_moved(cause, context)
        or move_fix(cause.conflicts, context)
        or _gather(cause.leading, context)
    )


def _is_of_one_list(conflict: Conflict) -> bool:
    """Whether both tensors are items of one list that the operation takes, and not what an object
    holds under two names."""
    stray, other = conflict.stray, conflict.other
    return stray.site.node is other.site.node and stray.text == other.text


def _gather(conflict: Conflict, context: Context) -> Fix | None:
    """Moves all items of the list to where one of them is."""
    if not _is_of_one_list(conflict) or not context.knows(conflict.stray.site):
        return None
    place = context.place(conflict.stray.site)
    known = context.all_facts[place.path].expression_at(place.node)
    if known is None or known.kind is not Kind.CONTAINER:
        return None
    device = context.at_hand.find(conflict.other.device, place)
    if device is None and all(is_accelerator(each) for each in _devices(conflict)):
        device = f"{place.text}[0].device"
    return None if device is None else move_items(place, device)


def _devices(conflict: Conflict) -> list[DeviceTree]:
    both = (conflict.stray.device, conflict.other.device)
    return [each for device in both for each in leaves(primary(device))]
