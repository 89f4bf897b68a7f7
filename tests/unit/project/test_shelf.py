"""Documents on disk: whole or absent, whatever happens to the process, the disk and the files."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from device_lens import disk
from device_lens.disk import remove_abandoned, replace_file
from device_lens.project.shelf import Shelf

KILLED = """
import os, signal, sys
from pathlib import Path
from device_lens.project.shelf import Shelf
shelf = Shelf(Path(sys.argv[1]))
shelf.put("one", {"version": "old"})
os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
shelf.put("one", {"version": "new"})
"""
"""Writes twice, and is killed between writing and renaming."""


def test_what_is_put_is_got(tmp_path: Path) -> None:
    Shelf(tmp_path / "a" / "b").put("one", {"x": [1, None, "\udc80 ü"]})
    assert Shelf(tmp_path / "a" / "b").get("one") == {"x": [1, None, "\udc80 ü"]}
    assert Shelf(tmp_path / "a" / "b").get("two") is None
    assert Shelf(tmp_path / "c").get("one") is None


def test_the_folder_is_marked_as_a_cache_and_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    Shelf(folder).put("one", 1)
    assert (folder / ".gitignore").read_text() == "*\n"
    signature = "Signature: 8a477f597d28d172789f06886806bc55"
    assert (folder / "CACHEDIR.TAG").read_text().startswith(signature)
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
        assert stat.S_IMODE((folder / "one.json").stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda good: good[:-1],
        lambda good: good + b" ",
        lambda good: good.replace(b"17", b"18"),
        lambda good: b"",
        lambda good: good.partition(b"\n")[2],
        lambda good: b"\n" + good,
    ],
)
def test_a_document_with_another_checksum_is_absent(tmp_path: Path, damage: object) -> None:
    shelf = Shelf(tmp_path)
    shelf.put("one", {"x": 17})
    path = tmp_path / "one.json"
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    assert shelf.get("one") is None
    shelf.put("one", {"x": 17})
    assert shelf.get("one") == {"x": 17}


def test_a_document_that_is_too_large_is_neither_kept_nor_read(tmp_path: Path) -> None:
    small = Shelf(tmp_path, largest=1_000)
    small.put("fits", "x" * 998)
    assert small.get("fits") == "x" * 998
    assert small.problem is None
    small.put("large", "x" * 999)
    assert small.problem == "a report is too large to be kept"
    Shelf(tmp_path).put("large", "x" * 999)
    assert small.get("large") is None
    assert Shelf(tmp_path).get("large") is not None


def test_a_folder_in_the_place_of_a_document_is_absent(tmp_path: Path) -> None:
    (tmp_path / "one.json").mkdir()
    shelf = Shelf(tmp_path)
    assert shelf.get("one") is None
    shelf.put("one", 1)
    assert shelf.problem is not None


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_process_killed_while_it_writes_leaves_the_old_document(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    assert subprocess.run(command, env=environment).returncode == -9
    shelf = Shelf(tmp_path)
    assert shelf.get("one") == {"version": "old"}
    (left,) = tmp_path.glob(".*.tmp")
    shelf.tidy()
    assert left.exists()  # it could be a process that is at it
    os.utime(left, (1, 1))
    shelf.tidy()
    assert not left.exists()
    assert shelf.get("one") == {"version": "old"}


def _raising(number: int) -> object:
    def fail(*arguments: object, **named: object) -> tuple[int, str]:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_cannot_be_written_is_said_and_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    shelf = Shelf(tmp_path)
    shelf.put("one", 1)
    assert shelf.problem is None
    monkeypatch.setattr(disk.tempfile, "mkstemp", _raising(number))
    shelf.put("one", 2)
    shelf.tidy()
    assert shelf.problem == f"the cache cannot be written: {os.strerror(number)}"
    assert shelf.get("one") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_a_disk_that_becomes_full_while_it_is_written_keeps_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old")
    temporary = tmp_path / ".full.tmp"
    temporary.symlink_to("/dev/full")
    full = os.open(temporary, os.O_WRONLY)
    monkeypatch.setattr(disk.tempfile, "mkstemp", lambda **named: (full, str(temporary)))
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new" * 100_000)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*names: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(disk.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(tmp_path / "file", b"new")
    assert os.listdir(tmp_path) == []


def test_the_least_lately_used_go_first(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, most_bytes=2_500)
    for number, name in enumerate(["old", "read", "new"]):
        shelf.put(name, "x" * 900)
        os.utime(tmp_path / f"{name}.json", (1_000 + number, 1_000 + number))
    other = tmp_path / "other.txt"
    other.write_text("x" * 5_000)
    assert Shelf(tmp_path, most_bytes=2_500).get("old") is not None  # used now
    shelf.tidy()
    assert shelf.get("read") is None
    assert shelf.get("old") is not None
    assert shelf.get("new") is not None
    assert other.exists()


def test_a_young_document_is_not_touched_when_it_is_read(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.put("one", 1)
    an_hour_ago = time.time() - 3_600
    os.utime(tmp_path / "one.json", (an_hour_ago, an_hour_ago))
    shelf.get("one")
    assert (tmp_path / "one.json").stat().st_mtime == pytest.approx(an_hour_ago)


@pytest.mark.skipif(os.name != "posix", reason="owners")
def test_a_folder_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Shelf(tmp_path).put("one", 1)
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1_000)
    if tmp_path.stat().st_uid == 0:
        os.chown(tmp_path, 4_242, -1)
        monkeypatch.setattr(os, "getuid", lambda: 4_243)
    shelf = Shelf(tmp_path)
    assert shelf.problem == "the cache belongs to another user and is not used"
    assert shelf.get("one") is None
    before = sorted(os.listdir(tmp_path))
    shelf.put("two", 2)
    shelf.tidy()
    assert sorted(os.listdir(tmp_path)) == before


def test_two_writers_leave_one_whole_document(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom device_lens.project.shelf import Shelf\n"
        "shelf = Shelf(Path(sys.argv[1]))\n"
        "for n in range(100):\n"
        "    shelf.put('one', [sys.argv[2], n] * 1_000)\n"
        "    found = shelf.get('one')\n"
        "    assert isinstance(found, list) and found[:2] * 1_000 == found\n"
        "assert shelf.problem is None, shelf.problem\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path), name], env=environment)
        for name in ("a", "b")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    found = Shelf(tmp_path).get("one")
    assert isinstance(found, list)
    assert found[1] == 99
    assert not list(tmp_path.glob(".*.tmp"))


def test_documents_are_json_and_nothing_else(tmp_path: Path) -> None:
    Shelf(tmp_path).put("one", {"x": 1})
    checksum, _, body = (tmp_path / "one.json").read_bytes().partition(b"\n")
    assert len(checksum) == 40
    assert json.loads(body) == {"x": 1}
    remove_abandoned(tmp_path / "nowhere")
