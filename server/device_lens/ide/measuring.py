"""How the measurement of a transfer or an operation stands, in words below its hover."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from device_lens.cost.units import format_bytes, format_microseconds
from device_lens.ide.costs import Measurable
from device_lens.ide.markdown import join, plain, prose
from device_lens.ide.operations import MeasurableOperation

if TYPE_CHECKING:
    from device_lens.cost.transfer import TransferCost

_KINDS = {"cuda": "CUDA", "mps": "MPS", "xpu": "XPU"}


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is to say of a measurement beside its number.

    `problem` is a sentence that says why there is none, with code in backticks; `host_copy` the
    cost of a plain copy, measured on a machine that has no accelerator to move the bytes to, which
    `lacks_device` says. `doubts` read on after "because". `link` measures when it is followed;
    where the editor follows no such links, `has_action` tells that a code action does.
    """

    is_running: bool = False
    problem: str = ""
    lacks_device: bool = False
    host_copy: TransferCost | None = None
    doubts: tuple[str, ...] = ()
    link: str | None = None
    has_action: bool = False


Wanted: TypeAlias = Measurable | MeasurableOperation


def measure_title(wanted: Wanted) -> str:
    """What the user chooses to have it measured."""
    return f"Measure this {'transfer' if isinstance(wanted, Measurable) else 'operation'}"


def standing_note(wanted: Wanted, standing: Standing) -> str:
    """The standing as Markdown; empty where there is nothing to say."""
    return join(_parts(wanted, standing))


def _parts(wanted: Wanted, standing: Standing) -> Iterator[str]:
    if standing.problem:
        yield _missing(wanted, standing) + prose(standing.problem)
    copy = standing.host_copy
    if copy is not None and isinstance(wanted, Measurable):
        low, high = (format_microseconds(each) for each in copy.spread or (copy.microseconds,) * 2)
        yield (
            f"What was measured instead: a plain copy of {format_bytes(wanted.bytes)} in host "
            f"memory takes {format_microseconds(copy.microseconds)} ({low} to {high}; "
            f"{plain(copy.assumption)}). It says nothing of a transfer to an accelerator."
        )
    if standing.doubts:
        yield f"Not a number to trust, because {' and '.join(map(plain, standing.doubts))}."
    if standing.is_running:
        # Without a device for it, what is measured is no answer to wait for.
        if not (standing.lacks_device and isinstance(wanted, Measurable)):
            yield "*measuring…*"
    elif standing.link is not None:
        yield f"[{measure_title(wanted)}](<{standing.link}>)"
    elif standing.has_action:
        yield f"A code action measures it: *{measure_title(wanted)} on this machine*."


def _missing(wanted: Wanted, standing: Standing) -> str:
    """`No CUDA device: `, in front of the reason."""
    named = (wanted.source, wanted.target) if isinstance(wanted, Measurable) else (wanted.device,)
    ends = (end.partition(":")[0] for end in named)
    kind = next((_KINDS[end] for end in ends if end in _KINDS), "such")
    return f"No {kind} device to measure with: " if standing.lacks_device else ""
