"""How much faster `device-lens check` is on an unchanged tree, cold beside warm in one run.

    python benchmarks/warm_cache.py PATH [PATH …] [--jobs N] [--repeat N] [--edit FILE]

Each PATH is checked with an empty cache, then again and again with what that run kept, each time in
a new process, interpreter start included. CPU time counts the processes that a run starts, too;
memory is that of the largest of them. All outputs must agree byte for byte, else it is void.
With --edit, a copy of PATH (a folder) is checked in place of it, and once more after a line was
added to that file of it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SERVER = Path(__file__).resolve().parent.parent / "server"


@dataclass(frozen=True)
class Run:
    """One run of the command: seconds, and megabytes of its largest process."""

    wall: float
    cpu: float
    megabytes: float
    output: bytes


def check(path: Path, cache: Path, jobs: int, *options: str) -> Run:
    """Runs `device-lens check` once."""
    command = [sys.executable, "-m", "device_lens", "check", str(path), "--exit-zero"]
    command += ["--output-format", "json", "--jobs", str(jobs), "--cache-dir", str(cache)]
    environment = {**os.environ, "PYTHONPATH": str(SERVER)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            [*command, *options], stdout=output, stderr=subprocess.DEVNULL, env=environment
        )
        _, _, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        output.seek(0)
        cpu = usage.ru_utime + usage.ru_stime
        return Run(wall, cpu, usage.ru_maxrss / 1_000, output.read())


def measure(path: Path, jobs: int, repeat: int) -> str:
    """One row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        check(SERVER / "hatch_build.py", cache / "unused", jobs)  # our own bytecode, once
        cold = check(path, cache, jobs)
        warm = [check(path, cache, jobs) for _ in range(repeat)]
        kept = sum(each.stat().st_size for each in cache.glob("check-*/*"))
    if any(each.output != cold.output for each in warm):
        sys.exit(f"void: the outputs for {path} differ")
    wall = statistics.median(each.wall for each in warm)
    cpu = statistics.median(each.cpu for each in warm)
    return (
        f"| {path.name} | {cold.wall:.2f} | {wall:.2f} | {cold.wall / wall:.1f} × "
        f"| {cold.cpu:.2f} | {cpu:.2f} | {cold.cpu / cpu:.1f} × "
        f"| {cold.megabytes:.0f} | {warm[0].megabytes:.0f} | {kept / 1e6:.2f} |"
    )


def measure_edit(path: Path, file: str, jobs: int) -> str:
    """A sentence on what an edit of one file costs."""
    with tempfile.TemporaryDirectory() as folder:
        copy, cache = Path(folder) / path.name, Path(folder) / "cache"
        shutil.copytree(path, copy, ignore=shutil.ignore_patterns(".git"))
        (copy / "pyproject.toml").touch()
        cold = check(copy, cache, jobs)
        with (copy / file).open("a", encoding="utf-8") as stream:
            stream.write("\n# edited\n")
        edited = check(copy, cache, jobs)
        fresh = check(copy, cache, jobs, "--no-cache")
    if edited.output != fresh.output:
        sys.exit(f"void: the output after an edit of {file} is not that of a fresh run")
    return (
        f"After an edit of {path.name}/{file}: {edited.cpu:.2f} s of CPU time, "
        f"{fresh.cpu:.2f} s without a cache, {cold.cpu:.2f} s cold"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--edit", action="append", default=[], metavar="FILE")
    arguments = parser.parse_args()
    print(
        "| what | cold, s | warm, s | | cold, CPU s | warm, CPU s | "
        "| cold, MB | warm, MB | kept, MB |"
    )
    print("| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    for path in arguments.paths:
        print(measure(path.resolve(), arguments.jobs, arguments.repeat), flush=True)
    for path in arguments.paths:
        for file in arguments.edit:
            print(measure_edit(path.resolve(), file, arguments.jobs), flush=True)


if __name__ == "__main__":
    main()
