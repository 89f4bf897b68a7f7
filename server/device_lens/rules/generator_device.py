"""A `torch.Generator` on another device than its consumer needs.

## What it does
Flags a generator that is given to a factory, a sampler or a data loader that needs it on another
device, and a loader that shuffles without one, or a `random_split`, while the default device is
an accelerator.

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
Unsafe: a generator on another device draws other numbers. Where the generator is made on a device
that is not known there, or something else draws with it where it is, the factory draws where the
generator is instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from device_lens.domain.device import CPU, Agreement, agree
from device_lens.fixes.arguments import (
    add_keyword,
    is_true,
    keyword,
    remove_argument,
    remove_keyword,
)
from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.factories import takes_device
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Kind
from device_lens.interpreter.rarer_facts import GeneratorConflict
from device_lens.rules.conflict_words import plain
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import leaf, on, quoted, when
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

RULE = Rule("generator-device", Severity.ERROR, __doc__)


@RULE.reads(GeneratorConflict)
def check(fact: GeneratorConflict, context: Context) -> Finding | None:
    if fact.generator == fact.site or _is_of_others(fact, context):
        return _own_generator(fact, context)
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
        fixes=lambda: _fixes(fact, context),
    )


def _is_of_others(fact: GeneratorConflict, context: Context) -> bool:
    """Whether what is named is `**options`, in which there is no generator."""
    call = context.place(fact.site).node
    given = call.keywords if isinstance(call, ast.Call) else ()
    return any(each.arg is None and each.value is fact.generator.node for each in given)


def _fixes(fact: GeneratorConflict, context: Context) -> Iterator[Fix]:
    """The generator where it is needed; a factory can draw where the generator is, too."""
    made = None if _serves_others(fact, context) else _fix(fact, context)
    drawn = _draw_there(fact, context)
    if made is not None:
        yield made
    if drawn is not None:
        yield drawn if made is None else replace(drawn, preferred=False)


def _draw_there(fact: GeneratorConflict, context: Context) -> Fix | None:
    """`torch.randn(n, generator=g, device=d)` → `torch.randn(…, device=g.device).to(d)`."""
    factory, name = context.place(fact.site), context.text(fact.generator)
    call = factory.node
    if not isinstance(call, ast.Call) or not plain(name) or not takes_device(fact.consumer):
        return None
    given = keyword(call, "device")
    edit = add_keyword(factory, "device", f"{name}.device")
    if edit is None:
        return None
    if given is None:
        return Fix(f"Draw where the generator is: device={name}.device", Safety.UNSAFE, (edit,))
    moved = f".to({factory.at(given.value).text})"
    asked, edits = keyword(call, "requires_grad"), [edit]
    if asked is not None:  # what is moved is no leaf
        flag = "" if is_true(asked.value) else factory.at(asked.value).text
        moved += f".requires_grad_({flag})"
        edits.append(remove_argument(factory, asked))
    title = f"Draw where the generator is, then move: device={name}.device … {moved}"
    return Fix(title, Safety.UNSAFE, (*edits, factory.insert_behind(moved)))


def _serves_others(fact: GeneratorConflict, context: Context) -> bool:
    """Whether the generator is given, under the same name, to what needs it where it is."""
    own, name = context.place(fact.generator), context.text(fact.generator)
    raising = {
        each.site.node for each in context.facts.others if isinstance(each, GeneratorConflict)
    }
    for chunk in own.source.chunks:
        if name not in chunk.text:
            continue
        for node in (node for statement in chunk.body for node in walk(statement)):
            given = keyword(node, "generator") if isinstance(node, ast.Call) else None
            if given is None or node in raising or ast.unparse(given.value) != name:
                continue
            drawn = context.facts.expression_at(node)
            if drawn is None or drawn.kind is not Kind.TENSOR:
                continue
            if agree(leaf(drawn.device), leaf(fact.generator_device)) is Agreement.SAME:
                return True
    return False


def _own_generator(fact: GeneratorConflict, context: Context) -> Finding:
    """What shuffles without `generator=`, beside a default device: a loader for each iterator, a
    function at once."""
    raising = "iterating over it" if fact.consumer[:1].isupper() else "the call"
    message = (
        f"{quoted(fact.consumer)} shuffles with a generator of its own "
        f"{on(fact.generator_device)}, but draws {on(fact.needed)}, the default device: "
        f"{raising} raises"
        f"{when(fact.condition)}."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        fact.consumer,
        fixes=lambda: [_give_generator(context.place(fact.site), fact)],
    )


def _give_generator(loader: Place, fact: GeneratorConflict) -> Fix | None:
    """A generator on the default device. `torch.get_default_device` is as old as 2.3, and knows
    nothing of the default tensor type: where not every machine has that, a new tensor tells."""
    torch = name_at(loader, "torch")
    if fact.by_type and fact.condition is not None:
        text = f"{torch}.Generator({torch}.tensor([]).device)"
    elif fact.by_type:
        text = f'{torch}.Generator("{leaf(fact.needed)}")'
    else:
        text = f"{torch}.Generator({torch}.get_default_device())"
    edit = add_keyword(loader, "generator", text) if torch is not None else None
    return None if edit is None else Fix(f"Give it: generator={text}", Safety.UNSAFE, (edit,))


def _fix(fact: GeneratorConflict, context: Context) -> Fix | None:
    site = fact.trail.first.site if fact.trail is not None else fact.generator
    if not context.knows(site):
        return None
    creation = context.place(site)
    if not isinstance(creation.node, ast.Call) or last_name(creation.node.func) != "Generator":
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
