"""A `torch.Generator` on another device than its consumer needs.

## What it does
Flags a generator that is given to a factory, a sampler or a data loader that needs it on another
device.

## Why is this bad?
A generator draws numbers on its own device only. The line raises `RuntimeError: Expected a 'cpu'
device type for generator but found 'cuda'`, or the reverse.

## Example
```python
g = torch.Generator(device=device)
loader = DataLoader(dataset, shuffle=True, generator=g)
```

## Use instead
```python
g = torch.Generator()
loader = DataLoader(dataset, shuffle=True, generator=g)
```

## Known limits
Silent where the device of either is not known.

## Fix safety
Unsafe: a generator on another device draws other numbers.
"""

from __future__ import annotations

import ast

from device_lens.domain.device import CPU
from device_lens.fixes.arguments import add_keyword, remove_argument, remove_keyword
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import GeneratorConflict
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import leaf, on, quoted, when

RULE = Rule("generator-device", Severity.ERROR, __doc__)


@RULE.reads(GeneratorConflict)
def check(fact: GeneratorConflict, context: Context) -> Finding | None:
    name = context.text(fact.generator)
    message = (
        f"The generator {quoted(name)} is {on(fact.generator_device)}{context.whence(fact.trail)}, "
        f"but {quoted(fact.consumer)} needs one {on(fact.needed)}: it raises"
        f"{when(fact.condition)}."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        name,
        related=context.history(name, fact.trail),
        fixes=[_fix(fact, context)],
    )


def _fix(fact: GeneratorConflict, context: Context) -> Fix | None:
    site = fact.trail.first.site if fact.trail is not None else fact.generator
    if not context.knows(site):
        return None
    creation = context.place(site)
    if not isinstance(creation.node, ast.Call):
        return None
    if leaf(fact.needed) is CPU:
        return _on_cpu(creation, creation.node)
    device = context.at_hand.find(leaf(fact.needed), creation)
    edit = add_keyword(creation, "device", device) if device is not None else None
    if edit is None:
        return None
    return Fix(f"Make the generator there: device={device}", Safety.UNSAFE, (edit,))


def _on_cpu(creation: Place, call: ast.Call) -> Fix | None:
    if call.args:
        edit = remove_argument(creation, call.args[0])
    else:
        removed = remove_keyword(creation, "device")
        if removed is None:
            return None
        edit = removed
    return Fix("Make the generator on the CPU", Safety.UNSAFE, (edit,))
