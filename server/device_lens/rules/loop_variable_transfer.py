"""A loop that moves its variable while the container keeps the old tensors.

## What it does
Flags `for t in tensors: t = t.to(device)` and its relatives over `items()`, `values()`,
`enumerate()` and `zip()`, where nothing in the body uses the moved tensor.

## Why is this bad?
The assignment binds the loop variable to the copy. The list or dict still holds the tensors on
their old device, so each copy is made and thrown away.

## Example
```python
for k, v in batch.items():
    v = v.to(device)
```

## Use instead
```python
batch = {k: v.to(device) for k, v in batch.items()}
```

## Known limits
Silent where the body uses the moved tensor, since moving inside the loop is then right.

## Fix safety
Safe where the loop does nothing else and its variables are not used outside of it; unsafe
otherwise, and for leaves that require grad, which moved tensors are not. A container that a
function is given and does not look at again is filled anew, for who calls; so is one that something
else may have too, one that cannot be assigned, and what no display makes, such as an `OrderedDict`.
So is what another loop yields, but for a loader's batch, which nobody else has; unsafe where that
loop goes through something else than a list, tuple, dict or loader. The rows of a tensor move as a
whole. None is offered for a part of a tuple, for an object of the program's own, nor where a
comprehension would not see a name that the move reads, as in the body of a class.
"""

from __future__ import annotations

from dataclasses import replace

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.rebuild_container import loop_fix
from device_lens.fixes.refill import OBJECT, Known
from device_lens.interpreter.rarer_facts import LoopVariableTransfer
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import on, quoted, when

RULE = Rule("loop-variable-transfer", Severity.WARNING, __doc__)


@RULE.reads(LoopVariableTransfer)
def check(fact: LoopVariableTransfer, context: Context) -> Finding | None:
    container = context.text(fact.container)
    conflicts = context.consequences(fact.site)
    stays = f" {on(conflicts[0].stray.device)}" if conflicts else " where they were"
    message = (
        f"Only the loop variable {quoted(fact.variable)} is bound to the moved tensor"
        f"{when(fact.condition)}: {quoted(container)} keeps its tensors{stays}, and the copies are "
        f"thrown away."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        fact.variable,
        related=[
            related
            for conflict in conflicts
            for related in context.related(
                conflict.site, f"the tensor is still {on(conflict.stray.device)} here"
            )
        ],
        fixes=lambda: [_fix(fact, context)],
    )


def _fix(fact: LoopVariableTransfer, context: Context) -> Fix | None:
    loop, moved = context.place(fact.loop), context.text(fact.transfer)
    kind_of = (lambda _: OBJECT) if fact.of_own_class else context.container_at
    fix = loop_fix(loop, fact.variable, moved, Known(kind_of, fact.settable))
    return fix if fix is None or not fact.of_leaves else replace(fix, safety=Safety.UNSAFE)
