"""Facts about page-locked memory: one half of the idiom without the other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.device import CPU, is_accelerator
from device_lens.domain.guard import assume_all, leaves, primary
from device_lens.domain.heap import Instance, contents
from device_lens.domain.trail import Site
from device_lens.domain.values import NONE, Tensor, Unknown
from device_lens.interpreter import places, worker_facts
from device_lens.interpreter.facts import Transfer
from device_lens.interpreter.rarer_facts import PinnedHalf
from device_lens.models.call import constant, is_none, tensor_of

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

_DEPTH = 3


class Batch(NamedTuple):
    """The loader that a batch comes from. `pins`: True, False, None where it is not known.
    `can_pin`: all that is known of the batch is on the host."""

    loader: Site
    pins: bool | None
    can_pin: bool


def batches(machine: Machine, seen: LibraryCall) -> None:
    """A data loader is iterated over."""
    loader = seen.receiver
    if not isinstance(loader, Instance) or loader.site is None:
        return
    path = seen.frame.namespace.path
    made = loader.fields.get("<site>")
    site = made if isinstance(made, Site) else Site(path, seen.frame.chunk, loader.site)
    tensors = _tensors(seen.value, _DEPTH)
    can_pin = all(leaf is CPU for tensor in tensors for leaf in leaves(tensor.device))
    worker_facts.yielded(machine, seen, loader, site, tensors)
    note = Batch(site, _pins(machine, loader), can_pin)
    for tensor in tensors:
        if note.pins is True:
            _pinned_elsewhere(machine, tensor, site)
        machine.watched.batches.put(tensor, note)


def made(machine: Machine, seen: LibraryCall) -> None:
    """`DataLoader(…)`: remembers where."""
    if isinstance(seen.value, Instance):
        seen.value.fields["<site>"] = machine.site(seen.node, seen.frame)


def _pins(machine: Machine, loader: Instance) -> bool | None:
    """Whether batches are pinned where there is an accelerator."""
    asked = loader.fields.get("pin_memory", NONE)
    if asked is None or is_none(asked):
        return False
    condition = primary(machine.truth(asked))
    return condition if isinstance(condition, bool) else None


def _tensors(value: Any, depth: int) -> list[Tensor]:
    if type(value) is Tensor:
        return [value]
    if not depth:
        return []
    return [tensor for item in contents(value) for tensor in _tensors(item, depth - 1)]


def _pinned_elsewhere(machine: Machine, tensor: Tensor, site: Site) -> None:
    """A tensor on an accelerator that is asked to be pinned."""
    case = places.accelerator_case(machine, tensor.device)
    if case is not None:
        condition = places.condition_text(machine, case[0])
        machine.findings.add(PinnedHalf(site, "pin-accelerator", condition=condition))


def pinned(machine: Machine, seen: LibraryCall) -> None:
    """`x.pin_memory()`."""
    tensor = tensor_of(seen.receiver)
    if tensor is not None:
        _pinned_elsewhere(machine, tensor, machine.site(seen.node, seen.frame))


def created(machine: Machine, seen: LibraryCall) -> None:
    """`torch.empty(3, pin_memory=True, device="cuda")`."""
    tensor = tensor_of(seen.value) if "pin_memory" in seen.kwargs else None
    if tensor is not None and tensor.pinned:
        _pinned_elsewhere(machine, tensor, machine.site(seen.node, seen.frame))


def in_background(
    node: ast.Call, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a transfer is told by `non_blocking`, by its place too (`x.cuda(0, True)`,
    `x.to(device, dtype, True)`, `x.to(other, True)`); None where it is not."""
    if "non_blocking" in kwargs:
        return kwargs["non_blocking"]
    if any(each.arg is None for each in node.keywords):
        return Unknown("non_blocking")
    given = args[1:2] if method == "cuda" else args[2:3]
    second = args[1] if len(args) > 1 else None
    if given or not isinstance(constant(second), bool):
        return given[0] if given else None
    return second


def transferred(machine: Machine, fact: Transfer, tensor: Tensor, receiver: Any, told: Any) -> None:
    """A move of a tensor from the host, in a loop. `told` is its `non_blocking`, None where
    nothing is."""
    if not fact.moves or not fact.loops or any(leaf is not CPU for leaf in leaves(fact.source)):
        return
    if not any(is_accelerator(leaf) for leaf in leaves(fact.target)):
        return
    batch = machine.watched.batches.get(receiver)
    if batch is None:
        return
    form = None
    if fact.non_blocking and batch.pins is False:
        form = "pageable-non-blocking"
    elif batch.pins is True and tensor.pinned and _blocks(machine, fact, told):
        form = "blocking-pinned"
    if form is not None:
        half = PinnedHalf(fact.site, form, batch.loader, fact.condition, batch.can_pin)
        machine.findings.add(half)


def _blocks(machine: Machine, fact: Transfer, told: Any) -> bool:
    """Whether a copy surely blocks where it goes to an accelerator."""
    case = places.accelerator_case(machine, fact.target)
    if told is None or case is None:
        return told is None
    return all(leaf is False for leaf in leaves(assume_all(machine.truth(told), case[0])))


_FACTORIES = "zeros ones empty full rand randn randint arange linspace eye"
"""What pins the memory that it makes; `torch.tensor` leaves that out on an accelerator."""
LOADER = "torch.utils.data.DataLoader"
WATCHERS = {
    LOADER: made,
    f"{LOADER}.__iter__": batches,
    "torch.Tensor.pin_memory": pinned,
    **{f"torch.{name}": created for name in _FACTORIES.split()},
}
