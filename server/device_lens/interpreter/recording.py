"""Remembers what each expression was seen to be, and turns that into `Expression` facts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from device_lens.domain.device import (
    UNKNOWN_DEVICE,
    is_unknown,
)
from device_lens.domain.guard import choose, leaves
from device_lens.domain.heap import ModuleObject, Parameter
from device_lens.domain.join import join_shapes
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import (
    Tensor,
    Unknown,
)
from device_lens.interpreter.described import DESCRIBE, OWN, TENSOR, container_name, is_of_own_class
from device_lens.interpreter.evaluated import over_all
from device_lens.interpreter.facts import Expression, Kind
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.observations import Seen
from device_lens.interpreter.omissions import Missed, Omissions, all_missed
from device_lens.interpreter.scan import bare_name

Sizes = Callable[[ModuleObject], tuple[int | None, int | None]]
"""Bytes of a module's parameters and buffers, and how many parameters it has."""
MAX_SEEN = 12
"""Observations kept of one expression; more of them that differ make its device unknown."""


class Recorder:
    """Observations by node; those of a parameter by its `ast.arg`. `sites` keeps where a node
    stands. `settled` are functions that scripts have run: what symbols would show there is less
    than what is known."""

    def __init__(self, module_device: Callable[[ModuleObject], Any]) -> None:
        self.settled: frozenset[Any] = frozenset()
        self.handling = False
        """Whether what runs is a handler of an exception, or called by one."""
        self.telling_apart: Any = None
        """The frame whose handler runs for values that the body of its `try` could do nothing with,
        because of what they are: who ran through that body does not come there."""
        self.omissions = Omissions()
        self.within: dict[Any, Any] = {}
        """The function of a node that was first seen under a condition."""
        self.seen: dict[Any, list[Seen]] = {}
        self.opened: dict[Any, list[tuple[Any, bool]]] = {}
        """Nodes that were not seen here before nothing was known of them in a call, or in a pass of
        a loop of which another one knows more: the conditions, and whether that was after a
        failure. It counts where the node is seen later, or was by an earlier recorder."""
        self.whole = object()
        """What stands for the unit that it belongs to, itself or by a part."""
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

    def see(self, node: Any, value: Any, frame: Frame, condition: Any, device: Any) -> None:
        """Takes note of a value under a condition. `device`: that of a tensor, as far as the
        present path leaves it open."""
        describe = DESCRIBE.get(type(value))
        if describe is None:
            return
        if self.settled and frame.function is not None and frame.function.node in self.settled:
            return
        known = self.seen.get(node)
        what = Kind.TENSOR
        if device is None:
            found = describe(self, value)
            if found is None:
                return
            what, device = found
        elif known is not None:
            last = known[-1]
            same = last.value is value and last.condition is condition and last.device is device
            if same and last.failed is self.handling:
                return
        if known is None:
            self.seen[node] = known = [Seen(what, device, value, condition, self.handling)]
            _add_opened(known, self.opened.pop(node, ()))
            shown = bare_name(node) if type(node) is ast.arg else node
            self.sites[node] = Site(frame.namespace.path, frame.chunk, shown)
            if condition is not True and frame.function is not None:
                self.within[node] = frame.function.node
            return
        _add(known, Seen(what, device, value, condition, self.handling))

    def see_unknown(self, node: Any, condition: Any) -> None:
        """Nothing is known now of a node, or was in another pass of the same loop."""
        case = condition, self.handling
        if case not in self.opened.get(node, ()):
            self._open(node, [case])

    def _open(self, node: Any, opened: list[tuple[Any, bool]]) -> None:
        known = self.seen.get(node)
        if known is not None:
            _add_opened(known, opened)
        else:
            self.opened.setdefault(node, []).extend(opened)

    def take(self, other: Recorder) -> None:
        """Takes in what another one has seen since."""
        self.omissions.take(other.omissions)
        self.within.update(other.within)
        for node, opened in other.opened.items():
            self._open(node, opened)
        for node, entries in other.seen.items():
            known = self.seen.get(node)
            if known is None:
                self.seen[node] = entries
                self.sites[node] = other.sites[node]
                if node in self.opened:
                    self.seen[node] = known = list(entries)
                    _add_opened(known, self.opened.pop(node))
            else:
                for entry in entries:
                    _add(known, entry)

    def missed(self, node: Any) -> Missed:
        """Where a node may be evaluated though it was not seen."""
        return self.omissions.missed(self.within.get(node))

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
    unseen: list[tuple[Any, Recorder]] = []
    for recorder in recorders:
        apart = hidden(recorder)
        for node in recorder.nodes(path):
            if node not in apart:
                by_node.setdefault(node, []).append(recorder)
        for node in recorder.opened:
            if node in recorder.seen or node in apart:
                continue
            if node in by_node:
                by_node[node].append(recorder)
            else:
                unseen.append((node, recorder))
    for node, recorder in unseen:
        if node in by_node:
            by_node[node].append(recorder)
    return [
        each[0].expression(node, sizes) if len(each) == 1 else _shared(node, each, sizes)
        for node, each in by_node.items()
    ]


def expression_at(
    recorders: Iterable[Recorder], path: str, sizes: Sizes | None, node: Any
) -> Expression | None:
    """The fact of one node of a file: all of them cost as much as the file is large."""
    found: list[Recorder] = []
    unseen: list[Recorder] = []
    for each in recorders:
        is_seen = node in each.seen and each.sites[node].path == path
        if is_seen or (found and node in each.opened):
            found.append(each)
        elif node in each.opened:
            unseen.append(each)
    if not found:
        return None
    found += unseen
    return found[0].expression(node, sizes) if len(found) == 1 else _shared(node, found, sizes)


def _shared(node: Any, recorders: list[Recorder], sizes: Sizes | None) -> Expression:
    known = recorders[0]._merged.get(node)
    if known is not None and known[0] == recorders:
        return known[1]
    merged: list[Seen] = []
    seeing: list[Recorder] = []
    for recorder in recorders:
        if any(each.whole is recorder.whole for each in seeing):
            _add_opened(merged, recorder.opened.get(node, ()))
        for seen in recorder.seen.get(node, ()):
            _add(merged, seen)
        if node in recorder.seen:
            seeing.append(recorder)
    missed = all_missed(recorder.missed(node) for recorder in seeing)
    found = _expression(recorders[0].sites[node], merged, sizes, missed)
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
            elif new.value is None:
                known[position] = new
            return
    if len(known) >= MAX_SEEN:
        last = known[-1]
        if is_unknown(last.device) and last.condition is True:
            return
        _fold(known)
    if len(known) < MAX_SEEN:
        known.append(new)
    else:
        known[-1] = Seen(new.kind, UNKNOWN_DEVICE, new.value, True)


def _add_opened(known: list[Seen], opened: Iterable[tuple[Any, bool]]) -> None:
    """Adds that nothing was known under some conditions."""
    for condition, failed in opened:
        _add(known, Seen(known[-1].kind, UNKNOWN_DEVICE, None, condition, failed))


def _fold(known: list[Seen]) -> None:
    """Makes one of those observations that differ in nothing but when they were made."""
    kept: dict[Any, Seen] = {}
    for entry in known:
        mark = (entry.kind, entry.device, entry.failed)
        same = kept.get(mark)
        if same is not None:
            both = choose(same.condition, True, entry.condition)
            value = entry.value
            if type(same.value) is Tensor and type(value) is Tensor:
                value = _in_common(same.value, value)
            entry, trail = Seen(entry.kind, entry.device, value, both, entry.failed), entry.trail
            entry.trail = trail
        kept[mark] = entry
    known[:] = kept.values()


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


def _expression(site: Site, entries: list[Seen], sizes: Sizes | None, missed: Missed) -> Expression:
    kinds = {entry.kind for entry in entries if entry.device is not None}
    kinds = kinds or {entry.kind for entry in entries}
    kind = next(iter(kinds)) if len(kinds) == 1 else Kind.CONTAINER
    tensor = _one_tensor(entries)
    trail: Trail | None = tensor.trail if tensor is not None else _module_trail(entries)
    found = Expression(
        site,
        kind,
        over_all(entries, missed),
        shape=tensor.shape if tensor is not None else None,
        dtype=tensor.dtype if tensor is not None else None,
        trail=trail,
        requires_grad=tensor.requires_grad if tensor is not None else None,
        pinned=tensor.pinned if tensor is not None else False,
    )
    if kind is Kind.CONTAINER:
        found.container = _container(entries)
    if kind is Kind.TENSOR and all(map(_is_tensor, entries)):
        found.container = TENSOR
    if kind is Kind.MODULE:
        found.same_as = _moved_receiver(site.node)
        found.is_bare_at_times = any(entry.device is None for entry in entries)
        if sizes is not None and all(type(entry.value) is ModuleObject for entry in entries):
            found.bytes, found.parameter_count = sizes(entries[-1].value)
    return found


def _container(entries: list[Seen]) -> str | None:
    """What a container is called that is of one kind each time."""
    values = [entry.value for entry in entries]
    names = {OWN if is_of_own_class(each) else container_name(each) for each in values}
    return names.pop() if len(names) == 1 else None


def _is_tensor(entry: Seen) -> bool:
    """Whether an observation is of nothing but tensors, rather than of what may be one."""
    return all(type(leaf) in (Tensor, Parameter) for leaf in leaves(entry.value))


def _moved_receiver(node: Any) -> str | None:
    """For `model.to(d)`: the text of the module that moves and comes back as itself."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    return ast.unparse(node.func.value) if node.func.attr in _GIVE_THEMSELVES else None


_GIVE_THEMSELVES = frozenset("to cuda cpu xpu half float double bfloat16 train eval".split())


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
