"""What typical hardware does, where this machine has not been measured.

Each assumption has a name that is shown with every number that rests on it, and is meant to be
right within a factor of two on ordinary machines of its kind; `device-lens bench` replaces it.

Where the numbers come from:

* PCIe 4.0 x16, pinned: 25 GB/s is the peak that copies reach of the nominal 32 GB/s
  (ZaidQureshi/bam#54); a GeForce RTX 4090 moves 328 MB in 13.3 ms, 24.7 GB/s (efeslab/fiddler#7).
* PCIe 4.0 x16, pageable: the driver stages through its own pinned buffer, at about 6 GB/s on an
  NVIDIA L4 (efeslab/fiddler#7). Reading back into pageable memory is slower than sending.
* PCIe 3.0 halves the link, not the staging (12 GB/s of 16: ZaidQureshi/bam#54).
* Between two GPUs without NVLink a copy crosses the PCIe switch at about the pinned rate.
* Latency is that of a blocking `Tensor.copy_` of a few bytes: dispatch, launch, synchronization.
* Apple silicon shares one memory: a "transfer" is a copy by the GPU plus a command buffer's wait.
* Arithmetic rates are those of a mid-range accelerator and an eight-core processor in float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from device_lens.cost.route import Direction, Memory, Route


@dataclass(frozen=True)
class Link:
    """A path with a fixed cost per transfer and a constant rate."""

    latency_us: float
    bytes_per_us: float

    def microseconds(self, size: int) -> float:
        """Time for `size` bytes."""
        return self.latency_us + size / self.bytes_per_us


@dataclass(frozen=True)
class Processor:
    """How fast a device computes: a fixed cost per operation, arithmetic, and memory traffic."""

    overhead_us: float
    flops_per_us: float
    bytes_per_us: float


@dataclass(frozen=True)
class Assumption:
    """A named machine: its links by direction and host memory, and its two processors."""

    name: str
    links: Mapping[tuple[Direction, Memory], Link]
    cpu: Processor
    accelerator: Processor

    def link(self, route: Route) -> Link:
        """The link that `route` uses."""
        return self.links[route.direction, route.memory]


def assumption_for(accelerator: str | None) -> Assumption:
    """The assumption for an accelerator type; a host with none copies in its own memory."""
    return APPLE_UNIFIED_MEMORY if accelerator == "mps" else PCIE_4


_CPU = Processor(overhead_us=2, flops_per_us=400_000, bytes_per_us=20_000)
_HOST_COPY = Link(latency_us=2, bytes_per_us=10_000)


def _pcie(name: str, pinned: float, h2d: float, d2h: float, accelerator: Processor) -> Assumption:
    """A card in a PCIe slot: rates in bytes per microsecond, that is MB/s."""
    pageable, locked = Memory.PAGEABLE, Memory.PINNED
    peer = Link(15, pinned * 0.8)
    links = {
        (Direction.HOST_TO_DEVICE, pageable): Link(15, h2d),
        (Direction.HOST_TO_DEVICE, locked): Link(10, pinned),
        (Direction.DEVICE_TO_HOST, pageable): Link(20, d2h),
        (Direction.DEVICE_TO_HOST, locked): Link(12, pinned),
        (Direction.DEVICE_TO_DEVICE, pageable): peer,
        (Direction.DEVICE_TO_DEVICE, locked): peer,
        (Direction.HOST_TO_HOST, pageable): _HOST_COPY,
        (Direction.HOST_TO_HOST, locked): _HOST_COPY,
    }
    return Assumption(name, MappingProxyType(links), _CPU, accelerator)


_CARD = Processor(overhead_us=12, flops_per_us=15_000_000, bytes_per_us=500_000)

PCIE_3 = _pcie("typical PCIe 3.0 x16", pinned=12_000, h2d=5_000, d2h=4_000, accelerator=_CARD)
PCIE_4 = _pcie("typical PCIe 4.0 x16", pinned=25_000, h2d=6_000, d2h=5_000, accelerator=_CARD)
PCIE_5 = _pcie("typical PCIe 5.0 x16", pinned=50_000, h2d=8_000, d2h=6_000, accelerator=_CARD)

APPLE_UNIFIED_MEMORY = Assumption(
    "typical Apple unified memory",
    MappingProxyType(
        {
            (direction, memory): _HOST_COPY
            if direction is Direction.HOST_TO_HOST
            else Link(latency_us=120, bytes_per_us=30_000)
            for direction in Direction
            for memory in Memory
        }
    ),
    _CPU,
    Processor(overhead_us=60, flops_per_us=4_000_000, bytes_per_us=100_000),
)

ASSUMPTIONS = (PCIE_3, PCIE_4, PCIE_5, APPLE_UNIFIED_MEMORY)
