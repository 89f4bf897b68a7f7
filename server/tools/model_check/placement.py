"""The ways in which the tensors of a sample are spread over the host and an accelerator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _get_current_dispatch_mode


@dataclass
class Sample:
    """Arguments of one call, all on the host. The receiver of a method comes first."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def count(self) -> int:
        """How many tensors take part."""
        return len(self.tensors())

    def __str__(self) -> str:
        """The arguments in short: a tensor by its shape and kind."""

        def short(thing: Any) -> str:
            if isinstance(thing, torch.Tensor):
                kind = str(thing.dtype).removeprefix("torch.")
                return f"{kind}{list(thing.shape)}".replace(" ", "")
            if isinstance(thing, (list, tuple)):
                return f"({', '.join(map(short, thing))})"
            return str(thing)[:40]

        named = [f"{key}={short(item)}" for key, item in self.kwargs.items()]
        return ", ".join([*map(short, self.args), *named])

    def tensors(self) -> list[torch.Tensor]:
        found: list[torch.Tensor] = []

        def keep(_: int, tensor: torch.Tensor) -> torch.Tensor:
            found.append(tensor)
            return tensor

        self.changed(keep)
        return found

    def changed(self, change: Callable[[int, torch.Tensor], torch.Tensor]) -> Sample:
        """The sample with every tensor, counted from 0, replaced."""
        counter = iter(range(1_000_000))

        def go(thing: Any) -> Any:
            if isinstance(thing, torch.Tensor):
                return change(next(counter), thing)
            if isinstance(thing, tuple) and type(thing) is not torch.Size:
                return tuple(map(go, thing))
            if isinstance(thing, list):
                return list(map(go, thing))
            if isinstance(thing, dict):
                return {key: go(item) for key, item in thing.items()}
            return thing

        return Sample(go(self.args), go(self.kwargs))


@dataclass
class Placement:
    """A sample whose tensors are on the devices that `label` tells. `mixed`: not all on one."""

    label: str
    sample: Sample
    mixed: bool


def place(tensor: torch.Tensor, device: str, grad: bool = False) -> torch.Tensor:
    """A copy on that device, a leaf. Under `FakeTensorMode` it has no values."""
    copy = _copy(tensor.detach(), device)
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(copy, requires_grad=tensor.requires_grad)
    wants = grad and (copy.is_floating_point() or copy.is_complex())
    return copy.requires_grad_(wants)


def scalar(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """The first value of a tensor, without dimensions."""
    return _copy(tensor.detach().reshape(-1)[0], device)


def _copy(tensor: torch.Tensor, device: str) -> torch.Tensor:
    if not isinstance(_get_current_dispatch_mode(), FakeTensorMode):
        return tensor.to(device, copy=True)
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)


def uniform(sample: Sample, device: str, grad: bool = False) -> Placement:
    label = f"all on {device}" + (", requiring grad" if grad else "")
    return Placement(label, sample.changed(lambda _, t: place(t, device, grad)), False)


def one_apart(sample: Sample, position: int, device: str, others: str) -> Placement:
    label = f"tensor {position} on {device}, others on {others}"
    return Placement(
        label,
        sample.changed(lambda i, t: place(t, device if i == position else others)),
        True,
    )


def with_destination(sample: Sample, result: torch.Tensor, device: str, others: str) -> Placement:
    """The sample with `out=` of the result's form."""
    placed = sample.changed(lambda _, t: place(t, others))
    out = torch.empty_like(result.detach(), device=device)
    whole = Sample(placed.args, {**placed.kwargs, "out": out})
    return Placement(f"out on {device}, others on {others}", whole, device != others)


def one_scalar(sample: Sample, position: int, device: str, others: str) -> Placement:
    """One tensor replaced by one without dimensions."""
    label = f"tensor {position} without dimensions on {device}, others on {others}"

    def change(i: int, tensor: torch.Tensor) -> torch.Tensor:
        return scalar(tensor, device) if i == position else place(tensor, others)

    return Placement(label, sample.changed(change), device != others)
