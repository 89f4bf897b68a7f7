"""A tensor made on the CPU and copied to the device in one expression.

## What it does
Flags `torch.zeros(n).to(device)`, `torch.arange(n).cuda()` and the like, also where the tensor is
reshaped or computed with constants in between: `torch.ones(n, n).triu(1).to(device)`, and where a
later statement moves it before anything reads it: `h = torch.zeros(n)`, then `h = h.to(device)`.

## Why is this bad?
The tensor is filled on the host and copied. With `device=` it is filled where it is needed, without
a copy.

## Example
```python
steps = torch.arange(max_len).to(lengths.device)
```

## Use instead
```python
steps = torch.arange(max_len, device=lengths.device)
```

## Known limits
`torch.tensor(list).to(d)` costs what `torch.tensor(list, device=d)` does: a hint only. Factories
without `device=`, such as `torch.from_numpy`, are left alone, and so are random numbers of a
generator that the program gives, which draws where it is, and random numbers and data that a
statement of their own makes.

## Fix safety
Safe: the values are the same, and a conversion that the transfer also does stays. Unsafe for random
factories, since another device draws other numbers.
"""

from __future__ import annotations

import ast

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, Device
from device_lens.domain.guard import combine, leaves
from device_lens.domain.trail import Site
from device_lens.fixes.create_on_device import create_on_device
from device_lens.fixes.earlier_creation import create_at_once, is_made_for
from device_lens.fixes.edit import Fix
from device_lens.fixes.factories import FROM_DATA, is_random, short_name, takes_device
from device_lens.fixes.names import name_for
from device_lens.interpreter.creations import follows_from
from device_lens.interpreter.facts import Kind, Transfer
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import accelerated, quoted, to, when

RULE = Rule("create-then-transfer", Severity.INFORMATION, __doc__)


@RULE.reads(Transfer)
def check(fact: Transfer, context: Context) -> Finding | None:
    factory = fact.factory
    if factory is None or not _is_wasteful(fact) or not takes_device(factory):
        return None
    if fact.made_before is not None and not _is_made_for_it(fact, factory, context):
        return None
    if is_random(factory) and _draws_from(fact.made_at or fact.subject, context):
        return None
    name = context.text(fact.subject)
    from_data = short_name(factory) in FROM_DATA
    message = f"{quoted(name)} is made on the CPU and then copied {_where(fact, context)}. " + (
        "`device=` says the same in one step." if from_data else "`device=` saves the copy."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        name,
        severity=Severity.HINT if from_data else None,
        fixes=lambda: [_fix(fact, factory, context)],
    )


def _draws_from(made: Site, context: Context) -> bool:
    """Whether what is made has a generator of the program's, which draws where it is."""
    calls = (each for each in ast.walk(context.place(made).node) if isinstance(each, ast.Call))
    given = (keyword for call in calls for keyword in call.keywords)
    return any(each.arg == "generator" and ast.unparse(each.value) != "None" for each in given)


def _where(fact: Transfer, context: Context) -> str:
    """Where it goes, as the device is known or else as the program names it: the case in which it
    leaves the host."""
    elsewhere = accelerated(fact.target)
    device, condition = elsewhere if elsewhere is not None else (UNKNOWN_DEVICE, None)
    if not isinstance(device, Device) and fact.device_argument is not None:
        named = quoted(context.text(fact.device_argument))
        return f"to {named}" if context.is_device(fact.device_argument) else f"to where {named} is"
    return f"{to(device)}{when(condition)}"


def _is_wasteful(fact: Transfer) -> bool:
    """Whether a tensor is made on the host and surely, or in some case, moved off it."""
    made_elsewhere = fact.made_at or fact.made_before
    return (
        (fact.created_here or (made_elsewhere is not None and not fact.invariant_in))
        and fact.moves
        and fact.called
        and fact.kind is Kind.TENSOR
        and not (fact.redundant or fact.discarded or fact.requires_grad or fact.pinned)
        and not (fact.non_blocking and fact.pinned)
        and _leaves_host(fact)
    )


def _leaves_host(fact: Transfer) -> bool:
    """Whether there is a case in which the tensor is made on the host and belongs elsewhere."""
    return any(
        leaves(
            combine(
                lambda source, target: source is CPU and target is not CPU,
                fact.source,
                fact.target,
            )
        )
    )


def _is_made_for_it(fact: Transfer, factory: str, context: Context) -> bool:
    """Whether an earlier statement fills a tensor of shapes and constants, which nothing reads
    before the move. Random numbers and data stand for what comes from elsewhere."""
    site = fact.made_before
    if (
        site is None
        or not context.knows(site)
        or is_random(factory)
        or short_name(factory) in FROM_DATA
    ):
        return False
    move, made = context.place(fact.site), context.place(site)
    if not is_made_for(move, made):
        return False
    statement = made.statement.node
    if not isinstance(statement, ast.Assign) or not isinstance(site.node, ast.Call):
        return False
    torch = name_for(made.source, "torch")
    return follows_from(statement.value, site.node, lambda name: name == torch)


def _fix(fact: Transfer, factory: str, context: Context) -> Fix | None:
    if fact.device_argument is not None and not context.is_device(fact.device_argument):
        return None
    if fact.made_before is not None:
        earlier = context.place(fact.made_before)
        return create_at_once(context.place(fact.site), earlier, factory, context.program)
    made = None if fact.made_at is None else context.place(fact.made_at)
    return create_on_device(context.place(fact.site), factory, made)
