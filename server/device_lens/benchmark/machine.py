"""The machine that a worker runs on, as it describes itself when it starts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import cast

from device_lens.cost.calibration import InvalidCalibration, label
from device_lens.cost.route import canonical_device

_MOST_DEVICES = 128
_MOST_BYTES = 1 << 60


class InvalidMachine(ValueError):
    """The data does not describe a machine; the message names the field."""


@dataclass(frozen=True)
class Device:
    """One device: its canonical name, the product's name, the driver, total memory (0: unknown)."""

    device: str
    name: str
    driver: str
    total_bytes: int


@dataclass(frozen=True)
class Machine:
    """Devices as one torch sees them. The CPU is always the first of them."""

    torch: str
    devices: tuple[Device, ...]

    @property
    def accelerators(self) -> tuple[Device, ...]:
        """Every device but the CPU."""
        return tuple(device for device in self.devices if device.device != "cpu")

    @property
    def key(self) -> str:
        """What measurements hold for: devices, their drivers, and torch's version, as a hash."""
        parts = [self.torch, *([d.device, d.name, d.driver] for d in self.devices)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]

    @property
    def label(self) -> str:
        """`NVIDIA A100-SXM4-40GB, driver 550.54, torch 2.4.0`; `2 x NVIDIA …` for equal ones."""
        names = [device.name for device in self.accelerators] or [self.devices[0].name]
        counted = [
            name if names.count(name) == 1 else f"{names.count(name)} x {name}"
            for name in dict.fromkeys(names)
        ]
        below = f"driver {self.accelerators[0].driver}" if self.accelerators else "no accelerator"
        whole = f"{' + '.join(counted)}, {below}, torch {self.torch}"
        return whole[:120].strip()

    def device(self, name: str) -> Device | None:
        """The device called `name` (canonical), None where the machine has none."""
        return next((device for device in self.devices if device.device == name), None)


def machine_to_dict(machine: Machine) -> dict[str, object]:
    """The machine as JSON values, in the form in which the worker describes it."""
    return {
        "torch": machine.torch,
        "devices": [
            {"device": d.device, "name": d.name, "driver": d.driver, "bytes": d.total_bytes}
            for d in machine.devices
        ],
    }


def machine_from_dict(data: object) -> Machine:
    """The machine that a worker or a cache file describes. Raises InvalidMachine."""
    if not isinstance(data, dict) or set(data) != {"torch", "devices"}:
        raise InvalidMachine("a machine has the fields torch and devices")
    listed = data["devices"]
    if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_DEVICES:
        raise InvalidMachine("devices is not a list of devices")
    devices = tuple(_device(each) for each in listed)
    names = [device.device for device in devices]
    if names[0] != "cpu" or len(set(names)) != len(names):
        raise InvalidMachine("devices do not start with the cpu, or repeat")
    return Machine(_plain(data["torch"], "torch"), devices)


def _device(data: object) -> Device:
    if not isinstance(data, dict) or set(data) != {"device", "name", "driver", "bytes"}:
        raise InvalidMachine("a device has the fields device, name, driver and bytes")
    fields = cast("dict[str, object]", data)
    name, size = fields["device"], fields["bytes"]
    if not isinstance(name, str) or canonical_device(name) != name:
        raise InvalidMachine("device is not a canonical device name")
    if type(size) is not int or not 0 <= size <= _MOST_BYTES:
        raise InvalidMachine("bytes is not a size")
    return Device(name, _plain(fields["name"], "name"), _plain(fields["driver"], "driver"), size)


def _plain(value: object, field: str) -> str:
    try:
        return label(value, field)
    except InvalidCalibration as error:
        raise InvalidMachine(str(error)) from error
