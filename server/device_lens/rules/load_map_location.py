"""`torch.load` without `map_location`.

## What it does
Flags `torch.load(path)` where every process would land on GPU 0, or where the machine that loads
may lack the device that saved.

## Why is this bad?
Without `map_location` each tensor goes back to the device that it was saved from. With several
processes all of them fill GPU 0; on a machine without that device the line raises.

## Example
```python
checkpoint = torch.load(path)
```

## Use instead
```python
checkpoint = torch.load(path, map_location=device)
```

## Known limits
Silent where nothing in the program shows that the devices may differ.

## Fix safety
Safe: tensors are loaded to the device at hand; `load_state_dict` copies across devices anyway.
"""

from __future__ import annotations

import ast

from device_lens.fixes.arguments import add_keyword, keyword
from device_lens.fixes.edit import Fix, Safety
from device_lens.interpreter.rarer_facts import Load
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule

RULE = Rule("load-map-location", Severity.WARNING, __doc__)

_WHY = {
    "rank": "every process loads it to the GPU that it was saved from, most often GPU 0",
    "portable": "the line raises on a machine that lacks the device it was saved from",
}


@RULE.reads(Load)
def check(fact: Load, context: Context) -> Finding | None:
    if fact.reason is None:
        return None
    call = context.place(fact.site).node
    form = "without `map_location`" if _given(call) is None else "whose `map_location` is None here"
    message = f"`torch.load` {form}: {_WHY[fact.reason]}."
    return context.finding(
        RULE, fact.site, message, "torch.load", fixes=lambda: [_fix(fact, context)]
    )


def _fix(fact: Load, context: Context) -> Fix | None:
    if fact.device_at_hand is None:
        return None
    place = context.place(fact.site)
    given = _given(place.node)
    if given is None:
        edit = add_keyword(place, "map_location", fact.device_at_hand)
    elif isinstance(given, ast.Constant):
        edit = place.at(given).replace(fact.device_at_hand)
    else:
        return None  # callers choose
    if edit is None:
        return None
    return Fix(f"Load it there: map_location={fact.device_at_hand}", Safety.SAFE, (edit,))


def _given(call: ast.AST) -> ast.expr | None:
    """What a call gives for `map_location`, by name or in its place."""
    if not isinstance(call, ast.Call):
        return None
    named = keyword(call, "map_location")
    if named is not None:
        return named.value
    return call.args[1] if len(call.args) > 1 else None
