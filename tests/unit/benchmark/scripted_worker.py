"""A stand-in for the worker, for tests of faults only: it follows a script of lines.

Usage: `python scripted_worker.py SCRIPT COUNTER`. SCRIPT is a file with a JSON list of lists of
steps, one list for each start of the worker (the last serves all later starts); COUNTER is a file
in which each start leaves a mark. Steps:

    "greet"            describe a machine with one GPU
    "answer"           read a request and answer it properly
    "read"             read a request and say nothing
    {"say": TEXT}      write TEXT as it is, `{id}` being the number of the last request
    {"die": CODE}      end with this exit status
    "hang"             never do anything again
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

TIMING = {"p20": 9.0, "p50": 10.0, "p80": 11.0, "host": 10.0, "samples": 20, "warnings": []}
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
    script, counter = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    with counter.open("a") as marks:
        marks.write("x")
    start = len(counter.read_text()) - 1
    request: dict[str, object] = {}
    for step in script[min(start, len(script) - 1)]:
        if step == "greet":
            say(json.dumps(GREETING) + "\n")
        elif step == "hang":
            time.sleep(3600)
        elif step in ("answer", "read"):
            line = sys.stdin.readline()
            if not line:
                return
            request = json.loads(line)
            if step == "answer":
                say(json.dumps({"id": request["id"], **answer(request)}) + "\n")
        elif "die" in step:
            sys.stdout.flush()
            os._exit(step["die"])
        else:
            say(step["say"].replace("{id}", str(request.get("id"))))
    sys.stdin.read()


def answer(request: dict[str, object]) -> dict[str, object]:
    if request["kind"] == "transfer":
        return {"timing": TIMING}
    return {"cpu": TIMING, "accelerator": TIMING, "with_transfer": TIMING}


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
