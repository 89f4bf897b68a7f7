"""A tensor that is to be trained, moved after it was made: no longer a leaf.

## What it does
Flags `torch.randn(..., requires_grad=True).to(d)`, `nn.Parameter(t).to(d)`, a variable that
requires grad and is rebound to its moved self, a moved copy of such a variable where an
optimizer takes it or its gradient is read, and one that a module is to take for a parameter.

## Why is this bad?
The moved tensor is the result of an operation: its `.grad` stays None, an optimizer rejects it
("can't optimize a non-leaf Tensor"), and a moved parameter is no parameter of the module: where it
is assigned to one, that raises ("cannot assign 'torch.cuda.FloatTensor' as parameter").

## Example
```python
x = torch.rand(2, 4, requires_grad=True).to(device)
w = nn.Parameter(torch.zeros(3)).to(device)
```

## Use instead
```python
x = torch.rand(2, 4).to(device).requires_grad_()
w = nn.Parameter(torch.zeros(3).to(device))
```

## Known limits
On a machine where the tensor already is on the device, the transfer returns the leaf itself, so
that the bug shows on the accelerator only. A function that moves its argument is not flagged where
its caller has the leaf by a name: its gradient is there.

## Fix safety
Safe: the leaf is made on the device, with the same numbers, and requires grad where it did. Unsafe
where the tensor that was moved keeps a name of its own, and where a parameter is made anew, which
an optimizer may not know. None is offered where the copy of a parameter or one without a name is
all there is.
"""

from __future__ import annotations

import ast

from device_lens.fixes.create_on_device import leaf_on_device
from device_lens.fixes.edit import Fix
from device_lens.fixes.keep_leaf import move_detached, move_inside, parameter_again
from device_lens.interpreter.rarer_facts import NonLeafTransfer
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted, when

RULE = Rule("non-leaf-transfer", Severity.WARNING, __doc__)


@RULE.reads(NonLeafTransfer)
def check(fact: NonLeafTransfer, context: Context) -> Finding | None:
    name = context.text(fact.subject)
    taken, put = fact.given_to_optimizer, fact.put_for_parameter
    if put is not None:
        elsewhere = context.knows(put) and context.line(put) != context.line(fact.site)
        where = f" ({context.line(put)})" if elsewhere else ""
        outcome = f"to assign it to a parameter{where} raises"
    elif taken is not None and context.knows(taken):
        outcome = f"the optimizer ({context.line(taken)}) raises"
    else:
        outcome = "its `.grad` stays None"
    what = "no parameter" if fact.form == "parameter" or put is not None else "no leaf"
    message = (
        f"The transfer of {quoted(name)} returns another tensor, which is {what}: {outcome}"
        f"{when(fact.condition)}."
    )
    raises = taken is not None or put is not None
    return context.finding(
        RULE,
        fact.site,
        message,
        name,
        severity=Severity.ERROR if raises else None,
        related=[
            *(context.related(taken, "given to the optimizer here") if taken else ()),
            *(context.related(put, "put in the place of a parameter here") if put else ()),
        ],
        fixes=lambda: [_fix(fact, context)],
    )


def _fix(fact: NonLeafTransfer, context: Context) -> Fix | None:
    call = context.place(fact.site)
    if fact.form == "parameter":
        return move_inside(call)
    if fact.form == "factory":
        if fact.device_argument is not None and not context.is_device(fact.device_argument):
            return None
        return leaf_on_device(call, _factory(fact, context))
    if fact.of_parameter:
        return None if fact.put_for_parameter is None else parameter_again(call)
    if fact.kept and not isinstance(call.parent, ast.Assign | ast.Return):
        return None
    return move_detached(call)


def _factory(fact: NonLeafTransfer, context: Context) -> str:
    """The factory's name: as the transfer tells it, else as it is written."""
    here = (each for each in context.facts.transfers if each.site.node is fact.site.node)
    found = next((each.factory for each in here if each.factory is not None), None)
    return found or context.text(fact.subject).partition("(")[0]
