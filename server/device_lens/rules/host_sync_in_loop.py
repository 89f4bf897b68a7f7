"""A read of a tensor on the host in each iteration of a hot loop.

## What it does
Flags `.item()`, `.cpu()`, `.tolist()`, `print(t)`, `if t:`, `nonzero` and the like on an
accelerator tensor, in a loop that runs per batch or per step.

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
print(running_loss.item() / len(data))
```

## Known limits
Silent where a test such as `step % 100 == 0` guards it, and where the device is not known. A loop
that needs the value, as a decoding or an environment step does, has to wait.

## Fix safety
Unsafe: the total is then a tensor on the device.
"""

from __future__ import annotations

from device_lens.fixes.read_value import accumulate_on_device
from device_lens.interpreter.facts import Synchronization
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import accelerated, on, quoted, together, when

RULE = Rule("host-sync-in-loop", Severity.INFORMATION, __doc__)


@RULE.reads(Synchronization)
def check(fact: Synchronization, context: Context) -> Finding | None:
    hot = next((loop for loop in reversed(fact.loops) if loop.hot), None)
    elsewhere = accelerated(fact.device)
    if hot is None or elsewhere is None or fact.interval_guarded:
        return None
    device, condition = elsewhere
    symbol = context.text(fact.subject) if fact.subject is not None else context.text(fact.site)
    message = (
        f"{quoted(fact.what)} waits on each iteration until everything that {quoted(symbol)} "
        f"({on(device)}) depends on is computed{when(together(fact.condition, condition))}."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        symbol,
        related=context.related(hot.site, "in this loop"),
        fixes=[accumulate_on_device(context.place(fact.site))],
    )
