"""`torch.cuda.device(i)` taken to be what `torch.device` is.

## What it does
Flags factories inside `with torch.cuda.device(i)` that are taken to create on that GPU, the context
given where a device is asked for, and the context as a statement, which never enters it.

## Why is this bad?
`torch.cuda.device` selects the current CUDA device: `.cuda()` and `device="cuda"` heed it, a
factory without `device=` still makes its tensor on the CPU. As an argument of `.to()` it raises,
and outside of a `with` it selects nothing.

## Example
```python
with torch.cuda.device(0):
    h = torch.zeros(3, 6)
```

## Use instead
```python
with torch.device("cuda:0"):
    h = torch.zeros(3, 6)
```

## Known limits
Silent where the tensors of the block are moved or only meet tensors on the CPU.

## Fix safety
Unsafe: every factory in the block then creates on that device, and a selection holds for all that
follows.
"""

from __future__ import annotations

import ast

from device_lens.fixes.cuda_context import select_device, use_torch_device
from device_lens.fixes.edit import Fix
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Kind
from device_lens.interpreter.rarer_facts import CudaContext
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

RULE = Rule("cuda-device-context", Severity.WARNING, __doc__)


@RULE.reads(CudaContext)
def check(fact: CudaContext, context: Context) -> Finding | None:
    call = f"torch.cuda.device({fact.index})"
    if fact.form == "factories":
        message = (
            f"{quoted(call)} selects the current CUDA device, which a factory without `device=` "
            f"does not heed: the tensors are made on the CPU."
        )
        related = [
            each
            for site in fact.factories
            for each in context.related(site, "this tensor is made on the CPU")
        ]
    elif fact.form == "idle":
        message = (
            f"{quoted(call)} is a context manager: outside of a `with` it selects nothing, and the "
            f"current CUDA device stays."
        )
        related = []
    else:
        message = (
            f"{quoted(call)} is a context manager and no device: given as one, it raises TypeError."
        )
        related = [*context.related(fact.context, "the context manager is made here")]
    symbol = context.text(fact.context).partition("(")[0]
    return context.finding(
        RULE, fact.site, message, symbol, related=related, fixes=lambda: [_fix(fact, context)]
    )


def _fix(fact: CudaContext, context: Context) -> Fix | None:
    place = context.place(fact.context)
    if fact.form == "idle":
        return select_device(place)
    return use_torch_device(place, _names_a_device(place, context))


def _names_a_device(place: Place, context: Context) -> bool:
    """Whether the argument is known to be a device rather than a number."""
    if not isinstance(place.node, ast.Call) or not place.node.args:
        return False
    argument = place.node.args[0]
    return any(
        each.site.node is argument and each.kind is Kind.DEVICE
        for each in context.facts.expressions
    )
