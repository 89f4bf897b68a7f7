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
    """Facts about values, by identity. The value is kept, so that its identity stays its own."""

    __slots__ = ("_by_id",)

    def __init__(self) -> None:
        self._by_id: dict[int, tuple[Any, Any]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def put(self, value: Any, note: Any) -> None:
        self._by_id[id(value)] = (value, note)

    def get(self, value: Any) -> Any:
        """The note of that very value; Python's None where there is none."""
        found = self._by_id.get(id(value))
        return None if found is None else found[1]

    def drop(self, value: Any) -> None:
        self._by_id.pop(id(value), None)

    def clear(self) -> None:
        self._by_id.clear()

    def items(self) -> list[tuple[Any, Any]]:
        """Values with their notes, oldest first."""
        return list(self._by_id.values())


class Watched:
    """The notes of one run, by family of facts."""

    def __init__(self) -> None:
        self.literals = Notes()
        """Device strings, and devices made of them: where the literal stands."""
        self.copies = Notes()
        """Values that are copies on the host of what is on an accelerator."""
        self.pending = Notes()
        """Tensors that a copy without waiting may not have filled yet."""
        self.batches = Notes()
        """Tensors that a data loader yields."""
        self.loads = Notes()
        """What `torch.load` without `map_location` gave."""
        self.restored: list[Any] = []
        """Uses of it as a checkpoint."""
        self.wrapped = Notes()
        """Modules inside a `DistributedDataParallel`."""
        self.moved_leaves = Notes()
        """Moved leaves that require grad, which may become leaves again."""
        self.bypasses: list[Any] = []
        self.forwarded: set[Any] = set()
        """Functions in which a `DistributedDataParallel` is called."""
        self.kept_graphs: dict[Any, Any] = {}
        self.contexts: list[Any] = []
        """The `torch.cuda.device` blocks that are open, innermost last."""
        self.made_in_context: dict[Any, Any] = {}
        """Factory calls inside such blocks, with the block's context and their places."""
        self.mask: Any = None
        self.started: Any = None
        self.plain: dict[Any, Any] = {}
        """Classes of modules by the assignment of their plain attributes."""
        self.open_calls: list[Any] = []
        """Calls of modules that are running, innermost last."""
        self.steps: list[Any] = []
        """What was computed in them, Python's None for what cannot be counted."""
        self.late = Notes()
        """Parts that came into a module after its move: the key of the fact."""
        self.lists: list[Any] = []
        """Modules with the plain lists and dicts of layers that were assigned to them."""
        self.moved_classes: set[Any] = set()
        self.escaped_classes: set[Any] = set()
        self.evidence: dict[str, set[str]] = {}
        """What is known of the program, by kind: the files that show it."""

    def note(self, kind: str, path: str) -> None:
        """Notes that a file shows something."""
        self.evidence.setdefault(kind, set()).add(path)

    def shows(self, kind: str, paths: Iterable[str]) -> bool:
        """Whether one of the files shows it."""
        return not self.evidence.get(kind, set()).isdisjoint(paths)
