"""A stand-in for the project's interpreter, for tests of faults: it measures by a script.

Usage: `python fake_interpreter.py FOLDER …`, where what follows is what an interpreter is given.
Started with the worker, it leaves a mark in `FOLDER/starts` and follows `FOLDER/steps`, a word for
each line of `FOLDER/steps`:

    greet        describe a machine with one GPU
    answer       read a request and answer it
    hang         never do anything again
    die          end at once
    no-torch     say that torch cannot be imported, and end
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

TIMING = {"p20": 9e3, "p50": 1e4, "p80": 1.1e4, "host": 1e4, "samples": 20, "warnings": []}
GREETING = {
    "torch": "2.4.0",
    "devices": [
        {"device": "cpu", "name": "Processor", "driver": "6.1", "bytes": 1 << 34},
        {"device": "cuda:0", "name": "NVIDIA Scripted", "driver": "550.54", "bytes": 1 << 33},
    ],
    "problem": None,
    "detail": "",
}


def main() -> None:
    if not sys.argv[-1].endswith("worker.py"):
        print("[]")
        return
    folder = Path(sys.argv[1])
    with (folder / "starts").open("a") as marks:
        marks.write(f"{os.getpid()}\n")
    for step in (folder / "steps").read_text().split():
        follow(step)
    sys.stdin.read()


def follow(step: str) -> None:
    if step == "greet":
        say(GREETING)
    elif step == "no-torch":
        say({"problem": "no-torch", "detail": "No module named 'torch'"})
        sys.exit(1)
    elif step == "hang":
        time.sleep(3600)
    elif step == "die":
        os._exit(9)
    else:
        request = json.loads(sys.stdin.readline() or sys.exit())
        parts = {
            "cpu": TIMING,
            "accelerator": {**TIMING, "p20": 90, "p50": 100, "p80": 110},
            "with_transfer": {**TIMING, "p20": 400, "p50": 500, "p80": 600},
        }
        say({"id": request["id"], **({"timing": TIMING} if "size" in request else parts)})


def say(data: object) -> None:
    print(json.dumps(data), flush=True)


if __name__ == "__main__":
    main()
