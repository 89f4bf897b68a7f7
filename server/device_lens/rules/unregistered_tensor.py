"""A tensor, layer or parameter that a module keeps where its moves do not find it.

## What it does
Flags a plain tensor attribute, or modules or parameters in a plain list, tuple or dict, inside an
`nn.Module` that uses them. A tuple of tensors, as an LSTM's hidden state, is flagged where it is
seen to meet others on another device.

## Why is this bad?
`.to()`, `.cuda()`, `state_dict()` and `parameters()` see registered parameters, buffers and
submodules only. The attribute stays on the CPU when the module moves, is not saved, and layers in
a plain list are not trained.

## Example
```python
self.mean = torch.tensor([0.5, 0.4, 0.3])
self.convs = [nn.Conv2d(3, 3, 1) for _ in range(4)]
```

## Use instead
```python
self.register_buffer("mean", torch.tensor([0.5, 0.4, 0.3]))
self.convs = nn.ModuleList([nn.Conv2d(3, 3, 1) for _ in range(4)])
```

## Known limits
Silent where the program is known never to move the module, where a method of the module moves the
attribute itself, for a cache that is written outside `__init__`, and for a list or dict of one
given module, which is how programs hide it on purpose. A tensor is flagged where the module moves,
for information only where it is not seen to meet one on another device (an index may be on the
host), or where nothing but a method beside `forward` copies it.

## Fix safety
Safe where the attribute is set once, after `super().__init__()`: the buffer stays out of the state
dict, as the plain attribute did. Unsafe where nothing is seen to fail, since `.half()` converts
buffers too, and where the program does not move the module, which then has to move as well, unless
the tensor moves where it is used. A buffer that is saved is offered as an unsafe fix. An attribute
that no buffer can hold, a number for some callers, or a tuple, is moved where it is used instead,
which is unsafe. So is the fix of a container of one module that is made elsewhere: it may be kept
out of the parameters on purpose; and one where others set the attribute, or where the program loads
a checkpoint, which lacks the new keys. None is offered for a use that no container of PyTorch's
knows, such as `layers.index(layer)`, where the class asks what it reads by its name whether it is a
list, for keys that name no parts, for parts whose inputs are copied to the host or that an
optimizer has, where nothing is seen to fail, where something else is put in too, such as
`torch.relu`, for what is computed from parameters, whose graph no buffer keeps, nor where others
set the attribute to what is no tensor.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

from device_lens.domain.device import CPU
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.module_container import CONTAINERS, hides, module_container
from device_lens.fixes.place import Place
from device_lens.fixes.register_buffer import (
    make_parameter,
    may_ask_for_gradients,
    register_buffer,
    register_named,
    set_outside,
)
from device_lens.interpreter.facts import Certainty, Conflict, Kind
from device_lens.interpreter.rarer_facts import PlainAttribute
from device_lens.rules.causes import UNREGISTERED, Cause
from device_lens.rules.conflict_words import move_each, move_fix, operation, outcome, places
from device_lens.rules.context import Context
from device_lens.rules.finding import Finding, Severity
from device_lens.rules.plain_containers import is_dict, makes_parameter
from device_lens.rules.rule import Rule
from device_lens.rules.wording import on, quoted
from device_lens.syntax.names import is_own_attribute, last_name

RULE = Rule(UNREGISTERED, Severity.WARNING, __doc__)

_WHAT = {
    "tensor": "a plain tensor",
    "modules": "a plain list of modules",
    "parameters": "a plain list of parameters",
    "tuple-of-tensors": "a tuple of plain tensors",
    "tuple-of-modules": "a tuple of modules",
    "tuple-of-parameters": "a tuple of parameters",
    "dict-of-modules": "a plain dict of modules",
    "dict-of-parameters": "a plain dict of parameters",
}
_CONTAINERS = ("list", "dict", "set", "tuple", "deque", "defaultdict", "OrderedDict")
_RUN_OFTEN = re.compile("forward|.*_step")


@RULE.reads(PlainAttribute)
def check(fact: PlainAttribute, context: Context) -> Finding | None:
    conflicts = context.consequences(fact.site)
    if not conflicts and not _worth_saying(fact, context):
        return None
    if _moves_itself(fact, conflicts) or (not conflicts and _is_replaced(fact, context)):
        return None
    sure = any(each.certainty is Certainty.SURE for each in conflicts)
    if fact.module_moves is False and not sure:
        return None  # it stays on the CPU with all that it is given
    symbol = f"self.{fact.attribute}"
    intended = not conflicts and fact.holds in CONTAINERS and _stays_on_purpose(fact, context)

    @cache
    def fixes() -> list[Fix | None]:
        return [] if intended else list(_fixes(fact, conflicts, context))

    miss = "would miss" if fact.module_moves is False else "miss"
    if fact.copied_at is not None and not conflicts and not fixes():
        return None  # a copy is all that helps
    harmless = intended or _seems_harmless(fact, conflicts, context)
    return context.finding(
        RULE,
        fact.site,
        f"{quoted(symbol)} is {_WHAT[fact.holds]}, which moves of the module "
        f"({quoted(fact.class_name)}) {miss}. {_consequence(fact, conflicts, context)}",
        symbol,
        severity=Severity.INFORMATION if harmless else None,
        related=places(conflicts, context),
        fixes=fixes,
    )


@RULE.reads(Cause)
def check_conflict(cause: Cause, context: Context) -> Finding | None:
    """For what no `PlainAttribute` tells of: tensors of a class body, containers that are filled
    later."""
    if cause.rule != RULE.name or cause.origin is None:
        return None
    conflict = cause.leading
    told = (each for each in context.facts.others if isinstance(each, PlainAttribute))
    if any(each.site == cause.site for each in told):
        return None
    target = context.place(cause.site)
    if isinstance(target.node, ast.Attribute):
        symbol = target.text
        holds = _contained(target, context.place(cause.origin.site))
        if holds == "tensor" and context.container_at(target) == "tuple":
            holds = "tuple-of-tensors"
    else:
        holds, symbol = "tensor", conflict.stray.text
    return context.finding(
        RULE,
        cause.site,
        f"{quoted(symbol)} is {_WHAT[holds]}, which moves of the module miss. "
        f"{_raises(conflict, holds, context)}",
        symbol,
        related=places(cause.conflicts, context),
        fixes=lambda: [_fix(cause, target, holds, context)],
    )


def _fix(cause: Cause, target: Place, holds: str, context: Context) -> Fix | None:
    if holds == "tuple-of-tensors":
        return move_each(cause.conflicts, context)
    if holds != "tensor" and isinstance(target.node, ast.Attribute):
        keys = frozenset[Any]().union(*(each.stray.origin.keys for each in cause.conflicts))
        return module_container(target.statement, target.node.attr, holds, keys, _loads(context))
    return move_fix(cause.conflicts, context)


def _loads(context: Context) -> bool:
    """Whether a file of the program loads a checkpoint."""
    sources = (facts.source for facts in context.all_facts.values())
    return any("load_state_dict" in source.text for source in sources)


def _contained(target: Place, made: Place) -> str:
    """What the attribute holds, which was made at a place. One that is unpacked with others is no
    container."""
    statement = target.statement.node
    value = statement.value if isinstance(statement, ast.Assign) else None
    is_made_so = isinstance(value, ast.Call) and last_name(value.func) not in _CONTAINERS
    if isinstance(target.parent, ast.Tuple | ast.List) or is_made_so:
        return "tensor"
    kind = "parameters" if makes_parameter(made) else "modules"
    return f"dict-of-{kind}" if is_dict(target) else kind


def _worth_saying(fact: PlainAttribute, context: Context) -> bool:
    """Without a conflict: where the module is known to move, or where parts of it go
    unregistered. A list of one given part is how a program hides it on purpose."""
    if fact.module_moves is False or (fact.moved_by_method and fact.copied_at is None):
        return False
    if fact.copied_at is not None:
        return True
    if fact.holds == "tensor":
        stays = fact.device is CPU and not (fact.persistent_write or fact.zero_dim)
        return fact.used_in_forward and stays and fact.module_moves is True
    if fact.holds == "tuple-of-tensors":
        return False
    return fact.used_in_forward and not hides(context.place(fact.value).node)


def _moves_itself(fact: PlainAttribute, conflicts: list[Conflict]) -> bool:
    """Whether a method of the class moves it, and nothing is seen to run before that."""
    return fact.kept_moved and not any(each.certainty is Certainty.SURE for each in conflicts)


def _is_replaced(fact: PlainAttribute, context: Context) -> bool:
    """Whether another tensor surely takes its place further down the same function, of which
    is told instead: `self.mask = torch.ones(3)`, `self.mask = self.mask.unsqueeze(0)`."""
    if fact.holds != "tensor" or fact.copied_at is not None:
        return False
    place = context.place(fact.site)
    around = {id(node) for node in place.ancestors()}
    return any(
        later.function is place.function
        and later.range.start > place.statement.range.end
        and id(later.statement.parent) in around
        for later in _set_elsewhere(fact, context)
    )


def _set_elsewhere(fact: PlainAttribute, context: Context) -> Iterator[Place]:
    """The places that give the same attribute a tensor."""
    for other in context.facts.others:
        if (
            isinstance(other, PlainAttribute)
            and other.holds == "tensor"
            and (other.class_name, other.attribute) == (fact.class_name, fact.attribute)
        ):
            yield context.place(other.site)


def _seems_harmless(fact: PlainAttribute, conflicts: list[Conflict], context: Context) -> bool:
    """A tensor that is seen to meet nothing on another device: an index perhaps, which may be on
    the host, or one that only a method beside `forward` copies, once in a while."""
    copied = fact.copied_at is not None and _runs_with_forward(context.place(fact.copied_at))
    return fact.holds == "tensor" and not conflicts and not copied


def _stays_on_purpose(fact: PlainAttribute, context: Context) -> bool:
    """Whether parts are hidden from moves on purpose: an optimizer is given them apart from those
    of the module, or what they are called with is copied to the host."""
    nodes = list(ast.walk(context.place(fact.site).owner or ast.Pass()))
    parts = {name for node in nodes for name in _names_of_parts(node, fact.attribute)}
    return fact.optimized or any(
        _is_host_copy(part)
        for call in nodes
        if isinstance(call, ast.Call) and _is_of(call.func, fact.attribute, parts)
        for argument in call.args
        for part in ast.walk(argument)
    )


def _names_of_parts(node: ast.AST, attribute: str) -> Iterable[str]:
    """The names that a loop or an assignment gives to what an attribute of `self` holds."""
    match node:
        case ast.For(target=target, iter=held) | ast.comprehension(target=target, iter=held):
            pass
        case ast.Assign(targets=[ast.Name() as target], value=ast.Subscript(value=held)):
            pass
        case _:
            return
    if _is_of(held, attribute):
        yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def _is_of(function: ast.expr, attribute: str, names: Collection[str] = ()) -> bool:
    """Whether what is called is an item of an attribute of `self`, or has one of some names."""
    if isinstance(function, ast.Name):
        return function.id in names
    return any(
        isinstance(each, ast.Attribute) and each.attr == attribute and is_own_attribute(each)
        for each in ast.walk(function)
    )


def _is_host_copy(node: ast.AST) -> bool:
    """`ids.cpu()`, `ids.to("cpu")`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="cpu"), args=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value="cpu"), *_]):
            return True
    return False


def _runs_with_forward(place: Place) -> bool:
    """Whether a place is in `forward` or a step, or in what these call of the same class. Of a
    class without them, any method may be what runs."""
    own = {node.name: node for node in getattr(place.owner, "body", ()) if hasattr(node, "name")}
    runs, waiting = set[str](), [name for name in own if _RUN_OFTEN.fullmatch(name)] or list(own)
    while waiting:
        name = waiting.pop()
        if name in own and name not in runs:
            runs.add(name)
            mentioned = (node for node in ast.walk(own[name]) if isinstance(node, ast.Attribute))
            waiting += [node.attr for node in mentioned]
    return any(own[name] in place.ancestors() for name in runs)


def _consequence(fact: PlainAttribute, conflicts: list[Conflict], context: Context) -> str:
    if conflicts:
        return _raises(conflicts[0], fact.holds, context, fact.module_moves is not False)
    if fact.copied_at is not None:
        each = "each call" if _runs_with_forward(context.place(fact.copied_at)) else "each use"
        return f"It is copied again on {each} ({context.line(fact.copied_at)})."
    if fact.holds == "tensor":
        return "It stays on the CPU when the module moves."
    unseen = "no state dict sees them" if fact.optimized else "no optimizer or state dict sees them"
    return f"They stay on the CPU when the module moves, and {unseen}."


def _raises(conflict: Conflict, holds: str, context: Context, moves: bool = True) -> str:
    one = holds == "tensor"
    if moves:
        subject = "It is still" if one else "Its parts are still"
    else:
        subject = f"The program does not move the module, and {'it is' if one else 'its parts are'}"
    given = conflict.other.is_parameter and not conflict.stray.is_parameter
    held = conflict.other if given and not one else conflict.stray
    return (
        f"{subject} {on(held.device)} at {operation(conflict)} "
        f"({context.line(conflict.site)}), which {outcome(conflict)}."
    )


def _fits(value: ast.expr, context: Context) -> bool:
    """Whether a buffer can hold the value."""
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, ast.Call) and ast.unparse(value.func).endswith("Parameter"):
        return True  # which takes the buffer's place
    known = (facts.expression_at(value) for facts in context.all_facts.values())
    return any(each is not None and each.kind is Kind.TENSOR for each in known)


def _fixes(
    fact: PlainAttribute, conflicts: list[Conflict], context: Context
) -> Iterable[Fix | None]:
    place, sources = context.place(fact.site).statement, context.program.sources
    if fact.of_class:
        return (move_fix(conflicts, context),) if conflicts and fact.holds == "tensor" else ()
    if fact.holds in CONTAINERS:
        if fact.optimized_with_module:
            return ()  # no optimizer takes a parameter twice
        made = module_container(
            place, fact.attribute, fact.holds, fact.keys, _loads(context), sources
        )
        if made is not None and fact.optimized:  # which would have them twice
            made = replace(made, safety=Safety.UNSAFE)
        return [made] if made is not None else []
    if fact.holds == "tuple-of-tensors":
        return (move_each(conflicts, context),)
    if fact.requires_grad or may_ask_for_gradients(place):
        # A buffer that moves keeps no graph, and is no leaf.
        parameter = make_parameter(place, fact.attribute, sources)
        return () if parameter is None else (parameter,)
    fits = partial(_fits, context=context)
    if fact.beside_others and not isinstance(fact.site.node, ast.Call):
        return ()  # a number is no buffer, and does not move
    named = None if fact.beside_others else register_named(place, fits)
    if named is not None:
        return [named]
    helps = bool(conflicts) and fact.module_moves is not False
    safety = Safety.SAFE if helps else Safety.UNSAFE
    if not all(map(fits, set_outside(place, fact.attribute, sources))):
        return ()
    found = register_buffer(place, fact.attribute, safety, fits, sources)
    if not conflicts or (found and fact.module_moves is not False):
        return found
    moved = move_fix(conflicts, context)
    return (*found, moved if moved is None or not found else replace(moved, preferred=False))
