"""A value that goes from the accelerator to the host and back.

## What it does
Flags a tensor that is copied to the host (`.cpu()`, `.numpy()`, `.tolist()`, `.item()`) and comes
back to the accelerator, in a hot loop.

## Why is this bad?
The way down waits for the device, the way up copies again. Most of what is done in between exists
on the device as well.

## Example
```python
best = np.argmax(q.detach().cpu().numpy(), axis=1)
action = torch.from_numpy(best).to(device)
```

## Use instead
```python
action = q.argmax(dim=1)
```

## Known limits
Only values that come back as they are, or through NumPy functions with a counterpart in PyTorch.

## Fix safety
Unsafe: it is offered where nothing happens to the value on the host. Another dtype that it gets on
the way stays, and what the program writes into afterwards is a copy.
"""

from __future__ import annotations

from device_lens.fixes.edit import Fix
from device_lens.fixes.round_trip import stay_on_device
from device_lens.interpreter.rarer_facts import RoundTrip
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted, when

RULE = Rule("round-trip", Severity.INFORMATION, __doc__)


@RULE.reads(RoundTrip)
def check(fact: RoundTrip, context: Context) -> Finding | None:
    message = (
        f"The value goes to the host through {quoted(fact.through)} and comes back to the "
        f"accelerator ({context.line(fact.up)}){when(fact.condition)}: the way down waits for the "
        f"device, the way up copies again."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        context.text(fact.site),
        related=context.related(fact.up, "back to the accelerator here"),
        fixes=lambda: [_fix(fact, context)],
    )


def _fix(fact: RoundTrip, context: Context) -> Fix | None:
    if fact.up.path != fact.site.path:
        return None
    return stay_on_device(context.place(fact.site), context.place(fact.up))
