"""Measurements and calibrations on disk, in the user's cache folder, by machine.

Plain JSON, one file per thing, replaced atomically: two processes can write at once and neither
sees half a file or loses the other's results. File names are hashes of what they hold, so that no
text from a program becomes a path. A file that is broken, foreign or too large counts as absent and
is written anew; a disk that cannot be written costs the memory of the next session, and a line in
the log.
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import re
import shutil
from pathlib import Path

from device_lens.benchmark.job import InvalidJob, Job
from device_lens.benchmark.machine import (
    InvalidMachine,
    Machine,
    machine_from_dict,
    machine_to_dict,
)
from device_lens.benchmark.record import (
    InvalidRecord,
    Record,
    record_from_dict,
    record_key,
    record_to_dict,
)
from device_lens.cost.calibration import Calibration, InvalidCalibration, from_dict, to_dict
from device_lens.disk import remove_abandoned, replace_file

LOGGER = logging.getLogger("device_lens.benchmark")
_LARGEST_FILE = 1 << 20
_KEY = re.compile(r"[0-9a-f]{24}")


class Store:
    """The cache below `folder`. No method raises; what cannot be read is absent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "benchmark-1"
        self._recent: dict[tuple[str, str], Record] = {}
        self._has_complained = False

    def record(self, machine: Machine, job: Job) -> Record | None:
        """The measurement of `job`, or of a transfer in its class of sizes, on `machine`."""
        try:
            key = (machine.key, record_key(job))
        except InvalidJob:
            return None
        if key in self._recent:
            return self._recent[key]
        data = self._read(self._record_path(*key))
        if data is None:
            return None
        try:
            found = record_from_dict(job, data)
        except InvalidRecord as error:
            LOGGER.info("ignoring a stored measurement: %s", error)
            return None
        self._recent[key] = found
        return found

    def keep(self, machine: Machine, record: Record) -> bool:
        """Keeps a measurement; false where it is kept in memory only."""
        key = (machine.key, record_key(record.job))
        self._recent[key] = record
        return self._write(self._record_path(*key), record_to_dict(record))

    def calibration(self, machine: Machine) -> Calibration | None:
        """The machine's calibrated transfer model."""
        data = self._read(self._folder / machine.key / "calibration.json")
        if data is None:
            return None
        try:
            return from_dict(data)
        except InvalidCalibration as error:
            LOGGER.info("ignoring a stored calibration: %s", error)
            return None

    def keep_calibration(self, machine: Machine, calibration: Calibration) -> bool:
        """Keeps the machine's transfer model; false where the disk cannot be written."""
        return self._write(self._folder / machine.key / "calibration.json", to_dict(calibration))

    def machine_of(self, interpreter: str) -> Machine | None:
        """The machine that `interpreter` saw last on this host: known without starting it."""
        seen = self._read(self._seen_path(interpreter))
        key = seen.get("machine") if isinstance(seen, dict) else None
        if not isinstance(key, str) or _KEY.fullmatch(key) is None:
            return None
        try:
            machine = machine_from_dict(self._read(self._folder / key / "machine.json"))
        except InvalidMachine:
            return None
        return machine if machine.key == key else None

    def note_machine(self, interpreter: str, machine: Machine) -> bool:
        """Remembers what machine `interpreter` sees; false where the disk cannot be written."""
        remove_abandoned(self._folder / machine.key)
        described = self._write(
            self._folder / machine.key / "machine.json", machine_to_dict(machine)
        )
        return described and self._write(self._seen_path(interpreter), {"machine": machine.key})

    def clear(self) -> None:
        """Forgets every measurement and calibration of every machine."""
        self._recent.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _record_path(self, machine_key: str, key: str) -> Path:
        return self._folder / machine_key / f"measured-{key}.json"

    def _seen_path(self, interpreter: str) -> Path:
        name = json.dumps([platform.node(), interpreter]).encode()
        return self._folder / f"seen-{hashlib.sha256(name).hexdigest()[:24]}.json"

    def _read(self, path: Path) -> object:
        try:
            with path.open("rb") as file:
                content = file.read(_LARGEST_FILE + 1)
            return json.loads(content) if len(content) <= _LARGEST_FILE else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            LOGGER.info("ignoring %s: %s", path.name, error)
            return None

    def _write(self, path: Path, data: object) -> bool:
        try:
            replace_file(path, json.dumps(data).encode())
        except OSError as error:
            if not self._has_complained:
                LOGGER.warning("measurements are kept in memory only: %s", error)
            self._has_complained = True
            return False
        return True
