"""`--output-format github`: annotations of a GitHub workflow."""

from __future__ import annotations

from collections.abc import Sequence

from device_lens.cli.output.entry import Entry, Problem

_COMMANDS = {"error": "error", "warning": "warning", "information": "notice", "hint": "notice"}


def render(entries: Sequence[Entry], problems: Sequence[Problem]) -> str:
    """One workflow command for each finding and each file that could not be read."""
    lines = [_annotation(entry) for entry in entries]
    lines += [
        f"::error file={_property(each.file)},title=Device Lens::{_data(each.message)}"
        for each in problems
    ]
    return "".join(f"{line}\n" for line in lines)


def _annotation(entry: Entry) -> str:
    data = entry.data
    start, end = data["range"]["start"], data["range"]["end"]
    properties = {"file": data["file"], "title": f"Device Lens ({data['rule']})"}
    message = data["message"]
    if data["cell"] is None:
        properties |= {"line": str(start["line"]), "endLine": str(end["line"])}
        if start["line"] == end["line"]:  # GitHub takes columns only within one line
            properties |= {"col": str(start["column"]), "endColumn": str(end["column"])}
    else:
        message = f"cell {data['cell']}, line {start['line']}: {message}"
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[data['severity']]} {listed}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
