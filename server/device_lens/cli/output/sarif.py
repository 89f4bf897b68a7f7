"""`--output-format sarif`: SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from device_lens import __version__
from device_lens.cli.output.entry import Entry, Problem
from device_lens.rules.registry import RULES

Json = dict[str, Any]
_LEVELS = {"error": "error", "warning": "warning", "information": "note", "hint": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(entries: Sequence[Entry], problems: Sequence[Problem]) -> str:
    """One run with its results; files that could not be read are notifications of the run."""
    used = sorted({entry.data["rule"] for entry in entries})
    places = {name: number for number, name in enumerate(used)}
    run: Json = {
        "tool": {
            "driver": {
                "name": "Device Lens",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(name) for name in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not problems,
                "toolExecutionNotifications": [_notification(each) for each in problems],
            }
        ],
        "results": [_result(entry.data, places) for entry in entries],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(name: str) -> Json:
    found: Json = {"id": name, "name": "".join(part.capitalize() for part in name.split("-"))}
    rule = RULES.get(name)
    if rule is not None:
        found["shortDescription"] = {"text": rule.summary}
        found["help"] = {"text": rule.documentation, "markdown": rule.page}
        found["defaultConfiguration"] = {"level": _LEVELS[rule.severity.value]}
    return found


def _result(data: Json, places: dict[str, int]) -> Json:
    result: Json = {
        "ruleId": data["rule"],
        "ruleIndex": places[data["rule"]],
        "level": _LEVELS[data["severity"]],
        "message": {"text": data["message"]},
        "locations": [_location(data)],
    }
    if data["related"]:
        result["relatedLocations"] = [
            {"id": number, **_location(each), "message": {"text": each["message"]}}
            for number, each in enumerate(data["related"])
        ]
    fixes = [_fix(fix) for fix in data["fixes"] if _is_plain(fix)]
    if fixes:
        result["fixes"] = fixes
    return result


def _location(place: Json) -> Json:
    physical: Json = {"artifactLocation": _artifact(place["file"])}
    if place["cell"] is None:
        physical["region"] = _region(place["range"])
        return {"physicalLocation": physical}
    # A notebook's lines count inside a cell, which regions cannot say.
    start = place["range"]["start"]
    name = f"cell {place['cell']}, line {start['line']}, column {start['column']}"
    return {"physicalLocation": physical, "logicalLocations": [{"name": name, "kind": "cell"}]}


def _region(where: Json) -> Json:
    return {
        "startLine": where["start"]["line"],
        "startColumn": where["start"]["column"],
        "endLine": where["end"]["line"],
        "endColumn": where["end"]["column"],
    }


def _is_plain(fix: Json) -> bool:
    """Whether a fix stays out of notebooks, whose cells SARIF cannot edit."""
    return bool(fix["edits"]) and all(edit["cell"] is None for edit in fix["edits"])


def _fix(fix: Json) -> Json:
    by_file: dict[str, list[Json]] = {}
    for edit in fix["edits"]:
        by_file.setdefault(edit["file"], []).append(edit)
    return {
        "description": {"text": fix["title"]},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(file),
                "replacements": list(_replacements(edits)),
            }
            for file, edits in by_file.items()
        ],
    }


def _replacements(edits: Iterable[Json]) -> Iterable[Json]:
    for edit in edits:
        yield {
            "deletedRegion": _region(edit["range"]),
            "insertedContent": {"text": edit["new_text"]},
        }


def _artifact(file: str) -> Json:
    return {"uri": quote(file)}


def _notification(problem: Problem) -> Json:
    return {
        "level": "error",
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(problem.file)}}],
    }
