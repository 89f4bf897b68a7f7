"""The cache folder: round trips, two processes, broken files, disks that cannot be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens import disk
from device_lens.benchmark.job import (
    OperationJob,
    OperationTiming,
    Timing,
    TransferJob,
    TransferTiming,
    transfer_job,
)
from device_lens.benchmark.machine import (
    Device,
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
    size_class,
)
from device_lens.benchmark.store import Store
from device_lens.cost.calibration import Calibration
from device_lens.cost.curve import Point, fit
from device_lens.cost.route import Memory, Route
from device_lens.disk import default_cache_folder

PATH = Route("cpu", "cuda:0", Memory.PINNED)
JOB = TransferJob(PATH, 38_535_168)
TIMING = Timing(9.0, 10.0, 11.0, 4.0, 20, ("device-busy",))
CPU = Device("cpu", "Processor", "6.1", 1 << 34)
MACHINE = Machine("2.4.0", (CPU, Device("cuda:0", "NVIDIA L4", "550.54", 1 << 34)))
RECORD = Record(JOB, TransferTiming(TIMING), MACHINE.label, "2026-08-01")
CALIBRATION = Calibration("NVIDIA L4", "2026-08-01", {PATH: fit([Point(1024, 9, 10, 11)])})


def test_what_is_kept_is_found_by_the_next_process(tmp_path: Path) -> None:
    first, second = Store(tmp_path), Store(tmp_path)
    assert first.keep(MACHINE, RECORD)
    assert first.keep_calibration(MACHINE, CALIBRATION)
    assert first.note_machine("/opt/python", MACHINE)
    assert second.record(MACHINE, JOB) == RECORD
    assert second.calibration(MACHINE) == CALIBRATION
    assert second.machine_of("/opt/python") == MACHINE
    assert second.machine_of("/opt/other") is None


def test_operations_are_kept_too(tmp_path: Path) -> None:
    job = OperationJob("matmul", ((3, 3), (3, 3)), "float32", "cuda:0")
    record = Record(job, OperationTiming(TIMING, TIMING, TIMING), "NVIDIA L4", "2026-08-01")
    Store(tmp_path).keep(MACHINE, record)
    assert Store(tmp_path).record(MACHINE, job) == record
    other = OperationJob("matmul", ((3, 3), (3, 4)), "float32", "cuda:0")
    assert Store(tmp_path).record(MACHINE, other) is None


def test_a_record_is_a_cost(tmp_path: Path) -> None:
    cost = RECORD.transfer_cost
    assert cost is not None
    assert (cost.microseconds, cost.source, cost.spread) == (10.0, "measured", (9.0, 11.0))
    assert cost.assumption == "NVIDIA L4, driver 550.54, torch 2.4.0, 2026-08-01"
    assert RECORD.operation is None
    slow, fast = replace(TIMING, p50=200.0, p80=300.0), replace(TIMING, p20=1.0, p50=2.0)
    job = OperationJob("relu", ((3,),), "float32", "cuda:0")
    record = Record(job, OperationTiming(TIMING, fast, slow), "NVIDIA L4", "2026-08-01")
    operation = record.operation
    assert operation is not None
    assert (operation.cpu_us, operation.cpu_spread) == (10, (9, 11))
    assert (operation.accelerator_us, operation.with_transfer_us) == (2, 200)
    assert operation.basis == "NVIDIA L4, 2026-08-01"
    assert record.transfer_cost is None
    on_cpu = Record(job, OperationTiming(TIMING, None, None), "NVIDIA L4", "2026-08-01")
    assert on_cpu.operation is not None
    assert on_cpu.operation.accelerator_us is None


def test_doubts_of_every_part_of_an_operation_count_once() -> None:
    doubtful = replace(TIMING, warnings=("wide-spread", "few-samples"))
    busy = replace(TIMING, warnings=("wide-spread", "device-busy"))
    job = OperationJob("relu", ((3,),), "float32", "cuda:0")
    record = Record(job, OperationTiming(doubtful, busy, busy), "NVIDIA L4", "2026-08-01")
    assert record.warnings == ("wide-spread", "few-samples", "device-busy")


def test_jobs_are_made_from_names_in_a_program() -> None:
    assert transfer_job("cpu", "cuda", 38_535_168, "pinned") == JOB
    for source, target, size in (("cpu", "meta", 1), ("cuda", "cuda:0", 1), ("cpu", "cuda", 0)):
        assert transfer_job(source, target, size) is None


def test_sizes_of_one_class_share_a_measurement(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(MACHINE, RECORD)
    assert store.record(MACHINE, TransferJob(PATH, JOB.size + 1000, budget_ms=7)) == RECORD
    assert Store(tmp_path).record(MACHINE, TransferJob(PATH, JOB.size + 1000)) == RECORD
    assert store.record(MACHINE, TransferJob(PATH, JOB.size * 2)) is None
    assert store.record(MACHINE, TransferJob(PATH, JOB.size, non_blocking=True)) is None
    pageable = Route("cpu", "cuda:0", Memory.PAGEABLE)
    assert store.record(MACHINE, TransferJob(pageable, JOB.size)) is None


@given(st.integers(1, 1 << 40), st.integers(1, 1 << 40))
def test_a_class_spans_less_than_a_tenth(one: int, other: int) -> None:
    small, large = sorted((one, other))
    assert size_class(small) <= size_class(large)
    if size_class(small) == size_class(large):
        assert large / small < 1.1


def test_another_driver_or_torch_is_another_machine(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(MACHINE, RECORD)
    newer = Machine("2.5.0", MACHINE.devices)
    driver = Machine("2.4.0", (CPU, Device("cuda:0", "NVIDIA L4", "560.1", 1 << 34)))
    assert len({MACHINE.key, newer.key, driver.key}) == 3
    assert store.record(newer, JOB) is None
    assert store.record(driver, JOB) is None


BROKEN = {
    "empty": b"",
    "half": b'{"version": 1, "curv',
    "null": b"null",
    "list": b"[]",
    "no text": b"\xff\xfe",
    "too little": b'{"version": 1}',
    "too deep": b"[" * 100_000,
    "too large": b"1" * 3_000_000,
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_broken_files_count_as_absent_and_are_written_anew(tmp_path: Path, content: bytes) -> None:
    store = Store(tmp_path)
    store.keep(MACHINE, RECORD)
    store.keep_calibration(MACHINE, CALIBRATION)
    store.note_machine("/opt/python", MACHINE)
    for file in [each for each in tmp_path.rglob("*.json") if each.is_file()]:
        file.write_bytes(content)
    again = Store(tmp_path)
    assert again.record(MACHINE, JOB) is None
    assert again.calibration(MACHINE) is None
    assert again.machine_of("/opt/python") is None
    assert again.keep(MACHINE, RECORD)
    assert Store(tmp_path).record(MACHINE, JOB) == RECORD


def _changed(data: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps(data))
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copied


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("machine",), "[click](command:workbench.action.quit)"),
        (("measured_on",), "<script>"),
        (("request", "source"), "__import__('os')"),
        (("request", "target"), "cuda:1"),
        (("request", "size"), 1024),
        (("request", "size"), "38535168"),
        (("request", "budget_ms"), [1]),
        (("request", "extra"), 1),
        (("request",), None),
        (("answer",), {"problem": "no-torch", "detail": ""}),
        (("answer", "timing", "p50"), 1e300),
        (("answer", "timing", "warnings"), ["rm -rf"]),
    ],
)
def test_a_cache_file_is_input_like_any_other(path: tuple[str, ...], value: object) -> None:
    good = json.loads(json.dumps(record_to_dict(RECORD)))
    assert record_from_dict(JOB, good) == RECORD
    with pytest.raises(InvalidRecord):
        record_from_dict(JOB, _changed(good, path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("torch",), "2.4.0`"),
        (("torch",), None),
        (("devices",), []),
        (("devices",), [{}]),
        (("devices", 1, "device"), "cpu"),
        (("devices", 1, "device"), "cuda:0\n"),
        (("devices", 1, "name"), "<img src=x>"),
        (("devices", 1, "bytes"), -1),
        (("devices", 1, "bytes"), 1.5),
        (("devices", 0, "device"), "cuda:1"),
    ],
)
def test_a_machine_is_checked_field_by_field(path: tuple[str, ...], value: object) -> None:
    good = json.loads(json.dumps(machine_to_dict(MACHINE)))
    assert machine_from_dict(good) == MACHINE
    with pytest.raises(InvalidMachine):
        machine_from_dict(_changed(good, path, value))


def test_a_stored_machine_key_is_no_path(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.note_machine("/opt/python", MACHINE)
    seen = next(tmp_path.rglob("seen-*.json"))
    for key in ("../../etc", "/etc", "0" * 23, "x" * 24, None, 7):
        seen.write_text(json.dumps({"machine": key}))
        assert store.machine_of("/opt/python") is None
    seen.write_text(json.dumps({"machine": "0" * 24}))
    assert store.machine_of("/opt/python") is None


def test_file_names_hold_nothing_of_the_program(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.note_machine("/home/me/../secret name/python", MACHINE)
    store.keep(MACHINE, RECORD)
    names = "".join(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert "secret" not in names
    assert ".." not in names
    assert record_key(JOB) in names


def test_a_disk_that_cannot_be_written_is_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_text("a file where the folder should be")
    store = Store(in_the_way)
    assert not store.keep(MACHINE, RECORD)
    assert not store.keep_calibration(MACHINE, CALIBRATION)
    assert not store.note_machine("/opt/python", MACHINE)
    assert store.record(MACHINE, JOB) == RECORD  # in memory
    assert store.calibration(MACHINE) is None
    assert [each.message for each in caplog.records if each.levelname == "WARNING"] == [
        caplog.records[0].message
    ]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_process_killed_while_it_writes_leaves_what_was_there(tmp_path: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import signal\n"
        "from test_benchmark_store import *\n"
        f"store = Store(Path({str(tmp_path)!r}))\n"
        "store.note_machine('/opt/python', MACHINE)\n"
        "store.keep_calibration(MACHINE, CALIBRATION)\n"
        "store.keep(MACHINE, RECORD)\n"
        "os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.keep_calibration(MACHINE, replace(CALIBRATION, measured_on='2026-08-02'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    assert subprocess.run([sys.executable, "-c", script], env=environment).returncode == -9
    store = Store(tmp_path)
    assert store.calibration(MACHINE) == CALIBRATION
    assert store.record(MACHINE, JOB) == RECORD
    (left,) = tmp_path.rglob("*.tmp")
    os.utime(left, (1, 1))
    assert store.note_machine("/opt/python", MACHINE)
    assert not left.exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_a_full_disk_keeps_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(tmp_path)
    assert store.keep_calibration(MACHINE, CALIBRATION)
    assert store.keep(MACHINE, RECORD)

    def full(**named: object) -> tuple[int, str]:
        return os.open("/dev/full", os.O_WRONLY), str(tmp_path / "none.tmp")

    monkeypatch.setattr(disk.tempfile, "mkstemp", full)
    later = replace(RECORD, measured_on="2026-08-02")
    assert not store.keep(MACHINE, later)
    assert not store.keep_calibration(MACHINE, replace(CALIBRATION, measured_on="2026-08-02"))
    assert store.record(MACHINE, JOB) == later  # in memory
    assert Store(tmp_path).record(MACHINE, JOB) == RECORD
    assert Store(tmp_path).calibration(MACHINE) == CALIBRATION
    (line,) = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert "No space left on device" in line


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    """Each keeps two hundred measurements, half of them the same; none is lost or half written."""
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_benchmark_store import *\n"
        "start = int(sys.argv[1])\n"
        f"store = Store(Path({str(tmp_path)!r}))\n"
        "for n in range(start, start + 200):\n"
        "    job = OperationJob('relu', ((n,),), 'float32', 'cpu')\n"
        "    assert store.keep(MACHINE, Record(job, OperationTiming(TIMING, None, None),\n"
        "                      'NVIDIA L4', '2026-08-01'))\n"
        "    assert store.keep_calibration(MACHINE, CALIBRATION)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    writers = [
        subprocess.Popen([sys.executable, "-c", script, start], env=environment)
        for start in ("1", "101")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    store = Store(tmp_path)
    assert store.calibration(MACHINE) == CALIBRATION
    for n in range(1, 301):
        assert store.record(MACHINE, OperationJob("relu", ((n,),), "float32", "cpu")) is not None
    assert not list(tmp_path.rglob("*.tmp"))


def test_clearing_forgets_all_and_touches_nothing_else(tmp_path: Path) -> None:
    other = tmp_path / "another.json"
    other.write_text("{}")
    store = Store(tmp_path)
    store.keep(MACHINE, RECORD)
    store.clear()
    assert store.record(MACHINE, JOB) is None
    assert list(tmp_path.iterdir()) == [other]


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    home = {"HOME": "/home/me", "LOCALAPPDATA": "/local"}
    monkeypatch.setattr(sys, "platform", "linux")
    assert default_cache_folder(home) == Path("/home/me/.cache/device-lens")
    chosen = {**home, "XDG_CACHE_HOME": "/var/cache/me"}
    assert default_cache_folder(chosen) == Path("/var/cache/me/device-lens")
    assert default_cache_folder({**home, "XDG_CACHE_HOME": "relative"}).is_absolute()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_cache_folder(home) == Path("/home/me/Library/Caches/device-lens")
    monkeypatch.setattr(sys, "platform", "win32")
    assert default_cache_folder(home) == Path("/local/device-lens")
