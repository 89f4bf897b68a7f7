"""What a transfer is estimated to cost, and how sure that is.

An estimate comes from this machine's calibration where the route was measured, else from the named
hardware assumption. It is always labelled with which of the two it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from device_lens.cost.calibration import Calibration
from device_lens.cost.hardware import assumption_for
from device_lens.cost.route import Route

Source: TypeAlias = Literal["measured", "typical"]


@dataclass(frozen=True)
class TransferCost:
    """Time of one transfer in microseconds.

    `assumption` names what the number rests on: the calibrated machine and its date when it is
    measured, the hardware assumption (`typical PCIe 4.0 x16`) when it is typical. `spread` is the
    20th and the 80th percentile where this very transfer was measured.
    """

    microseconds: float
    source: Source
    assumption: str
    spread: tuple[float, float] | None = None


@dataclass(frozen=True)
class LoopCost:
    """What a loop's transfers cost: each iteration, and all of it where the count is known.

    `source` is `measured` only if every part is; `assumptions` names all that they rest on.
    """

    per_iteration_us: float
    iterations: int | None
    source: Source
    assumptions: tuple[str, ...]

    @property
    def total_us(self) -> float | None:
        """Microseconds over all iterations, None while their number is not known."""
        return None if self.iterations is None else self.per_iteration_us * self.iterations

    @property
    def saved_by_hoisting_us(self) -> float | None:
        """What moving loop-invariant transfers in front of the loop saves: all but one round."""
        if self.iterations is None:
            return None
        return self.per_iteration_us * max(self.iterations - 1, 0)


def estimate_transfer(
    path: Route, size: int | None, calibration: Calibration | None = None
) -> TransferCost | None:
    """Cost of moving `size` bytes along `path`; None for an unknown size.

    A route whose ends are one device moves nothing (`.to()` returns the tensor itself): 0 µs.
    """
    if size is None:
        return None
    assumption = assumption_for(path.accelerator)
    if path.source == path.target:
        return TransferCost(0.0, "typical", assumption.name)
    measured = None if calibration is None else calibration.microseconds(path, size)
    if calibration is not None and measured is not None:
        return TransferCost(measured, "measured", calibration.label)
    return TransferCost(assumption.link(path).microseconds(size), "typical", assumption.name)


def loop_cost(costs: Iterable[TransferCost], iterations: int | None) -> LoopCost:
    """The cost of the transfers that run in each iteration of one loop."""
    parts = tuple(costs)
    return LoopCost(
        sum(part.microseconds for part in parts),
        None if iterations is None else max(iterations, 0),
        "measured" if parts and all(part.source == "measured" for part in parts) else "typical",
        tuple(dict.fromkeys(part.assumption for part in parts)),
    )
