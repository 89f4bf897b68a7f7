"""`CUDA_VISIBLE_DEVICES` set too late, or an ordinal that it hides.

## What it does
Flags an assignment of `CUDA_VISIBLE_DEVICES` after CUDA was initialised, and a device ordinal that
does not exist among the visible devices.

## Why is this bad?
The variable is read once, when CUDA starts; a later assignment changes nothing. Asking
`torch.cuda.is_available()` starts the driver, which reads it. Visible devices are numbered anew
from 0, so that with `"2"` the only device is `cuda:0` and any other ordinal raises `CUDA error:
invalid device ordinal`.

## Example
```python
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
device = torch.device("cuda:1")
```

## Use instead
```python
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
device = torch.device("cuda:0")
```

## Known limits
Only values that are written in the program are known; a flag, or a variable of the environment, has
its default.

## Fix safety
Unsafe: the ordinal is renumbered as the mask says, or the line moves above the one that starts
CUDA.
"""

from __future__ import annotations

import ast

from device_lens.fixes.edit import Fix
from device_lens.fixes.ordinals import renumber
from device_lens.fixes.reorder import put_above
from device_lens.interpreter.rarer_facts import VisibleDevices
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

RULE = Rule("visible-devices", Severity.ERROR, __doc__)


@RULE.reads(VisibleDevices)
def check(fact: VisibleDevices, context: Context) -> Finding | None:
    if _follows(fact, context):
        return None
    too_late = fact.form == "too-late"
    started = fact.initialised_at
    related = [*context.related(fact.mask, "`CUDA_VISIBLE_DEVICES` is set here")]
    if started is not None:
        related += context.related(started, "CUDA is initialised here")
    return context.finding(
        RULE,
        fact.site,
        _too_late(fact, context) if too_late else _hidden(fact, context),
        context.text(fact.site),
        severity=Severity.WARNING if too_late else Severity.ERROR,
        related=related,
        fixes=lambda: [_move_up(fact, context) if too_late else _renumber(fact, context)],
    )


def _follows(fact: VisibleDevices, context: Context) -> bool:
    """Whether the ordinal is written nowhere, and an earlier place of the function uses it too."""
    if fact.form != "ordinal" or isinstance(fact.site.node, ast.Constant):
        return False
    place = context.place(fact.site)
    return any(
        isinstance(each, VisibleDevices)
        and (each.form, each.mask, each.ordinal) == (fact.form, fact.mask, fact.ordinal)
        and not isinstance(each.site.node, ast.Constant)
        and context.place(each.site).function is place.function
        and context.place(each.site).range.start < place.range.start
        for each in context.facts.others
    )


def _too_late(fact: VisibleDevices, context: Context) -> str:
    started = fact.initialised_at
    where = f" ({context.line(started)})" if started and context.knows(started) else ""
    return f"`CUDA_VISIBLE_DEVICES` is set after CUDA was initialised{where}: it has no effect."


def _hidden(fact: VisibleDevices, context: Context) -> str:
    visible = ",".join(fact.visible)
    last = len(fact.visible) - 1
    range_of = (
        "`cuda:0` is the only device" if last == 0 else f"devices are `cuda:0` to `cuda:{last}`"
    )
    default = " by default" if fact.by_default else ""
    return (
        f"With `CUDA_VISIBLE_DEVICES` set to {quoted(visible)}{default} "
        f"({context.line(fact.mask)}) {range_of}: {quoted(f'cuda:{fact.ordinal}')} raises "
        "`invalid device ordinal`."
    )


def _renumber(fact: VisibleDevices, context: Context) -> Fix | None:
    if fact.ordinal is None:
        return None
    return renumber(context.place(fact.site), fact.ordinal, fact.visible)


def _move_up(fact: VisibleDevices, context: Context) -> Fix | None:
    started = fact.initialised_at
    if started is None or started.path != fact.mask.path:
        return None
    mask, start = context.place(fact.mask).statement, context.place(started).statement
    if mask.function is not None or start.function is not None:
        return None
    return put_above(mask, start, "Set it before CUDA is initialised")
