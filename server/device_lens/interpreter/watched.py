"""What the modules of facts remember during a run, and the library calls that they look at.

None of it is rolled back with a branch: these are notes about values by identity and about places,
kept on the side that makes for silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame


class LibraryCall:
    """A call of a library function, method, operator or attribute whose model has run."""

    __slots__ = ("args", "frame", "kwargs", "name", "node", "receiver", "value")

    def __init__(
        self,
        name: str,
        receiver: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        node: Any,
        frame: Frame,
        value: Any,
    ) -> None:
        self.name = name
        self.receiver = receiver
        self.args = args
        self.kwargs = kwargs
        self.node = node
        self.frame = frame
        self.value = value

    def get(self, position: int, name: str) -> Any:
        """An argument; Python's None where it is left out."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(name)

    def values(self) -> Iterator[Any]:
        """The receiver and all arguments."""
        if self.receiver is not None:
            yield self.receiver
        yield from self.args
        yield from self.kwargs.values()


class Notes:
    """Facts about values, by identity. The value is kept, so that its identity stays its own.
    Those of `below` are seen too, and not touched: what is dropped of them is hidden here."""

    __slots__ = ("_below", "_by_id", "_seen_above")

    def __init__(self, below: Notes | None = None) -> None:
        self._seen_above: dict[int, tuple[Any, Any]] | None = None
        self._by_id: dict[int, tuple[Any, Any]] = {}
        self._below: dict[int, tuple[Any, Any]] = {} if below is None else below._by_id

    def __bool__(self) -> bool:
        return bool(self._by_id or self._below)

    def above(self) -> Notes:
        """New notes with these as they are now below them."""
        found = Notes()
        if self._by_id:
            if self._seen_above is None:
                self._seen_above = {**self._below, **self._by_id}
            found._below = self._seen_above
        else:
            found._below = self._below
        return found

    @property
    def adds_only(self) -> bool:
        """Whether nothing that lies below is noted otherwise."""
        return self._by_id.keys().isdisjoint(self._below)

    def put(self, value: Any, note: Any) -> None:
        self._seen_above = None
        self._by_id[id(value)] = (value, note)

    def get(self, value: Any) -> Any:
        """The note of that very value; Python's None where there is none."""
        key = id(value)
        found = self._by_id.get(key)
        if found is None and self._below:
            found = self._below.get(key)
        return None if found is None else found[1]

    def drop(self, value: Any) -> None:
        self._seen_above = None
        self._by_id.pop(id(value), None)
        if id(value) in self._below:
            self._by_id[id(value)] = (value, None)

    def clear(self) -> None:
        self._seen_above = None
        if self._below:
            self._by_id = dict.fromkeys(self._below, (None, None))
        else:
            self._by_id.clear()

    def items(self) -> list[tuple[Any, Any]]:
        """Values with their notes, oldest first."""
        seen = {**self._below, **self._by_id} if self._below else self._by_id
        return [each for each in seen.values() if each[1] is not None]

    def take(self, other: Notes) -> None:
        """Takes in what another one noted and hid."""
        if other._by_id and other._by_id is not self._below:
            self._seen_above = None
            self._by_id.update(other._by_id)

    def forget(self, other: Notes) -> None:
        """Forgets what was taken from another one."""
        self._seen_above = None
        for key in other._by_id:
            self._by_id.pop(key, None)


class LastingNotes(Notes):
    """Notes about values that outlive their unit: they are among those of all units at once, until
    they are taken back."""

    __slots__ = ("_keys", "_shared")

    def __init__(self, shared: Notes) -> None:
        super().__init__(shared)
        self._shared = shared
        self._keys: set[int] = set()

    def put(self, value: Any, note: Any) -> None:
        self._shared.put(value, note)
        self._keys.add(id(value))

    def drop(self, value: Any) -> None:
        self._shared.drop(value)

    def clear(self) -> None:
        self._shared.clear()

    def take(self, other: Notes) -> None:
        self._shared.take(other)
        self._keys.update(other._by_id)

    def take_back(self) -> None:
        """Takes these notes away from all units: nobody sees their values any more."""
        self._shared._seen_above = None
        for key in self._keys:
            self._shared._by_id.pop(key, None)


_BY_VALUE = (
    "literals",
    "copies",
    "pending",
    "batches",
    "wrapped",
    "late",
    "loads",
    "moved_leaves",
)
"""The notes about values."""
_HARMLESS = _BY_VALUE[:3]
"""Those about values that a statement has just made, as long as they add only."""
_LISTED = _BY_VALUE[-2:]
"""Those that are gone through, not only looked up: they go with the unit that wrote them."""


class Watched:
    """The notes of one unit, by family of facts. Those about the values of `below` are seen too.
    With `lasting`, the values of the unit outlive it: what is noted of them goes to `below`, at
    once or by `settle`."""

    def __init__(self, below: Watched | None = None, lasting: bool = False) -> None:
        for name in _BY_VALUE:
            under: Notes | None = None if below is None else getattr(below, name)
            lasts = lasting and name not in _LISTED
            setattr(
                self, name, LastingNotes(under) if under is not None and lasts else Notes(under)
            )
        self.literals: Notes
        """Device strings, and devices made of them: where the literal stands."""
        self.copies: Notes
        """Values that are copies on the host of what is on an accelerator."""
        self.pending: Notes
        """Tensors that a copy without waiting may not have filled yet."""
        self.batches: Notes
        """Tensors that a data loader yields."""
        self.loads: Notes
        """What `torch.load` without `map_location` gave."""
        self.wrapped: Notes
        """Modules inside a `DistributedDataParallel`."""
        self.moved_leaves: Notes
        """Moved leaves that require grad, which may become leaves again."""
        self.late: Notes
        """Parts that came into a module after its move: the key of the fact."""
        self.restored: list[Any] = []
        """Uses of a loaded value as a checkpoint."""
        self.bypasses: list[Any] = []
        self.forwarded: set[Any] = set()
        """Functions in which a `DistributedDataParallel` is called."""
        self.kept_graphs: dict[Any, Any] = {}
        self.contexts: list[Any] = []
        """The `torch.cuda.device` blocks that are open, innermost last."""
        self.made_in_context: dict[Any, Any] = {}
        """Factory calls inside such blocks, with the block's context and their places."""
        self.mask: Any = None if below is None else below.mask
        self.started: Any = None if below is None else below.started
        self.asks_start = False
        """Whether anything looked at where CUDA was started."""
        self.plain: dict[Any, Any] = {}
        """Classes of modules by the assignment of their plain attributes; beside them calls of
        `setattr` that set what is no tensor."""
        self.open_calls: list[Any] = []
        """Calls of modules that are running, innermost last."""
        self.steps: list[Any] = []
        """What was computed in them, Python's None for what cannot be counted."""
        self.lists: list[Any] = []
        """Modules with the plain lists and dicts of layers that were assigned to them."""
        self.moved_classes: set[Any] = set()
        self.escaped_classes: set[Any] = set()
        self.escaped: dict[Any, tuple[int, int]] = {}
        """Modules whose parts are among these classes, as they were then: the moves of the whole
        program, and the number of parts."""
        self.evidence: dict[str, set[str]] = {}
        """What is known of the program, by kind: the files that show it."""

    def inside(self, apart: bool = False) -> Watched:
        """For a stretch within the unit, which sees what the unit has noted. With `apart` the unit
        does not see what the stretch opens."""
        found = Watched()
        for name in _BY_VALUE:
            setattr(found, name, getattr(self, name).above())
        found.mask, found.started = self.mask, self.started
        found.asks_start = self.asks_start
        found.evidence = {kind: set(paths) for kind, paths in self.evidence.items()}
        found.contexts, found.open_calls, found.steps = self.contexts, self.open_calls, self.steps
        if apart:
            found.contexts, found.open_calls = list(found.contexts), list(found.open_calls)
            found.steps = list(found.steps)
        return found

    def is_tame(self) -> bool:
        """Whether nothing was noted that a later statement looks at."""
        notes = {name: getattr(self, name) for name in _BY_VALUE}
        return all(
            each.adds_only if name in _HARMLESS else not each._by_id for name, each in notes.items()
        ) and not any(
            (
                self.restored,
                self.bypasses,
                self.forwarded,
                self.kept_graphs,
                self.made_in_context,
                self.plain,
                self.lists,
                self.moved_classes,
                self.escaped_classes,
            )
        )

    def is_silent(self) -> bool:
        """Whether `take` would take nothing."""
        return not any(getattr(self, name)._by_id for name in _BY_VALUE) and not any(
            (
                self.restored,
                self.bypasses,
                self.lists,
                self.forwarded,
                self.moved_classes,
                self.escaped_classes,
                self.kept_graphs,
                self.made_in_context,
                self.plain,
                self.evidence,
            )
        )

    def take_notes(self, other: Watched) -> None:
        """Takes in what a stretch noted about values, and what it knows of the program."""
        for name in _BY_VALUE:
            getattr(self, name).take(getattr(other, name))
        self.evidence = {kind: set(paths) for kind, paths in other.evidence.items()}
        self.asks_start = self.asks_start or other.asks_start

    def take(self, other: Watched) -> None:
        """Takes in what another unit leaves to be concluded."""
        for name in _BY_VALUE:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is not theirs:
                mine.take(theirs)
        self.restored += other.restored
        self.bypasses += other.bypasses
        self.lists += other.lists
        self.forwarded |= other.forwarded
        self.moved_classes |= other.moved_classes
        self.escaped_classes |= other.escaped_classes
        for mine, theirs in (
            (self.kept_graphs, other.kept_graphs),
            (self.made_in_context, other.made_in_context),
            (self.plain, other.plain),
        ):
            for key, value in theirs.items():
                mine.setdefault(key, value)
        for kind, paths in other.evidence.items():
            self.evidence.setdefault(kind, set()).update(paths)

    def settle(self, other: Watched) -> None:
        """Lets all units see what one noted of values that outlive it."""
        for name in _LISTED:
            getattr(self, name).take(getattr(other, name))

    def forget(self, other: Watched) -> None:
        """Takes that back."""
        for name in _BY_VALUE:
            notes = getattr(other, name)
            if isinstance(notes, LastingNotes):
                notes.take_back()
            elif name in _LISTED:
                getattr(self, name).forget(notes)

    def note(self, kind: str, path: str) -> None:
        """Notes that a file shows something."""
        self.evidence.setdefault(kind, set()).add(path)

    def shows(self, kind: str, paths: Iterable[str]) -> bool:
        """Whether one of the files shows it."""
        return not self.evidence.get(kind, set()).isdisjoint(paths)
