"""`.numpy()` on a tensor that requires grad.

## What it does
Flags `.numpy()`, `np.asarray(t)`, an operator that has a NumPy array beside it and the like on a
tensor or parameter that requires grad.

## Why is this bad?
A NumPy array cannot carry a graph. The line raises `RuntimeError: Can't call numpy() on Tensor that
requires grad. Use tensor.detach().numpy() instead.`

## Example
```python
table = model(x).softmax(dim=1).numpy()
```

## Use instead
```python
table = model(x).softmax(dim=1).detach().numpy()
```

## Known limits
Silent under `torch.no_grad()` and `torch.inference_mode()`, and where it is not known whether the
tensor requires grad. On an accelerator `numpy-on-accelerator` speaks, and its fix detaches too.

## Fix safety
Safe: the values are the same. Unsafe beside an operator, where a tensor is made of the array
instead, so that the graph stays.
"""

from __future__ import annotations

from device_lens.interpreter.rarer_facts import HostRead
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.host_reads import copied
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

RULE = Rule("numpy-requires-grad", Severity.ERROR, __doc__)


@RULE.reads(HostRead)
def check(fact: HostRead, context: Context) -> Finding | None:
    if fact.on_accelerator or not fact.requires_grad:
        return None
    message = (
        f"{quoted(fact.text)} requires grad, and a NumPy array cannot carry its graph: "
        f"{quoted(fact.what)} raises."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        fact.text,
        related=context.history(fact.text, fact.trail),
        fixes=lambda: [copied(fact, True, False, context)],
    )
