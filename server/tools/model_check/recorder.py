"""Runs models without the interpreter: a `Services` that records what models report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from device_lens.domain.device import CPU, Device, DeviceTree
from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.journal import Journal
from device_lens.domain.trail import Site
from device_lens.domain.values import Const, TupleValue, Unknown
from device_lens.models import registry
from device_lens.models.call import Call

SITE = Site("program.py", None, object())
CUDA = Device("cuda", 0)


@dataclass
class Recorder:
    """`Services` for one call or several."""

    default: DeviceTree = CPU
    current: DeviceTree = CUDA
    off: bool | None = False
    """What `inference_mode` answers."""
    conflicts: list[tuple[Any, ...]] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    host_reads: list[str] = field(default_factory=list)
    journal: Journal = field(default_factory=Journal)
    skipped: list[str] = field(default_factory=list)

    def default_device(self) -> DeviceTree:
        return self.default

    def default_type_device(self) -> DeviceTree:
        return CPU

    def current_cuda(self) -> DeviceTree:
        return self.current

    def invoke(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return Unknown()

    def iterate(self, value: Any) -> tuple[tuple[Any, ...], Any]:
        if isinstance(value, TupleValue):
            return value.items, None
        if isinstance(value, ListObject):
            return value.items, value.rest
        if isinstance(value, DictObject):
            return tuple(map(Const, value.entries)), None
        return (), Unknown()

    def attribute(self, value: Any, name: str) -> Any:
        return Unknown(name)

    def truth(self, value: Any) -> Any:
        return bool(value.value) if isinstance(value, Const) else True

    def condition(self) -> Any:
        return True

    def took_no_tensor(self, position: int | str) -> None:
        pass

    def has_dimensions(self, position: int | str) -> None:
        pass

    def argument_site(self, position: int | str) -> Site | None:
        return None

    def conflict(
        self,
        operation: str,
        left: tuple[Any, int | str],
        right: tuple[Any, int | str],
        literals: Any,
        wants_cpu: bool = False,
    ) -> None:
        self.conflicts.append((operation, left, right, literals, wants_cpu))

    def synchronize(self, what: str, subject: Any, position: int | str) -> None:
        self.waits.append(what)

    def host_read(
        self,
        what: str,
        value: Any,
        position: int | str,
        nested: bool = False,
        container: str | None = None,
    ) -> None:
        self.host_reads.append(what)

    def report(self, fact: Any) -> None:
        """Facts of the interpreter's own are no business of a single model."""

    def skip(self, reason: str) -> None:
        self.skipped.append(reason)

    def changed_in_place(self, old: Any, new: Any) -> None:
        """No name of a program holds the tensor."""

    def inference_mode(self) -> bool | None:
        return self.off

    def set_global(self, name: str, value: Any) -> None:
        """One call changes nothing for another."""


def run_model(
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    services: Recorder,
    complete: bool = True,
) -> Any:
    """What the model of `name` gives back for abstract arguments, the first argument of a method
    being its receiver."""
    model = registry.function(name)
    if model is None:
        raise LookupError(name)
    is_method = name.startswith("torch.Tensor.")
    receiver = args[0] if is_method else None
    rest = args[1:] if is_method else args
    return model(Call(name, receiver, rest, kwargs, SITE, services, complete))
