"""The rarer facts, a few lines each: what `FileFacts.others` holds, by what they are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from device_lens.domain.device import DeviceTree
from device_lens.domain.trail import Site, Trail
from device_lens.interpreter.facts import Loop

# Transfers that do not do what they seem to.


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
    settable: bool = True
    """Nothing speaks against an assignment to the container."""
    of_own_class: bool = False
    """The container is an object of one of the program's classes."""
    of_leaves: bool = False
    """Some of the tensors are leaves that require grad, which a copy is not."""


@dataclass(slots=True)
class DroppedCopy:
    """A function of the program was called, as a statement, that gives moved copies of what it is
    given and does nothing else."""

    site: Site
    """The call."""
    subjects: tuple[Site, ...]
    """The arguments, or the object, that stay where they were: the result is what they should
    be."""
    source: DeviceTree
    """Where the first tensor of them is."""
    trail: Trail | None
    """The history of that tensor."""
    settable: bool = True
    """Nothing speaks against an assignment to them."""
    holder_settable: bool = True
    """The same of the container whose items they are in a loop."""


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
    cut: bool = False
    """Whether the program took the moved tensor out of its graph, to begin anew perhaps."""
    kept: bool = False
    """Whether the leaf itself keeps a name, so that only what an optimizer takes or a gradient that
    is read shows that the leaf was meant."""
    of_parameter: bool = False
    gradient_read: bool = False
    """Whether the program read the gradient of the moved tensor."""
    put_for_parameter: Site | None = None
    """Where a module is to take the moved tensor for a parameter, which raises."""


@dataclass(slots=True)
class ContainerTransfer:
    """`.to()` on a list, tuple or dict, or on another thing that has no such method."""

    site: Site
    subject: Site
    container: str
    """`list`, `tuple` or `dict`, `iterator`, `loader`, `dataset`, `optimizer`, `text`."""
    method: str
    tensors: bool = True
    """Tensors are among its items, or among those of the containers in it."""
    modules: bool = False
    """All of these are modules."""
    single: bool = False
    """One tensor is all that is in it."""
    inner: tuple[str, ...] = ()
    """Where all its items are containers of one kind, what they are called, from the outer one
    inwards."""
    mixed: bool = False
    """Whether something else is among the tensors."""
    settable: bool = True
    """Nothing speaks against an assignment to the container."""


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
    `pin-accelerator`. `can_pin`: nothing of the batch is known to be elsewhere than on the host."""

    site: Site
    form: str
    loader: Site | None = None
    condition: str | None = None
    can_pin: bool = True


@dataclass(slots=True)
class WorkerBatch:
    """A loader with `workers` processes whose batches come out of these on a `device` of CUDA,
    which the program has `started` before."""

    site: Site
    """The call that makes the loader."""
    workers: int
    device: DeviceTree
    trail: Trail | None
    started: Site
    condition: str | None = None


@dataclass(slots=True)
class ForkedUse:
    """A use of CUDA in a process that is `forked` by a call after the program has `started` CUDA
    itself."""

    site: Site
    device: DeviceTree
    forked: Site
    started: Site
    condition: str | None = None


# Reads on the host, dtypes that MPS lacks, graphs that are kept.


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
    nested: bool = False
    """The tensor is in the subject beside other things, or in one of several containers."""
    mixed: bool = False
    """A number or an array is read at the same place, in another activation."""


@dataclass(slots=True)
class Float64OnMps:
    site: Site
    subject: str
    trail: Trail | None
    condition: str | None = None


@dataclass(slots=True)
class RetainedGraph:
    """A tensor with a graph, summed or collected across iterations and never used backwards."""

    site: Site
    accumulator: str
    subject: Site
    form: str
    """`sum`, `collect`, or `parts` where the subject is a list or dict of such tensors."""
    parts: tuple[Site, ...] = ()
    """These where the subject is written with its items."""
    spent: bool = False
    """Whether each iteration runs the backward pass of the tensor, which frees all of its graph but
    the nodes."""
    mixed: bool = False
    """A number is added up or collected at the same place, in another case."""


# Modules, and who holds their parts.


@dataclass(slots=True)
class PlainAttribute:
    """A tensor, or modules or parameters in a plain list or dict, kept as a plain attribute of an
    `nn.Module`."""

    site: Site
    """The assignment."""
    attribute: str
    class_name: str
    holds: str
    """`tensor`, `modules`, `parameters`; of the latter two also `tuple-of-…` and `dict-of-…`."""
    value: Site
    used_in_forward: bool
    moved_by_method: bool
    """A method of the class moves it itself, or uses it only after moving it; or the `_apply` of a
    module around it does."""
    module_moves: bool | None
    """Whether the program moves such a module; None when unknown."""
    persistent_write: bool
    """It is assigned again outside `__init__`: a cache, no constant."""
    device: DeviceTree
    requires_grad: bool = False
    zero_dim: bool = False
    kept_moved: bool = False
    """A method of the class assigns what it moved: `self.mean = self.mean.to(device)`."""
    copied_at: Site | None = None
    """A use that moves a copy on each call and keeps none (`self.mean.to(x.device)`), although
    the module itself moves."""
    beside_others: bool = False
    """The same assignment sets a number too, or the same `setattr` what is no tensor."""
    keys: frozenset[Any] = frozenset()
    """The keys of a dict, as far as they are known."""
    optimized: bool = False
    """An optimizer has parameters of what the list or dict holds."""
    optimized_with_module: bool = False
    """The same one has parameters of the module."""
    of_class: bool = False
    """The class has something of that name too, which no buffer or part can have then."""


@dataclass(slots=True)
class LatePart:
    """A new part put into a module after the module moved."""

    site: Site
    attribute: str
    """Its name; empty where a method such as `append` takes the part."""
    module_text: str
    part: Site
    part_device: DeviceTree
    module_device: DeviceTree
    module_trail: Trail | None
    used: bool
    """A call of the module after that surely fails."""
    condition: str | None = None
    part_trail: Trail | None = None
    """The history of a parameter."""


@dataclass(slots=True)
class OptimizerConflict:
    """State or parameters of an optimizer that a later move leaves behind."""

    site: Site
    form: str
    """`eager-state` (Adagrad-like state made before the move), `loaded-state`, `stepped-state`,
    `replaced-parameters`, `replaced-model`."""
    optimizer: Site
    move: Site
    state: Site | None = None
    """Where the state was made or loaded."""
    condition: str | None = None


@dataclass(slots=True)
class DdpBypass:
    """A call that goes past the forward of a `DistributedDataParallel`. `form` is `module-call`
    (`ddp.module(x)` while training), `method-call` (`ddp.module.loss(x)` while training) or
    `attribute` (a method or attribute that the wrapper lacks). `class_name` is the wrapper's;
    `condition` tells where there is a wrapper, if not everywhere."""

    site: Site
    form: str
    name: str
    wrapper: Site | None = None
    class_name: str = "DistributedDataParallel"
    condition: str | None = None


# Devices that the program names, hides or takes for granted.


@dataclass(slots=True)
class HardcodedDevice:
    """An accelerator named in the code with no availability guard on the way."""

    site: Site
    literal: str
    form: str
    """`argument`, `default`, `method` (`.cuda()`), `assignment`, `type` (of the older style:
    `torch.cuda.FloatTensor`)."""


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
    by_default: bool = False
    """Whether a flag, or the environment, may set another mask."""


@dataclass(slots=True)
class CudaContext:
    """`torch.cuda.device(i)` taken to be what `torch.device` is. `form` is `factories` (made on the
    CPU inside the block), `argument` (the context given as a device) or `idle` (never entered)."""

    site: Site
    form: str
    context: Site
    index: str
    factories: tuple[Site, ...] = ()


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
    by_type: bool = False
    """Whether what needs it creates on the device of the default tensor type."""


@dataclass(slots=True)
class Load:
    """`torch.load` without `map_location`. `reason` is `rank` (every process lands on GPU 0),
    `portable` (the machine may lack the device) or None where nothing is evidenced."""

    site: Site
    reason: str | None
    device_at_hand: str | None = None
