"""A non-blocking copy to the host that is read before a synchronisation.

## What it does
Flags `.to("cpu", non_blocking=True)` and `copy_(..., non_blocking=True)` into pinned memory, where
the host reads the result before anything waits for the device.

## Why is this bad?
The copy may still be under way: the host then reads old or half-written numbers, without an error.

## Example
```python
self.host.copy_(gpu_values, non_blocking=True)
return float(self.host.sum())
```

## Use instead
```python
self.host.copy_(gpu_values)
return float(self.host.sum())
```

## Known limits
Silent where a `synchronize()` or an event's wait stands in between.

## Fix safety
Safe: the copy waits, and the numbers are the ones that were meant. Unsafe where `non_blocking` is
handed on: other callers may be right to ask for it.
"""

from __future__ import annotations

import ast

from device_lens.fixes.arguments import keyword, remove_keyword
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place
from device_lens.interpreter.rarer_facts import UnsynchronizedRead
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

RULE = Rule("unsafe-non-blocking", Severity.WARNING, __doc__)


@RULE.reads(UnsynchronizedRead)
def check(fact: UnsynchronizedRead, context: Context) -> Finding | None:
    copy = quoted(context.text(fact.site))
    message = (
        f"{copy} returns before the copy to the host is done, and {context.line(fact.read)} reads "
        f"it without a synchronisation: the numbers can be old ones."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        context.text(fact.site).partition("(")[0].rpartition(".")[0],
        related=context.related(fact.read, "read on the host here"),
        fixes=lambda: [_fix(context.place(fact.site))],
    )


def _fix(place: Place) -> Fix | None:
    removed = remove_keyword(place, "non_blocking")
    given = keyword(place.node, "non_blocking") if isinstance(place.node, ast.Call) else None
    # What a caller decides may be right for the others.
    decided = given is not None and not isinstance(given.value, ast.Constant)
    safety = Safety.UNSAFE if decided else Safety.SAFE
    return Fix("Wait for the copy", safety, (removed,)) if removed is not None else None
