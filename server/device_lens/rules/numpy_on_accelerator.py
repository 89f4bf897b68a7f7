"""A tensor on an accelerator given to code that reads host memory.

## What it does
Flags `.numpy()`, `np.asarray(t)`, an operator that has a NumPy array beside it, plotting and
sklearn calls on a tensor that is on an accelerator, or on a list that holds one.

## Why is this bad?
NumPy reads host memory only. The line raises `TypeError: can't convert cuda:0 device type tensor to
numpy. Use Tensor.cpu() to copy the tensor to host memory first.`

## Example
```python
values = np.asarray(pred)
```

## Use instead
```python
values = np.asarray(pred.cpu())
```

## Known limits
Silent where the device is not known, and for `.numpy(force=True)`, which copies by itself.

## Fix safety
Safe: `.cpu()` (and `.detach()` where the tensor requires grad) makes the copy that the message asks
for; `.numpy()` is added for `np.mean` and the like, which take no tensor. Unsafe beside an
operator, where a tensor is made of the array instead.
"""

from __future__ import annotations

from device_lens.interpreter.rarer_facts import HostRead
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.host_reads import container_of, copied
from device_lens.rules.rule import Rule
from device_lens.rules.wording import on, quoted, when

RULE = Rule("numpy-on-accelerator", Severity.ERROR, __doc__)


@RULE.reads(HostRead)
def check(fact: HostRead, context: Context) -> Finding | None:
    if not fact.on_accelerator:
        return None
    held = container_of(fact, context) is not None
    subject = f"The tensors in {quoted(fact.text)} are" if held else None
    message = (
        f"{subject or f'{quoted(fact.text)} is'} {on(fact.device)}{context.whence(fact.trail)}, "
        f"but {quoted(fact.what)} reads host memory: it raises{when(fact.condition)}."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        fact.text,
        related=context.history(fact.text, fact.trail),
        fixes=lambda: [copied(fact, fact.requires_grad, True, context)],
    )
