"""State or parameters that an optimizer holds and a later line leaves behind.

## What it does
Flags an optimizer whose state is made when it is constructed (Adagrad and the like) or loaded
before the module moves, and parameters that are replaced after an optimizer took them: those of
a part, or of the whole model where it is made anew or copied.

## Why is this bad?
A module's move keeps its parameters, so most optimizers may be made before it. State that exists
already stays on the old device, and `step()` raises; parameters that were replaced are never
trained.

## Example
```python
opt = torch.optim.Adagrad(net.parameters(), lr=0.1)
net.cuda()
```

## Use instead
```python
net.cuda()
opt = torch.optim.Adagrad(net.parameters(), lr=0.1)
```

## Known limits
Silent for optimizers without early state, such as SGD and Adam, before their first step.

## Fix safety
Unsafe: it moves the optimizer's creation below the line that comes too late.
"""

from __future__ import annotations

import ast
from functools import partial

from device_lens.domain.trail import Site
from device_lens.fixes.edit import Fix
from device_lens.fixes.place import Place
from device_lens.fixes.reorder import put_before, put_below
from device_lens.fixes.wrapper_call import assigned_name
from device_lens.interpreter.rarer_facts import OptimizerConflict
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Related, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted, when
from device_lens.syntax.names import set_by_call

RULE = Rule("optimizer-before-move", Severity.WARNING, __doc__)

_WHAT = {
    "eager-state": "has its state from the start, and the move ({line}) leaves it where it is: "
    "`step()` raises",
    "loaded-state": "has loaded its state before the move ({line}), which leaves it where it is: "
    "`step()` raises",
    "stepped-state": "has made its state in a step before the move ({line}), which leaves it where "
    "it is: the next `step()` raises",
    "replaced-model": "still holds the parameters of the model that {line} replaces: the new one "
    "is never trained",
    "replaced-parameters": "still holds the parameters that {line} replaces: the new ones are "
    "never trained",
}


def _state(fact: OptimizerConflict, context: Context) -> list[Related]:
    if fact.state is None or fact.state == fact.optimizer:
        return []
    return list(context.related(fact.state, "its state is made here"))


def _above(context: Context, place: Place) -> str:
    return f"Move the model above {context.line(Site(place.path, place.chunk, place.node))}"


@RULE.reads(OptimizerConflict)
def check(fact: OptimizerConflict, context: Context) -> Finding | None:
    if fact.form == "stepped-state" and _raises_before(fact, context):
        return None
    name = assigned_name(context.place(fact.optimizer)) or context.text(fact.optimizer)
    what = _WHAT[fact.form].format(line=context.line(fact.move))
    return context.finding(
        RULE,
        fact.site,
        f"The optimizer {quoted(name)} {what}{when(fact.condition)}.",
        name,
        related=[
            *context.related(fact.optimizer, "the optimizer is made here"),
            *_state(fact, context),
            *context.related(fact.move, "this comes too late for it"),
        ],
        fixes=lambda: [_fix(fact, context)],
    )


def _raises_before(fact: OptimizerConflict, context: Context) -> bool:
    """Whether what was moved too late for the optimizer meets what is elsewhere before that steps
    again: to move it back is what mends both."""
    operands = (side for each in context.facts.conflicts for side in (each.stray, each.other))
    return any(
        side.trail is not None and side.trail.kind == "moved" and side.trail.site == fact.move
        for side in operands
    )


def _fix(fact: OptimizerConflict, context: Context) -> Fix | None:
    if fact.optimizer.path != fact.move.path:
        return None
    optimizer, move = context.place(fact.optimizer), context.place(fact.move)
    if fact.form == "replaced-model" and not _reads_what_is_set(optimizer, move):
        return None  # it would get the parameters of the former model once more
    title = f"Make the optimizer below {context.line(fact.move)}"
    if not isinstance(optimizer.runner, ast.Lambda):  # who calls that makes the optimizer
        below = put_below(optimizer.statement, move.statement, title)
        if below is not None:
            return below
    return put_before(move.statement, optimizer, partial(_above, context))


def _reads_what_is_set(optimizer: Place, move: Place) -> bool:
    """Whether an optimizer is made of the name or attribute that a statement sets."""
    node = move.statement.node
    by_call = set_by_call(node.value) if isinstance(node, ast.Expr) else None
    if by_call is not None:
        targets: list[ast.AST] = [by_call]
    elif isinstance(node, ast.Assign):
        targets = [*node.targets]
    else:
        targets = [getattr(node, "target", node)]
    rows = (each.elts if isinstance(each, ast.Tuple | ast.List) else [each] for each in targets)
    names = {ast.unparse(each) for row in rows for each in row}
    return any(
        isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each) in names
        for each in ast.walk(optimizer.node)
    )
