"""A float64 tensor moved to or made on MPS.

## What it does
Flags factories and transfers that would put a float64 tensor on Apple's MPS device.

## Why is this bad?
MPS has no float64: the line raises `TypeError: Cannot convert a MPS Tensor to float64 dtype`.

## Example
```python
scale = torch.arange(0, dim, 2, dtype=torch.float64, device="mps")
```

## Use instead
```python
scale = torch.arange(0, dim, 2, dtype=torch.float32, device="mps")
```

## Known limits
Silent where the dtype or the device is not known.

## Fix safety
Unsafe: float32 has about half the digits.
"""

from __future__ import annotations

from device_lens.fixes.single_precision import single_precision
from device_lens.interpreter.rarer_facts import Float64OnMps
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted, when

RULE = Rule("mps-float64", Severity.ERROR, __doc__)


@RULE.reads(Float64OnMps)
def check(fact: Float64OnMps, context: Context) -> Finding | None:
    message = (
        f"{quoted(fact.subject)} would be float64 on MPS, which has no float64: the line raises "
        f"TypeError{when(fact.condition)}."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        fact.subject,
        related=context.history(fact.subject, fact.trail),
        fixes=lambda: [single_precision(context.place(fact.site))],
    )
