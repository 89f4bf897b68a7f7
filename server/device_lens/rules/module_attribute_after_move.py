"""A new layer or parameter put into a module after the module moved.

## What it does
Flags `model.fc = nn.Linear(...)`, `self.prompt = nn.Parameter(...)` and the like, where the module
has already been moved and the new part is on the CPU.

## Why is this bad?
A move takes along what the module holds at that moment. A part that comes later stays where it was
made, so the next call of the module mixes two devices and raises.

## Example
```python
model = Backbone().to(device)
model.fc = nn.Linear(model.fc.in_features, 5)
```

## Use instead
```python
model = Backbone().to(device)
model.fc = nn.Linear(model.fc.in_features, 5).to(device)
```

## Known limits
Silent where the module moves again before it is used, and where a function that is given the module
does no more than to put the part into it: whoever called it may move the module next. A part that
is put elsewhere on purpose (`.cpu()`, `device=`) is told of only where a call meets it.

## Fix safety
Safe: the new part goes where its module is.
"""

from __future__ import annotations

import ast

from device_lens.fixes.bindings import parameters_of
from device_lens.fixes.device_keyword import move_part
from device_lens.fixes.edit import Fix
from device_lens.interpreter.rarer_facts import LatePart
from device_lens.rules.causes import LATE
from device_lens.rules.conflict_words import places, plain
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import on, quoted, when

RULE = Rule(LATE, Severity.ERROR, __doc__)


@RULE.reads(LatePart)
def check(fact: LatePart, context: Context) -> Finding | None:
    symbol = f"{fact.module_text}.{fact.attribute}" if fact.attribute else context.text(fact.part)
    conflicts = context.consequences(fact.site)
    used = fact.used or bool(conflicts)
    if not used and (_is_given(fact, context) or _is_placed(fact, context)):
        return None
    consequence = "the next call raises" if used else "a call of the module then raises"
    message = (
        f"{quoted(symbol)} is {on(fact.part_device)}, but its module {quoted(fact.module_text)} "
        f"is already {on(fact.module_device)}{context.whence(fact.module_trail)}: {consequence}"
        f"{when(fact.condition)}."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        symbol,
        severity=Severity.ERROR if used else Severity.WARNING,
        related=[
            *context.history(fact.module_text, fact.module_trail),
            *places(conflicts, context),
        ],
        fixes=lambda: [_fix(fact, context)],
    )


def _is_given(fact: LatePart, context: Context) -> bool:
    """Whether the function around gets the module from its caller."""
    function = context.place(fact.site).function
    return function is not None and fact.module_text.partition(".")[0] in parameters_of(function)


def _is_placed(fact: LatePart, context: Context) -> bool:
    """Whether the part is put where it is on purpose: `model.head.cpu()`, `device="cpu"`."""
    call = context.place(fact.part).node
    if not isinstance(call, ast.Call):
        return False
    if any(keyword.arg == "device" for keyword in call.keywords):
        return True
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("cpu", "to")


def _fix(fact: LatePart, context: Context) -> Fix | None:
    part = context.place(fact.part)
    device = context.at_hand.find(fact.module_device, part)
    text, asks = fact.module_text, isinstance(part.node, ast.Call) and plain(fact.module_text)
    if device is None and asks and not context.at_hand.may_be_bare(text, part):
        device = f"next({text}.parameters()).device"
    return move_part(part, device) if device is not None else None
