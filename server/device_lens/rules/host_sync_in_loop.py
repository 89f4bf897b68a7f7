"""A read of a tensor on the host in each iteration of a hot loop.

## What it does
Flags `.item()`, `.cpu()`, `.tolist()`, `print(t)`, `if t:`, `nonzero` and the like on an
accelerator tensor, in a loop that runs per batch or per step and in the functions that it calls.

## Why is this bad?
The host waits until the device has done all that was queued, and the device then waits for the
host. What it costs varies from a few percent to tens of milliseconds a step: measure.

## Example
```python
for batch in data:
    loss = step(batch)
    running_loss += loss.item()
```

## Use instead
```python
for batch in data:
    loss = step(batch)
    running_loss += loss.detach()
running_loss = float(running_loss)
```

## Known limits
Silent where a test such as `step % 100 == 0` guards it, in a handler and where the loop is left, in
a loop that counts around the one that trains, and where the device is not known. In a function that
the loop calls it is told where none of the functions on the way has a loop of its own. Reads right
behind each other are told of once: the first one waits. In a comprehension only what waits for
something that it computes for each element is told. A loop that needs the value, as a decoding or
an environment step does, has to wait.

## Fix safety
Unsafe: the total is then summed on the device, in the precision of what is added, 32 bits at
least. None is offered where it is not known whether the total ends as an integer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.edit import Fix
from device_lens.fixes.read_value import accumulate_on_device
from device_lens.interpreter.facts import Loop, Synchronization
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Related, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.seldom import is_seldom
from device_lens.rules.timing import is_timed
from device_lens.rules.waits import hot_loop, shown
from device_lens.rules.wording import accelerated, on, quoted, together, when

RULE = Rule("host-sync-in-loop", Severity.INFORMATION, __doc__)


@RULE.reads(Synchronization)
def check(fact: Synchronization, context: Context) -> Finding | None:
    hot, elsewhere = hot_loop(fact), accelerated(fact.device)
    if hot is None or elsewhere is None or fact.site.node in context.waits.spared:
        return None
    if not context.knows(hot.site):
        return None
    if is_timed(context.place(shown(hot))) or _is_seldom(fact, hot, context):
        return None
    device, condition = elsewhere
    symbol = _symbol(fact, context)
    way = context.related(shown(hot), "in this loop")
    if fact.repeated is not None:
        way = context.way_to(fact.repeated)
    behind = context.waits.behind.get(fact.site.node, [])
    message = (
        f"{_what(fact)} waits {_how_often(fact, hot, context)} until everything that "
        f"{quoted(symbol)} ({on(device)}) depends on is computed"
        f"{when(together(fact.condition, condition))}.{_spared(len(behind))}"
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        symbol,
        related=(*way, *_places(behind, context)),
        fixes=lambda: [_fix(fact, hot, context)],
    )


def _is_seldom(fact: Synchronization, hot: Loop, context: Context) -> bool:
    if fact.repeated is None:
        is_whole = isinstance(hot.site.node, ast.comprehension)
        return is_seldom(context.place(fact.site), None if is_whole else hot.site.node)
    sites = (*fact.repeated.calls, fact.site)
    if not all(map(context.knows, sites)):
        return True
    first, *further = map(context.place, sites)
    return is_seldom(first, hot.site.node) or any(map(is_seldom, further))


def _how_often(fact: Synchronization, hot: Loop, context: Context) -> str:
    if fact.repeated is None:
        return "on each iteration"
    return f"on each iteration of the loop of {context.line(hot.site)}"


def _fix(fact: Synchronization, hot: Loop, context: Context) -> Fix | None:
    known = context.expression(fact.subject) if fact.subject is not None else None
    if known is None or fact.repeated is not None or isinstance(hot.site.node, ast.comprehension):
        return None
    place, loop = context.place(fact.site), context.place(hot.site)
    return accumulate_on_device(place, loop, known.dtype, known.requires_grad is not False)


def _symbol(fact: Synchronization, context: Context) -> str:
    return context.text(fact.subject if fact.subject is not None else fact.site)


def _what(fact: Synchronization) -> str:
    """What waits: code as it is written, or in words."""
    if " " in fact.what and fact.what[0].isalpha():
        return fact.what.capitalize()
    return quoted(fact.what)


def _spared(number: int) -> str:
    if number == 0:
        return ""
    if number == 1:
        return " The read that follows it does not wait again."
    return f" The {number} reads that follow it do not wait again."


def _places(behind: list[Synchronization], context: Context) -> Iterator[Related]:
    for fact in behind:
        message = f"{quoted(_symbol(fact, context))} is read here without another wait"
        yield from context.related(fact.site, message)
