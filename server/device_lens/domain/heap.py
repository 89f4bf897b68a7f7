"""Objects of the abstract heap.

Every mutable part is a plain dict ("table"), which changes through `Journal.write` alone.
"""

from __future__ import annotations

from itertools import count
from threading import local
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import CPU, DeviceTree
from device_lens.domain.values import Tensor, TupleValue

if TYPE_CHECKING:
    from device_lens.domain.path import Path
    from device_lens.domain.trail import Trail

Table = dict[Any, Any]

_CLOCK = count()


def moment() -> int:
    """Now, as far as the births of tables go: those made from here on are `born` no earlier."""
    return next(_CLOCK)


class _Birthplace(local):
    """The path on which tables are being made, for each analysis thread."""

    path: Path | None = None


BIRTHPLACE = _Birthplace()


class Dated(dict[Any, Any]):
    """A table that knows when it was made."""

    __slots__ = ("born",)

    def __init__(self) -> None:
        self.born = next(_CLOCK)


class Placed(Dated):
    """A table that knows where it was made: where what holds on that `path` does not it never was,
    and nobody can read or change it there."""

    __slots__ = ("path",)

    def __init__(self) -> None:
        self.born = next(_CLOCK)
        self.path = BIRTHPLACE.path


class Entries(Placed):
    """What a dict has under constant keys, or an object as attributes. `presence` has a record of
    each that is there or not as a condition decides (`domain/presence.py`); None where there was
    never one. `mixed`: in which order the keys were put into it is not known any more. `around`:
    the fields of the dict, whose `rest` is what it has under any other key."""

    __slots__ = ("around", "mixed", "presence")

    def __init__(self) -> None:
        super().__init__()
        self.around: Table | None = None
        self.mixed = False
        self.presence: Presences | None = None


class Presences(Placed):
    """Which keys of some entries are there under a condition only."""

    __slots__ = ("entries",)

    def __init__(self, entries: Entries | LocalNames | ModuleNames) -> None:
        self.born = getattr(entries, "born", -1)  # whoever sees the one sees the other
        self.path = getattr(entries, "path", None)
        self.entries = entries


class LocalNames(Dated):
    """The names of one activation of a function, with the `presence` of those that only one side
    of a condition binds, as `Entries` have."""

    __slots__ = ("presence",)

    def __init__(self) -> None:
        super().__init__()
        self.presence: Presences | None = None


class ModuleNames(dict[Any, Any]):
    """The names of a module, with the `presence` of those that only one side of a condition
    binds."""

    __slots__ = ("presence",)

    def __init__(self) -> None:
        super().__init__()
        self.presence: Presences | None = None


class Standing:
    """What the registries of one module share. `attached` tells that the module is a part of
    something that may know where it is; `known` is for whoever remembers where the module itself
    is: it is no part of its state, and forgotten when its registries are rolled back."""

    __slots__ = ("attached", "known")

    def __init__(self) -> None:
        self.attached = False
        self.known: Any = None


class Registry(Placed):
    """A table that decides where a module is; the registry of a parameter has no `standing`."""

    __slots__ = ("standing",)

    def __init__(self, standing: Standing | None = None) -> None:
        super().__init__()
        self.standing = standing


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""Stands for a key that a table does not have."""

ANY_OF = "<any of>"
"""The field of an iterator for the objects of which some are items beyond those that are known."""
HELD_ANY = "<any of these>"
"""The field of a list with the values for any of which its `rest` stands, as a tuple; absent where
these are not told apart."""
HELD_ALL = "<all of these>"
"""The field of such a list that tells whether it surely holds each of these values."""
RETURNED = "<returned>"
"""The field of a generator with what its function returns at its end, for `yield from`."""
PRESENT = "<present>"
"""The field of a list, or of what goes through the keys of a dict, with its items and, for each of
them, the condition under which it is there; absent where all of them are."""
OPTIONAL = "<optional>"
"""The field of a list that tells its `rest` item by item (`domain/optional_items.py`)."""
BY_ITEM = frozenset({PRESENT, OPTIONAL})
"""The fields that are told anew where paths meet, and never joined."""
OF_MODULE = "<module>"
"""The field of a dict that holds all names of a module."""
COUNT = "<count>"
"""The field of a container of modules for how many it has, a tree of numbers."""
MEMBERS = "<parameters>"
"""The field of an optimizer with every parameter that it was given, as a tuple."""
STATE = "<state>"
"""The field of an optimizer with what its state was made for: a tuple of pairs of a parameter and a
device."""
FRESH = "<fresh>"
"""The field of an object that stands for new ones, one at each turn of a loop."""


MADE_UNDER = "<made under>"
"""The field of an iterator with where factories created when it was made: its items are made when
it is read."""


class HeapObject:
    """Anything with identity. `site` is its allocation site. `many` tells that it stands for many,
    or is a part of what does: what is done to one of them is not done to the others. It holds the
    name of the number that tells how many there are and that number, None where there is no name
    or it is not known; it is None itself for an object that is one."""

    __slots__ = ("fields", "many", "site")

    def __init__(self, site: Any = None, fields: Table | None = None) -> None:
        self.site = site
        self.many: tuple[str | None, int | None] | None = None
        self.fields: Table = Dated() if fields is None else fields


class _Moved:
    """The moment of the last change to what says where modules and parameters are, of any analysis:
    what was known before it and comes later may be wrong."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = moment()


MOVED = _Moved()


class Parameter(HeapObject):
    """An `nn.Parameter`: `fields["tensor"]` is its present value, which a move of its module
    replaces for every alias. One that is any of several has those in `among` instead, and is where
    they are when somebody asks (`domain/parameters.py`)."""

    __slots__ = ("among", "joined", "settled")

    def __init__(self, tensor: Tensor | None, site: Any = None) -> None:
        super().__init__(site, Registry())
        self.among: dict[int, Parameter] = {}
        """By their identities."""
        self.joined: tuple[int, list[Tensor], Tensor] | None = None
        self.settled: tuple[list[Tensor], Tensor] | None = None
        """What whichever it is was made to be, as long as those that it may be are these."""
        if tensor is not None:
            self.fields["tensor"] = tensor

    @property
    def tensor(self) -> Tensor:
        if self.among:
            from device_lens.domain.parameters import joined

            return joined(self)
        found: Tensor = self.fields["tensor"]
        return found


class ListObject(HeapObject):
    """A list, set, deque or iterator. `fields["items"]` are the items known one by one (a tuple),
    `fields["rest"]` is what any further item is, None where there is none."""

    __slots__ = ("kind",)

    def __init__(
        self,
        items: tuple[Any, ...] = (),
        rest: Any = None,
        kind: str = "list",
        site: Any = None,
    ) -> None:
        super().__init__(site)
        self.kind = kind
        self.fields["items"] = items
        self.fields["rest"] = rest

    @property
    def items(self) -> tuple[Any, ...]:
        found: tuple[Any, ...] = self.fields["items"]
        return found

    @property
    def rest(self) -> Any:
        return self.fields["rest"]


ORDERED = "ordered"
"""The field that tells of a dict that it is an `OrderedDict`."""


class DictObject(HeapObject):
    """A dict: `entries` maps constant keys to values, `fields["rest"]` is the value under any
    other key (None: there is none), `fields["rest_key"]` what such a key is."""

    __slots__ = ("entries", "kind")

    def __init__(self, entries: Table | None = None, rest: Any = None, site: Any = None) -> None:
        super().__init__(site)
        self.kind = "dict"
        if not isinstance(entries, Dated):
            plain, entries = entries, Entries()
            entries.update(plain or {})
        self.entries: Table = entries
        if type(entries) is Entries:
            entries.around = self.fields
        self.fields["rest"] = rest
        self.fields["rest_key"] = None

    @property
    def rest(self) -> Any:
        return self.fields["rest"]


def contents(value: Any) -> list[Any]:
    """What a tuple, list or dict holds, with what further items are; of anything else nothing."""
    items: tuple[Any, ...] = ()
    if type(value) is TupleValue:
        items = value.items
    elif type(value) is ListObject:
        items = (*value.items, value.rest)
    elif type(value) is DictObject:
        items = (*value.entries.values(), value.rest)
    return [item for item in items if item is not None]


class Instance(HeapObject):
    """An instance of a class: `cls` is a `ClassValue` or an `External` name; `fields` are its
    attributes."""

    __slots__ = ("cls",)

    def __init__(self, cls: Any, site: Any = None) -> None:
        super().__init__(site, Entries())
        self.cls = cls


class ModuleObject(Instance):
    """An `nn.Module`. `parameters`, `buffers` and `modules` are its registries; `fields` its plain
    attributes, which moves miss.

    `own["device"]`, `own["dtype"]` and `own["trail"]` tell of parts that are not listed, as with a
    module whose code is not followed.
    `own["moved"]` is the trail of the last move, `own["opaque"]` tells that parts of the module
    were not seen, so that nothing follows from what is missing, `own["stands for"]` how many
    modules it is that a comprehension has made.
    """

    __slots__ = ("buffers", "modules", "own", "parameters", "standing")

    def __init__(self, cls: Any, site: Any = None) -> None:
        super().__init__(cls, site)
        standing = self.standing = Standing()
        self.parameters: Table = Registry(standing)
        self.buffers: Table = Registry(standing)
        self.modules: Table = Registry(standing)
        self.own: Table = Registry(standing)

    @property
    def device(self) -> DeviceTree:
        """Where the parts are that are not listed."""
        found: DeviceTree = self.own.get("device", CPU)
        return found

    @property
    def trail(self) -> Trail | None:
        return self.own.get("moved") or self.own.get("trail")


def is_made_since(table: Table, since: int) -> bool:
    """Whether a table of an object, and so the object, is no older than a `moment`."""
    return isinstance(table, Dated) and table.born >= since
