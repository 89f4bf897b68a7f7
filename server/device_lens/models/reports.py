"""Rarer things that a model may tell the interpreter, beyond `Services`. One that it does not
take is dropped."""

from __future__ import annotations

from typing import Protocol, cast

from device_lens.domain.device import DeviceTree
from device_lens.domain.guard import Literals
from device_lens.domain.trail import Site
from device_lens.models.call import Services, Value


class Reports(Protocol):
    """The names under which the interpreter offers them."""

    def optimizer_conflict(
        self,
        form: str,
        optimizer: Site | None,
        move: Site | None,
        state: Site | None,
        literals: Literals,
    ) -> None:
        """State or parameters that `move` left behind where `literals` hold, at the call of
        `step`. `form` is one of those of `OptimizerConflict`; `optimizer` is where the optimizer
        was made, `state` where its state was."""

    def generator_conflict(
        self, consumer: str, generator: Value, position: int | str, needed: DeviceTree
    ) -> None:
        """A `torch.Generator` (with its `device`) that the call's consumer needs elsewhere."""


def optimizer_conflict(
    services: Services,
    form: str,
    optimizer: Site | None,
    move: Site | None,
    state: Site | None,
    literals: Literals = (),
) -> None:
    """See `Reports.optimizer_conflict`."""
    if hasattr(services, "optimizer_conflict"):
        cast(Reports, services).optimizer_conflict(form, optimizer, move, state, literals)


def generator_conflict(
    services: Services, consumer: str, generator: Value, position: int | str, needed: DeviceTree
) -> None:
    """See `Reports.generator_conflict`."""
    if hasattr(services, "generator_conflict"):
        cast(Reports, services).generator_conflict(consumer, generator, position, needed)
