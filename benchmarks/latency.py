"""What an edit costs in language servers, side by side in one run.

    python benchmarks/latency.py FILE LINE [--root FOLDER] [--server NAME=COMMAND …]
                                 [--rounds N] [--edits N]

FILE is opened in each server and statements are typed before line LINE, letter by letter, the next
one when the diagnostics of the version have come. The first letter at a place is told by itself:
ours runs the scripts that reach the place for it, and only the statements for those after it. CPU
time is that of all letters. Ours always takes part; others, such as
`--server "ty=ty server"`, are named with their commands. The servers take turns, each round in
fresh processes, so that other work on the machine disturbs all alike: trust ratios, and CPU time
(the whole process tree, from /proc) before wall time. Linux only.

In ours a transfer that is thrown away is planted before LINE once: its finding must come, and must
go when the line goes again, else the run is void.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shlex
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVER = Path(__file__).resolve().parent.parent / "server"
TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 120.0
KEY_SECONDS = 0.08
OURS = "device-lens"
PLANTED = "discarded-transfer"
STATEMENTS = (
    'placed = torch.ones(3, 4).to("cuda")',
    "total = placed + torch.zeros(4)",
    "for each in range(8): total = total + placed.cpu()",
    'print(total.shape, "done")',
)
"""What is typed, again and again."""


@dataclass
class Measured:
    """What one server showed over all rounds: milliseconds, and megabytes."""

    start: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    letter: list[float] = field(default_factory=list)
    edit: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    burst: list[float] = field(default_factory=list)
    hover: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)


class Client:
    """An editor in small: full documents out, diagnostics in."""

    def __init__(self, command: list[str], root: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(SERVER)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.published: queue.Queue[tuple[int | None, list[Any]]] = queue.Queue()
        self.answers: dict[int, queue.Queue[Any]] = {}
        self.number = 0
        self.uri = ""
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def request(self, method: str, params: Any) -> Any:
        self.number += 1
        waiting = self.answers[self.number] = queue.Queue()
        self.send({"id": self.number, "method": method, "params": params})
        return waiting.get(timeout=PATIENCE)

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                return
            self._take(json.loads(stream.read(length)))

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method == "textDocument/publishDiagnostics":
            params = message["params"]
            if params["uri"] == self.uri:
                self.published.put((params.get("version"), params["diagnostics"]))
        elif method is not None and "id" in message:
            asked = (message.get("params") or {}).get("items") or []
            result = [None for _ in asked] if method == "workspace/configuration" else None
            self.send({"id": message["id"], "result": result})
        elif "id" in message and message["id"] in self.answers:
            self.answers.pop(message["id"]).put(message.get("result"))

    def start(self, root: Path) -> None:
        told = {"publishDiagnostics": {"versionSupport": True}, "synchronization": {}}
        folder = {"uri": root.as_uri(), "name": root.name}
        self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [folder],
                "capabilities": {"textDocument": told, "workspace": {"workspaceFolders": True}},
            },
        )
        self.send({"method": "initialized", "params": {}})

    def open(self, path: Path, text: str) -> None:
        self.uri = path.as_uri()
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def change(
        self, version: int, first: tuple[int, int], last: tuple[int, int], text: str
    ) -> None:
        """Replaces what stands between two places, each a line and a column."""
        start, end = ({"line": each[0], "character": each[1]} for each in (first, last))
        edit = {"range": {"start": start, "end": end}, "text": text}
        document = {"uri": self.uri, "version": version}
        self.send(
            {
                "method": "textDocument/didChange",
                "params": {"textDocument": document, "contentChanges": [edit]},
            }
        )

    def diagnostics(self, version: int) -> list[Any]:
        """Those of a version, once they come. Raises queue.Empty where they do not."""
        while True:
            told, found = self.published.get(timeout=PATIENCE)
            if told is None or told >= version:
                return found

    def close(self) -> None:
        try:
            self.request("shutdown", None)
            self.send({"method": "exit", "params": None})
            self.process.wait(5)
        except (OSError, queue.Empty, subprocess.TimeoutExpired):
            self.process.kill()


def tree(process: int) -> list[int]:
    """A process and all below it."""
    found, pending = [], [process]
    while pending:
        each = pending.pop()
        found.append(each)
        try:
            for thread in os.listdir(f"/proc/{each}/task"):
                children = Path(f"/proc/{each}/task/{thread}/children").read_text().split()
                pending += map(int, children)
        except OSError:
            continue
    return found


def cpu_of(process: int) -> float:
    """CPU milliseconds that a process tree has used."""
    ticks = 0
    for each in tree(process):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks * 1_000 / TICK


def megabytes_of(process: int) -> float:
    """Resident memory of a process tree."""
    pages = 0
    for each in tree(process):
        try:
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def settle(client: Client) -> None:
    """Waits until the processes rest."""
    quiet, before = 0, cpu_of(client.process.pid)
    until = time.monotonic() + PATIENCE
    while quiet < 4 and time.monotonic() < until:
        time.sleep(0.2)
        now = cpu_of(client.process.pid)
        quiet = quiet + 1 if now - before < 10 else 0
        before = now


def measure(
    name: str, command: list[str], path: Path, root: Path, line: int, edits: int
) -> Measured:
    """One round of one server. Raises SystemExit where a planted finding does not come or go."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    found = Measured()
    began = time.perf_counter()
    client = Client(command, root)
    try:
        client.start(root)
        found.start.append(since(began))
        began = time.perf_counter()
        client.open(path, text)
        known = client.diagnostics(1)
        found.first.append(since(began))
        settle(client)
        version = plant(client, known, line, lines) if name == OURS else 1
        indent = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
        version += 1
        client.change(version, (line, 0), (line, 0), f"{indent}\n")
        client.diagnostics(version)
        before = cpu_of(client.process.pid)
        keys = typed(line, indent)
        for number in range(edits):
            version += 1
            began = time.perf_counter()
            place, text = next(keys)
            client.change(version, place, place, text)
            client.diagnostics(version)
            (found.edit if number else found.letter).append(since(began))
        found.cpu.append((cpu_of(client.process.pid) - before) / edits)
        for _ in range(10):
            version += 1
            began = time.perf_counter()
            place, text = next(keys)
            client.change(version, place, place, text)
            time.sleep(KEY_SECONDS)
        client.diagnostics(version)
        found.burst.append(since(began))
        settle(client)
        for each in range(max(line - 10, 0), line):
            began = time.perf_counter()
            place = {"line": each, "character": len(lines[each]) - len(lines[each].lstrip())}
            params = {"textDocument": {"uri": client.uri}, "position": place}
            client.request("textDocument/hover", params)
            found.hover.append(since(began))
        found.megabytes.append(megabytes_of(client.process.pid))
    finally:
        client.close()
    return found


def typed(line: int, indent: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Places and what is typed there: the statements, each on a line of its own."""
    while True:
        for statement in STATEMENTS:
            for column, letter in enumerate(statement, len(indent)):
                yield (line, column), letter
            yield (line, len(indent) + len(statement)), f"\n{indent}"
            line += 1


def plant(client: Client, diagnostics: list[Any], line: int, lines: list[str]) -> int:
    """Plants a finding before a line and takes it away again."""
    indent = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
    planted = f'{indent}planted = torch.ones(1)\n{indent}planted.to("cuda")\n'
    known = planted_among(diagnostics)
    for version, last, text in ((2, line, planted), (3, line + 2, "")):
        client.change(version, (line, 0), (last, 0), text)
        found = planted_among(client.diagnostics(version))
        if found != known + (1 if text else 0):
            raise SystemExit(f"void: {found} findings of {PLANTED} after version {version}")
    return 3


def planted_among(diagnostics: list[Any]) -> int:
    return sum(1 for each in diagnostics if each.get("code") == PLANTED)


def since(began: float) -> float:
    return (time.perf_counter() - began) * 1_000


def row(name: str, found: Measured, reference: float) -> str:
    """One line of the table."""
    edit = sorted(found.edit)
    hover = sorted(found.hover)
    cpu = statistics.median(found.cpu)
    return (
        f"| {name} | {statistics.median(found.start):.0f} | {statistics.median(found.first):.0f} "
        f"| {statistics.median(found.letter):.0f} "
        f"| {statistics.median(edit):.1f} / {edit[int(len(edit) * 0.95)]:.1f} "
        f"| {statistics.median(found.burst):.0f} | {cpu:.1f} | {cpu / reference:.2f} × "
        f"| {statistics.median(hover):.1f} / {hover[int(len(hover) * 0.95)]:.1f} "
        f"| {max(found.megabytes):.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("line", type=int, help="counted from 1; a statement")
    parser.add_argument("--root", type=Path, help="default: the folder of the file")
    parser.add_argument("--server", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--edits", type=int, default=60)
    arguments = parser.parse_args()
    path = arguments.file.resolve()
    root = (arguments.root or path.parent).resolve()
    servers = {OURS: [sys.executable, "-m", "device_lens", "serve"]}
    servers |= {n: shlex.split(c) for n, _, c in (each.partition("=") for each in arguments.server)}
    found = {name: Measured() for name in servers}
    for number in range(arguments.rounds):
        order = list(servers) if number % 2 == 0 else list(reversed(servers))
        for name in order:
            one = measure(name, servers[name], path, root, arguments.line - 1, arguments.edits)
            for each, values in vars(one).items():
                getattr(found[name], each).extend(values)
    names = list(servers)
    reference = statistics.median(found[names[1] if len(names) > 1 else OURS].cpu)
    print(
        "| server | start, ms | first diagnostics, ms | first letter, ms "
        "| edit p50 / p95, ms | burst, ms "
        "| CPU per edit, ms | of the first peer's | hover p50 / p95, ms | memory, MB |"
    )
    print("| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    for name in names:
        print(row(name, found[name], reference))


if __name__ == "__main__":
    main()
