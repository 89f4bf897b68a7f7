"""A tensor's `.to()`, `.cuda()` or conversion whose result is thrown away.

## What it does
Flags `x.to(device)`, `x.cuda()`, `x.cpu()`, `x.half()`, `x.pin_memory()` and the like on a tensor
where nothing keeps the result: as a statement, in a comprehension that is itself a statement, or
written without the call's parentheses. So it does with a function or method of the program that
gives moved copies of what it is given and does nothing else: `to_device(batch, device)` as a
statement. Where something fails for it, it tells of `_ = x.to(device)` too, and of
`x = x.to(device)` in a function that gives nothing back, of its own parameter.

## Why is this bad?
A tensor's transfer returns another tensor and leaves the tensor as it was. Only modules move in
place. The tensor stays on its device, and a later operation fails or quietly runs there.

## Example
```python
labels.to(device)
loss = criterion(model(images), labels)
```

## Use instead
```python
labels = labels.to(device)
loss = criterion(model(images), labels)
```

## Known limits
Silent on objects whose own `to` moves them in place, on functions that print or keep anything or
whose argument nothing reads further down, on modules, where it is not known that the
value is a tensor, on what is made in the same expression (`torch.zeros(1).cuda()` starts CUDA), on
one tensor that a loop copies to each of some devices, and on the last line of a notebook's cell,
which shows its value: a conversion or a move to the CPU.

## Fix safety
Safe: the assignment is what the line plainly means. Unsafe for what `getattr` gave, which `setattr`
puts back, and for a `.cuda` without the call where nothing is seen to fail, since the line runs on
a machine without CUDA so far. What ends a notebook's cell and is shown stays below the assignment;
unsafe where that is more than a tensor. A field of a named tuple is replaced. None is offered where
an assignment would make a global name local, and for what takes none: an item of a tuple, a frozen
object, a property without a setter, a view of a tensor.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from device_lens.domain.device import CPU, Device, is_unknown, same_everywhere
from device_lens.domain.guard import leaves
from device_lens.fixes.assign_result import (
    assign_copies,
    assign_result,
    names_result,
    rename_result,
    replace_field,
)
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import loads_behind
from device_lens.fixes.place import Place, shown_below_cell
from device_lens.fixes.refill import Known
from device_lens.interpreter.facts import Kind, Transfer
from device_lens.interpreter.rarer_facts import DroppedCopy
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.rule import Rule
from device_lens.rules.wording import leaf, on, quoted, to
from device_lens.syntax.names import names_in

RULE = Rule("discarded-transfer", Severity.WARNING, __doc__)


@RULE.reads(Transfer)
def check(fact: Transfer, context: Context) -> Finding | None:
    if fact.lost:
        if not context.consequences(fact.site):
            return None
    elif not _is_thrown_away(fact, context):
        return None
    name = context.text(fact.subject)
    return context.finding(
        RULE,
        fact.site,
        _message(fact, name, context),
        name,
        related=[
            *context.history(name, fact.trail),
            *(
                related
                for conflict in context.consequences(fact.site)
                for related in context.related(
                    conflict.site, f"{quoted(name)} is still {on(conflict.stray.device)} here"
                )
            ),
        ],
        fixes=lambda: [_assigned(fact, context)],
    )


def _is_thrown_away(fact: Transfer, context: Context) -> bool:
    """Whether a statement drops what it plainly means to keep."""
    if not fact.discarded or fact.in_place or fact.redundant or fact.kind is not Kind.TENSOR:
        return False
    if _is_to_look_at(fact, context) or _has_that_dtype(fact, context):
        return False
    return not (_visits_devices(fact, context) or _asks_for_nothing_else(fact, context))


def _assigned(fact: Transfer, context: Context) -> Fix | None:
    place = context.place(fact.site)
    if fact.lost:
        return rename_result(place)
    known = Known(context.container_at, fact.holder_settable)
    if not fact.settable:
        return replace_field(place, known) if fact.called else None
    fix = assign_result(place, fact.called, known, fact.of_parameter)
    starts = not fact.called and isinstance(place.parent, ast.Expr) and fact.target is not CPU
    if fix is not None and starts and not context.consequences(fact.site):
        return replace(fix, safety=Safety.UNSAFE)  # so far the line runs without the accelerator
    return fix


@RULE.reads(DroppedCopy)
def check_copies(fact: DroppedCopy, context: Context) -> Finding | None:
    """A function's moved copies."""
    call = context.place(fact.site)
    names = [context.text(subject) for subject in fact.subjects]
    conflicts = context.consequences(fact.site)
    if not conflicts and not any(_is_read_behind(call, name) for name in names):
        return None
    function = call.node.func if isinstance(call.node, ast.Call) else call.node
    several = len(names) > 1
    whose = quoted(call.at(function).text)
    message = (
        f"The result of {whose} is thrown away: it gives moved copies, and "
        f"{' and '.join(map(quoted, names))} {'stay' if several else 'stays'} {on(fact.source)}."
    )
    return context.finding(
        RULE,
        fact.site,
        message,
        names[0],
        related=[
            *context.history(names[0], fact.trail),
            *(
                related
                for conflict in conflicts
                for related in context.related(
                    conflict.site, f"{quoted(conflict.stray.text)} is still {on(fact.source)} here"
                )
            ),
        ],
        fixes=lambda: [_assigned_copies(fact, context)],
    )


def _assigned_copies(fact: DroppedCopy, context: Context) -> Fix | None:
    if not fact.settable:
        return None
    known = Known(context.container_at, fact.holder_settable)
    subjects = list(map(context.place, fact.subjects))
    return assign_copies(context.place(fact.site), subjects, known)


def _is_read_behind(call: Place, name: str) -> bool:
    root = name.partition(".")[0].partition("[")[0]
    return any(loads_behind(call, root))


def _is_to_look_at(fact: Transfer, context: Context) -> bool:
    """Whether a notebook shows the result, which was not brought to an accelerator for that."""
    if fact.moves and any(target is not CPU for target in leaves(fact.target)):
        return False
    return shown_below_cell(context.place(fact.site)) and not context.consequences(fact.site)


def _visits_devices(fact: Transfer, context: Context) -> bool:
    """Whether a loop goes through the devices, and copies what stays the same to each: that starts
    them, and an assignment would say something else."""
    call = context.place(fact.site).node
    if not fact.moves or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    asked = names_in(ast.Tuple([*call.args, *(each.value for each in call.keywords)]))
    fixed = names_in(call.func.value)
    loops = (each.site.node for each in fact.loops)
    chosen = (names_in(loop.target) for loop in loops if isinstance(loop, ast.For))
    return any(names & asked and not names & fixed for names in chosen)


def _asks_for_nothing_else(fact: Transfer, context: Context) -> bool:
    """Whether a call only names a device, that of the tensor as far as is known."""
    call = context.place(fact.site).node
    if not fact.moves or not isinstance(call, ast.Call) or fact.method == "type_as":
        return False
    if len(call.args) > 1 or any(k.arg not in ("device", "non_blocking") for k in call.keywords):
        return False
    argument = fact.device_argument
    if fact.method == "to" and (argument is None or not context.is_device(argument)):
        return False
    return same_everywhere(fact.source, fact.target)


def _has_that_dtype(fact: Transfer, context: Context) -> bool:
    """Whether the tensor is of the very dtype that is asked for, or was made with it."""
    if fact.method == "pin_memory":
        return False
    told = (context.expression(fact.subject), context.expression(fact.site))
    dtypes = {None if each is None else each.dtype for each in told}
    if fact.called and not fact.moves and len(dtypes) == 1 and None not in dtypes:
        return True
    call, made = context.place(fact.site).node, fact.trail
    if made is None or made.previous is not None or made.kind != "created":
        return False
    factory = made.site.node
    if not isinstance(call, ast.Call) or not isinstance(factory, ast.Call):
        return False
    asked = {ast.unparse(each) for each in (*call.args, *(k.value for k in call.keywords))}
    given = {ast.unparse(each.value) for each in factory.keywords if each.arg == "dtype"}
    return bool(given) and asked == given


def _message(fact: Transfer, name: str, context: Context) -> str:
    where = context.whence(fact.trail)
    if not fact.called:
        return (
            f"{quoted(f'{name}.{fact.method}')} is the method and not its result, since it is "
            f"not called. {quoted(name)} stays {on(fact.source)}{where}."
        )
    call = quoted(f".{fact.method}(…)")
    if fact.lost and names_result(context.place(fact.site)) == name:
        return (
            f"The result of {call} is lost: {quoted(name)} is a name of this function alone, which "
            f"gives nothing back. What it was called with{where} stays {on(fact.source)} and is "
            f"not moved {to(fact.target)}."
        )
    if fact.method == "pin_memory":
        return (
            f"The result of {call} is thrown away: {quoted(name)}{where} stays in pageable memory, "
            f"since a pinned copy is returned."
        )
    said = not is_unknown(fact.source) or isinstance(leaf(fact.target), Device)
    alike = fact.moves and leaf(fact.source) is leaf(fact.target)
    both = fact.method == "type_as"  # it moves and converts
    if both or not said or (alike and not same_everywhere(fact.source, fact.target)):
        return (
            f"The result of {call} is thrown away: {quoted(name)}{where} stays as it is, since a "
            f"tensor's transfer or conversion returns another tensor."
        )
    if fact.moves and not same_everywhere(fact.source, fact.target):
        return (
            f"The result of {call} is thrown away, since a tensor does not move in place. "
            f"{quoted(name)} stays {on(fact.source)}{where} and is not moved {to(fact.target)}."
        )
    return (
        f"The result of {call} is thrown away: {quoted(name)}{where} keeps its dtype, since a "
        f"tensor's conversion returns another tensor."
    )
