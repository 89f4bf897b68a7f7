"""One activation of a function (or module body), and the loops that run in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function, Namespace, Scope
from device_lens.domain.heap import moment
from device_lens.domain.journal import Delta

if TYPE_CHECKING:
    from device_lens.domain.path import Path
    from device_lens.interpreter.top_level import TopLevel

Exit = tuple[Any, Any, Delta | None]
"""How a path left: its condition, its value, what it had changed (None: the present state)."""


class LoopRecord:
    """A loop that is being run. `breaks` and `continues` are the paths that left its body, `left`
    the former with the mark at which the pass began that each was in; `start` is that of the loop,
    `began` the moment of it; `repeats` tells that a pass may stand for any number of them, `many`
    that the text of the body decides whether it runs for each item, `ends` that it may end without
    a `break`; `depth` counts the branches around the loop that may go another way in another pass
    of a loop around it; `replaces` is the statement that puts something in place of every item,
    `stored` what it put there in each pass (`every_item.py`). `unbound` tells that the present pass
    has read a name that the body binds only later: what follows from it is not run. `first` tells
    that the present turn is the first, with its own number, `held` are the tests of it that held
    then. `each_time` are the expressions of a comprehension that runs often, which it evaluates on
    each of its turns."""

    __slots__ = (
        "began",
        "breaks",
        "chunk",
        "continues",
        "depth",
        "each_time",
        "ends",
        "first",
        "held",
        "hot",
        "left",
        "many",
        "mark",
        "node",
        "repeats",
        "replaces",
        "sights",
        "start",
        "stored",
        "trip_count",
        "unbound",
    )

    def __init__(
        self,
        node: Any,
        chunk: Any,
        trip_count: int | None,
        hot: bool,
        start: int = 0,
        depth: int = 0,
    ) -> None:
        self.node = node
        self.chunk = chunk
        self.trip_count = trip_count
        self.hot = hot
        self.each_time: tuple[Any, ...] = ()
        self.repeats = True
        self.many = False
        self.ends = True
        self.mark = 0
        self.start = start
        self.began = moment()
        self.depth = depth
        self.breaks: list[Exit] = []
        self.left: list[tuple[int, Exit]] = []
        self.continues: list[Exit] = []
        self.sights: dict[Any, int] = {}
        self.unbound = False
        self.first = False
        self.held: set[Any] = set()
        self.replaces: Any = None
        self.stored: list[Any] = []

    def differs(self, node: Any, is_open: bool) -> bool:
        """Whether something is known of a node in one pass and nothing in another, this one
        counted."""
        if is_open and self.unbound:
            return False
        self.sights[node] = known = self.sights.get(node, 0) | (2 if is_open else 1)
        return known == 3


class Frame:
    """An activation. `self_value` and `owner` serve `super()`; `branch_depth` counts undecided
    branches around the present statement, `settled` those of them whose condition is the same for
    the whole run; `statement` is the one being run; `top` is the top level
    of an edited file that it is an activation of; `deferring` tells that its imports wait until
    their names are used, `lazily` that statements may (`waiting.py`), `is_of_one` that a method
    runs of one of many for which an object stands; `asked` is the path on which an undecided test
    around it asked whether something is there; `around` is the frame that a
    comprehension stands in, which has names of its own alone; `stuck` tells that what is being
    evaluated does not get past a call that never returns, `thrown` that a path has ended by an
    exception, `open_ended` that one has which others may not end by: in a method that another class
    replaces, or by an assertion; `between` are the places that a generator leaves open while the
    loop that goes through it runs (`suspended.py`)."""

    __slots__ = (
        "around",
        "asked",
        "between",
        "branch_depth",
        "call_site",
        "chunk",
        "deferring",
        "entry_mark",
        "exits",
        "function",
        "is_of_one",
        "lazily",
        "loops",
        "namespace",
        "open_ended",
        "owner",
        "parent",
        "raised",
        "scope",
        "self_value",
        "settled",
        "statement",
        "stuck",
        "thrown",
        "top",
        "try_depth",
        "waits",
        "yields",
    )

    def __init__(
        self,
        namespace: Namespace,
        scope: Scope,
        chunk: Any,
        function: Function | None = None,
        parent: Frame | None = None,
    ) -> None:
        self.namespace = namespace
        self.scope = scope
        self.chunk = chunk
        self.function = function
        self.parent = parent
        self.around: Frame | None = None
        self.owner: ClassValue | None = function.owner if function else None
        self.self_value: Any = None
        self.exits: list[Exit] = []
        self.loops: list[LoopRecord] = []
        self.asked: Path | None = None
        self.branch_depth = 0
        self.settled = 0
        self.try_depth = 0
        self.entry_mark = 0
        self.raised = False
        self.stuck = False
        self.thrown = False
        self.open_ended = False
        self.deferring = False
        self.lazily = False
        self.is_of_one = False
        self.statement: Any = None
        self.top: TopLevel | None = None
        self.yields: list[Any] | None = None
        self.waits: list[Exit] = []
        self.between: list[Any] = []
        self.call_site: Any = None

    def has_ended(self) -> bool:
        """Whether a call that never returns has ended the present path, which is then told."""
        if not self.stuck:
            return False
        self.stuck = False
        self.raised = self.thrown = True
        return True

    @property
    def is_class_body(self) -> bool:
        return self.owner is not None and self.scope.names is self.owner.fields

    def closure(self) -> Scope:
        """The scope that a function or comprehension written here sees: a class body is none."""
        parent = self.scope.parent
        return parent if self.is_class_body and parent is not None else self.scope

    def end_branch_of_pass(self) -> None:
        """What was met raises, where a loop has not yet made what it needs: a branch that may be
        taken in a later pass is not in this one."""
        if self.loops and self.open_branches > self.loops[0].depth:
            self.stuck = True

    @property
    def may_be_left_out(self) -> bool:
        """Whether a pass of the innermost loop may leave the present statement out."""
        return self.open_branches > (self.loops[-1].depth if self.loops else 0)

    @property
    def is_in_each_pass(self) -> bool:
        """Whether every pass of a loop runs the present statement."""
        return bool(self.loops) and not (self.may_be_left_out or self.loops[-1].continues)

    @property
    def open_branches(self) -> int:
        """The branches around the present statement that may go either way each time."""
        return self.branch_depth - self.settled
