"""Facts about the host: places that wait for the device, tensors read as host memory."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import CPU, Device, is_accelerator
from device_lens.domain.guard import Guarded, assume_all, combine, leaves, primary
from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.values import Tensor, TupleValue, Unknown
from device_lens.interpreter import async_facts, frequency, places
from device_lens.interpreter.conditions import is_known_as_no_tensor
from device_lens.interpreter.facts import Synchronization, Transfer
from device_lens.interpreter.findings import told_of_both
from device_lens.interpreter.rarer_facts import HostRead
from device_lens.models.call import constant, tensor_of, treated_as_tensor

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall


def synchronization(machine: Machine, what: str, subject: Any, position: int | str) -> None:
    tensor = tensor_of(subject)
    if tensor is None:
        return
    if what.endswith(".synchronize()"):
        async_facts.waited(machine)
        return
    node, frame = machine.active_place()
    _wait(machine, node, frame, what, tensor, machine.argument_site(position))


def formatted(machine: Machine, node: ast.FormattedValue, value: Any, frame: Frame) -> None:
    """`f"{loss:.4f}"` asks for the tensor's value."""
    tensor = tensor_of(value)
    if tensor is not None and treated_as_tensor(value):
        _wait(machine, node.value, frame, 'f"{…}"', tensor, machine.site(node.value, frame))


def percent_formatted(machine: Machine, node: Any, value: Any, frame: Frame) -> None:
    """`"%.3f" % loss`, with one value or a tuple of them."""
    for item in value.items if type(value) is TupleValue else (value,):
        tensor = tensor_of(item)
        if tensor is not None and treated_as_tensor(item):
            where = node.right if isinstance(node, ast.BinOp) else node
            _wait(machine, node, frame, '"…" %', tensor, machine.site(where, frame))


def string_formatted(machine: Machine, seen: LibraryCall) -> None:
    """`"{:.4f}".format(loss)`, `str(loss)`."""
    what = f"{seen.name.rpartition('.')[2]}()"
    for index, value in enumerate(seen.args):
        tensor = tensor_of(value)
        if tensor is not None and treated_as_tensor(value):
            written = seen.node.args if isinstance(seen.node, ast.Call) else ()
            given = written[index] if index < len(written) else seen.node  # as in `format(*found)`
            site = machine.site(given, seen.frame)
            _wait(machine, seen.node, seen.frame, what, tensor, site)


def transferred(machine: Machine, fact: Transfer, tensor: Tensor, frame: Frame) -> None:
    """A copy to the host that blocks."""
    if fact.moves and not fact.non_blocking and _goes_down(fact.source, fact.target):
        _wait(machine, fact.site.node, frame, f".{fact.method}()", tensor, fact.subject)


def stored(machine: Machine, seen: LibraryCall) -> None:
    """`on_host[i] = x`, which copies to the host and waits for that."""
    written = getattr(seen.frame.statement, "value", None)
    _copied(machine, seen, 1, written, "a copy to the host")


def copied(machine: Machine, seen: LibraryCall) -> None:
    """`on_host.copy_(x)`."""
    if constant(seen.get(1, "non_blocking")) is not True:
        written = seen.node.args if isinstance(seen.node, ast.Call) else ()
        _copied(machine, seen, 0, written[0] if written else None, ".copy_()")


def _copied(machine: Machine, seen: LibraryCall, place: int, written: Any, what: str) -> None:
    tensor = tensor_of(seen.args[place]) if len(seen.args) > place else None
    target = tensor_of(seen.receiver)
    if tensor is None or target is None:
        return
    before = combine(
        lambda source, held: source if held is CPU else CPU, tensor.device, target.device
    )
    before = assume_all(before, machine.path.literals)
    # What nobody knows the place of is on the host as a rule, where such code makes batches.
    if not any(map(is_accelerator, leaves(primary(before)))):
        return
    tensor = tensor.with_(device=before)
    subject = None if written is None else machine.site(written, seen.frame)
    _wait(machine, seen.node, seen.frame, what, tensor, subject)


def _goes_down(source: Any, target: Any) -> bool:
    """Whether a case of those of the primary one takes to the host what may be elsewhere."""
    down = combine(
        lambda before, after: after is CPU and before is not CPU, primary(source), primary(target)
    )
    return any(leaves(down))


def tested(machine: Machine, node: ast.expr, value: Any, frame: Frame) -> None:
    """`if t:` on a tensor asks for its value. Of `a or b`, Python has asked for all but the last
    when it has evaluated that."""
    while isinstance(node, ast.BoolOp):
        node = node.values[-1]
        seen = machine.recorder.seen.get(node)
        value = seen[-1].value if seen else None
        if type(value) is Tensor and seen:
            value = value.with_(device=seen[-1].device)
    if type(value) in (Tensor, Guarded):
        tensor = tensor_of(value)
        if tensor is not None and treated_as_tensor(value):
            _wait(machine, node, frame, "bool()", tensor, machine.site(node, frame))


def _wait(
    machine: Machine, node: Any, frame: Frame, what: str, tensor: Tensor, subject: Any
) -> None:
    if not _may_wait(machine, tensor.device):
        return
    async_facts.waited(machine)
    known = machine.findings.synchronizations.get(node)
    if known is not None:
        if known.condition is not None:
            told_of_both(known, places.condition_text(machine))
        if known.repeated is None and not any(loop.hot for loop in known.loops):
            known.repeated = frequency.repeated_by(machine, node, frame)
        return
    machine.findings.synchronizations[node] = Synchronization(
        machine.site(node, frame),
        what,
        subject,
        tensor.device,
        places.loops_around(frame),
        frequency.interval_guarded(node, frame),
        places.condition_text(machine),
        frequency.repeated_by(machine, node, frame),
    )


def _may_wait(machine: Machine, tree: Any) -> bool:
    """Whether the tensor is on an accelerator in some case, or its device is not known."""
    for leaf in leaves(assume_all(tree, machine.path.literals)):
        if not isinstance(leaf, Device) or is_accelerator(leaf):
            return True
    return False


def host_read(
    machine: Machine,
    what: str,
    value: Any,
    position: int | str,
    nested: bool,
    container: str | None,
) -> None:
    """A tensor handed to code that needs host memory."""
    tensor = tensor_of(_in_some_case(machine, value))
    if tensor is None:
        _read_as_it_is(machine, position)
    if tensor is None or not treated_as_tensor(value):
        return
    node, frame = machine.active_place()
    site = machine.argument_site(position) or machine.site(node, frame)
    literals, device = places.accelerator_case(machine, tensor.device) or ((), None)
    known = machine.findings.others.get((HostRead, node, None))
    if known is not None and (known.on_accelerator or (known.requires_grad and device is None)):
        return  # another activation has raised here
    if frame is machine.recorder.telling_apart or _is_for_arrays(machine, frame):
        return
    fact = HostRead(
        machine.site(node, frame),
        what,
        site,
        ast.unparse(site.node) if isinstance(site.node, ast.expr) else what,
        device if device is not None else tensor.device,
        device is not None,
        _requires_grad(machine, tensor),
        tensor.trail,
        places.condition_text(machine, literals),
        places.loops_around(frame),
        container=container,
        nested=nested,
    )
    machine.findings.others[HostRead, node, None] = fact


def _is_for_arrays(machine: Machine, frame: Frame) -> bool:
    """Whether the present path of a function is for what is no tensor, as one of its values was
    asked: where a function does the same for tensors and for arrays, its other arguments are arrays
    on that path too, though some caller gives it tensors."""
    names = frame.scope.names.values()
    return any(is_known_as_no_tensor(machine, each) for each in names)


_CONTAINERS = (DictObject, ListObject, TupleValue)


def _in_some_case(machine: Machine, value: Any) -> Any:
    """What is read, without what is no tensor where it may be: the host reads containers too, so
    that it matters when there is a tensor."""

    def leaf(each: Any) -> Any:
        is_other = type(each) in _CONTAINERS or is_known_as_no_tensor(machine, each)
        return Unknown() if is_other else each

    return combine(leaf, value)


def _read_as_it_is(machine: Machine, position: int | str) -> None:
    """What is read is no tensor in some activation, so that what brings one to the host fails."""
    site = machine.argument_site(position)
    if site is not None:
        machine.findings.doubtful.add(site.node)


def _requires_grad(machine: Machine, tensor: Tensor) -> bool:
    """Whether the tensor surely requires grad and autograd is on, without which NumPy may have it
    (`torch/csrc/utils/tensor_numpy.cpp`). What a function computes that no one is seen to call
    does not require grad: whoever calls it may have switched gradients off."""
    if tensor.requires_grad is not True or machine.globals["grad"] is not True:
        return False
    return tensor.leaf is True or not machine.symbolic


WATCHERS = {
    **dict.fromkeys(("str.format", "builtins.str", "builtins.repr"), string_formatted),
    "torch.Tensor.__setitem__": stored,
    "torch.Tensor.copy_": copied,
}
