"""One cause, one finding: which rule speaks of a conflict, and where.

The first that fits: a factory without `device=` (`created-on-default-device`, on the factory
call); an attribute that its module's moves miss (`unregistered-tensor`, on the assignment); a part
put into a module after its move; a discarded or loop-variable transfer; a module that meets its
input (`module-input-mismatch`, on the call); else `device-mismatch`, on the operation. Conflicts
with one cause make one finding, the others are its related places.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from device_lens.domain.device import CPU, is_accelerator
from device_lens.domain.guard import leaves, primary
from device_lens.domain.trail import Site
from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.interpreter.facts import Certainty, Conflict, FileFacts, Operand, Origin
from device_lens.interpreter.followed_devices import followed
from device_lens.interpreter.rarer_facts import (
    CudaContext,
    DroppedCopy,
    LatePart,
    LoopVariableTransfer,
)
from device_lens.rules.factory_scope import (
    cached_factory,
    is_cause,
    is_module_constant,
    is_of_data,
    serves_data,
    sets_up,
)
from device_lens.rules.meant_to_raise import is_meant_to_raise
from device_lens.rules.plain_containers import container_of, makes_part
from device_lens.rules.wording import telling_step
from device_lens.syntax.names import last_name

CREATED = "created-on-default-device"
UNREGISTERED = "unregistered-tensor"
LATE = "module-attribute-after-move"
DISCARDED = "discarded-transfer"
LOOP_VARIABLE = "loop-variable-transfer"
MODULE_INPUT = "module-input-mismatch"
MISMATCH = "device-mismatch"
CUDA_BLOCK = "cuda-device-context"

_BY_ORIGIN = {
    "factory": CREATED,
    "cuda-block": CUDA_BLOCK,
    "plain-attribute": UNREGISTERED,
    "plain-container": UNREGISTERED,
    "late-part": LATE,
    "discarded": DISCARDED,
    "loop-variable": LOOP_VARIABLE,
}
_OWN_FACT = (LATE, DISCARDED, LOOP_VARIABLE, CUDA_BLOCK)
"""Rules that speak of a fact of their own, to which the conflicts are related."""
_COMPARISONS = ("torch.testing.assert_close",)
_NAME = re.compile(r"\w*")


@dataclass(slots=True)
class Cause:
    """A place that explains one or more conflicts, and the rule that reports it."""

    rule: str
    site: Site
    origin: Origin | None
    conflicts: list[Conflict] = field(default_factory=list)

    @property
    def certainty(self) -> Certainty:
        """What the surest of the conflicts has."""
        order = list(Certainty)
        return min((each.certainty for each in self.conflicts), key=order.index)

    @property
    def leading(self) -> Conflict:
        """The conflict that the message tells of: the first of the surest, one beside the cause
        before those of other files, which may only follow from it."""
        surest = [each for each in self.conflicts if each.certainty is self.certainty]
        return next((each for each in surest if each.site.path == self.site.path), surest[0])


def causes_of(all_facts: Mapping[str, FileFacts]) -> list[Cause]:
    """The conflicts of all files, by cause, file by file in the order in which they stand there:
    after an edit they may be found in another one than before."""
    conflicts = [
        conflict
        for facts in all_facts.values()
        for conflict in sorted(facts.conflicts, key=lambda each: _start(each.site, all_facts))
    ]
    paths = {path for conflict in conflicts for path in _paths(conflict)}
    near = [all_facts[path] for path in sorted(paths) if path in all_facts]
    spoken_for = set(_own_facts(near))
    late = _late_parts(near)
    causes: list[Cause] = []
    known: dict[tuple[str, Any], Cause] = {}
    strays: set[tuple[Any, str]] = set()
    for conflict in conflicts:
        if _follows(conflict, strays, all_facts):
            continue
        if _is_of_data(conflict, all_facts) or _is_expected(conflict, all_facts):
            continue
        rule, site, origin = _made_for_module(conflict, all_facts, late) or _cause(
            conflict, all_facts, spoken_for
        )
        keys = [(rule, key) for key in _shared(conflict, rule, site, all_facts) or [site.node]]
        cause = next((known[key] for key in keys if key in known), None)
        if cause is None:
            cause = Cause(rule, site, origin)
            causes.append(cause)
        cause.conflicts.append(conflict)
        for key in keys:
            known.setdefault(key, cause)
        if conflict.certainty is Certainty.SURE and conflict.site.path in all_facts:
            strays.add((_place(conflict.site, all_facts).function, conflict.stray.text))
    return causes


def _follows(
    conflict: Conflict, strays: set[tuple[Any, str]], all_facts: Mapping[str, FileFacts]
) -> bool:
    """Whether the stray was made where another one is that the function has met before, as in
    `torch.arange(n, device=x.device)`: it goes where that one is moved."""
    trail = conflict.stray.trail
    if not strays or trail is None or (trail.kind != "created" and trail.has_moved):
        return False
    made = (trail if trail.kind == "created" else trail.first).site
    tensor = followed(made.node) if made.path in all_facts else None
    return tensor is not None and (_place(made, all_facts).function, ast.unparse(tensor)) in strays


def _shared(
    conflict: Conflict, rule: str, site: Site, all_facts: Mapping[str, FileFacts]
) -> list[Any]:
    """What a conflict has in common with others of the same cause, within its file: an operand of
    one function, the module that stayed where it was made, or both operands. Empty where it stands
    alone."""
    if rule not in (MISMATCH, MODULE_INPUT) or site.path not in all_facts:
        return []
    module, given = sides(conflict)
    case = site.path, conflict.condition, conflict.wants_cpu
    found = [_alike(conflict, rule, site, all_facts)]
    if rule == MODULE_INPUT and _never_moved(module) and module.trail is not None:
        made = module.trail.first.site
        found.append((case, made, conflict.module_text, given.device))
    both = telling_step(module.trail), telling_step(given.trail)
    if None not in both:  # what is made twice at one place has two names
        found.append((case, *both, module.device, given.device, _root(given.text)))
    return [each for each in found if each is not None]


def _alike(conflict: Conflict, rule: str, site: Site, all_facts: Mapping[str, FileFacts]) -> Any:
    """What the conflicts of one function have in common that one stray tensor makes, or one tensor
    and the modules of one object."""
    stray = conflict.stray
    if stray.is_parameter:
        stray = conflict.other
    step = telling_step(stray.trail)
    if step is None or stray.is_parameter:
        return None
    moved_by_call = step.kind == "moved" and step.site == conflict.module_call
    named = stray.text if rule == MISMATCH else conflict.module_text or ""
    function = _place(site, all_facts).function
    return function, _root(named), None if moved_by_call else step, conflict.wants_cpu


def _root(text: str) -> str:
    """The name that an expression begins with."""
    found = _NAME.match(text)
    return found[0] if found is not None else ""


def _never_moved(operand: Operand) -> bool:
    """Whether it is the parameters of a module which are on the host, where they were made."""
    if not operand.is_parameter or operand.device is not CPU:
        return False
    return operand.trail is not None and not operand.trail.has_moved


def sides(conflict: Conflict) -> tuple[Operand, Operand]:
    """The parameters of the called module, and what they meet."""
    stray, other = conflict.stray, conflict.other
    return (stray, other) if stray.is_parameter else (other, stray)


def _paths(conflict: Conflict) -> Iterator[str]:
    """The files in which the cause of a conflict can be."""
    yield conflict.site.path
    for operand in (conflict.stray, conflict.other):
        yield operand.origin.site.path
        if operand.trail is not None:
            yield operand.trail.first.site.path


def _cause(
    conflict: Conflict, all_facts: Mapping[str, FileFacts], spoken_for: set[tuple[str, Any]]
) -> tuple[str, Site, Origin | None]:
    origin = _telling_origin(conflict, all_facts)
    rule = _BY_ORIGIN.get(origin.kind)
    if rule is not None and origin.site.path in all_facts and not conflict.wants_cpu:
        if rule in _OWN_FACT:
            known = (rule, origin.site.node) in spoken_for
        else:
            known = rule != CREATED or _explains(conflict, origin, all_facts)
        if known:
            return rule, origin.site, origin
    call = conflict.module_call
    if call is not None and call.path in all_facts:
        return MODULE_INPUT, call, None
    return MISMATCH, conflict.site, None


def _late_parts(files: Iterable[FileFacts]) -> dict[Any, LatePart]:
    """The parts that were put into a module after its move, by the expression that makes them."""
    return {
        fact.part.node: fact
        for facts in files
        for fact in facts.others
        if isinstance(fact, LatePart)
    }


def _made_for_module(
    conflict: Conflict, all_facts: Mapping[str, FileFacts], late: Mapping[Any, LatePart]
) -> tuple[str, Site, Origin | None] | None:
    """The cause where one operand was made as a late part of a module, or for a plain container
    of one, and never moved."""
    for operand in (conflict.stray, conflict.other):
        trail = operand.trail
        if trail is None or trail.first.site.path not in all_facts:
            continue
        if conflict.wants_cpu or trail.has_moved:
            continue
        first = trail.first.site
        made = _place(first, all_facts)
        part = (_late_part(made, late) or _late_parameter(operand, late)) if late else None
        if part is not None:
            return LATE, part.site, None
        is_part = operand.is_parameter or makes_part(made)
        target = container_of(made) if is_part else None
        if target is not None and isinstance(target.node, ast.Attribute):
            site = Site(first.path, first.chunk, target.node)
            return UNREGISTERED, site, Origin("plain-attribute", first, target.node.attr)
    return None


def _late_part(made: Place, late: Mapping[Any, LatePart]) -> LatePart | None:
    """The late part that a place makes something of: in its expression, or in its class."""
    for node in (made.node, *made.ancestors()):
        if node in late:
            return late[node]
    owner = made.owner
    for node, fact in late.items() if owner is not None else ():
        if owner is not None and isinstance(node, ast.Call) and last_name(node.func) == owner.name:
            return fact
    return None


def _late_parameter(operand: Operand, late: Mapping[Any, LatePart]) -> LatePart | None:
    """The late parameter that an operand is, or holds, where its tensor was made elsewhere."""
    if not operand.is_parameter or operand.trail is None:
        return None
    first = operand.trail.first.site
    trails = ((fact, fact.part_trail) for fact in late.values())
    return next((fact for fact, trail in trails if trail and trail.first.site == first), None)


def _telling_origin(conflict: Conflict, all_facts: Mapping[str, FileFacts]) -> Origin:
    """The origin that a reader would name: behind an attribute that is a cache, the factory; of
    a constant in a module's class body, the class; of what a method has put on an accelerator,
    that method, and not a move that may have been before."""
    origin = conflict.stray.origin
    if origin.site.path not in all_facts or conflict.site.path not in all_facts:
        return origin
    made = _place(origin.site, all_facts)
    if origin.kind == "plain-attribute":
        step = cached_factory(made, conflict.stray.trail)
        if step is not None and isinstance(step.site.node, ast.Call):
            return Origin("factory", step.site, ast.unparse(step.site.node.func))
        moved = None if conflict.stray.trail is None else conflict.stray.trail.previous
        if sets_up(made):
            return origin
        if moved is not None and moved.kind == "moved":
            return Origin("moved", moved.site, conflict.stray.text)
        if all(is_accelerator(each) for each in leaves(primary(conflict.stray.device))):
            return Origin("other", origin.site, conflict.stray.text)
    elif origin.kind == "factory":
        used = _place(conflict.site, all_facts)
        if is_module_constant(made, used, conflict.stray.text):
            return Origin("plain-attribute", origin.site, origin.name)
    return origin


def _is_of_data(conflict: Conflict, all_facts: Mapping[str, FileFacts]) -> bool:
    """Whether a dataset, transform or collate function made the stray, which may meet nothing but
    what is on the host too."""
    origin = conflict.stray.origin
    if conflict.certainty is Certainty.SURE or origin.kind != "factory":
        return False
    if origin.site.path not in all_facts:
        return False
    made = _place(origin.site, all_facts)
    maker = made.function
    if not isinstance(maker, FUNCTIONS):
        return False
    return serves_data(made, maker) or is_of_data(origin.site.path)


def _is_expected(conflict: Conflict, all_facts: Mapping[str, FileFacts]) -> bool:
    """Whether a test expects that the operation raises."""
    site = conflict.site
    return site.path in all_facts and is_meant_to_raise(_place(site, all_facts))


def _explains(conflict: Conflict, origin: Origin, all_facts: Mapping[str, FileFacts]) -> bool:
    if conflict.operation in _COMPARISONS:
        return False  # a reference may be computed on the host on purpose
    trail = conflict.stray.trail
    if trail is not None and trail.is_given_out:
        return False  # batches move after they are made, whatever the data set calls to make them
    if conflict.site.path not in all_facts:
        return True
    made, used = _place(origin.site, all_facts), _place(conflict.site, all_facts)
    return is_cause(made, used, origin.name)


def _place(site: Site, all_facts: Mapping[str, FileFacts]) -> Place:
    return Place(all_facts[site.path].source, site.chunk, site.node)


def _start(site: Site, all_facts: Mapping[str, FileFacts]) -> tuple[int, int]:
    start = _place(site, all_facts).range.start
    return start.line, start.column


def _own_facts(files: Iterable[FileFacts]) -> Iterator[tuple[str, Any]]:
    for facts in files:
        for transfer in facts.transfers:
            if (transfer.discarded and not transfer.in_place) or transfer.lost:
                yield DISCARDED, transfer.site.node
        for fact in facts.others:
            if isinstance(fact, LatePart):
                yield LATE, fact.site.node
            elif isinstance(fact, DroppedCopy):
                yield DISCARDED, fact.site.node
            elif isinstance(fact, LoopVariableTransfer):
                yield LOOP_VARIABLE, fact.site.node
            elif isinstance(fact, CudaContext):
                yield CUDA_BLOCK, fact.site.node
