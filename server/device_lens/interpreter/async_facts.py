"""Facts about copies to the host that the host reads before anything has waited for them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.device import CPU
from device_lens.domain.guard import leaves, primary
from device_lens.domain.heap import ListObject
from device_lens.domain.trail import Site
from device_lens.domain.values import TupleValue, Unknown
from device_lens.interpreter import places
from device_lens.interpreter.rarer_facts import UnsynchronizedRead
from device_lens.models.call import constant, tensor_of
from device_lens.models.numbers import is_number
from device_lens.syntax.names import is_own_attribute

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

_VIEWS = frozenset(
    "detach view reshape squeeze unsqueeze flatten permute transpose t expand unfold narrow "
    "movedim swapaxes data T mT view_as".split()
)
_BLIND = frozenset(
    "size dim numel shape device dtype ndim is_cuda is_pinned element_size stride nelement "
    "ndimension requires_grad is_leaf is_contiguous data_ptr grad pin_memory record_stream to "
    "cuda cpu copy_ untyped_storage storage is_floating_point __len__ get_device".split()
)
"""Methods and attributes that do not read the tensor's numbers on the host."""
_READERS = ("torch.", "numpy.", "builtins.", "matplotlib.", "sklearn.", "cv2.", "PIL.")
_SILENT = frozenset(
    f"builtins.{name}"
    for name in "len isinstance id type list tuple dict set zip enumerate setattr hasattr".split()
)
_KEEPERS = frozenset(
    "save_for_backward mark_dirty mark_non_differentiable is_tensor is_floating_point is_complex "
    "numel Parameter Buffer register_buffer register_parameter".split()
)
"""Functions of PyTorch that keep what they are given, or look at what kind of tensor it is."""
_BRINGING = frozenset("to cpu numpy item tolist nonzero".split())
"""Methods that wait for the device, if what they are called on is a tensor there."""
_WAITS = (
    "torch.cuda.synchronize torch.accelerator.synchronize torch.mps.synchronize "
    "torch.xpu.synchronize torch.cuda.Stream.synchronize torch.cuda.Event.synchronize "
    "torch.cuda.Stream.wait_stream torch.cuda.Stream.wait_event torch.cuda.Event.wait "
    "torch.cuda.Event.query torch.cuda.Stream.query"
)


class Copy(NamedTuple):
    """A copy that is under way."""

    site: Site
    form: str
    part: str | None = None
    """Of a tensor that is filled in part, the index of the part; empty where it is not known."""


def moved(machine: Machine, seen: LibraryCall) -> None:
    """`x.to("cpu", non_blocking=True)`."""
    if constant(seen.kwargs.get("non_blocking")) is not True or seen.value is seen.receiver:
        return
    source, result = tensor_of(seen.receiver), tensor_of(seen.value)
    if source is None or result is None or result is not seen.value:
        return
    if _is_host(result.device) and places.accelerator_case(machine, source.device):
        note = Copy(machine.site(seen.node, seen.frame), "to")
        machine.watched.pending.put(seen.value, note)


def copied(machine: Machine, seen: LibraryCall) -> None:
    """`pinned.copy_(x, non_blocking=True)`, and `pinned[i].copy_(…)`, which fills a part of it."""
    if constant(seen.get(1, "non_blocking")) is not True:
        return
    source, (whole, part) = tensor_of(seen.get(0, "src")), _whole(machine, seen)
    targets = [tensor for tensor in map(tensor_of, (seen.receiver, whole)) if tensor is not None]
    if source is None or not all(_is_host(target.device) for target in targets):
        return
    if not any(target.pinned for target in targets):
        return
    if places.accelerator_case(machine, source.device):
        note = Copy(machine.site(seen.node, seen.frame), "copy_")
        machine.watched.pending.put(seen.receiver, note)
        machine.watched.pending.put(seen.value, note)
        if whole is not None:
            machine.watched.pending.put(whole, note._replace(part=part))


def _whole(machine: Machine, seen: LibraryCall) -> tuple[Any, str]:
    """The tensor of which the receiver is written as a part, and the index; None where it is no
    such part."""
    function = seen.node.func if isinstance(seen.node, ast.Call) else None
    part = function.value if isinstance(function, ast.Attribute) else None
    if not isinstance(part, ast.Subscript):
        return None, ""
    held = part.value
    if not (isinstance(held, ast.Name) or is_own_attribute(held)):
        return None, ""
    index = _index(machine, part.slice, seen.frame)
    return (None, "") if index is None else (machine.evaluate(held, seen.frame), index)


def _index(machine: Machine, node: ast.expr | None, frame: Frame) -> str | None:
    """A text that stands for an index of numbers and slices, which takes a part in place; empty
    where one of them is not known, None for a list or tensor, which copy."""
    match node:
        case None:
            return ":"
        case ast.Constant():
            return repr(node.value)
        case ast.Tuple(elts=parts):
            texts = [_index(machine, each, frame) for each in parts]
        case ast.Slice():
            texts = [_index(machine, each, frame) for each in (node.lower, node.upper, node.step)]
        case ast.Name():
            value = machine.evaluate(node, frame)
            if not is_number(value):
                return None
            return "" if constant(value) is None else repr(constant(value))
        case _:
            return None
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return None
    return f"[{','.join(known)}]" if all(known) else ""


def _is_host(tree: Any) -> bool:
    return all(leaf is CPU for leaf in leaves(primary(tree)))


def waited(machine: Machine, _: LibraryCall | None = None) -> None:
    """Something waits for the device: all copies are done."""
    machine.watched.pending.clear()


def followed(machine: Machine, seen: LibraryCall) -> None:
    """Any call while copies are under way: a view of one is one, a read is too early."""
    pending = machine.watched.pending
    if not seen.name.startswith(_READERS) or seen.name in _SILENT:
        return
    method = seen.name.rpartition(".")[2]
    if method in _KEEPERS:
        return
    if method in _BRINGING and type(seen.receiver) is Unknown:
        waited(machine)
        return
    note = pending.get(seen.receiver) if seen.receiver is not None else None
    if note is not None and note.site.node is seen.node:
        return
    if note is not None and method in _VIEWS:
        pending.put(seen.value, note)
        return
    if note is not None and method in _BLIND:
        return
    if note is not None and note.part is not None and method == "__getitem__":
        node = seen.node
        index = _index(machine, node.slice, seen.frame) if type(node) is ast.Subscript else None
        if index and index == note.part:
            pending.put(seen.value, note._replace(part=None))
        return  # another part may be there already
    for value in seen.values():
        found = _copy_in(machine, value)
        if found is not None and found.site.node is not seen.node and _reads(machine, seen, value):
            read = machine.site(seen.node, seen.frame)
            machine.findings.add(UnsynchronizedRead(found.site, read, found.form))
            return


def _copy_in(machine: Machine, value: Any) -> Copy | None:
    pending = machine.watched.pending
    items: tuple[Any, ...] = (value,)
    if type(value) is TupleValue:
        items = value.items
    elif type(value) is ListObject:
        items = (*value.items, value.rest)
    notes = (pending.get(item) for item in items if item is not None)
    return next((note for note in notes if note is not None), None)


def _reads(machine: Machine, seen: LibraryCall, value: Any) -> bool:
    """Whether the call runs on the host: one that copies the value to a device is queued there."""
    method = seen.name.rpartition(".")[2]
    if value is not seen.receiver and method in ("copy_", "record_stream", "__setitem__"):
        target = tensor_of(seen.receiver)
        return target is not None and _is_host(target.device)
    return isinstance(seen.node, ast.expr | ast.stmt)


WATCHERS = {
    "torch.Tensor.to": moved,
    "torch.Tensor.copy_": copied,
    **dict.fromkeys(_WAITS.split(), waited),
}
