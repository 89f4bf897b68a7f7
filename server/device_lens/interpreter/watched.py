"""What the modules of facts remember during a run, and the library calls that they look at.

None of it is rolled back with a branch: these are notes about values by identity and about places,
kept on the side that makes for silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING, Any

from device_lens.interpreter.notes import EMPTY, LastingNotes, Notes, Table

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


_BY_VALUE = (
    "literals",
    "copies",
    "pending",
    "batches",
    "spent",
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


@dataclass(frozen=True, slots=True)
class Sight:
    """What a unit had noted at one moment, for what runs from there later: small, since there is
    one for each statement that somebody may edit."""

    below: tuple[Table, ...]
    mask: Any
    started: Any
    asks_start: bool
    evidence: dict[str, set[str]]
    contexts: tuple[Any, ...]
    open_calls: tuple[Any, ...]
    steps: tuple[Any, ...]


class Watched:
    """The notes of one unit, by family of facts. Those about the values of `below` are seen too.
    With `lasting`, the values of the unit outlive it: what is noted of them goes to `below`, at
    once or by `settle`. Notes that nobody asks for are not there: most units are a few statements
    that run again at a key."""

    def __init__(self, below: Watched | None = None, lasting: bool = False) -> None:
        self._under = below
        self._lasting = lasting
        self._sight: Sight | None = None
        self._seen: Sight | None = None
        self.literals: Notes
        """Device strings, and devices made of them: where the literal stands."""
        self.copies: Notes
        """Values that are copies on the host of what is on an accelerator."""
        self.pending: Notes
        """Tensors that a copy without waiting may not have filled yet."""
        self.batches: Notes
        """Tensors that a data loader yields."""
        self.spent: Notes
        """Tensors from which a backward pass started that freed the graph."""
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

    def __getattr__(self, name: str) -> Notes:
        """Notes about values, made when they are first asked for."""
        if name not in _BY_VALUE:
            raise AttributeError(name)
        if self._lasting and self._under is not None and name not in _LISTED:
            found: Notes = LastingNotes(getattr(self._under, name))
        else:
            found = Notes(self._below[_BY_VALUE.index(name)])
        self.__dict__[name] = found
        return found

    @cached_property
    def _below(self) -> tuple[Table, ...]:
        """What lies below the notes of each kind."""
        if self._sight is not None:
            return self._sight.below
        if self._under is None:
            return (EMPTY,) * len(_BY_VALUE)
        return tuple([getattr(self._under, name)._by_id for name in _BY_VALUE])

    def _made(self) -> list[tuple[str, Notes]]:
        """The notes about values that are there."""
        mine = self.__dict__
        return [(name, mine[name]) for name in _BY_VALUE if name in mine]

    def seen(self) -> Sight:
        """What is noted now. Where nothing has changed it is the same object: statements follow
        each other without a note."""
        mine = self.__dict__
        found = Sight(
            tuple(
                [
                    mine[n].seen() if n in mine else b
                    for n, b in zip(_BY_VALUE, self._below, strict=True)
                ]
            ),
            self.mask,
            self.started,
            self.asks_start,
            {kind: set(paths) for kind, paths in self.evidence.items()},
            tuple(self.contexts),
            tuple(self.open_calls),
            tuple(self.steps),
        )
        before = self._seen
        if before is not None and _is_same(before, found):
            return before
        self._seen = found
        return found

    @staticmethod
    def over(sight: Sight) -> Watched:
        """For statements that run from what was noted at some moment; the unit does not see what
        they note and open."""
        found = Watched()
        found._sight = sight
        found.mask, found.started = sight.mask, sight.started
        found.asks_start = sight.asks_start
        found.evidence = {kind: set(paths) for kind, paths in sight.evidence.items()}
        found.contexts, found.open_calls = list(sight.contexts), list(sight.open_calls)
        found.steps = list(sight.steps)
        return found

    def inside(self) -> Watched:
        """For a stretch within the unit, which sees what the unit has noted, and what it opens."""
        found = Watched.over(self.seen())
        found.contexts, found.open_calls, found.steps = self.contexts, self.open_calls, self.steps
        return found

    def is_tame(self) -> bool:
        """Whether nothing was noted that a later statement looks at."""
        return all(
            notes.adds_only if name in _HARMLESS else not notes._by_id
            for name, notes in self._made()
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
        return not any(notes._by_id for _, notes in self._made()) and not any(
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
        for name, notes in other._made():
            getattr(self, name).take(notes)
        self.evidence = {kind: set(paths) for kind, paths in other.evidence.items()}
        self.asks_start = self.asks_start or other.asks_start

    def take(self, other: Watched) -> None:
        """Takes in what another unit leaves to be concluded."""
        for name, notes in other._made():
            if getattr(self, name) is not notes:
                getattr(self, name).take(notes)
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
        for name, notes in other._made():
            if name in _LISTED:
                getattr(self, name).take(notes)

    def forget(self, other: Watched) -> None:
        """Takes that back."""
        for name, notes in other._made():
            if isinstance(notes, LastingNotes):
                notes.take_back()
            elif name in _LISTED:
                getattr(self, name).forget(notes)

    def is_also(self, value: Any, other: Any) -> None:
        """What is noted of a value holds of another one, which is the same with more known."""
        for name in _BY_VALUE:
            note = getattr(self, name).get(value)
            if note is not None:
                getattr(self, name).put(other, note)

    def note(self, kind: str, path: str) -> None:
        """Notes that a file shows something."""
        self.evidence.setdefault(kind, set()).add(path)

    def shows(self, kind: str, paths: Iterable[str]) -> bool:
        """Whether one of the files shows it."""
        return not self.evidence.get(kind, set()).isdisjoint(paths)


def _is_same(left: Sight, right: Sight) -> bool:
    """Whether two sights show the same: the very same values."""
    return (
        left.mask is right.mask
        and left.started is right.started
        and left.asks_start == right.asks_start
        and all(map(is_, left.below, right.below))
        and left.evidence == right.evidence
        and _are_same(left.contexts, right.contexts)
        and _are_same(left.open_calls, right.open_calls)
        and _are_same(left.steps, right.steps)
    )


def _are_same(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    return len(left) == len(right) and all(map(is_, left, right))
