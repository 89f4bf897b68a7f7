"""Facts about what is computed: single operations, and calls of modules as the sum of their parts.

A module's call is open while its `forward` runs, and collects the steps of what runs in it. A step
that cannot be counted (an unknown shape, an operation whose work is not known, a branch that is not
decided, a loop whose number of passes is not known) leaves its call without a fact.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import Const, TupleValue
from device_lens.interpreter.computation import TRAFFIC, Operation, Step
from device_lens.interpreter.einsum import as_product
from device_lens.interpreter.watched import LibraryCall
from device_lens.models import registry
from device_lens.models.call import constant, is_none, tensor_of
from device_lens.models.torch.nn_layer import passed

if TYPE_CHECKING:
    from device_lens.domain.values import Shape, Tensor
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

MOST_STEPS = 5000
"""Steps that are collected in one run of a module; a call with more of them has no fact."""

_PREFIXES = ("torch", "torch.Tensor", "torch.nn.functional", "torch.linalg", "torch.special")
_SPELLINGS = {
    "matmul": "matmul mm bmm __matmul__ addmm einsum",
    "linear": "linear",
    "conv2d": "conv2d",
    "add": "add add_ __add__ __radd__ __iadd__",
    "mul": "mul mul_ multiply __mul__ __rmul__ __imul__",
    "relu": "relu relu_",
    "exp": "exp",
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "gelu": "gelu",
    "softmax": "softmax",
    "layer_norm": "layer_norm",
    "sum": "sum",
    "mean": "mean",
}
_NAMES = {
    f"{prefix}.{spelling}": name
    for name, spellings in _SPELLINGS.items()
    for spelling in spellings.split()
    for prefix in _PREFIXES
}
_OF_TWO = frozenset({"matmul", "linear", "conv2d", "add", "mul"})
_VIEWS = frozenset(
    "view reshape flatten unflatten transpose t permute squeeze unsqueeze expand expand_as T mT H "
    "view_as narrow select split chunk unbind detach requires_grad_ data swapaxes movedim diagonal "
    "__getitem__ size numel dim contiguous to".split()
)
"""Read no memory, or nothing worth counting where they usually stand."""
_GATHERS = frozenset("embedding index_select gather take".split())
"""Read as much as they write, however large the table is."""
_UNCOUNTED = frozenset(
    "conv1d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d bilinear einsum "
    "scaled_dot_product_attention multi_head_attention_forward grouped_mm cdist tensordot inner "
    "baddbmm addbmm chain_matmul multi_dot kron matrix_power matrix_exp inverse pinverse cholesky "
    "qr svd lstsq solve embedding_bag ctc_loss conv2d linear matmul mm bmm addmm grid_sample "
    "interpolate unfold fold sparse".split()
)
"""Arithmetic that their bytes do not tell."""
_UNCOUNTED_PACKAGES = ("torch.linalg.", "torch.fft.", "torch.sparse.", "torch.distributed.")
_CALLS_ITS_PARTS = frozenset(
    {
        "torch.nn.Sequential",
        "torch.nn.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
    }
)


class OpenCall:
    """A module's call that is running, on `path`; `depth` and `first` are how many activations and
    steps there were when it began."""

    __slots__ = ("depth", "first", "frame", "inputs", "node", "path")

    def __init__(
        self,
        machine: Machine,
        node: Any,
        inputs: tuple[tuple[Shape, str | None], ...],
        frame: Frame,
    ) -> None:
        self.node = node
        self.inputs = inputs
        self.frame = frame
        self.path = machine.path
        self.depth = len(machine.stack)
        self.first = len(machine.watched.steps)


def opened(
    machine: Machine, node: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Frame
) -> OpenCall | None:
    """A module's call begins; Python's None where what it is given is not known."""
    watched = machine.watched
    inputs = _inputs((*args, *kwargs.values()))
    if not inputs:
        machine.findings.computed(node, None)
        if watched.open_calls:
            watched.steps.append(None)
        return None
    if not watched.open_calls:
        watched.steps = []
    call = OpenCall(machine, node, inputs, frame)
    watched.open_calls.append(call)
    return call


def closed(machine: Machine, call: OpenCall, value: Any, frame: Frame) -> None:
    """The call ends, with Python's None where it was given up."""
    watched = machine.watched
    watched.open_calls.pop()
    steps = watched.steps[call.first :]
    if watched.open_calls:
        if not _runs_once(machine, frame):
            watched.steps.append(None)
        if watched.open_calls[-1].node is call.node:
            return
    result = None if value is None else tensor_of(value)
    found = None
    if steps and None not in steps and result is not None and result.shape is not None:
        site = machine.site(call.node, frame)
        found = Operation(site, tuple(Counter(steps).items()), call.inputs)
    machine.findings.computed(call.node, found)


def layer_called(
    machine: Machine,
    name: str,
    module: ModuleObject,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    value: Any,
    node: Any,
    frame: Frame,
) -> None:
    """A library's module has run: what counts is the function that it is a call of."""
    if name in _CALLS_ITS_PARTS:
        return
    model = registry.module(name)
    function = getattr(model, "function", "")
    if not function:
        if machine.watched.open_calls and name != "torch.nn.Identity":
            machine.watched.steps.append(None)
        return
    kept = {}
    for keyword, attribute in passed(getattr(model, "passes", "")).items():
        for table in (module.parameters, module.buffers, module.fields):
            if attribute in table:
                kept[keyword] = table[attribute]
    seen = LibraryCall(function, None, args, {**kwargs, **kept}, node, frame, value)
    called(machine, seen)
    if machine.watched.open_calls:
        followed(machine, seen)


def called(machine: Machine, seen: LibraryCall) -> None:
    """An operation that costs know has run."""
    if seen.name not in _NAMES:
        return
    open_calls = machine.watched.open_calls
    if open_calls and open_calls[-1].node is seen.node:
        return
    step = _named(seen)
    site = machine.site(seen.node, seen.frame)
    found = None if step is None else Operation(site, ((step, 1),))
    machine.findings.computed(seen.node, found)


def followed(machine: Machine, seen: LibraryCall) -> None:
    """Something of the library has run while a module's call is open."""
    added: list[Step | None] = [*_steps(seen)]
    if added and (not _runs_once(machine, seen.frame) or len(machine.watched.steps) > MOST_STEPS):
        added = [None]
    machine.watched.steps += added


def recalled(machine: Machine, steps: list[Step | None] | None, frame: Frame | None) -> None:
    """A call is answered from memory; `steps` are those that it took when it ran, None where they
    were not collected."""
    if machine.watched.open_calls:
        once = steps is not None and _runs_once(machine, frame)
        machine.watched.steps += steps if once and steps is not None else [None]


def _runs_once(machine: Machine, frame: Frame | None) -> bool:
    """Whether what runs now runs exactly once in the innermost open call."""
    call = machine.watched.open_calls[-1]
    if machine.path is not call.path:
        return False
    inside = machine.stack[call.depth :]
    if frame is not None and frame is not call.frame:
        inside = [*inside, frame]
    return not any(loop.repeats for each in inside for loop in each.loops)


def _steps(seen: LibraryCall) -> list[Step | None]:
    """What the call adds to the work: nothing, a step, or None for what cannot be counted."""
    short = seen.name.rpartition(".")[2]
    if short == "__getitem__" and any(each.dtype == "bool" for each in _tensors(seen.args)):
        return [None]  # how much a mask selects is not known
    if short in _VIEWS:
        return []
    if seen.name in _NAMES:
        step = _named(seen)
        if step is not None:
            return [step]
    results = _tensors((seen.value,))
    if not results:
        return []
    if short in _UNCOUNTED or seen.name.startswith(_UNCOUNTED_PACKAGES):
        return [None]
    read = results if short in _GATHERS else _tensors(tuple(seen.values()))
    touched = [*read, *results]
    dtype = results[0].dtype
    if dtype is None or any(each.shape is None for each in touched):
        return [None]
    return [Step(TRAFFIC, tuple(each.shape for each in touched), dtype)]


def _named(seen: LibraryCall) -> Step | None:
    """The step of a known operation, None where its operands are not known."""
    name = _NAMES[seen.name]
    short = seen.name.rpartition(".")[2]
    given = seen.args if seen.receiver is None else (seen.receiver, *seen.args)
    if short == "einsum":
        return _einsum(given)
    if short == "addmm":
        left = tensor_of(_argument(seen, given, 1, "mat1"))
        right = tensor_of(_argument(seen, given, 2, "mat2"))
    else:
        left = tensor_of(_argument(seen, given, 0, "input"))
        right = tensor_of(_argument(seen, given, 1, "other", "mat2", "weight"))
    operands = [left, right] if name in _OF_TWO else [left]
    found = _step(name, operands)
    if found is None or not _is_plain(name, seen, given, found):
        return None
    if name != "conv2d":
        return found
    stride = _whole(_argument(seen, given, 3, "stride"), 1)
    padding = _whole(_argument(seen, given, 4, "padding"), 0)
    dilation = _whole(_argument(seen, given, 5, "dilation"), 1)
    if stride is None or padding is None or dilation != 1:
        return None
    return Step(name, found.shapes, found.dtype, stride, padding)


def _step(name: str, operands: list[Tensor | None]) -> Step | None:
    dtypes = {None if each is None else each.dtype for each in operands}
    shapes = tuple(None if each is None else each.shape for each in operands)
    if None in shapes or len(dtypes) != 1 or None in dtypes:
        return None
    return Step(name, shapes, dtypes.pop())


def _is_plain(name: str, seen: LibraryCall, given: tuple[Any, ...], step: Step) -> bool:
    """Whether it is the operation as costs know it: along the last dimension, or over all."""
    shape: Shape = step.shapes[0]
    if name == "softmax":
        dim = constant(_argument(seen, given, 1, "dim") or Const(None))
        return shape is not None and dim in (-1, len(shape) - 1)
    if name == "layer_norm":
        normalized = _argument(seen, given, 1, "normalized_shape")
        return type(normalized) is Const or (
            type(normalized) is TupleValue and len(normalized.items) == 1
        )
    if name in ("sum", "mean"):
        result = tensor_of(seen.value)
        return result is not None and result.shape == ()
    return True


def _einsum(given: tuple[Any, ...]) -> Step | None:
    if len(given) != 3:
        return None
    equation = constant(given[0])
    step = _step("matmul", [tensor_of(each) for each in given[1:]])
    if step is None or not isinstance(equation, str):
        return None
    shapes = as_product(equation, step.shapes[0] or (), step.shapes[1] or ())
    return None if shapes is None else Step("matmul", shapes, step.dtype)


def _argument(seen: LibraryCall, given: tuple[Any, ...], position: int, *names: str) -> Any:
    """An argument, counted from the receiver; Python's None where it is left out."""
    if position < len(given):
        return given[position]
    return next((seen.kwargs[name] for name in names if name in seen.kwargs), None)


def _whole(value: Any, default: int) -> int | None:
    """A number, or what both numbers of a pair are."""
    if value is None or is_none(value):
        return default
    if type(value) is TupleValue and value.items:
        numbers = {_whole(item, default) for item in value.items}
        return numbers.pop() if len(numbers) == 1 else None
    number = constant(value)
    return number if type(number) is int else None


def _inputs(values: tuple[Any, ...]) -> tuple[tuple[Shape, str | None], ...] | None:
    """Shapes and dtypes of the tensors that a module is given, None where one is not known."""
    tensors = _tensors(values)
    if any(each.shape is None or each.dtype is None for each in tensors):
        return None
    return tuple((each.shape, each.dtype) for each in tensors)


def _tensors(values: tuple[Any, ...]) -> list[Tensor]:
    """The tensors among values and in the tuples among them."""
    found: list[Tensor] = []
    for value in values:
        if type(value) is TupleValue:
            found += _tensors(value.items)
        elif (tensor := tensor_of(value)) is not None:
            found.append(tensor)
    return found


WATCHERS = dict.fromkeys(_NAMES, called)
