"""Rows: operations whose device behaviour a line of text can say, and the model that applies one.

    (@input, @other, >out) -> broadcast.promote scalars
    (@input, dim, keepdim) -> (values=along.keep, indices=along.int64)

Before the arrow stands the parameter list (`models.signature`), after it the result, and then
properties. A result is `shape.dtype` by the names of rules; `(name=shape.dtype, …)` is a tuple
with named fields, `list[shape.dtype]` a tuple of unknown length, `host` a Python value, `none`
nothing, `written` the first operand, and `written[shape.dtype]` the first operand with another
shape. `shape.dtype@cpu` lives in host memory wherever the operands are, and `shape.dtype!` never
requires grad.

Properties: `scalars` (0-dimensional host tensors may meet any device), `guests=name,…` (only those
parameters may be such tensors), `points` (they may where no operand has dimensions), `waits` (the
host waits for the device), `view` (the result may be the operand itself), `hosted` (no accelerator
can do it: what it is made of belongs on the CPU, wherever the result is wanted).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from device_lens.domain.device import CPU, DeviceTree, is_unknown
from device_lens.domain.heap import ListObject
from device_lens.domain.values import NONE, Tensor, TupleValue
from device_lens.models import dtypes, gradient
from device_lens.models.call import Call, Value
from device_lens.models.operands import POINTS, Operands, collect
from device_lens.models.shapes import SHAPES
from device_lens.models.shapes.demands import Demands
from device_lens.models.shapes.extent import Extent, Rule
from device_lens.models.signature import Bound, Role, Signature, signature
from device_lens.models.wording import computed
from device_lens.models.wording import operation as worded


@dataclass(frozen=True, slots=True)
class Result:
    """One tensor that an operation gives back."""

    name: str
    shape: Rule
    dtype: str
    on_host: bool = False
    no_grad: bool = False


_BROADCASTS = (SHAPES["broadcast"], SHAPES["broadcast2"])


@dataclass(frozen=True, slots=True)
class Operation:
    """A row. `form` is `tensor`, `tuple`, `list`, `host`, `none` or `written`."""

    signature: Signature
    form: str
    results: tuple[Result, ...]
    guests: frozenset[str] | None = frozenset()
    """Parameters that 0-dimensional host tensors may fill whatever the others' device is; None:
    all of them."""
    waits: bool = False
    view: bool = False
    hosted: bool = False
    demands: Demands | None = None
    """What it demands of its first operand; None: nothing."""

    def in_place(self) -> Operation:
        """The variant that writes into its first operand and gives it back."""
        slots = list(self.signature.slots)
        slots[0] = replace(slots[0], role=Role.WRITTEN)
        kept = tuple(slot for slot in slots if slot.role is not Role.OUT)
        form = Signature(kept, min(self.signature.positional, len(kept)))
        return replace(self, signature=form, form="written")


@cache
def parse(row: str) -> Operation:
    """The operation that a row writes."""
    head, _, tail = row.partition("->")
    tail = tail.strip()
    if tail.startswith("("):
        inside, _, rest = tail[1:].partition(")")
        form, results = "tuple", tuple(map(_result, inside.split(",")))
    else:
        word, _, rest = tail.partition(" ")
        if word.endswith("]"):
            form, _, inside = word[:-1].partition("[")
            results = (_result(inside),)
        elif "." in word:
            form, results = "tensor", (_result(word),)
        else:
            form, results = word, ()
    flags = rest.split()
    slots = signature(head.strip()[1:-1])
    return Operation(
        slots,
        form,
        results,
        _guests(flags),
        "waits" in flags,
        "view" in flags,
        "hosted" in flags,
        Demands(slots, [result.shape for result in results]) or None,
    )


def _guests(flags: list[str]) -> frozenset[str] | None:
    for flag in flags:
        if flag.startswith("guests="):
            return frozenset(flag[len("guests=") :].split(","))
    if "points" in flags:
        return POINTS
    return None if "scalars" in flags else frozenset()


def _result(text: str) -> Result:
    name, _, kind = text.strip().rpartition("=")
    shape, _, dtype = kind.partition(".")
    bare = dtype.rstrip("!")
    word, _, place = bare.partition("@")
    return Result(name, SHAPES[shape], word, place == "cpu", bare != dtype)


class TableModel:
    """The model that a row stands for; the row is parsed on the first call."""

    __slots__ = ("_operation", "_written", "row")

    def __init__(self, row: str, written: bool = False) -> None:
        self.row = row
        self._written = written
        self._operation: Operation | None = None

    @property
    def operation(self) -> Operation:
        if self._operation is None:
            found = parse(self.row)
            self._operation = found.in_place() if self._written else found
        return self._operation

    def in_place(self) -> TableModel:
        return TableModel(self.row, written=True)

    def __call__(self, call: Call) -> Value:
        return apply(self.operation, call)


class ResultNames(tuple[str, ...]):
    """Names of what an operation gives back: `torch.return_types` are made of nothing else."""


def apply(operation: Operation, call: Call) -> Value:
    """What the call gives back; conflicts among its operands are reported."""
    bound = Bound(operation.signature, call)
    operands = collect(bound)
    if operation.demands is not None:
        operation.demands.note(bound, operands)
    device = operands.check(worded(call.name), operation.guests)
    if operation.waits:
        _wait(bound, operands)
    if operation.form == "none":
        return NONE
    if operation.form == "host":
        return call.unknown()
    if operation.form == "written":
        return written(operation, bound, operands)
    if bound.given("out"):
        return bound.get("out")
    made = [_make(operation, result, bound, operands, device) for result in operation.results]
    if operation.form == "tensor":
        return made[0]
    if operation.form == "list":
        return ListObject((), made[0], "tuple", call.site.node)
    names = ResultNames(result.name for result in operation.results)
    return TupleValue(tuple(made), names if all(names) else None)


def _wait(bound: Bound, operands: Operands) -> None:
    if operands.agreeing:
        _, value, place = operands.agreeing[0]
        bound.call.services.synchronize(worded(bound.call.name), value, place)


def written(operation: Operation, bound: Bound, operands: Operands) -> Value:
    """The first operand after an operation wrote into it."""
    value = bound.get(operation.signature.slots[0].name)
    if type(value) is not Tensor:
        return call_unknown(bound) if value is None else value
    value = gradient.of_written(bound.call.services, operands.differentiable(), value)
    for result in operation.results[:1]:
        if result.shape in _BROADCASTS:
            continue  # what is written into is as large as the result
        shape, zero_dim = result.shape(bound, operands.tensors)
        changed = value.with_(shape=shape, zero_dim=zero_dim)
        known = value.shape is not None or value.zero_dim is not None
        if known and (shape != value.shape or zero_dim is not value.zero_dim):
            bound.call.services.changed_in_place(value, changed)
        value = changed
    return value


def call_unknown(bound: Bound) -> Value:
    return bound.call.unknown()


def _make(
    operation: Operation, result: Result, bound: Bound, operands: Operands, device: DeviceTree
) -> Tensor:
    tensors = operands.tensors
    extent = result.shape(bound, tensors)
    dtype = dtype_of(result.dtype, bound, operands)
    found = tensor(result.no_grad, extent, dtype, CPU if result.on_host else device, operands)
    if operation.hosted and found.device is CPU:
        call = bound.call
        trail = call.trail("computed", computed(worded(call.name), CPU))
        found = found.with_(trail=trail, default_made=False)
    if operation.view and found.leaf is False and any(t.leaf is not False for t in tensors):
        return found.with_(leaf=None)
    return found


def tensor(
    nograd: bool, extent: Extent, dtype: str | None, device: DeviceTree, operands: Operands
) -> Tensor:
    """A result of that extent, dtype and device, with the history of the operand it lives with."""
    needs: bool | None = False
    leaf: bool | None = True
    if not nograd:
        services = operands.bound.call.services
        needs, leaf = gradient.of_result(services, operands.differentiable(), dtype)
    shape, zero_dim = extent
    return Tensor(
        device,
        dtype,
        shape,
        operands.trail(device) if not is_unknown(device) else None,
        requires_grad=needs,
        leaf=leaf,
        default_made=operands.default_made(device),
        zero_dim=zero_dim,
    )


def dtype_of(word: str, bound: Bound, operands: Operands) -> str | None:
    """The dtype that a row's word means for these operands."""
    if bound.given("dtype"):
        return dtypes.named(bound.get("dtype"))
    tensors = operands.tensors
    if word in ("promote", "quotient", "divided"):
        promoted = dtypes.promote(tensors, operands.scalars)
        whole = word == "promote" or (word == "divided" and bound.given("rounding_mode"))
        return promoted if whole else dtypes.to_float(promoted)
    first = bound.tensors.get("input") or (tensors[0] if tensors else None)
    own = first.dtype if first is not None else None
    convert = _CONVERSIONS.get(word)
    if convert is not None:
        return convert(own)
    if word == "keep":
        return own
    return None if word == "unknown" else word


_CONVERSIONS = {
    "float": dtypes.to_float,
    "real": dtypes.to_real,
    "real_float": lambda dtype: dtypes.to_float(dtypes.to_real(dtype)),
    "complex": dtypes.to_complex,
    "sum": dtypes.to_sum,
}
