"""What the text of edited statements tells the code around them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from device_lens.interpreter import (
    carried,
    doings,
    gradient_text,
    item_effects,
    named_views,
    now_and_then,
    numbered,
    scan,
)
from device_lens.interpreter.frames import Frame
from device_lens.syntax.walking import walk

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Context:
    """What the text of a stretch tells the code around it, by which that may find something else:
    what its function puts elsewhere where it is not followed, what the loops around it change,
    whether they move what they go through, do nothing else than one thing, and replace the item
    that they are at or go by names made of it, what they hand from pass to pass (None: any name),
    which of their variables it mentions, whether it has a loop or a backward pass, whether it
    leaves gradients cleared, whether it reads gradients, which views it gives names, and what it
    asks of the loops' turns or hands on of them."""

    moved: frozenset[str] | None
    loops: tuple[scan.LoopInfo, ...] = ()
    changing: tuple[tuple[item_effects.Changes, bool], ...] = ()
    mentioned: frozenset[str] = frozenset()
    nested: bool = False
    backward: bool = False
    clears: bool | None = None
    reads: bool = False
    lone: tuple[bool, ...] = ()
    own: tuple[bool, ...] = ()
    by_name: tuple[bool, ...] = ()
    carried: tuple[frozenset[str] | None, ...] = ()
    views: frozenset[tuple[str, str]] = frozenset()
    turns: tuple[object, ...] = ()

    def without(self, names: frozenset[str]) -> Context:
        """The same, were it not for some names."""
        if not self.loops and not self.carried:
            return self
        loops = tuple(
            scan.LoopInfo(
                loop.names - names, _without(loop.places, names), _without(loop.mutated, names)
            )
            for loop in self.loops
        )
        handed = tuple(each if each is None else each - names for each in self.carried)
        return replace(self, loops=loops, carried=handed)


def _without(texts: Iterable[str], names: frozenset[str]) -> frozenset[str]:
    return frozenset(text for text in texts if names.isdisjoint(_NAME.findall(text)[:1]))


class Text:
    """The statements of a plain stretch, gone through once for all units and frames in which they
    run."""

    def __init__(self, body: Iterable[ast.stmt]) -> None:
        from device_lens.interpreter import tensor_facts

        self._nodes = [node for statement in body for node in walk(statement)]
        self._clears = gradient_text.clears(self._nodes)
        self._reads = any(map(tensor_facts.reads_gradients, self._nodes))
        self._views = named_views.views_of(self._nodes)
        self._known: dict[tuple[object, ...], Context] = {}

    @property
    def is_silent(self) -> bool:
        """Whether it tells nothing where it does not run."""
        return not self._reads and self._clears is None

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(node.id for node in self._nodes if isinstance(node, ast.Name))

    def context(self, frame: Frame) -> Context:
        """What it tells the code around it in a frame."""
        loops = tuple((id(loop.node), loop.many) for loop in frame.loops)
        key = (frame.function and id(frame.function.node), loops)
        if key not in self._known:
            self._known[key] = self._context(frame)
        return self._known[key]

    def _context(self, frame: Frame) -> Context:
        function, nodes = frame.function, self._nodes
        moved = None if function is None else doings.moved_by(function.node)
        records = [loop for loop in frame.loops if isinstance(loop.node, ast.stmt)]
        if not records:
            turns = now_and_then.told_by(nodes, [], function and function.node)
            return Context(
                moved, clears=self._clears, reads=self._reads, views=self._views, turns=turns
            )
        loops = [record.node for record in records]
        over = [loop for loop in loops if isinstance(loop, ast.For | ast.AsyncFor)]
        many = [record.node for record in records if record.many]
        targets = {n.id for loop in over for n in walk(loop.target) if isinstance(n, ast.Name)}
        return Context(
            moved,
            tuple(map(scan.loop_info, loops)),
            tuple(map(_changes, many)),
            self.names & targets,
            any(isinstance(node, ast.For | ast.While) for node in nodes),
            any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in nodes),
            self._clears,
            self._reads,
            tuple(_does_one_thing(loop.body) for loop in over),
            tuple(map(scan.replaces_own_items, over)),
            tuple(numbered.goes_by_name(loop, loop.body) for loop in over),
            tuple(None if function is None else carried.names(loop, frame) for loop in loops),
            self._views,
            now_and_then.told_by(nodes, loops, function and function.node),
        )


def _does_one_thing(body: list[ast.stmt]) -> bool:
    """Whether there is one statement, under tests perhaps (`loop_facts.py`)."""
    if len(body) > 1:
        return False
    return not isinstance(body[0], ast.If) or _does_one_thing(body[0].body)


def _changes(loop: ast.For | ast.AsyncFor) -> tuple[item_effects.Changes, bool]:
    """What decides, of a loop's text, what it does to many items."""
    changes = item_effects.changes_of(loop, loop.target, loop.body)
    return changes, item_effects.runs_straight(loop, loop.body)
