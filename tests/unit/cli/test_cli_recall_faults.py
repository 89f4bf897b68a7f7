"""Kept reports that are broken, planted, half-written or shared; disks that cannot be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from cli_runs import BUGGY, CommandLine
from recall_runs import FILES, check, documents, environment, fresh, recalled, statistics

from device_lens.cli import recall as recall_module


def test_folders_that_hold_no_cache_are_lines_in_the_statistics(
    run: CommandLine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run.write({"alone.py": BUGGY})
    in_the_way = tmp_path_factory.mktemp("cache") / "file"
    in_the_way.write_text("a file where the folder should be")
    found = statistics(run, "--cache-dir", str(in_the_way))
    assert found.status == 1
    assert found.json == fresh(run)
    (limit,) = [each for each in found.err.splitlines() if each.startswith("limit: ")]
    assert limit.startswith("limit: the cache cannot be written: ")


def _oddities(good: bytes) -> dict[str, bytes]:
    body = good.partition(b"\n")[2]
    return {
        "empty": b"",
        "half": good[: len(good) // 2],
        "one byte changed": good.replace(b"alone", b"alobe"),
        "no checksum": body,
        "too deep": b"[" * 100_000,
        "no text": b"\xff\xfe\n" + body,
    }


@pytest.mark.parametrize("which", list(_oddities(b"")))
def test_broken_documents_are_made_anew(warm: CommandLine, which: str) -> None:
    before = fresh(warm)
    for path in documents():
        path.write_bytes(_oddities(path.read_bytes())[which])
    assert check(warm) == before
    assert recalled(statistics(warm)) == len(FILES)


def _planted(data: Any, value: object) -> list[Any]:
    """Copies of a document, in each of which one part is something else."""
    found: list[Any] = [value]
    if isinstance(data, dict):
        for key, inner in data.items():
            found += [{**data, key: each} for each in _planted(inner, value)]
    elif isinstance(data, list) and data:
        found += [[each, *data[1:]] for each in _planted(data[0], value)]
    return found


@pytest.mark.parametrize("value", [None, -1, "x", [], {}, [[]], {"x": [1]}, True, 1e300])
def test_documents_are_input_like_any_other(run: CommandLine, value: object) -> None:
    """Whoever wrote them: right checksums, wrong contents. Nothing is raised."""
    from device_lens.cli.report import Report, report_from_json, report_to_json
    from device_lens.project.outline import outline_from_json

    run.write(FILES)
    check(run, "--cache-dir", "kept")
    for path in (run.folder / "kept" / "check-1").glob("*.json"):
        data = json.loads(path.read_bytes().partition(b"\n")[2])
        if "report" in data:
            for planted in _planted(data["report"], value):
                found = report_from_json(planted)
                assert found is None or report_to_json(found) == planted
                assert found is None or isinstance(found, Report)
        else:
            for planted in _planted(next(iter(data.values())), value):
                outline_from_json(planted)
            for planted in _planted(data, value):
                recall_module.Outlines(recall_module.States(), planted).of("a.py")


def test_two_processes_share_a_cache(run: CommandLine) -> None:
    run.write({f"part{n}/pyproject.toml": "" for n in range(6)})
    run.write({f"part{n}/{name}": text for n in range(6) for name, text in FILES.items()})
    command = [sys.executable, "-m", "device_lens", "check", "--output-format", "json"]
    running = [
        subprocess.Popen(
            [*command, "--cache-dir", "kept", "--jobs", "2"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    outputs = [each.communicate()[0] for each in running]
    expected = run("check", "--output-format", "json", "--no-cache")
    assert [each.decode() for each in outputs] == [expected.out, expected.out]
    assert not list((run.folder / "kept").rglob("*.tmp"))
    again = statistics(run, "--cache-dir", "kept")
    assert recalled(again) == 6 * len(FILES)
    assert again.out == expected.out


KILLED = """
import os, signal, sys
from device_lens.cli.main import main
left, replace = int(sys.argv[1]), os.replace
def killed(*names):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(*names)
os.replace = killed
main(["check", "--cache-dir", "kept", "--jobs", "1"])
"""
"""A run that is killed when it has written all but renamed the nth file."""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("nth", [1, 3, 5])
def test_a_run_that_is_killed_while_it_writes_spoils_nothing(run: CommandLine, nth: int) -> None:
    run.write(FILES)
    command = [sys.executable, "-c", KILLED, str(nth)]
    ended = subprocess.run(command, env=environment(), stdout=subprocess.DEVNULL)
    assert ended.returncode == -9
    assert len(list((run.folder / "kept").rglob("*.tmp"))) == 1
    expected = fresh(run)
    assert check(run, "--cache-dir", "kept") == expected
    assert check(run, "--cache-dir", "kept") == expected
    assert recalled(statistics(run, "--cache-dir", "kept")) == len(FILES)


@pytest.mark.skipif(os.name != "posix", reason="limits of processes")
def test_a_disk_without_room_is_a_line_in_the_statistics(run: CommandLine) -> None:
    """The system itself refuses to write more than a few bytes, in each of the processes."""
    import resource

    run.write({f"part{n}/pyproject.toml": "" for n in range(4)})
    run.write({f"part{n}/alone.py": BUGGY for n in range(4)})
    options = ["check", "--output-format", "json", "--statistics", "--jobs", "2"]
    ended = subprocess.run(
        [sys.executable, "-m", "device_lens", *options, "--cache-dir", "kept"],
        env=environment(),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert ended.returncode == 1
    assert ended.stdout.decode() == run(*options, "--no-cache").out
    limits = [line for line in ended.stderr.decode().splitlines() if line.startswith("limit")]
    assert limits == ["limit: the cache cannot be written: File too large"]
    left = {path.name for path in (run.folder / "kept" / "check-1").iterdir()}
    assert left == {".gitignore", "CACHEDIR.TAG"}
