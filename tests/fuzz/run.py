"""Feeds the server broken input, by the thousand, and prints what goes wrong, made small.

    python tests/fuzz/run.py --inputs 50000 --seed 1        every kind, the inputs shared out
    python tests/fuzz/run.py --kind text --only 1407        one input again
    python tests/fuzz/run.py --kind patterns                programs built to be expensive

The same seed makes the same inputs on every machine, unless folders are added to the corpus.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent.parent / "server")]

from fuzz_corpus import programs  # noqa: E402
from fuzz_kinds import KINDS, Failure, attempt  # noqa: E402
from fuzz_patterns import PATTERNS  # noqa: E402
from fuzz_shrink import shrunk  # noqa: E402

SHARES = {
    "text": 10,
    "edits": 3,
    "typing": 2,
    "notebook": 3,
    "file": 3,
    "truth": 2,
    "idioms": 1,
    "flags": 1,
    "cases": 2,
    "turns": 1,
    "turns edited": 1,
    "traffic": 1,
}
"""How inputs are shared out among the kinds: those of a kind with more cost are fewer."""


def main() -> int:
    arguments = _arguments()
    gc.set_threshold(50_000, 20, 50)  # as the server has it
    corpus = programs(Path(folder) for folder in arguments.corpus)
    if arguments.kind == "patterns":
        return _patterns(arguments.sizes)
    kinds = [arguments.kind] if arguments.kind else list(SHARES)
    total = sum(SHARES[kind] for kind in kinds)
    wrong = 0
    for kind in kinds:
        count = max(1, round(arguments.inputs * SHARES[kind] / total))
        numbers = [arguments.only] if arguments.only is not None else range(count)
        wrong += _run(kind, arguments.seed, numbers, corpus)
    return 1 if wrong else 0


def _run(kind: str, seed: int, numbers: range | list[int], corpus: list[str]) -> int:
    began = time.process_time()
    seen: Counter[str] = Counter()
    slow: list[tuple[float, int]] = []
    for number in numbers:
        failure, seconds, lines = attempt(kind, seed, number, corpus)
        if seconds > max(1.0, lines / 1000):
            slow.append((seconds, number))
        if failure is not None:
            seen[failure.signature] += 1
            if seen[failure.signature] == 1:
                _report(kind, seed, number, corpus, failure)
    spent = time.process_time() - began
    inputs = len(numbers)
    print(f"{kind}: {inputs} inputs, seed {seed}, {spent:.0f} s of processor time,"
          f" {sum(seen.values())} wrong in {len(seen)} ways", flush=True)  # fmt: skip
    for seconds, number in sorted(slow, reverse=True)[:10]:
        print(f"  slow: input {number} takes {seconds:.2f} s of processor time")
    return len(seen)


def _report(kind: str, seed: int, number: int, corpus: list[str], failure: Failure) -> None:
    print(f"WRONG: {kind}, seed {seed}, input {number}: {failure.message}")
    if failure.where:
        print(f"  at {failure.where}")
    small = shrunk(kind, seed, number, corpus, failure)
    if small is not None:
        print("  the smallest input found:")
        print("".join(f"    {line!r}\n" for line in small.splitlines(keepends=True)), end="")
    sys.stdout.flush()


def _patterns(sizes: list[int]) -> int:
    """Cost by size: what grows faster than the text shows."""
    wrong = 0
    for name in PATTERNS:
        said = []
        for size in sizes:
            failure, seconds, lines = attempt("patterns", size, list(PATTERNS).index(name), [])
            worst = seconds > max(1.0, lines / 1000)
            wrong += failure is not None or worst
            said.append(f"{lines} lines {seconds:.2f} s" + (" SLOW" if worst else ""))
            if failure is not None:
                said.append(f"WRONG {failure.message}")
        print(f"{name:30} {'; '.join(said)}", flush=True)
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=2000, help="of all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=[*KINDS, "patterns"], help="default: all but patterns")
    parser.add_argument("--only", type=int, help="the number of one input")
    parser.add_argument("--corpus", action="append", default=[], help="a further folder or file")
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000], help="of patterns")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
