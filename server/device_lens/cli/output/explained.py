"""The answer of `explain` as text: one line for each expression, its trail below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from device_lens.cost.units import format_bytes, format_microseconds

Json = dict[str, Any]
LONGEST = 48
"""Characters of an expression that a line shows."""


def render(found: Json, limits: Sequence[str]) -> str:
    """The whole answer."""
    lines = [*_expressions(found), *_transfers(found), *_synchronizations(found)]
    lines += [f"limit: {limit}" for limit in limits]
    if not lines:
        lines = ["Nothing is known here: no tensor, module or device."]
    return "\n".join(lines) + "\n"


def _expressions(found: Json) -> Iterator[str]:
    file = found["file"]
    for each in found["expressions"]:
        yield f"{_place(file, each)}: {_short(each['text'])} is {_value(each)}"
        for step in each["trail"]:
            yield f"    {_place(step['file'], step)}: {step['message']}"


def _value(each: Json) -> str:
    device = each["device"] or "?"
    parts = [f"{each['kind']} on {device}" if each["kind"] != "device" else f"device {device}"]
    if each["condition"] is not None:
        parts[0] += f" when {each['condition']}"
    for other in each["alternatives"]:
        parts[0] += f"; {other['device'] or '?'} when {other['condition']}"
    if each["dtype"] is not None:
        parts.append(each["dtype"])
    if each["shape"] is not None:
        dims = ", ".join("?" if dim is None else str(dim) for dim in each["shape"])
        parts.append(f"[{dims}]")
    if each["bytes"] is not None:
        parts.append(format_bytes(each["bytes"]))
    return ", ".join(parts)


def _transfers(found: Json) -> Iterator[str]:
    for each in found["transfers"]:
        parts = [f"transfer {each['from'] or '?'} → {each['to'] or '?'}"]
        if each["bytes"] is not None:
            parts.append(format_bytes(each["bytes"]))
        if each["estimate_us"] is not None:
            parts.append(
                f"≈ {format_microseconds(each['estimate_us'])} ({each['estimate_source']})"
            )
        if each["loop_depth"]:
            same = ", the same each time" if each["loop_invariant"] else ""
            parts.append(f"in {each['loop_depth']} loop(s){same}")
        yield f"{_place(found['file'], each)}: {', '.join(parts)}"


def _synchronizations(found: Json) -> Iterator[str]:
    for each in found["synchronizations"]:
        loops = f", in {each['loop_depth']} loop(s)" if each["loop_depth"] else ""
        yield f"{_place(found['file'], each)}: {each['what']} waits for the device{loops}"


def _place(file: str, each: Json) -> str:
    start = each["range"]["start"]
    cell = "" if each.get("cell") is None else f":cell {each['cell']}"
    return f"{file}{cell}:{start['line']}:{start['column']}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
