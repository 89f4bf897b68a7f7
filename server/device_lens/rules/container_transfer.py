"""`.to()` on a list, tuple or dict of tensors or modules, or on what has no such method.

## What it does
Flags `.to()`, `.cuda()` and `.cpu()` on a Python container, on an iterator such as
`model.parameters()`, on a data loader, a dataset or an optimizer, and on a text among tensors.

## Why is this bad?
None of them has such a method: the line raises `AttributeError: 'list' object has no attribute
'to'`. A loader's batches move in the loop, an optimizer's state goes where the parameters are.

## Example
```python
targets = targets.to(device)
```

## Use instead
```python
targets = [t.to(device) for t in targets]
```

## Known limits
Silent where it is not known that the value is a container, and where a handler gets the
AttributeError. A text, or a list of texts or numbers, is told of where no test may leave it out.
Where containers of several kinds are in the container, more is to be written than the fix writes.

## Fix safety
Safe: the line cannot run as it is. Unsafe is the one that leaves items as they are which are no
tensors, such as the texts of a batch. No other is offered where other calls give what has the
method, nor where the comprehension would not see what it reads: names of a class's body, or
Python's own where another thing has the name.
"""

from __future__ import annotations

from collections.abc import Iterator

from device_lens.fixes.edit import Fix
from device_lens.fixes.map_container import map_container, move_owner, take_item
from device_lens.fixes.only_tensors import move_tensors_alone
from device_lens.interpreter.rarer_facts import ContainerTransfer
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.meant_to_raise import asks_for_method
from device_lens.rules.rule import Rule
from device_lens.rules.wording import quoted

RULE = Rule("container-transfer", Severity.ERROR, __doc__)


_ARTICLES = {"iterator": "an iterator", "optimizer": "an optimizer", "loader": "a data loader"}
_INSTEAD = {
    "iterator": " The module moves its parameters in place.",
    "loader": " Its batches move one by one, in the loop over it.",
    "dataset": " Its items move one by one, where they are used.",
    "optimizer": " Its state is made where the parameters are.",
}
_TENSORS_MOVE = " Its tensors move one by one."
_MODULES_MOVE = " Its modules move one by one."


@RULE.reads(ContainerTransfer)
def check(fact: ContainerTransfer, context: Context) -> Finding | None:
    if asks_for_method(context.place(fact.site)):
        return None
    name = context.text(fact.subject)
    kind = _ARTICLES.get(fact.container, f"a {fact.container}")
    each = _MODULES_MOVE if fact.modules else _TENSORS_MOVE if fact.tensors else ""
    instead = _INSTEAD.get(fact.container, each)
    if fact.container == "iterator" and not name.endswith("parameters()"):
        instead = each
    message = (
        f"{quoted(name)} is {kind}, which has no {quoted(f'.{fact.method}()')}: the line raises "
        f"AttributeError.{instead}"
    )
    return context.finding(RULE, fact.site, message, name, fixes=lambda: _fixes(fact, context))


def _fixes(fact: ContainerTransfer, context: Context) -> Iterator[Fix | None]:
    place = context.place(fact.site)
    if not (fact.tensors or fact.modules):
        yield move_tensors_alone(place)
        return
    if fact.container == "iterator":
        yield move_owner(place)
        return
    if context.container_at(context.place(fact.subject)) != fact.container:
        return  # some calls give something else that moves
    if fact.single:
        yield take_item(place)
    yield map_container(place, (fact.container, *fact.inner), fact.mixed, fact.settable)
