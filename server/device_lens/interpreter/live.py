"""What a loop goes through while its body changes it: a list that grows, a dict that is updated, a
generator that reads later what a pass has changed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import MISSING, DictObject, Instance, ListObject, moment
from device_lens.domain.join import join_blind
from device_lens.domain.lengths import is_unplaced
from device_lens.domain.optional_items import as_placed, by_place, one_by_one
from device_lens.domain.values import Const
from device_lens.interpreter import scan
from device_lens.interpreter.expressions import lookup
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.iteration import Items, any_of, iterate
from device_lens.interpreter.keys import key_of
from device_lens.models.python.iterators import ITERATORS

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_LAZY = frozenset({"enumerate", "zip", "reversed", "iter", "map", "filter", "tqdm"})
"""Functions whose answer reads what they are given item by item."""
_IN_STEP = frozenset({"enumerate", "zip", "reversed", "iter", "tqdm", "items", "values", "keys"})
"""Those whose answer has one item for each item."""
_LEAVING = (ast.Break, ast.Return, ast.Raise)
"""With one of which at its end a body runs no second time."""
_VIEWS = frozenset({"items", "values", "keys"})


class Live:
    """The items of a `for` loop: those that were there before it, and those of now."""

    def __init__(self, machine: Machine, node: Any, iterable: Any, frame: Frame) -> None:
        self.machine = machine
        self.node: ast.expr = node.iter
        self.frame = frame
        self.iterable = iterable
        self.started = _all(iterable, iterate(machine, iterable))
        if is_unplaced(iterable) and isinstance(node.body[-1], _LEAVING):
            self.started = by_place(iterable, *self.started)  # whichever comes first
        self.in_step = _is_in_step(node.iter)
        lazy = type(iterable) is ListObject and iterable.kind == "generator"
        sources = _sources(node.iter, frame, machine, lazy)
        if sources is None and not _is_made(node.iter):
            sources = [iterable]
        self.sources = [each for source in sources or () for each in leaves(source)]
        self.before = [_state(each) for each in self.sources]
        self.names = self._names()

    def _names(self) -> dict[str, Any]:
        """What the names that a generator expression reads item by item stand for."""
        if not isinstance(self.node, ast.GeneratorExp):
            return {}
        first, *further = self.node.generators
        parts = [self.node.elt, *first.ifs, *further]
        read = [each for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)]
        return {each.id: lookup(self.machine, each.id, self.frame) for each in read}

    def changed(self) -> bool:
        """Whether there may be other items now than before the loop."""
        for source, (items, rest) in zip(self.sources, self.before, strict=True):
            now, more = _state(source)
            if more is not rest or len(now) != len(items):
                return True
            if any(a is not b for a, b in zip(now, items, strict=True)):
                return True
        return any(
            lookup(self.machine, name, self.frame) is not value
            for name, value in self.names.items()
        )

    def read(self) -> Items:
        """The items as they are now."""
        if not self.changed():
            return self.started
        if not _is_made(self.node):
            return _all(self.iterable, iterate(self.machine, self.iterable))
        mark, since = self.machine.journal.mark(), moment()
        iterable = self.machine.evaluate(self.node, self.frame)
        found = _all(iterable, iterate(self.machine, iterable))
        self.machine.doubt(mark, since)
        return found

    def in_order(self) -> tuple[Any, ...] | None:
        """The items as they are now; None where it is not known which of them comes next."""
        items, rest = self.read()
        doubtful = rest is not None or not self.in_step
        return None if doubtful and self.changed() else items

    def all(self, value: Any) -> Any:
        """A value that stands for any item of before, with those of now."""
        if not self.changed():
            return value
        now = any_of(*self.read())
        return value if now is None else join_blind(value, now)

    def bound(
        self, loop: Any, bind: Callable[[Any], Callable[[], None]], value: Any
    ) -> Callable[[], None]:
        """Binds the target of a loop to an item of before it, or to what is there by the time of
        the pass."""
        if scan.replaces_own_items(loop):
            return bind(value)
        return lambda: bind(self.all(value))()


def _all(iterable: Any, found: Items) -> Items:
    """What is gone through, those items too that are there where a condition holds; beside others
    that are not known they are any of these."""
    (items, _), rest = one_by_one(iterable, *found)
    return (items, rest) if rest is None else as_placed(iterable, items, rest)


def use_up(machine: Machine, node: ast.For | ast.AsyncFor, iterable: Any) -> None:
    """An iterator with a name may be read in the loop's body too: which of its items come is then
    not known."""
    named = isinstance(node.iter, ast.Name) and type(iterable) is ListObject
    if named and iterable.kind in ITERATORS and len(iterable.items) > 1:
        machine.journal.write(iterable.fields, "rest", any_of(iterable.items, iterable.rest))
        machine.journal.write(iterable.fields, "items", ())


def _is_made(node: ast.expr) -> bool:
    return isinstance(node, ast.Call | ast.GeneratorExp)


def _is_in_step(node: ast.expr) -> bool:
    """Whether the items of an expression stand where those that it is made of do."""
    if isinstance(node, ast.GeneratorExp):
        return len(node.generators) == 1 and not node.generators[0].ifs
    if not isinstance(node, ast.Call):
        return True
    return _called(node) in _IN_STEP and all(map(_is_in_step, node.args))


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _sources(node: ast.expr, frame: Frame, machine: Machine, lazy: bool) -> list[Any] | None:
    """The values that an expression goes through item by item; None where it does not tell.
    `lazy` tells that it is a call of a generator function of the program's."""
    if isinstance(node, ast.GeneratorExp):
        nodes = [each.iter for each in node.generators]
    elif not isinstance(node, ast.Call):
        found = _peek(node, frame, machine)
        return None if found is MISSING else [found]
    elif isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS and not node.args:
        nodes = [node.func.value]
    elif _called(node) in _LAZY or lazy:
        nodes = [*node.args, *(keyword.value for keyword in node.keywords)]
    else:
        return []
    found_in = (_sources(each, frame, machine, False) for each in nodes)
    return [source for sources in found_in for source in sources or ()]


def _peek(node: ast.expr, frame: Frame, machine: Machine) -> Any:
    """What a name, attribute or item is, without a look from the program's side."""
    if isinstance(node, ast.Name):
        return lookup(machine, node.id, frame)
    if isinstance(node, ast.Attribute):
        owner = _peek(node.value, frame, machine)
        return owner.fields.get(node.attr, MISSING) if isinstance(owner, Instance) else MISSING
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner = _peek(node.value, frame, machine)
        if type(owner) is DictObject:
            return owner.entries.get(key_of(Const(node.slice.value)), MISSING)
    return MISSING


def _state(value: Any) -> Items:
    if type(value) is ListObject:
        return value.items, value.rest
    if type(value) is DictObject:
        return (*value.entries, *value.entries.values()), value.rest
    return (), None
