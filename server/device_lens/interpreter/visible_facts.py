"""Facts about `CUDA_VISIBLE_DEVICES`: set too late, or hiding a device that the program names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.device import ANY_INDEX, Device
from device_lens.domain.guard import Guarded, assume_all, combine, leaves, primary
from device_lens.domain.heap import DictObject, ModuleObject, moment
from device_lens.domain.trail import Site
from device_lens.domain.values import FALSE, TRUE, Const
from device_lens.interpreter import places, worker_facts
from device_lens.interpreter.hardcoded_facts import among
from device_lens.interpreter.rarer_facts import VisibleDevices
from device_lens.models.call import constant, device_of, tensor_of
from device_lens.models.python.concurrency import FORKED

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

VARIABLE = "CUDA_VISIBLE_DEVICES"
_STARTERS = (
    "init is_available set_device current_device get_device_name get_device_properties "
    "get_device_capability mem_get_info synchronize current_stream default_stream Stream "
    "get_rng_state"
)
"""Calls that read the variable: `is_available` starts the driver, which counts the devices."""
_FACTORIES = "tensor zeros ones empty full rand randn randint arange linspace eye as_tensor"


class Mask(NamedTuple):
    """What the variable was set to, by which activation (None: the top level of a file)."""

    site: Site
    activation: Any
    value: Any

    @property
    def by_default(self) -> bool:
        """Whether a flag, or the environment, may say otherwise."""
        return type(self.value) is Guarded

    def visible(self, machine: Machine) -> tuple[str, ...] | None:
        """The devices that are left in the primary case, where the present path belongs to that;
        Python's None where these are not known."""
        named = () if primary(machine.path.named) is False else _named(machine, self.value)
        return named if named and all(part.isdigit() for part in named) else None


def _named(machine: Machine, value: Any) -> tuple[str, ...]:
    """What a text names on the present path, with flags as they are declared."""
    text = constant(primary(assume_all(value, machine.path.literals)))
    return tuple(part.strip() for part in text.split(",")) if isinstance(text, str) else ()


class Start(NamedTuple):
    """The first line that surely starts CUDA."""

    site: Site
    activation: Any
    at: int
    """The `moment`."""


def _activation(machine: Machine) -> Any:
    """What runs by itself: where no script calls, each function does."""
    function = machine.stack[0].function if machine.stack else None
    return function if machine.standalone else None


def _holds(machine: Machine, note: Mask | Start | None, seen: LibraryCall) -> bool:
    """Whether what was noted is part of the run that the call belongs to."""
    if note is None or note.activation is not _activation(machine):
        return False
    return not machine.standalone or note.site.path == seen.frame.namespace.path


def assigned(machine: Machine, seen: LibraryCall) -> None:
    """`os.environ[name] = value`."""
    if len(seen.args) == 2 and constant(seen.args[0]) == VARIABLE:
        _set(machine, seen, seen.args[1])


def updated(machine: Machine, seen: LibraryCall) -> None:
    """`os.environ.update({name: value})`."""
    for given in (*seen.args, seen.kwargs):
        entries = given.entries if type(given) is DictObject else given
        if isinstance(entries, dict) and VARIABLE in entries:
            _set(machine, seen, entries[VARIABLE])


def given_default(machine: Machine, seen: LibraryCall) -> None:
    """`os.environ.setdefault(name, value)`, which changes nothing where the program has set it."""
    if len(seen.args) != 2 or constant(seen.args[0]) != VARIABLE:
        return
    if not places.undecided(machine) and not _holds(machine, machine.watched.mask, seen):
        _tell_if_late(machine, seen, seen.args[1])


def _set(machine: Machine, seen: LibraryCall, value: Any) -> None:
    in_time = not _holds(machine, machine.watched.started, seen)
    hidden = combine(_hides_all, value) if in_time else FALSE
    machine.journal.write(machine.globals, "no_gpu", hidden)
    if places.undecided(machine):
        if primary(machine.path.named) is not False:
            machine.watched.mask = None  # it may be this one, or the one before
        return
    watched = machine.watched
    before = watched.mask
    if _holds(machine, before, seen) and before.value == value:
        return
    if not _tell_if_late(machine, seen, value):
        watched.mask = Mask(machine.site(seen.node, seen.frame), _activation(machine), value)


def _tell_if_late(machine: Machine, seen: LibraryCall, value: Any) -> bool:
    """Whether CUDA has surely read the variable before it is set here, which is told."""
    watched = machine.watched
    watched.asks_start = True
    if not _holds(machine, watched.started, seen):
        return False
    site = machine.site(seen.node, seen.frame)
    visible, start = _named(machine, value), watched.started.site
    machine.findings.add(VisibleDevices(site, "too-late", site, visible, initialised_at=start))
    return True


def _hides_all(value: Any) -> Const:
    return TRUE if constant(value) in ("", "-1") else FALSE


def used(machine: Machine, seen: LibraryCall) -> None:
    """A call that creates on or moves to a device, or selects one."""
    if not isinstance(seen.node, ast.Call):
        return
    device = _device(seen)
    if device is None or device.type != "cuda":
        return
    if machine.in_process:
        worker_facts.used(machine, seen, device)
    _started(machine, seen)
    mask = machine.watched.mask
    if device.index is None or device.index == ANY_INDEX or not _holds(machine, mask, seen):
        return
    visible = mask.visible(machine)
    if visible is None or device.index < len(visible):
        return
    site = _named_at(machine, seen)
    machine.findings.add(_beyond(mask, site, visible, device.index))


def grouped(machine: Machine, seen: LibraryCall) -> None:
    """`DataParallel(model, device_ids=[2, 3])`."""
    mask, ids = machine.watched.mask, seen.get(1, "device_ids")
    if ids is None or not isinstance(seen.node, ast.Call) or not _holds(machine, mask, seen):
        return
    visible = mask.visible(machine)
    if visible is None:
        return
    items, _ = machine.iterate(ids)
    named = next((k.value for k in seen.node.keywords if k.arg == "device_ids"), seen.node)
    for item in items:
        ordinal = constant(item)
        if type(ordinal) is int and ordinal >= len(visible):
            site = machine.site(named, seen.frame)
            machine.findings.add(_beyond(mask, site, visible, ordinal))


def _beyond(mask: Mask, site: Site, visible: tuple[str, ...], ordinal: int) -> VisibleDevices:
    found = VisibleDevices(site, "ordinal", mask.site, visible, ordinal=ordinal)
    found.by_default = mask.by_default
    return found


def started(machine: Machine, seen: LibraryCall) -> None:
    """A call that starts CUDA whatever its arguments are."""
    _started(machine, seen)
    if seen.args or seen.kwargs:
        used(machine, seen)


def started_before(machine: Machine, seen: LibraryCall) -> Site | None:
    """The first line that has surely started CUDA in the run that a call belongs to."""
    started = start_before(machine, seen)
    return None if started is None else started.site


def start_before(machine: Machine, seen: LibraryCall) -> Start | None:
    """The same, with when it was."""
    machine.watched.asks_start = True
    started: Start | None = machine.watched.started
    return started if started is not None and _holds(machine, started, seen) else None


def _started(machine: Machine, seen: LibraryCall) -> None:
    watched = machine.watched
    if _holds(machine, watched.started, seen) or may_be_left_out(machine):
        return
    if machine.globals[FORKED] is not None:
        return  # what a process starts, the program has not
    site = machine.site(seen.node, seen.frame)
    watched.started = Start(site, _activation(machine), moment())


def may_be_left_out(machine: Machine) -> bool:
    """Whether a machine that has a GPU may skip the present statement."""
    literals = machine.path.literals
    if any(atom.kind != "accelerator" or not value for atom, value in literals):
        return True
    return sum(frame.branch_depth for frame in machine.stack) > len(literals)


def _device(seen: LibraryCall) -> Device | None:
    """The one device that the call's result is on, or that it names, in the primary case."""
    if isinstance(seen.value, ModuleObject):
        tree: Any = seen.value.own.get("device")
    else:
        tensor = tensor_of(seen.value)
        tree = tensor.device if tensor is not None else None
    if tree is None and seen.name.startswith("torch.cuda."):
        tree = device_of(seen.get(0, "device"))
    found = list(leaves(primary(tree)))
    return found[0] if len(found) == 1 and isinstance(found[0], Device) else None


def _named_at(machine: Machine, seen: LibraryCall) -> Site:
    """Where the device is written: its literal, else the argument, else the call."""
    given = [*seen.args[:1], *(v for k, v in seen.kwargs.items() if k == "device")]
    for value in given:
        note = machine.watched.literals.get(value) or among(machine, value)
        if note is not None:
            site: Site = note.site
            return site
    named = next((k.value for k in seen.node.keywords if k.arg == "device"), None)
    if named is None and seen.node.args and seen.name.rpartition(".")[2] not in _FACTORIES:
        named = seen.node.args[0]
    return machine.site(named if named is not None else seen.node, seen.frame)


_MOVES = ("torch.Tensor.to", "torch.Tensor.cuda", "torch.nn.Module.to", "torch.nn.Module.cuda")
WATCHERS = {
    "os.environ.__setitem__": assigned,
    "os.putenv": assigned,
    "os.environ.update": updated,
    "os.environ.__ior__": updated,
    "os.environ.setdefault": given_default,
    **dict.fromkeys(_MOVES, used),
    **{f"torch.{name}": used for name in _FACTORIES.split()},
    **{f"torch.cuda.{name}": started for name in _STARTERS.split()},
    "torch.cuda.device": used,
    "torch.nn.DataParallel": grouped,
    "torch.nn.parallel.DistributedDataParallel": grouped,
}
