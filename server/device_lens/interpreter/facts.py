"""What the interpreter found out, as plain data: the only thing that rules, hovers, hints and
costs read.

Places are `Site`s (a node of a chunk of a file); `FileFacts.source` turns them into ranges.
Every fact carries `condition`: the case in which it holds, in the program's own words
("torch.cuda.is_available()"), None where it always holds. A fact that would hold only under a
condition without words is not reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
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
    same_as: str | None = None
    """For the result of `m = model.to(d)`: the text of the receiver, which is the same module."""


@dataclass(slots=True)
class Loop:
    """A loop around a place. `trip_count` None: not known. `hot` tells that it runs per batch or
    per step (not over a handful of literals)."""

    site: Site
    trip_count: int | None
    hot: bool


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
    called: bool = True
    in_place: bool = False
    """The receiver itself moves: a module, or an object whose own `to` is in place."""
    conditional: bool = False
    """Under an `if` inside its innermost loop."""
    created_here: bool = False
    """The receiver is a factory call written in this very expression: `torch.zeros(n).to(d)`."""
    factory: str | None = None
    """That factory's qualified name."""
    redundant: bool = False
    """The tensor is already there in every case, and neither dtype nor layout changes."""
    presumed: bool = False
    """`redundant` rests on callers that put a module's inputs where its parameters are."""
    non_blocking: bool = False
    pinned: bool = False
    requires_grad: bool | None = None
    trail: Trail | None = None
    condition: str | None = None
    device_argument: Site | None = None
    """The expression that names the target, where there is one."""


@dataclass(slots=True)
class Origin:
    """Why a value is where it is, as the rules need it; `site` is where to report."""

    kind: str
    """`factory` (made by a factory without `device=`), `cuda-block` (so made inside a
    `torch.cuda.device` block), `plain-attribute` (of an `nn.Module`, which
    its moves miss), `late-part` (put into a module after the move), `discarded` (a discarded
    transfer would have moved it), `loop-variable`, `parameter`, `moved`, `loaded`, `other`."""
    site: Site
    name: str
    """The factory's name, the attribute, the module's text."""


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


@dataclass(slots=True)
class HostRead:
    """A tensor handed to code that needs host memory: `.numpy()`, `np.asarray(t)`, plotting,
    sklearn. Raises on an accelerator, and where the tensor requires grad."""

    site: Site
    what: str
    subject: Site
    text: str
    device: DeviceTree
    on_accelerator: bool
    requires_grad: bool
    trail: Trail | None
    condition: str | None = None
    loops: tuple[Loop, ...] = ()
    container: str | None = None
    """`list`, `tuple` or `dict` where the subject is one whose items are the tensors."""


@dataclass(slots=True)
class LoopVariableTransfer:
    """A loop variable rebound to its moved self and not used after that in the body: the
    container keeps the old tensors."""

    site: Site
    """The assignment."""
    loop: Site
    variable: str
    container: Site
    form: str
    """`values` (`for v in xs`), `items` (`for k, v in d.items()`), `dict-values`
    (`for v in d.values()`), `enumerate`."""
    transfer: Site
    alone: bool
    """The loop does nothing else, so that it can be rebuilt as a comprehension."""
    condition: str | None = None


@dataclass(slots=True)
class PlainAttribute:
    """A tensor, or modules or parameters in a plain list or dict, kept as a plain attribute of an
    `nn.Module`."""

    site: Site
    """The assignment."""
    attribute: str
    class_name: str
    holds: str
    """`tensor`, `modules`, `parameters`, `dict-of-modules`, `dict-of-parameters`."""
    value: Site
    used_in_forward: bool
    moved_by_method: bool
    """A method of the class moves it itself, or uses it only after moving it."""
    module_moves: bool | None
    """Whether the program moves such a module; None when unknown."""
    persistent_write: bool
    """It is assigned again outside `__init__`: a cache, no constant."""
    device: DeviceTree
    requires_grad: bool = False
    copied_at: Site | None = None
    """A use that moves a copy on each call and keeps none (`self.mean.to(x.device)`), although
    the module itself moves."""


@dataclass(slots=True)
class LatePart:
    """A new part put into a module after the module moved."""

    site: Site
    attribute: str
    module_text: str
    part: Site
    part_device: DeviceTree
    module_device: DeviceTree
    module_trail: Trail | None
    used: bool
    """A call of the module after that surely fails."""
    condition: str | None = None


@dataclass(slots=True)
class NonLeafTransfer:
    """A leaf that requires grad was moved where it was made, so that the result is no leaf."""

    site: Site
    form: str
    """`factory` (`torch.randn(…, requires_grad=True).to(d)`), `parameter`
    (`nn.Parameter(t).to(d)`), `name` (a variable)."""
    subject: Site
    given_to_optimizer: Site | None = None
    device_argument: Site | None = None
    condition: str | None = None


@dataclass(slots=True)
class ContainerTransfer:
    """`.to()` on a list, tuple or dict: no such method."""

    site: Site
    subject: Site
    container: str
    """`list`, `tuple` or `dict`."""
    method: str


@dataclass(slots=True)
class GeneratorConflict:
    """A `torch.Generator` on another device than its consumer needs. Where a loader makes its own,
    `generator` is the call that makes the loader."""

    site: Site
    consumer: str
    generator: Site
    generator_device: DeviceTree
    needed: DeviceTree
    trail: Trail | None
    condition: str | None = None


@dataclass(slots=True)
class OptimizerConflict:
    """State or parameters of an optimizer that a later move leaves behind."""

    site: Site
    form: str
    """`eager-state` (Adagrad-like state made before the move), `loaded-state`, `stepped-state`,
    `replaced-parameters`."""
    optimizer: Site
    move: Site
    condition: str | None = None


@dataclass(slots=True)
class Load:
    """`torch.load` without `map_location`. `reason` is `rank` (every process lands on GPU 0),
    `portable` (the machine may lack the device) or None where nothing is evidenced."""

    site: Site
    reason: str | None
    device_at_hand: str | None = None


@dataclass(slots=True)
class VisibleDevices:
    """`CUDA_VISIBLE_DEVICES` set too late, or an ordinal that the mask hides."""

    site: Site
    form: str
    """`too-late` or `ordinal`."""
    mask: Site
    visible: tuple[str, ...]
    ordinal: int | None = None
    initialised_at: Site | None = None


@dataclass(slots=True)
class CudaContext:
    """`torch.cuda.device(i)` taken to be what `torch.device` is. `form` is `factories` (made on the
    CPU inside the block) or `argument` (the context given as a device)."""

    site: Site
    form: str
    context: Site
    index: str
    factories: tuple[Site, ...] = ()


@dataclass(slots=True)
class DdpBypass:
    """A call that goes past the forward of a `DistributedDataParallel`. `form` is `module-call`
    (`ddp.module(x)` while training), `method-call` (`ddp.module.loss(x)` while training) or
    `attribute` (a method or attribute that the wrapper lacks). `class_name` is the wrapper's."""

    site: Site
    form: str
    name: str
    wrapper: Site | None = None
    class_name: str = "DistributedDataParallel"


@dataclass(slots=True)
class Float64OnMps:
    site: Site
    subject: str
    trail: Trail | None
    condition: str | None = None


@dataclass(slots=True)
class UnsynchronizedRead:
    """A non-blocking copy to the host that the host reads before a synchronisation."""

    site: Site
    """The copy."""
    read: Site
    form: str
    """`to` or `copy_`."""


@dataclass(slots=True)
class PinnedHalf:
    """One half of the pinned-memory idiom. `form`: `pageable-non-blocking`, `blocking-pinned`,
    `pin-accelerator`."""

    site: Site
    form: str
    loader: Site | None = None
    condition: str | None = None


@dataclass(slots=True)
class RoundTrip:
    """Accelerator → host → accelerator. `up` is the transfer back."""

    site: Site
    up: Site
    through: str
    """`.cpu()`, `.numpy()`, `.tolist()`, `.item()`."""
    loops: tuple[Loop, ...]
    condition: str | None = None


@dataclass(slots=True)
class RetainedGraph:
    """A tensor with a graph, summed or collected across iterations and never used backwards."""

    site: Site
    accumulator: str
    subject: Site
    form: str
    """`sum` or `collect`."""


@dataclass(slots=True)
class HardcodedDevice:
    """An accelerator named in the code with no availability guard on the way."""

    site: Site
    literal: str
    form: str
    """`argument`, `default`, `method` (`.cuda()`), `assignment`."""


@dataclass(slots=True)
class Skipped:
    """What the analysis did not follow, so that "unknown" can be explained."""

    site: Site
    reason: str


@dataclass(slots=True)
class FileFacts:
    """Everything about one file. Lists are in no particular order; each fact stands once."""

    path: str
    source: Any
    """The `SourceFile`."""
    expressions: list[Expression] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    synchronizations: list[Synchronization] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    """The rarer facts, of the other types of this module."""
    skipped: list[Skipped] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    """Budgets that were hit, one sentence each."""
    device_names: dict[Any, tuple[tuple[str, DeviceTree], ...]] = field(default_factory=dict)
    """For each function node (None: module level): names and attributes that hold a device or a
    tensor at hand, as text with what they are, for fixes to follow."""
