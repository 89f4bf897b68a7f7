"""Facts about worker processes of data loaders that use CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.device import Device
from device_lens.domain.heap import Instance
from device_lens.domain.trail import Site
from device_lens.domain.values import NONE, Tensor
from device_lens.interpreter import places, visible_facts
from device_lens.interpreter.rarer_facts import ForkedUse, WorkerBatch
from device_lens.models.call import constant
from device_lens.models.python.concurrency import FORKED, START_METHOD, Fork, forks
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall


def yielded(
    machine: Machine, seen: LibraryCall, loader: Instance, site: Site, tensors: list[Tensor]
) -> None:
    """A loader yields batches with tensors."""
    workers = constant(loader.fields.get("num_workers", NONE))
    if type(workers) is not int or workers < 1:
        return
    if not forks(loader.fields.get("multiprocessing_context")):
        return
    for tensor in tensors:
        case = places.named_case(machine, tensor.device, _is_cuda)
        if case is None:
            continue
        started = visible_facts.started_before(machine, seen)
        if started is None or _loads(loader, started):
            return
        literals, device = case
        text = places.condition_text(machine, literals)
        fact = WorkerBatch(site, workers, device, tensor.trail, started, text)
        machine.findings.add(fact)
        return


def used(machine: Machine, seen: LibraryCall, device: Device) -> None:
    """CUDA is used in a process that the program has started. The first use raises."""
    forked = machine.globals[FORKED]
    if not isinstance(forked, Fork) or machine.globals[START_METHOD] is not False:
        return
    started = visible_facts.start_before(machine, seen)
    if started is None or started.at > forked.at or visible_facts.may_be_left_out(machine):
        return
    condition = places.condition_text(machine)
    site = machine.site(seen.node, seen.frame)
    machine.findings.add(ForkedUse(site, device, forked.site, started.site, condition))
    machine.journal.write(machine.globals, START_METHOD, True)  # nothing follows from it


def _is_cuda(device: Any) -> bool:
    return isinstance(device, Device) and device.type == "cuda"


def _loads(loader: Instance, site: Site) -> bool:
    """Whether a place is in what the workers run."""
    dataset, function = loader.fields.get("dataset"), loader.fields.get("collate_fn")
    cls = dataset.cls if isinstance(dataset, Instance) else None
    found = [function.function if type(function) is BoundMethod else function]
    if type(cls) is ClassValue:
        found += [cls.lookup(name) for name in ("__getitem__", "__iter__")]
    nodes = (each.node for each in found if type(each) is Function)
    return any(each is site.node for node in nodes for each in walk(node))
