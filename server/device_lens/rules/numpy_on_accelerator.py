"""A tensor on an accelerator given to code that reads host memory.

## What it does
Flags `.numpy()`, `np.asarray(t)`, plotting and sklearn calls on a tensor that is on an accelerator.

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
for.
"""

from __future__ import annotations

from device_lens.fixes.host_copy import host_copy
from device_lens.interpreter.facts import Kind
from device_lens.interpreter.rarer_facts import HostRead
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import on, quoted, when

RULE = Rule("numpy-on-accelerator", Severity.ERROR, __doc__)


@RULE.reads(HostRead)
def check(fact: HostRead, context: Context) -> Finding | None:
    if not fact.on_accelerator:
        return None
    container = fact.container or _container(fact, context)
    subject = f"The tensors in {quoted(fact.text)} are" if container else None
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
        fixes=[host_copy(context.place(fact.subject), container, fact.requires_grad, True)],
    )


def _container(fact: HostRead, context: Context) -> str | None:
    """What the subject is where it is known to hold tensors rather than to be one."""
    known = context.expression(fact.subject)
    return "list" if known is not None and known.kind is Kind.CONTAINER else None
