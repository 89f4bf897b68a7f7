"""One half of the pinned-memory idiom without the other.

## What it does
Flags `non_blocking=True` on a copy from pageable memory, batches from pinned memory that are copied
with a blocking transfer, and `pin_memory()` on a tensor that is not on the CPU.

## Why is this bad?
A copy runs beside the computation only from pinned memory and with `non_blocking=True`: either half
alone costs something and gains nothing. Pinning a tensor on an accelerator raises.

## Example
```python
loader = DataLoader(data, batch_size=64, pin_memory=True)
for x, y in loader:
    x, y = x.to(device), y.to(device)
```

## Use instead
```python
loader = DataLoader(data, batch_size=64, pin_memory=True)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
```

## Known limits
Silent where it is not known whether memory is pinned, and where `non_blocking` may be true when the
copy goes to an accelerator. No fix where the program computes the half that is missing.

## Fix safety
Safe: it adds the missing half. Taking `pin_memory()` off an accelerator tensor is unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.arguments import add_keyword, keyword, remove_keyword
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.place import Place
from device_lens.fixes.remove_transfer import remove_pinning
from device_lens.interpreter.rarer_facts import PinnedHalf
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Related, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import when

RULE = Rule("pinned-memory", Severity.INFORMATION, __doc__)

_WHAT = {
    "pageable-non-blocking": "`non_blocking=True` from pageable memory: the copy blocks all the "
    "same, since only pinned memory is copied in the background",
    "blocking-pinned": "The batch is in pinned memory, but the copy blocks: without "
    "`non_blocking=True` pinning gains little",
    "pin-accelerator": "Only tensors on the CPU can be pinned, and this one is on an accelerator: "
    "the line raises",
}


@RULE.reads(PinnedHalf)
def check(fact: PinnedHalf, context: Context) -> Finding | None:
    alike = _of_one_loader(fact, context)
    if alike[0] is not fact:
        return None
    raises = fact.form == "pin-accelerator"
    place = context.place(fact.site)
    symbol = place.text
    if isinstance(place.node, ast.Call) and isinstance(place.node.func, ast.Attribute):
        symbol = place.at(place.node.func.value).text
    return context.finding(
        RULE,
        fact.site,
        f"{_WHAT[fact.form]}{when(fact.condition)}.",
        symbol,
        severity=Severity.ERROR if raises else Severity.INFORMATION,
        related=_related(fact, alike[1:], context),
        fixes=lambda: [_fix(fact, context)],
    )


def _of_one_loader(fact: PinnedHalf, context: Context) -> list[PinnedHalf]:
    """The copies that are not in the background since one data loader does not pin its batches, by
    position; any other fact stands alone."""
    if fact.form != "pageable-non-blocking" or fact.loader is None:
        return [fact]
    found = [
        each
        for each in context.facts.others
        if isinstance(each, PinnedHalf) and each.form == fact.form and each.loader == fact.loader
    ]
    return sorted(found, key=lambda each: context.place(each.site).range)


def _related(fact: PinnedHalf, others: list[PinnedHalf], context: Context) -> Iterator[Related]:
    if fact.loader is not None:
        yield from context.related(fact.loader, "the data loader is made here")
    for other in others:
        yield from context.related(other.site, "this copy blocks, too")


def _fix(fact: PinnedHalf, context: Context) -> Fix | None:
    place = context.place(fact.site)
    if fact.form == "blocking-pinned":
        edit = None if _is_given_in_place(place) else _switched_on(place, "non_blocking")
        return (
            Fix("Copy in the background: non_blocking=True", Safety.SAFE, (edit,)) if edit else None
        )
    if fact.form == "pin-accelerator":
        asked = keyword(place.node, "pin_memory") if isinstance(place.node, ast.Call) else None
        if asked is not None:
            removed = remove_keyword(place, "pin_memory")
            return Fix("Remove pin_memory", Safety.UNSAFE, (removed,)) if removed else None
        return remove_pinning(place)
    if fact.loader is None or not fact.can_pin or not context.knows(fact.loader):
        return None
    edit = _switched_on(context.place(fact.loader), "pin_memory")
    return Fix("Pin the batches: pin_memory=True", Safety.SAFE, (edit,)) if edit else None


def _is_given_in_place(place: Place) -> bool:
    """Whether an argument without a name may tell a transfer already whether it blocks."""
    given = place.node.args if isinstance(place.node, ast.Call) else []
    flags = (each for each in given if isinstance(each, ast.Constant))
    return len(given) > 2 or any(isinstance(each.value, bool) for each in flags)


def _switched_on(place: Place, name: str) -> Edit | None:
    """The keyword as `True`, unless the program computes what it is."""
    asked = keyword(place.node, name) if isinstance(place.node, ast.Call) else None
    if asked is not None and not isinstance(asked.value, ast.Constant):
        return None
    return add_keyword(place, name, "True")
