"""Where a transfer goes: source device, target device, and the kind of host memory it uses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

_DEVICE = re.compile(r"(?P<type>cpu|cuda|xpu|mps)(?::(?P<index>0|[1-9][0-9]?))?")


class Memory(Enum):
    """Host memory: ordinary pages, or pages locked for the copy engine (`pin_memory()`)."""

    PAGEABLE = "pageable"
    PINNED = "pinned"


class Direction(Enum):
    """Kind of path between two devices."""

    HOST_TO_DEVICE = "host-to-device"
    DEVICE_TO_HOST = "device-to-host"
    DEVICE_TO_DEVICE = "device-to-device"
    HOST_TO_HOST = "host-to-host"


@dataclass(frozen=True)
class Route:
    """One path for bytes. Devices are canonical names; `memory` matters where the host is an end.

    Build one with `route`: it canonicalises names and refuses those that it does not know.
    """

    source: str
    target: str
    memory: Memory

    @property
    def direction(self) -> Direction:
        """Which kind of path this is; a copy within one accelerator is device-to-device."""
        if self.source == "cpu":
            return Direction.HOST_TO_HOST if self.target == "cpu" else Direction.HOST_TO_DEVICE
        return Direction.DEVICE_TO_HOST if self.target == "cpu" else Direction.DEVICE_TO_DEVICE

    @property
    def accelerator(self) -> str | None:
        """Device type of the end that is not the host (`"cuda"`), None between host and host."""
        end = self.target if self.source == "cpu" else self.source
        return None if end == "cpu" else end.partition(":")[0]

    @property
    def text(self) -> str:
        """`cpu → cuda:0`."""
        return f"{self.source} → {self.target}"


def canonical_device(name: str) -> str | None:
    """`cuda` → `cuda:0`, `cpu:0` → `cpu`, `mps:0` → `mps`; None for other devices (`meta`).

    A bare `cuda` means the current CUDA device; for costs the first one stands for it.
    """
    match = _DEVICE.fullmatch(name)
    if match is None:
        return None
    device_type = match["type"]
    if device_type in ("cpu", "mps"):
        return device_type if match["index"] in (None, "0") else None
    return f"{device_type}:{match['index'] or 0}"


def route(source: str, target: str, memory: Memory = Memory.PAGEABLE) -> Route | None:
    """The route between two devices, None where one of them holds no bytes that can be moved.

    Host memory plays no part between accelerators: there `memory` is always pageable.
    """
    start, end = canonical_device(source), canonical_device(target)
    if start is None or end is None:
        return None
    touches_host = (start == "cpu") != (end == "cpu")
    return Route(start, end, memory if touches_host else Memory.PAGEABLE)
