"""The tensors of a call, by what they have to do with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from device_lens.domain.condition import together
from device_lens.domain.device import CPU, UNKNOWN_DEVICE, Device, DeviceTree, widen_device
from device_lens.domain.guard import Guarded, cases, combine, leaves
from device_lens.domain.heap import DictObject, HeapObject, ListObject
from device_lens.domain.join import join
from device_lens.domain.optional_items import operands
from device_lens.domain.trail import Trail
from device_lens.domain.values import (
    Const,
    DtypeValue,
    External,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Services, Value, tensor_of
from device_lens.models.drawn_places import DRAWN_APART, each_drawn
from device_lens.models.numbers import is_number
from device_lens.models.signature import Bound, Place, Role, Slot

POINTS = frozenset(("<points>",))
"""Guests where all operands are without dimensions: operations that expand them before."""
_NO_TENSORS = (Const, DtypeValue, External, HostArray)


class Operands:
    """What `collect` found. `agreeing` are the tensors that must share a device, the one that is
    written into and destinations included; `scalars` the values in their places that may be
    Python numbers."""

    __slots__ = (
        "agreeing",
        "bound",
        "bystanders",
        "destinations",
        "host",
        "indices",
        "names",
        "scalars",
    )

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.agreeing: list[Placed] = []
        self.names: list[str] = []
        """For each of `agreeing`, its parameter; empty for the one that is written into."""
        self.bystanders: list[Tensor] = []
        """Tensors whose device does not matter; the result's gradient may flow to them."""
        self.destinations: list[Placed] = []
        self.indices: list[Placed] = []
        self.host: list[Placed] = []
        self.scalars: list[Value] = []

    @property
    def tensors(self) -> list[Tensor]:
        return [placed[0] for placed in self.agreeing]

    def differentiable(self) -> list[Tensor]:
        """The tensors to which a gradient of the result may flow."""
        return [*self.tensors, *self.bystanders]

    def check(self, operation: str, guests: frozenset[str] | None = frozenset()) -> DeviceTree:
        """The device that the operands share. Reports those that surely do not agree. Only the
        parameters `guests` (None: all) may be 0-dimensional host tensors beside others."""
        services = self.bound.call.services
        device: DeviceTree = UNKNOWN_DEVICE
        if self.agreeing:
            lenient = guests is None or bool(guests)
            device = common_device(services, operation, self._comparable(guests), lenient)
            for index in self.indices:
                common_device(services, operation, [self.agreeing[0], off_host(index)], False)
            for out in self.destinations:
                common_device(services, operation, [_solid(out), self._leader(device)], True)
        for placed in self.host:
            demand_host(services, operation, placed, self._beside(placed))
        return device

    def _comparable(self, guests: frozenset[str] | None) -> list[Placed]:
        """The operands, those that may not be guests made to count as having dimensions."""
        if guests == POINTS:
            meet = all(tensor.zero_dim is not False for tensor in self.tensors)
            guests = None if meet else frozenset()
        return [
            placed if name and (guests is None or name in guests) else _solid(placed)
            for placed, name in zip(self.agreeing, self.names, strict=True)
        ]

    def _leader(self, device: DeviceTree) -> Placed:
        """An operand that decides where the result is, standing for all of them."""
        placed = [one for one in self.agreeing if one[0].device == device]
        if placed:
            return next((one for one in placed if one[0].zero_dim is False), placed[0])
        first = self.agreeing[0]
        return first[0].with_(device=device), first[1], first[2]

    def _beside(self, placed: Placed) -> Placed:
        return self.agreeing[0] if self.agreeing else placed

    def trail(self, device: DeviceTree) -> Trail | None:
        """The history of the operand whose device the result has."""
        leader = self._source(device)
        return leader.trail if leader is not None else None

    def default_made(self, device: DeviceTree) -> bool:
        leader = self._source(device)
        return leader is not None and leader.default_made

    def _source(self, device: DeviceTree) -> Tensor | None:
        found: Tensor | None = None
        for tensor in self.tensors:
            if tensor.trail is not None and tensor.device == device:
                if tensor.zero_dim is False:
                    return tensor
                found = found or tensor
        return found


def collect(bound: Bound) -> Operands:
    """Sorts the arguments of a call by the roles of their parameters."""
    found = Operands(bound)
    for slot in bound.signature.slots:
        value = bound.get(slot.name)
        if value is None or slot.role is Role.PLAIN:
            continue
        place = bound.places[slot.name]
        if slot.role is Role.AGREES:
            _agreeing(found, slot.name, value, place)
            continue
        placed = list(placed_tensors(bound, value, place))
        if slot.role is Role.WRITTEN:
            found.agreeing.extend(placed)
            found.names.extend("" for _ in placed)
            if placed:
                bound.tensors[slot.name] = placed[0][0]
        elif slot.role is Role.OUT:
            found.destinations.extend(placed)
        elif slot.role is Role.INDEX:
            found.indices.extend(placed)
        elif slot.role is Role.HOST:
            found.host.extend(placed)
        else:
            _bystanders(found, slot, placed)
    if bound.given("out") and all(slot.name != "out" for slot in bound.signature.slots):
        found.destinations.extend(placed_tensors(bound, bound.get("out"), bound.places["out"]))
    return found


def _bystanders(found: Operands, slot: Slot, placed: list[Placed]) -> None:
    """Operands that may be anywhere, all of them or those that have no dimensions."""
    for one in placed:
        if slot.role is Role.UNLESS_POINT and one[0].zero_dim is False:
            found.agreeing.append(one)
            found.names.append(slot.name)
        else:
            found.bystanders.append(one[0])


def _agreeing(found: Operands, name: str, value: Value, place: Place) -> None:
    placed = list(placed_tensors(found.bound, value, place))
    found.agreeing.extend(placed)
    found.names.extend(name for _ in placed)
    if not placed:
        if not isinstance(value, tuple):
            found.scalars.append(value)
            found.bound.call.services.took_no_tensor(place)
    elif len(placed) == 1 and placed[0][1] is value:
        found.bound.tensors[name] = placed[0][0]


def placed_tensors(
    bound: Bound, value: Value, place: Place, around: tuple[Value, ...] = ()
) -> Iterator[Placed]:
    """The tensors that an argument is, or holds as a sequence or mapping of any depth. `around` are
    those in which it stands: one that holds itself has no more."""
    if any(value is each for each in around):
        return
    if isinstance(value, tuple):
        for offset, item in enumerate(value):
            at = place + offset if isinstance(place, int) else place
            yield from placed_tensors(bound, item, at, around)
        return
    if isinstance(value, _NO_TENSORS) or is_number(value):
        return
    tensor = tensor_of(value)
    if tensor is not None:
        yield tensor, value, place
    elif isinstance(value, Unknown):
        yield Tensor(UNKNOWN_DEVICE, requires_grad=None, leaf=None), value, place
    elif isinstance(value, (TupleValue, ListObject)):
        known, rest = bound.call.services.iterate(value)
        items, rest = operands(value, known, rest)
        if len(items) > len(known):
            bound.tensors_complete = False
        for number, item in enumerate(items):
            yield from placed_tensors(bound, item, item_of(place, number), (*around, value))
        if rest is not None:
            bound.tensors_complete = False
            apart = isinstance(value, ListObject) and value.fields.get(DRAWN_APART) is True
            for placed in placed_tensors(bound, rest, place, (*around, value)):
                yield from each_drawn(placed) if apart else (placed,)
    elif isinstance(value, DictObject):
        for item in value.entries.values():
            yield from placed_tensors(bound, item, place, (*around, value))
    elif isinstance(value, Guarded):
        yield from _of_tree(bound, value, place)
    elif isinstance(value, HeapObject):
        bound.tensors_complete = False
        yield Tensor(UNKNOWN_DEVICE, requires_grad=None, leaf=None), value, place


def item_of(place: Place, number: int) -> Place:
    """An item of what is given at a place, by its number; of a list in a list, the outer item."""
    return place if isinstance(place, str) and "[" in place else f"{place}[{number}]"


def _of_tree(bound: Bound, value: Guarded, place: Place) -> Iterator[Placed]:
    """A tree without a tensor among its leaves: where the tensors are that each of them holds. None
    where there are none, unless a leaf is unknown."""
    if all(isinstance(leaf, _NO_TENSORS) for leaf in leaves(value)):
        return
    bound.tensors_complete = False
    rows = [_tensors_of(bound, leaf) for leaf in leaves(value)]
    if all(rows) and max(map(len, rows)) > 1:
        kept = {id(leaf): row for leaf, row in zip(leaves(value), rows, strict=True)}
        for number in range(max(map(len, rows))):
            item = _in_each(value, kept, number)
            tensor = tensor_of(item)
            if tensor is not None:
                yield tensor.with_(requires_grad=None, leaf=None), item, place
        return
    held = {id(leaf): _held(bound, leaf, place) for leaf in leaves(value)}
    device = combine(lambda leaf: held[id(leaf)], value)
    yield Tensor(widen_device(device), requires_grad=None, leaf=None), value, place


def _tensors_of(bound: Bound, value: Value) -> list[Value]:
    """The items of a sequence that has nothing but tensors, all of which are known; none of others
    or where that is not so."""
    if not isinstance(value, (TupleValue, ListObject)):
        return []
    items, rest = bound.call.services.iterate(value)
    alike = rest is None and all(type(item) is Tensor for item in items)
    return list(items) if alike else []


def _in_each(tree: Value, rows: dict[int, list[Value]], number: int) -> Value:
    """The item of a number that a tree of sequences has in each case; of one that is too short its
    first, which is there anyway."""
    if isinstance(tree, Guarded):
        yes, no = (_in_each(side, rows, number) for side in (tree.yes, tree.no))
        return join(Guarded(tree.atom, True, False), yes, no)
    row = rows[id(tree)]
    return row[number] if number < len(row) else row[0]


def _held(bound: Bound, value: Value, place: Place) -> DeviceTree:
    """The device that all tensors in a container share."""
    if not isinstance(value, (TupleValue, ListObject, DictObject)):
        return UNKNOWN_DEVICE
    found = [placed[0].device for placed in placed_tensors(bound, value, place)]
    alike = bool(found) and all(device == found[0] for device in found[1:])
    return found[0] if alike else UNKNOWN_DEVICE


def _solid(placed: Placed) -> Placed:
    """An operand that is no mere guest even where it has no dimensions, because it is written
    into or because the operation makes no exception for it."""
    tensor, value, place = placed
    if tensor.zero_dim is False:
        return placed
    return tensor.with_(shape=None, zero_dim=False), value, place


def off_host(placed: Placed) -> Placed:
    """An index with its cases on the host left out: there it agrees with everything."""
    tensor, value, place = placed
    device = _map(lambda leaf: UNKNOWN_DEVICE if leaf is CPU else leaf, tensor.device)
    return tensor.with_(device=device), value, place


def _map(function: Callable[[DeviceTree], DeviceTree], tree: DeviceTree) -> DeviceTree:
    result: DeviceTree = combine(function, tree)
    return result


def demand_host(services: Services, operation: str, placed: Placed, beside: Placed) -> None:
    """Reports an argument that has to be on the host, in each case in which it is not."""
    tensor, value, place = placed
    for literals, leaf in cases(tensor.device):
        if not isinstance(leaf, Device) or leaf is CPU or leaf.type == "meta":
            continue
        if together(literals, services.condition()) is not False:
            other = (beside[1], beside[2])
            services.conflict(operation, (value, place), other, literals, wants_cpu=True)
