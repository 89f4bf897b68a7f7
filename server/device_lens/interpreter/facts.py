"""What the interpreter found out, as plain data: the only thing that rules, hovers, hints and
costs read. The rarer facts are in `rarer_facts`.

Places are `Site`s (a node of a chunk of a file); `FileFacts.source` turns them into ranges.
Every fact carries `condition`: the case in which it holds, in the program's own words
("torch.cuda.is_available()"), None where it always holds. A fact that would hold only under a
condition without words is not reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from device_lens.domain.device import DeviceTree
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import Shape
from device_lens.interpreter.computation import Operation


class Kind(str, Enum):
    """What an expression's value is."""

    TENSOR = "tensor"
    MODULE = "module"
    OPTIMIZER = "optimizer"
    DATALOADER = "dataloader"
    DEVICE = "device"
    CONTAINER = "container"


class Certainty(Enum):
    """How much stands behind a conflict."""

    SURE = "sure"
    """Both devices are known: the line raises under `condition`."""
    EVIDENCED = "evidenced"
    """One side is made on the default device; the other lives wherever a module's input or
    parameters do, or where a known caller's argument does."""
    POSSIBLE = "possible"
    """One side is made on the default device; of the other only the symbol is known."""


@dataclass(slots=True)
class Expression:
    """One expression as seen over all activations. `device` is the tree of all cases; leaves that
    disagree between activations are unknown. `bytes` of a module counts parameters and buffers."""

    site: Site
    kind: Kind
    device: DeviceTree
    shape: Shape = None
    dtype: str | None = None
    bytes: int | None = None
    trail: Trail | None = None
    requires_grad: bool | None = None
    pinned: bool = False
    parameter_count: int | None = None
    container: str | None = None
    """`list`, `tuple`, `named tuple` or `dict`, where it is that each time; `own` where no display
    makes such a container, `tensor` for what is surely a tensor."""
    same_as: str | None = None
    """For the result of `m = model.to(d)`: the text of the receiver, which is the same module."""
    is_bare_at_times: bool = False
    """Of a module: it has nothing that could be on a device, at least some of the times."""

    @property
    def has_buffers_alone(self) -> bool:
        """Whether a module has something to be on a device, and no parameter."""
        return self.parameter_count == 0 and bool(self.bytes)


@dataclass(slots=True)
class Loop:
    """A loop around a place. `trip_count` None: not known. `hot` tells that it runs per batch or
    per step (not over a handful of literals)."""

    site: Site
    trip_count: int | None
    hot: bool


@dataclass(frozen=True, slots=True)
class Repeated:
    """A loop that runs a place of another function on each iteration, by `calls`, outermost
    first."""

    loop: Loop
    calls: tuple[Site, ...]
    words: frozenset[str] = frozenset()
    """Of a copy, the names and attributes that hold what is copied on the way."""


@dataclass(slots=True)
class Transfer:
    """A call that moves, or may move, a tensor or module: `x.to(d)`, `.cuda()`, `.cpu()`; also
    `.half()` and other conversions (`moves` False: they only make another tensor)."""

    site: Site
    """The call; where the call's parentheses are missing (`x.cuda`), the attribute."""
    subject: Site
    """The expression that is moved."""
    kind: Kind
    method: str
    source: DeviceTree
    target: DeviceTree
    moves: bool
    shape: Shape
    dtype: str | None
    loops: tuple[Loop, ...]
    """Enclosing loops within the function, outermost first."""
    invariant_in: tuple[Site, ...] = ()
    """Those loops, innermost first and without a gap, through which the transfer's receiver and
    arguments do not change: the hoist may go above the last of them."""
    discarded: bool = False
    """The result is thrown away, so that a tensor does not move."""
    lost: bool = False
    """A name keeps the result that nothing reads: `_`, or a parameter which its function does not
    give back."""
    called: bool = True
    in_place: bool = False
    """The receiver itself moves: a module, or an object whose own `to` is in place."""
    conditional: bool = False
    """Under an `if` inside its innermost loop."""
    created_here: bool = False
    """The receiver is a factory call written in this very expression: `torch.zeros(n).to(d)`."""
    made_at: Site | None = None
    """The factory call that the receiver is derived from, by nothing but shapes and constants:
    `torch.ones(n, n).triu(1).to(d)`."""
    made_before: Site | None = None
    """The factory call that an earlier statement gave the receiver, a name, its value with."""
    factory: str | None = None
    """The factory's name as it is written."""
    redundant: bool = False
    """The tensor is already there in every case, and neither dtype nor layout changes."""
    presumed: bool = False
    """`redundant` rests on callers that put a module's inputs where its parameters are."""
    non_blocking: bool = False
    pinned: bool = False
    requires_grad: bool | None = None
    trail: Trail | None = None
    further: tuple[Trail, ...] = ()
    """The histories of further tensors that the same call moves: those of a list, or of a loop."""
    of_parameter: bool = False
    """The receiver is a parameter: its module takes no other tensor for it."""
    settable: bool = True
    """Nothing speaks against an assignment to the receiver."""
    holder_settable: bool = True
    """The same of the container whose item the receiver is in a loop."""
    set_by_method: bool = False
    """Such an assignment runs a method of the program."""
    condition: str | None = None
    device_argument: Site | None = None
    """The expression that names the target, where there is one."""
    repeated: Repeated | None = None
    """The loop of a caller through which the receiver does not change, where the function has none
    around the call."""
    follows_other: bool = False
    """That expression reads where another value is, which a loop may bind anew."""


@dataclass(slots=True)
class Origin:
    """Why a value is where it is, as the rules need it; `site` is where to report."""

    kind: str
    """`factory` (made by a factory without `device=`), `cuda-block` (so made inside a
    `torch.cuda.device` block), `plain-attribute` (of an `nn.Module`, which its moves miss),
    `plain-container` (of a module in a plain list or dict that another one keeps, at that
    attribute), `late-part` (put into a module after the move), `discarded` (a discarded transfer
    would have moved it), `loop-variable`, `parameter`, `moved`, `loaded`, `other`."""
    site: Site
    name: str
    """The factory's name, the attribute, the module's text."""
    keys: frozenset[Any] = frozenset()
    """Those of the plain dict that holds it, as far as they are known."""


@dataclass(slots=True)
class Operand:
    """One side of a conflict."""

    site: Site
    text: str
    device: DeviceTree
    """A leaf: a concrete or a symbolic device."""
    trail: Trail | None
    origin: Origin
    is_parameter: bool = False
    """It is a parameter or buffer of the called module rather than an expression at the call."""
    is_always_tensor: bool = True
    """No other run of the operation is seen to have a number in its place."""
    is_unpacked: bool = False
    """It is among the values of `*values` or `**values`, where the site is."""


@dataclass(slots=True)
class Conflict:
    """An operation whose operands must share a device and do not. After it the result's device
    is unknown."""

    site: Site
    operation: str
    """How a reader knows it: `torch.matmul`, `+`, `self.fc(...)`."""
    stray: Operand
    """The operand to move: the one on the host where the other is on an accelerator."""
    other: Operand
    certainty: Certainty
    condition: str | None
    module_call: Site | None = None
    """The innermost module call written in the workspace, where parameters meet an input."""
    module_text: str | None = None
    wants_cpu: bool = False
    """The operation demands the host (`lengths` of packed sequences): the fix is the reverse."""
    call_chain: tuple[Site, ...] = ()
    """Calls that lead here from the entry, outermost first."""


@dataclass(slots=True)
class Synchronization:
    """A place that waits for the device. `what` is `.item()`, `print`, `bool()`, `nonzero`…"""

    site: Site
    what: str
    subject: Site | None
    device: DeviceTree
    loops: tuple[Loop, ...]
    interval_guarded: bool
    """Only every so many iterations, by a test such as `step % 100 == 0`."""
    condition: str | None = None
    repeated: Repeated | None = None
    """The loop of a caller, where the function has none around the place."""


@dataclass(slots=True)
class Skipped:
    """What the analysis did not follow, so that "unknown" can be explained."""

    site: Site
    reason: str


def _nothing(node: Any) -> None:
    return None


@dataclass
class FileFacts:
    """Everything about one file. Lists are in no particular order; each fact stands once."""

    path: str
    source: Any
    """The `SourceFile`."""
    read_expressions: Callable[[], list[Expression]] = list
    expression_at: Callable[[Any], Expression | None] = _nothing
    """What is known of the expression at a node."""
    transfers: list[Transfer] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    synchronizations: list[Synchronization] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    """The rarer facts, of the types of `rarer_facts`."""
    skipped: list[Skipped] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    """Budgets that were hit, one sentence each."""

    @cached_property
    def expressions(self) -> list[Expression]:
        """What is known of each expression; read when it is first asked for."""
        return self.read_expressions()
