"""What the server holds in memory while somebody edits for long.

    python benchmarks/replay.py FILE … [--root FOLDER] [--edits N] [--every N] [--seed N]

Opens the files in one server, then types statements inside their functions, letter by letter, and
takes them away again, now in this file, now in that, as a seed has it. An edit is one version of
a file; the next one goes out when its diagnostics have come. Every so many edits the resident
memory of the whole process tree is read from /proc: the table shows whether it grows. Linux only.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from pathlib import Path
from random import Random

from latency import OURS, STATEMENTS, Client, megabytes_of, settle

SECONDS_PER_EDIT = 0.4
"""What an edit takes somebody who types without a pause: an hour has 9,000."""


class Document:
    """A file that is open, and the places where something can be typed: inside its functions, if it
    has any."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.version = 1
        self.lines = self.text.split("\n")
        tree = ast.parse(self.text)
        bodies = [each.body for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        inner = {each.lineno - 1 for body in bodies or [tree.body] for each in body}
        self.places = sorted(inner)

    def change(
        self, client: Client, first: tuple[int, int], last: tuple[int, int], text: str
    ) -> None:
        """Sends a change and waits for the diagnostics."""
        self.version += 1
        client.uri = self.path.as_uri()
        client.change(self.version, first, last, text)
        client.diagnostics(self.version)


def replay(
    client: Client, documents: list[Document], random: Random, edits: int, every: int
) -> None:
    """Types, and prints a line of the table now and then."""
    done, began, due = 0, time.monotonic(), every
    print("| edits | that is, minutes of typing | memory, MB | took, s |")
    print("| --: | --: | --: | --: |")
    tell(client, done, began)
    while done < edits:
        done += type_once(client, random.choice(documents), random)
        if done >= due:
            tell(client, done, began)
            due += every


def type_once(client: Client, document: Document, random: Random) -> int:
    """Types one statement at one place and takes it away; gives the number of edits."""
    line = random.choice(document.places)
    indent = document.lines[line][: len(document.lines[line]) - len(document.lines[line].lstrip())]
    statement = random.choice(STATEMENTS)
    document.change(client, (line, 0), (line, 0), f"{indent}\n")
    for column, letter in enumerate(statement, len(indent)):
        document.change(client, (line, column), (line, column), letter)
    document.change(client, (line, 0), (line + 1, 0), "")
    return len(statement) + 2


def tell(client: Client, done: int, began: float) -> None:
    settle(client)
    minutes, spent = done * SECONDS_PER_EDIT / 60, time.monotonic() - began
    memory = megabytes_of(client.process.pid)
    print(f"| {done:,} | {minutes:.0f} | {memory:.0f} | {spent:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--root", type=Path, help="default: the folder of the first file")
    parser.add_argument("--edits", type=int, default=9_000, help="9,000: an hour")
    parser.add_argument("--every", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    documents = [Document(each.resolve()) for each in arguments.files]
    root = (arguments.root or documents[0].path.parent).resolve()
    client = Client([sys.executable, "-m", "device_lens", "serve"], root)
    print(f"{OURS}, seed {arguments.seed}: {', '.join(map(str, arguments.files))}\n")
    try:
        client.start(root)
        for document in documents:
            client.open(document.path, document.text)
            client.diagnostics(1)
        replay(client, documents, Random(arguments.seed), arguments.edits, arguments.every)
    finally:
        client.close()


if __name__ == "__main__":
    main()
