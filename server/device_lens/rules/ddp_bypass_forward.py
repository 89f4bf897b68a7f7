"""A call that goes past the forward of a `DistributedDataParallel`.

## What it does
Flags `ddp.module(x)` while training, and methods of the wrapped module that are called on the
wrapper, be it a `DistributedDataParallel` or a `DataParallel`.

## Why is this bad?
Gradients are synchronised by hooks that the wrapper's forward sets up. A call of the module itself
trains each process on its own; the wrapper has none of the module's other methods, so that calling
one raises AttributeError.

## Example
```python
loss = ddp.module(x).pow(2).mean()
loss.backward()
```

## Use instead
```python
loss = ddp(x).pow(2).mean()
loss.backward()
```

## Known limits
Silent under `torch.no_grad()` and for saving, where `.module` is right. Where a module is wrapped
in some cases only, as under `device_count() > 1`, there is no fix.

## Fix safety
Unsafe: the call goes through the wrapper, or reaches the wrapped module for a set-up method.
"""

from __future__ import annotations

from device_lens.fixes.edit import Fix
from device_lens.fixes.wrapper_call import call_wrapper, reach_through
from device_lens.interpreter.rarer_facts import DdpBypass
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted, when

RULE = Rule("ddp-bypass-forward", Severity.WARNING, __doc__)


@RULE.reads(DdpBypass)
def check(fact: DdpBypass, context: Context) -> Finding | None:
    if fact.form == "attribute":
        message = (
            f"`{fact.class_name}` has no {quoted(fact.name)}, which is an attribute "
            f"of the module that it wraps: the line raises AttributeError{when(fact.condition)}."
        )
    else:
        message = (
            f"{quoted(fact.name)} calls the wrapped module past the forward of its "
            f"`DistributedDataParallel`: gradients are not synchronised between processes."
        )
    related = context.related(fact.wrapper, "the wrapper is made here") if fact.wrapper else ()
    return context.finding(
        RULE, fact.site, message, fact.name, related=related, fixes=lambda: [_fix(fact, context)]
    )


def _fix(fact: DdpBypass, context: Context) -> Fix | None:
    place = context.place(fact.site)
    if fact.form == "attribute":
        # Where there is a wrapper in some cases only, the module itself has no `module`.
        return reach_through(place) if fact.condition is None else None
    if fact.form == "method-call":
        return None
    known = fact.wrapper is not None and context.knows(fact.wrapper)
    return call_wrapper(place, context.place(fact.wrapper) if known and fact.wrapper else None)
