"""Remembers what each expression was seen to be, and turns that into `Expression` facts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from device_lens.domain.condition import disjunction
from device_lens.domain.device import (
    UNKNOWN_DEVICE,
    DeviceTree,
    shared,
)
from device_lens.domain.guard import MAX_DEPTH, Guarded, choose, combine, depth, leaves
from device_lens.domain.heap import ModuleObject, Parameter
from device_lens.domain.join import join_shapes
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import (
    Tensor,
    Unknown,
)
from device_lens.interpreter.described import DESCRIBE
from device_lens.interpreter.facts import Expression, Kind
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.scan import bare_name

Sizes = Callable[[ModuleObject], tuple[int | None, int | None]]
"""Bytes of a module's parameters and buffers, and how many parameters it has."""
MAX_SEEN = 12
"""Observations kept of one expression; more of them make its device unknown."""


class Seen:
    """One observation: the kind and device of a value under a path condition. Of a module `trail`
    is what was known of its way when it was observed: others may move it later. `failed` tells that
    it was made after something had failed."""

    __slots__ = ("condition", "device", "failed", "kind", "trail", "value")

    def __init__(
        self, kind: Kind, device: Any, value: Any, condition: Any, failed: bool = False
    ) -> None:
        self.failed = failed
        self.kind = kind
        self.device = device
        self.value = value
        self.condition = condition
        self.trail = value.trail if type(value) is ModuleObject else None


class Recorder:
    """Observations by node; those of a parameter by its `ast.arg`. `sites` keeps where a node
    stands. `settled` are functions that scripts have run: what symbols would show there is less
    than what is known."""

    def __init__(self, module_device: Callable[[ModuleObject], Any]) -> None:
        self.settled: frozenset[Any] = frozenset()
        self.handling = False
        """Whether what runs is a handler of an exception, or called by one."""
        self.left_out: dict[Any, Any] = {}
        """The functions that were not followed for want of steps, or not to their ends (None: a
        top level), and the condition of that."""
        self.callers: dict[Any, set[Any]] = {}
        """The functions that called a function, by nodes; None for a top level."""
        self.within: dict[Any, Any] = {}
        """The function of a node that was first seen under a condition."""
        self.seen: dict[Any, list[Seen]] = {}
        self.sites: dict[Any, Site] = {}
        self.module_device = module_device
        self._by_path: dict[str, list[Any]] | None = None
        self._made: dict[Any, Expression] = {}
        self._merged: dict[Any, tuple[list[Recorder], Expression]] = {}

    def nodes(self, path: str) -> list[Any]:
        """The nodes of a file that were observed, once the recorder's unit is over."""
        if self._by_path is None:
            self._by_path = {}
            for node, site in self.sites.items():
                if hasattr(site.node, "lineno"):
                    self._by_path.setdefault(site.path, []).append(node)
        return self._by_path.get(path, [])

    def see(self, node: Any, value: Any, frame: Frame, condition: Any) -> None:
        describe = DESCRIBE.get(type(value))
        if describe is None:
            return
        if self.settled and frame.function is not None and frame.function.node in self.settled:
            return
        known = self.seen.get(node)
        if known is not None and type(value) is Tensor:
            last = known[-1]
            same = last.value is value and last.condition is condition
            if same and last.failed is self.handling:
                return
        found = describe(self, value)
        if found is None:
            return
        what, device = found
        if known is None:
            self.seen[node] = [Seen(what, device, value, condition, self.handling)]
            shown = bare_name(node) if type(node) is ast.arg else node
            self.sites[node] = Site(frame.namespace.path, frame.chunk, shown)
            if condition is not True and frame.function is not None:
                self.within[node] = frame.function.node
            return
        _add(known, Seen(what, device, value, condition, self.handling))

    def see_unknown(self, node: Any, condition: Any) -> None:
        """Nothing is known now of a node that was seen before."""
        known = self.seen.get(node)
        if known is not None:
            kind = known[-1].kind
            _add(known, Seen(kind, UNKNOWN_DEVICE, None, condition, self.handling))

    def take(self, other: Recorder) -> None:
        """Takes in what another one has seen since."""
        for function, condition in other.left_out.items():
            self.leave_out(function, condition)
        for callee, callers in other.callers.items():
            self.callers.setdefault(callee, set()).update(callers)
        self.within.update(other.within)
        for node, entries in other.seen.items():
            known = self.seen.get(node)
            if known is None:
                self.seen[node] = entries
                self.sites[node] = other.sites[node]
            else:
                for entry in entries:
                    _add(known, entry)

    def call(self, callee: Any, caller: Frame | None) -> None:
        """A function is called, whether that is followed or not."""
        function = caller.function if caller is not None else None
        known = self.callers.setdefault(callee, set())
        known.add(None if function is None else function.node)

    def leave_out(self, function: Any, condition: Any) -> None:
        """A call of a function was not followed under a condition."""
        left_out = disjunction(self.left_out.get(function, False), condition)
        self.left_out[function] = left_out if depth(left_out) <= MAX_DEPTH else True

    def missed(self, node: Any) -> Any:
        """The condition under which a node may be evaluated though it was not seen: what leads to
        its function was left out there."""
        if not self.left_out:
            return False
        missed: Any = False
        pending = [self.within.get(node)]
        reached = set(pending)
        while pending:
            function = pending.pop()
            missed = disjunction(missed, self.left_out.get(function, False))
            new = self.callers.get(function, set()) - reached
            reached |= new
            pending += new
        return missed if depth(missed) <= MAX_DEPTH else True

    def expression(self, node: Any, sizes: Sizes | None) -> Expression:
        """The fact of a node that no other recorder has seen."""
        found = self._made.get(node)
        if found is None:
            found = _expression(self.sites[node], self.seen[node], sizes, self.missed(node))
            self._made[node] = found
        return found


def expressions(
    recorders: Iterable[Recorder],
    path: str,
    sizes: Sizes | None,
    hidden: Callable[[Recorder], frozenset[Any]],
) -> list[Expression]:
    """The facts of a file, out of what several units observed. `sizes` tells how large a module is
    (None: not asked, since it walks over every part), `hidden` what does not count."""
    by_node: dict[Any, list[Recorder]] = {}
    for recorder in recorders:
        apart = hidden(recorder)
        for node in recorder.nodes(path):
            if node not in apart:
                by_node.setdefault(node, []).append(recorder)
    return [
        each[0].expression(node, sizes) if len(each) == 1 else _shared(node, each, sizes)
        for node, each in by_node.items()
    ]


def expression_at(
    recorders: Iterable[Recorder], path: str, sizes: Sizes | None, node: Any
) -> Expression | None:
    """The fact of one node of a file: all of them cost as much as the file is large."""
    found = [each for each in recorders if node in each.seen and each.sites[node].path == path]
    if not found:
        return None
    return found[0].expression(node, sizes) if len(found) == 1 else _shared(node, found, sizes)


def _shared(node: Any, recorders: list[Recorder], sizes: Sizes | None) -> Expression:
    known = recorders[0]._merged.get(node)
    if known is not None and known[0] == recorders:
        return known[1]
    merged: list[Seen] = []
    for recorder in recorders:
        for seen in recorder.seen[node]:
            _add(merged, seen)
    left_out: Any = False
    for recorder in recorders:
        left_out = disjunction(left_out, recorder.missed(node))
    found = _expression(recorders[0].sites[node], merged, sizes, left_out)
    recorders[0]._merged[node] = recorders, found
    return found


def _add(known: list[Seen], new: Seen) -> None:
    """Adds an observation that says something else than those before."""
    for position, entry in enumerate(known):
        if (
            entry.kind is new.kind
            and (entry.device is new.device or entry.device == new.device)
            and (entry.condition is new.condition or entry.condition == new.condition)
        ):
            if entry.failed and not new.failed:
                known[position] = new
            elif type(entry.value) is Tensor and type(new.value) is Tensor:
                known[position] = _with_common_sizes(entry, new.value)
            return
    if len(known) < MAX_SEEN:
        known.append(new)
    else:
        known[-1] = Seen(new.kind, UNKNOWN_DEVICE, new.value, True)


def _with_common_sizes(entry: Seen, other: Tensor) -> Seen:
    """An observation with the sizes alone that another one of the same has too."""
    value = _in_common(entry.value, other)
    if value is entry.value:
        return entry
    return Seen(entry.kind, entry.device, value, entry.condition, entry.failed)


def _in_common(tensor: Tensor, other: Tensor) -> Tensor:
    """A tensor with the shape and dtype alone that another one has too."""
    if tensor.shape == other.shape and tensor.dtype == other.dtype:
        return tensor
    dtype = tensor.dtype if tensor.dtype == other.dtype else None
    return tensor.with_(shape=join_shapes(tensor.shape, other.shape), dtype=dtype)


class _Bottom:
    __slots__ = ()


_BOTTOM = _Bottom()


def _expression(site: Site, entries: list[Seen], sizes: Sizes | None, left_out: Any) -> Expression:
    kinds = {entry.kind for entry in entries}
    kind = entries[0].kind if len(kinds) == 1 else Kind.CONTAINER
    tensor = _one_tensor(entries)
    trail: Trail | None = tensor.trail if tensor is not None else _module_trail(entries)
    found = Expression(
        site,
        kind,
        _over_all(entries, left_out),
        shape=tensor.shape if tensor is not None else None,
        dtype=tensor.dtype if tensor is not None else None,
        trail=trail,
        requires_grad=tensor.requires_grad if tensor is not None else None,
        pinned=tensor.pinned if tensor is not None else False,
    )
    if kind is Kind.MODULE:
        found.same_as = _moved_receiver(site.node)
        module = entries[-1].value
        if sizes is not None and type(module) is ModuleObject:
            found.bytes, found.parameter_count = sizes(module)
    return found


def _moved_receiver(node: Any) -> str | None:
    """For `model.to(d)`: the text of the module that moves and comes back as itself."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    return ast.unparse(node.func.value) if node.func.attr in _GIVE_THEMSELVES else None


_GIVE_THEMSELVES = frozenset("to cuda cpu xpu half float double bfloat16 train eval".split())


def _over_all(entries: list[Seen], left_out: Any) -> DeviceTree:
    """One tree for all observations: each counts where its condition holds, and where several
    do they must agree. A module that has no parts (yet) is nowhere and disagrees with none. Where
    nothing was seen the expression is not evaluated, unless calls were left out there. What is so
    only after a failure counts where there is nothing else."""
    tree: Any = _BOTTOM
    entries = [entry for entry in entries if not entry.failed] or entries
    placed = [entry for entry in entries if entry.device is not None]
    for entry in placed or entries:
        device = entry.device if entry.device is not None else UNKNOWN_DEVICE
        here = device if entry.condition is True else choose(entry.condition, device, _BOTTOM)
        tree = here if tree is _BOTTOM else combine(_both, tree, here)
        if depth(tree) > MAX_DEPTH + 4:
            tree = _over_named(tree)
        if depth(tree) > MAX_DEPTH + 4:
            return UNKNOWN_DEVICE
    if type(tree) is Guarded and left_out is not False:
        tree = combine(_filled, tree, choose(left_out, UNKNOWN_DEVICE, _BOTTOM))
    found: DeviceTree = UNKNOWN_DEVICE if tree is _BOTTOM else _evaluated(tree)
    return found


def _evaluated(tree: Any) -> Any:
    """The tree where the expression is evaluated. Where that takes one of several flags, they have
    to agree: none of them is the usual case."""
    if type(tree) is not Guarded:
        return tree
    yes, no = _evaluated(tree.yes), _evaluated(tree.no)
    if yes is _BOTTOM or no is _BOTTOM:
        return no if yes is _BOTTOM else yes
    atom = tree.atom
    starts = atom.kind == "flag" and _is_idle(tree.yes if atom.default else tree.no)
    if starts and combine(_is_seen, tree.yes) != combine(_is_seen, tree.no):
        return combine(_both, yes, no)
    return yes if yes == no else Guarded(atom, yes, no)


def _is_seen(leaf: Any) -> bool:
    return leaf is not _BOTTOM


def _is_idle(tree: Any) -> bool:
    """Whether nothing is evaluated where flags have their defaults."""
    if type(tree) is not Guarded:
        return tree is _BOTTOM
    sides = (tree.yes, tree.no)
    if tree.atom.kind == "flag" and tree.atom.default is not None:
        return _is_idle(sides[0 if tree.atom.default else 1])
    return all(map(_is_idle, sides))


def _filled(leaf: Any, instead: Any) -> Any:
    return instead if leaf is _BOTTOM else leaf


def _over_named(tree: Any) -> Any:
    """The tree over named atoms alone: what the others tell apart has to agree."""
    if type(tree) is not Guarded:
        return tree
    yes, no = _over_named(tree.yes), _over_named(tree.no)
    if not tree.atom.named:
        return combine(_both, yes, no)
    return choose(Guarded(tree.atom, True, False), yes, no)


def _both(left: Any, right: Any) -> Any:
    if left is _BOTTOM:
        return right
    if right is _BOTTOM or left is right:
        return left
    return shared(left, right)


def _one_tensor(entries: list[Seen]) -> Tensor | None:
    """A tensor that stands for all observations, with what they share."""
    found: Tensor | None = None
    for entry in entries:
        value = entry.value
        tensor = value.tensor if type(value) is Parameter else value
        for leaf in leaves(tensor):
            if type(leaf) is Tensor:
                found = leaf if found is None else _in_common(found, leaf)
    return found


def _module_trail(entries: list[Seen]) -> Trail | None:
    for entry in reversed(entries):
        if type(entry.value) is ModuleObject:
            return entry.trail
        if type(entry.value) is Unknown:
            return None
    return None
