"""A transfer inside a loop that does the same on each iteration.

## What it does
Flags a transfer in a hot loop whose tensor and target do not change in the loop, and one in a
function that such a loop calls.

## Why is this bad?
The same bytes are copied again on each iteration. Once, above the loop, is enough.

## Example
```python
for x, y in batches:
    loss = F.cross_entropy(model(x), y, weight=class_weights.to(device))
```

## Use instead
```python
class_weights_on_device = class_weights.to(device)
for x, y in batches:
    loss = F.cross_entropy(model(x), y, weight=class_weights_on_device)
```

## Known limits
Silent where the tensor, an alias of it or the target may change in the loop, for what requires grad
or is read out of its graph, which an optimizer may change, under a condition in the loop, and in
loops of one or two iterations; a comprehension has to go over more than a handful of numbers, rows
or batches, and no fix changes it. Moving each batch in its loop is right. A target such as
`x.device` counts as one that does not change where that is the same known device each time.

## Fix safety
Safe: the transfer goes above the outermost loop through which the tensor does not change, once for
all that copy it in the loop. Unsafe where one copy may not do for all iterations: something keeps
each of them, or code that is not in the file gets it, at a `yield` for instance. Unsafe too where
nothing may be there to copy, since above the loop it is copied whether the loop runs or not: the
tensor may be None, an item may be missing, or a test that leaves the round comes first; and for
`torch.from_numpy(array)`, since other code may write into the array.
"""

from __future__ import annotations

import ast

from device_lens.domain.device import CPU
from device_lens.fixes import one_copy
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.hoist import alike, changes_source, hoist
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Kind, Loop, Repeated, Transfer
from device_lens.rules.arrays import is_alone, shown_array
from device_lens.rules.changed_words import changed_words
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.timing import is_timed
from device_lens.rules.waits import shown
from device_lens.rules.wording import quoted, to, when

RULE = Rule("transfer-in-loop", Severity.INFORMATION, __doc__)

_DISPLAYS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MIN_TRIPS = 3
"""Iterations from which on a loop that is not hot is worth a remark."""


@RULE.reads(Transfer)
def check(fact: Transfer, context: Context) -> Finding | None:
    if fact.repeated is not None:
        return _in_function(fact, fact.repeated, context)
    if not _is_repeated(fact) or not any(_runs_often(loop) for loop in _invariant(fact)):
        return None
    name = context.text(fact.subject)
    whole = _comprehension_of(fact)
    if whole is not None:
        return _in_comprehension(fact, whole, context)
    outermost = fact.invariant_in[-1]
    if is_timed(context.place(fact.invariant_in[0])):
        return None
    if changes_source(context.place(fact.site), context.place(outermost).statement):
        return None
    if _changes_by_others(context.place(fact.site), context.place(outermost)):
        return None
    if fact.device_argument is None and _selects(context.place(outermost)):
        return None  # each iteration may copy to another GPU
    array = shown_array(context.place(fact.site))
    if fact.created_here and array is None:
        return None  # what is made anew on each iteration
    if array is not None and not is_alone(context.place(fact.site), array):
        return None
    loop = context.line(outermost)
    trips = _trips(fact)
    times = f" {trips} times" if trips is not None else " on each iteration"
    message = (
        f"{quoted(name)} does not change in the loop of {loop}, yet it is copied "
        f"{to(fact.target)}{times}{when(fact.condition)}."
    )
    related = list(context.related(outermost, "the transfer does not change in this loop"))
    return context.finding(
        RULE, fact.site, message, name, related=related, fixes=lambda: [_fix(fact, context)]
    )


def _changes_by_others(call: Place, loop: Place) -> bool:
    """Whether what is copied may be another tensor in the next iteration, by code that knows its
    object by another name."""
    function = call.node.func if isinstance(call.node, ast.Call) else None
    if not isinstance(function, ast.Attribute):
        return False
    return one_copy.others_write(function.value, call, list(ast.walk(loop.node)))


def _selects(loop: Place) -> bool:
    """Whether a loop selects the current GPU."""
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith(_SELECTING)
        for node in ast.walk(loop.node)
    )


_SELECTING = ("cuda.device", "set_device", "cuda.device_of", "set_stream", "cuda.stream")


def _comprehension_of(fact: Transfer) -> Loop | None:
    found = (each for each in _invariant(fact) if isinstance(each.site.node, ast.comprehension))
    return next(found, None)


def _in_comprehension(fact: Transfer, whole: Loop, context: Context) -> Finding | None:
    """A copy that each element is made with. One that is the element itself is kept."""
    call = context.place(fact.site)
    if fact.created_here or isinstance(call.parent, _DISPLAYS) or not context.knows(whole.site):
        return None
    name, iterated = context.text(fact.subject), shown(whole)
    message = (
        f"{quoted(name)} does not change in the comprehension of {context.line(iterated)}, yet it "
        f"is copied {to(fact.target)} for each of its items{when(fact.condition)}."
    )
    related = list(context.related(iterated, "the transfer does not change in this loop"))
    return context.finding(RULE, fact.site, message, name, related=related)


def _in_function(fact: Transfer, repeated: Repeated, context: Context) -> Finding | None:
    """A copy that a function makes each time that a loop calls it: where it would be kept instead
    is for its author to say."""
    idle = fact.redundant or fact.discarded or fact.conditional or not fact.called
    sites = (repeated.loop.site, *repeated.calls)
    if idle or not all(map(context.knows, sites)) or is_timed(context.place(repeated.loop.site)):
        return None
    if not changed_words(context.facts.source).isdisjoint(repeated.words):
        return None
    name = context.text(fact.subject)
    message = (
        f"{quoted(name)} does not change in the loop of {context.line(repeated.loop.site)}, yet it "
        f"is copied {to(fact.target)} on each iteration{when(fact.condition)}."
    )
    return context.finding(RULE, fact.site, message, name, related=context.way_to(repeated))


def _runs_often(loop: Loop) -> bool:
    return loop.hot or (loop.trip_count is not None and loop.trip_count >= MIN_TRIPS)


def _is_repeated(fact: Transfer) -> bool:
    return (
        fact.moves
        and fact.called
        and fact.kind is Kind.TENSOR
        and bool(fact.invariant_in)
        and not (fact.redundant or fact.discarded or fact.in_place)
        and not fact.conditional
    )


def _invariant(fact: Transfer) -> list[Loop]:
    return [loop for loop in fact.loops if loop.site in fact.invariant_in]


def _trips(fact: Transfer) -> int | None:
    """How often the loops through which nothing changes run the transfer; None where that is not
    known, or where a setting that says once or twice may say more."""
    total = 1
    for loop in _invariant(fact):
        if loop.trip_count is None:
            return None
        total *= loop.trip_count
    return total if total >= MIN_TRIPS else None


def _fits(other: Place, loop: Place, safety: Safety) -> bool:
    """Whether a transfer that does the same may become the same copy, as safely."""
    return safety is Safety.UNSAFE or one_copy.suffices(other, loop)


def _fix(fact: Transfer, context: Context) -> Fix | None:
    call, loop = context.place(fact.site), context.place(fact.invariant_in[-1])
    made_anew = isinstance(fact.subject.node, ast.Attribute) and not fact.settable
    made_anew = made_anew or shown_array(call) is not None
    argument = None if fact.device_argument is None else context.place(fact.device_argument)
    follows = fact.follows_other and argument is not None
    if argument is None or context.at_hand.visible(argument.text, argument, loop.statement):
        follows = False
    suffices = not made_anew and one_copy.suffices(
        call, loop, argument.node if follows and argument is not None else None
    )
    safety = Safety.SAFE if suffices else Safety.UNSAFE
    if not follows or argument is None:
        others = [each for each in alike(call, loop) if _fits(each, loop, safety)]
        where = "cpu" if fact.target is CPU else "device"
        return hoist(call, loop, safety, others=others, where=where)
    device = context.at_hand.find(fact.target, loop.statement)
    return None if device is None else hoist(call, loop, safety, (argument, device))
