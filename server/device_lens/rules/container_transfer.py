"""`.to()` on a list, tuple or dict of tensors.

## What it does
Flags `.to()`, `.cuda()` and `.cpu()` on a Python container.

## Why is this bad?
Containers have no such method: the line raises `AttributeError: 'list' object has no attribute
'to'`.

## Example
```python
targets = targets.to(device)
```

## Use instead
```python
targets = [t.to(device) for t in targets]
```

## Known limits
Silent where it is not known that the value is a container. Containers in the container, and items
that are no tensors, need more than the fix writes.

## Fix safety
Safe: the line cannot run as it is.
"""

from __future__ import annotations

from device_lens.fixes.map_container import map_container
from device_lens.interpreter.rarer_facts import ContainerTransfer
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

RULE = Rule("container-transfer", Severity.ERROR, __doc__)


@RULE.reads(ContainerTransfer)
def check(fact: ContainerTransfer, context: Context) -> Finding | None:
    name = context.text(fact.subject)
    message = (
        f"{quoted(name)} is a {fact.container}, which has no {quoted(f'.{fact.method}()')}: the "
        f"line raises AttributeError. Its tensors move one by one."
    )
    fixes = [map_container(context.place(fact.site), fact.container)]
    return context.finding(RULE, fact.site, message, name, fixes=fixes)
