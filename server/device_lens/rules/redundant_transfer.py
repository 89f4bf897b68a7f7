"""A transfer to where the tensor already is.

## What it does
Flags `.to(device)`, `.cuda()` and `.cpu()` on a tensor that is there already in every case, and
whose dtype and layout do not change.

## Why is this bad?
It does nothing and is free, but a reader takes it for a copy.

## Example
```python
x = torch.randn(4, 5, device=device)
x = x.to(device)
```

## Use instead
```python
x = torch.randn(4, 5, device=device)
```

## Known limits
Silent where one case of a condition moves the tensor, where a module's parameters are only expected
to be where its inputs are, where a function is given the tensor or the device and who else calls it
may give it others, where a variable happens to name the host, and on a transfer that `copy=True`
makes a copy.

## Fix safety
Safe: a transfer to where the tensor is returns the tensor itself. Unsafe in a function to which
the tensor is given, or the object that holds it: other callers may give what is elsewhere; and in a
file in which something raises: what is behind it is elsewhere once that is mended.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from device_lens.domain.guard import leaves
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place
from device_lens.fixes.remove_transfer import remove_transfer
from device_lens.interpreter.facts import Kind, Transfer
from device_lens.rules.callers_choice import is_chosen_elsewhere, may_come_otherwise
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import on, quoted
from device_lens.syntax.names import root_name

RULE = Rule("redundant-transfer", Severity.HINT, __doc__)


@RULE.reads(Transfer)
def check(fact: Transfer, context: Context) -> Finding | None:
    if not fact.redundant or not fact.called or fact.kind is not Kind.TENSOR:
        return None
    if fact.presumed:
        return None
    place = context.place(fact.site)
    if _follows_an_argument(place) or is_chosen_elsewhere(fact, place, context):
        return None
    found = set(leaves(fact.source))
    name = context.text(fact.subject)
    where = on(fact.source) if len(found) == 1 else "there in every case"
    return context.finding(
        RULE,
        fact.site,
        f"{quoted(name)} is already {where}{context.whence(fact.trail)}: this does nothing.",
        name,
        related=context.history(name, fact.trail),
        fixes=lambda: [_fix(fact, place, context)],
        tags=("unnecessary",),
    )


def _fix(fact: Transfer, place: Place, context: Context) -> Fix | None:
    fix = remove_transfer(place, fact.set_by_method)
    doubtful = bool(context.facts.conflicts) or may_come_otherwise(fact, place, context)
    if fix is not None and doubtful:
        return replace(fix, safety=Safety.UNSAFE)
    return fix


def _follows_an_argument(call: Place) -> bool:
    """Whether the call stands in a function and moves to where another of its arguments is."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    targets = [*node.args, *(each.value for each in node.keywords if each.arg == "device")]
    targets += [named for each in targets for named in _bound_to(each, call.function)]
    followed = {
        root_name(each)
        for each in targets
        if isinstance(each, ast.Attribute) and each.attr == "device"
    }
    names = {
        argument.arg
        for around in call.ancestors()
        if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for argument in (*around.args.posonlyargs, *around.args.args, *around.args.kwonlyargs)
    }
    return not names.isdisjoint(followed - {root_name(node.func.value)})


def _bound_to(name: ast.expr, function: ast.AST | None) -> list[ast.expr]:
    """What a function binds a name to: `device = x.device`."""
    if function is None or not isinstance(name, ast.Name):
        return []
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == name.id for each in node.targets)
    ]
