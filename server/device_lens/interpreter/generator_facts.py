"""Facts about generators that are not where their consumer draws."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import CPU, Agreement, DeviceTree, agree
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import Instance
from device_lens.domain.trail import Trail
from device_lens.domain.values import DeviceValue, Unknown
from device_lens.interpreter import places
from device_lens.interpreter.rarer_facts import GeneratorConflict
from device_lens.models.call import tensor_of

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall


def conflict(
    machine: Machine, consumer: str, generator: Any, position: int | str, needed: Any
) -> None:
    """A consumer that draws on `needed` is given a generator."""
    node, frame = machine.active_place()
    place = machine.argument_site(position) or machine.site(node, frame)
    _compare(machine, consumer, generator, machine.site(node, frame), place, needed)


def called(machine: Machine, seen: LibraryCall) -> None:
    """A factory or random function with `generator=`: it draws where its result is."""
    generator = seen.kwargs.get("generator")
    result = tensor_of(seen.value)
    if generator is None or result is None or not isinstance(seen.node, ast.Call):
        return
    if not seen.name.startswith("torch."):
        return
    site = machine.site(seen.node, seen.frame)
    given = next((k.value for k in seen.node.keywords if k.arg == "generator"), seen.node)
    place = machine.site(given, seen.frame)
    consumer = ast.unparse(seen.node.func)
    _compare(machine, consumer, generator, site, place, result.device)


def sampled(machine: Machine, seen: LibraryCall) -> None:
    """A sampler draws indices on the default device; with weights, where those are."""
    generator = seen.kwargs.get("generator")
    if generator is None or not isinstance(seen.node, ast.Call):
        return
    given = next((k.value for k in seen.node.keywords if k.arg == "generator"), seen.node)
    site, place = machine.site(seen.node, seen.frame), machine.site(given, seen.frame)
    consumer = seen.name.rpartition(".")[2]
    _compare(machine, consumer, generator, site, place, _drawn_on(machine, seen, consumer))


def _drawn_on(machine: Machine, seen: LibraryCall, sampler: str) -> DeviceTree:
    weights = seen.get(0, "weights") if sampler == _WEIGHTED else None
    if type(weights) is Unknown:
        return weights.device
    tensor = tensor_of(weights)
    return machine.default_device() if tensor is None else tensor.device


def _compare(
    machine: Machine, consumer: str, generator: Any, site: Any, place: Any, needed: Any
) -> None:
    found = generator.fields.get("device") if isinstance(generator, Instance) else None
    if type(found) is not DeviceValue:
        return
    apart = combine(_apart, found.device, needed)
    case = places.named_case(machine, apart, lambda leaf: leaf is not None)
    if case is None:
        return
    literals, (here, there) = case
    trail = generator.fields.get("<trail>")
    machine.findings.add(
        GeneratorConflict(
            site,
            consumer,
            place,
            here,
            there,
            trail if type(trail) is Trail else None,
            places.condition_text(machine, literals),
            by_type=needed is not CPU and needed == machine.default_type_device(),
        )
    )


def _apart(generator: Any, needed: Any) -> Any:
    """Both devices where they surely differ. A tuple is a leaf like any other."""
    if type(generator) is Guarded or agree(generator, needed) is not Agreement.DIFFERENT:
        return None
    return generator, needed


_WEIGHTED = "WeightedRandomSampler"
_SAMPLERS = ("RandomSampler", "SubsetRandomSampler", _WEIGHTED)
WATCHERS = {f"torch.utils.data.{name}": sampled for name in _SAMPLERS}
