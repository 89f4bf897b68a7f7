"""A tensor with its graph kept across iterations.

## What it does
Flags a tensor that carries an autograd graph, most often the loss, when it is summed up or
collected over a loop and never used in a backward pass.

## Why is this bad?
The sum or list keeps the graph of every iteration alive, and with it the activations: device memory
grows until it runs out. A backward pass on the loss itself frees the activations, but not the nodes
of the graph.

## Example
```python
for x in loader:
    loss = model(x).mean()
    total_loss += loss
```

## Use instead
```python
for x in loader:
    loss = model(x).mean()
    total_loss += loss.detach()
```

## Known limits
Silent where the total is used in a backward pass, as over the time steps of a recurrent network,
and of attributes that the class which sets them does not read.

## Fix safety
Safe: the value is the same. Unsafe where it may be a number, which has no graph: in another case,
or where it is what a function is given, since another caller may give one. Unsafe too where a
backward pass may start from the sum or list as well. `.item()` is offered too; it gives a Python
number and waits.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place
from device_lens.fixes.read_value import as_number, drop_graph, drop_graphs
from device_lens.interpreter.graph_flow import Fate, fate
from device_lens.interpreter.graph_steps import base_of
from device_lens.interpreter.graph_uses import is_read_alone
from device_lens.interpreter.rarer_facts import RetainedGraph
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted
from device_lens.syntax.names import last_name

RULE = Rule("retained-graph", Severity.WARNING, __doc__)


@RULE.reads(RetainedGraph)
def check(fact: RetainedGraph, context: Context) -> Finding | None:
    if not fact.spent and _may_be_used_elsewhere(fact, context):
        return None
    subject = context.text(fact.subject)
    verb = "adds up" if fact.form == "sum" else "collects"
    graph = "the tensors of {} with their graphs" if fact.form == "parts" else "{} with its graph"
    if fact.spent:
        outcome = (
            ": after the backward pass the nodes of every iteration's graph stay alive, "
            "without the activations."
        )
    else:
        outcome = ", which no backward pass uses: the memory of every iteration stays alive."
    message = f"{quoted(fact.accumulator)} {verb} {graph.format(quoted(subject))}{outcome}"
    return context.finding(
        RULE, fact.site, message, fact.accumulator, fixes=lambda: _fixes(fact, context)
    )


def _may_be_used_elsewhere(fact: RetainedGraph, context: Context) -> bool:
    """Whether it is an attribute that others than the methods of its class may use."""
    place = context.place(fact.site)
    if isinstance(place.node, ast.ListComp) or base_of(fact.accumulator):
        return False
    return not is_read_alone(fact.accumulator, place.function, place.top_level)


def _fixes(fact: RetainedGraph, context: Context) -> list[Fix | None]:
    place, parts = context.place(fact.subject), list(map(context.place, fact.parts))
    fixes = [
        drop_graphs(parts)
        if fact.form == "parts"
        else drop_graph(_kept(place, fact.accumulator), fact.mixed),
        as_number(place, fact.mixed) if fact.form == "sum" else None,
    ]
    if _may_train(place, fact.accumulator):
        return [fix and replace(fix, safety=Safety.UNSAFE) for fix in fixes]
    return fixes


def _may_train(place: Place, accumulator: str) -> bool:
    """Whether a backward pass may start from the sum or list too: from what the function computes
    of its name, or, in the file, from an attribute of that name."""
    name = base_of(accumulator)
    body = getattr(place.function, "body", place.top_level)
    if name is not None:
        return isinstance(body, list) and Fate.BACKWARD in fate(body, {name}, frozenset())
    kept = last_name(ast.parse(accumulator, mode="eval").body)
    return any(
        isinstance(part, ast.Attribute) and part.attr == kept
        for statement in place.top_level
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and last_name(call.func) == "backward"
        for part in ast.walk(call)
    )


def _kept(subject: Place, accumulator: str) -> Place:
    """What has to lose its graph: where an average goes on from its former value, all that is
    assigned, or that would keep its own."""
    statement = subject.statement.node
    if not isinstance(statement, ast.Assign):
        return subject
    weighed = (
        part
        for node in ast.walk(statement.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        for part in (node.left, node.right)
    )
    goes_on = any(ast.unparse(part) == accumulator for part in weighed)
    return subject.at(statement.value) if goes_on else subject
