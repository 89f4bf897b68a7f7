"""Reads of one stretch of code: the first waits for the device, those right behind it find done
what they need, since a stream works in order."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from device_lens.domain.trail import Site
from device_lens.fixes.blocks import block_of
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Kind, Loop, Synchronization
from device_lens.rules.wording import accelerated

if TYPE_CHECKING:
    from device_lens.rules.context import Context

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign)
_COPIES = (".cpu()", ".to()", ".numpy()", ".tolist()", ".copy_()", "a copy to the host")
_INDEXES = (ast.Constant, ast.Name)
_VIEWS = ("detach", "squeeze", "view", "flatten")
"""Methods that compute nothing on the device."""


@dataclass
class _Read:
    """A read with its statement's place in its block; `fact` is None for a wait that the program
    asks for: `torch.cuda.synchronize()`."""

    place: Place
    block: list[ast.stmt]
    index: int
    fact: Synchronization | None

    @cached_property
    def is_plain(self) -> bool:
        """Whether one value is read that was computed before the statement. Copies of more take
        their time."""
        fact = self.fact
        if fact is None or fact.subject is None or fact.what in _COPIES:
            return False
        return _is_plain(fact.subject.node)


@dataclass
class Waits:
    """The reads of one file that wait, with those that wait no longer behind each."""

    behind: dict[ast.AST, list[Synchronization]] = field(default_factory=dict)
    spared: set[ast.AST] = field(default_factory=set)
    """The nodes of reads that find done what they need."""


def hot_loop(fact: Synchronization) -> Loop | None:
    """The loop that a read on an accelerator waits in each time; None where it is another read."""
    if fact.interval_guarded or accelerated(fact.device) is None:
        return None
    if fact.repeated is not None:
        return fact.repeated.loop
    loop = next((loop for loop in reversed(fact.loops) if loop.hot), None)
    if loop is None or not isinstance(loop.site.node, ast.comprehension):
        return loop
    # What a comprehension reads of what was computed before is there after the first wait.
    return None if fact.subject is None or _is_plain(fact.subject.node) else loop


def shown(loop: Loop) -> Site:
    """Where a loop is shown: a comprehension has no place of its own, what it goes over has."""
    site = loop.site
    if not isinstance(site.node, ast.comprehension):
        return site
    return Site(site.path, site.chunk, site.node.iter)


def waits_of(context: Context) -> Waits:
    """The reads of the file in loops that run often, by the stretches that they stand in."""
    blocks: dict[int, list[_Read]] = {}
    for fact in context.facts.synchronizations:
        if hot_loop(fact) is None:
            continue
        place = context.place(fact.site)
        block = block_of(place.statement)
        index = next((i for i, each in enumerate(block) if each is place.statement.node), None)
        if index is not None:
            blocks.setdefault(id(block), []).append(_Read(place, block, index, fact))
    waits = Waits()
    for reads in blocks.values():
        reads += _asked_for(reads[0])
        reads.sort(key=lambda each: each.place.range.start)
        _follow(reads, waits, context)
    return waits


def _asked_for(read: _Read) -> Iterator[_Read]:
    """The statements of a block that wait and do nothing else."""
    for index, statement in enumerate(read.block):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="synchronize")) as call):
                yield _Read(read.place.at(call), read.block, index, None)


def _follow(reads: list[_Read], waits: Waits, context: Context) -> None:
    """Goes through the reads of one block in order."""
    own = {
        id(inner)
        for each in reads
        for inner in ast.walk(each.place.node)
        if isinstance(inner, ast.expr)  # a context such as `ast.Load()` is shared by all
    }
    first, last = reads[0], reads[0]
    for read in reads[1:]:
        if read.is_plain and _is_idle(last, read, own, context):
            assert read.fact is not None
            waits.spared.add(read.place.node)
            waits.behind.setdefault(first.place.node, []).append(read.fact)
        else:
            first = read
        last = read


def _is_plain(node: ast.AST | None) -> bool:
    """Whether an expression names a value: `loss`, `self.losses["a"]`, `loss.detach()`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(node, ast.Call):
            node = node.func
            if not isinstance(node, ast.Attribute) or node.attr not in _VIEWS:
                return False
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, _INDEXES):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _is_idle(first: _Read, second: _Read, own: set[int], context: Context) -> bool:
    """Whether nothing is put into the device's queue between two reads."""
    statements = first.block[first.index : second.index + 1]
    if not all(isinstance(each, _SIMPLE) for each in statements[:-1]):
        return False
    start, end = first.place.range.end, second.place.range.start
    return not any(
        start < first.place.at(node).range.end <= end and _computes(node, own, context)
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.expr) and id(node) not in own
    )


def _computes(node: ast.expr, own: set[int], context: Context) -> bool:
    """Whether an expression may give the device something to do: whatever has to do with tensors,
    and calls of functions that are given nothing that was read."""
    known = context.facts.expression_at(node)
    if known is not None and known.kind in (Kind.TENSOR, Kind.MODULE):
        return True
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id):
        return False
    return not any(id(inner) in own for inner in ast.walk(node))
