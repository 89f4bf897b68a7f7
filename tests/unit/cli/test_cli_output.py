"""The formats for machines."""

from __future__ import annotations

import io

import pytest
from cli_runs import BUGGY, CommandLine

from device_lens.cli.output import text
from device_lens.cli.output.entry import Entry, Problem
from device_lens.cli.output.github import render as github
from device_lens.cli.output.sarif import render as sarif

PLACE = {"start": {"line": 3, "column": 5}, "end": {"line": 3, "column": 9}}


def entry(**changes: object) -> Entry:
    data = {
        "file": "a b,c.py",
        "cell": None,
        "rule": "discarded-transfer",
        "severity": "information",
        "message": "50% of\nit",
        "symbol": "x",
        "range": PLACE,
        "related": [],
        "fixes": [],
    }
    return Entry({**data, **changes}, ("    x.to(d)",))


def test_github_annotations_are_escaped() -> None:
    assert github([entry()], [Problem("b.py", "odd: 1%")]).splitlines() == [
        "::notice file=a b%2Cc.py,title=Device Lens (discarded-transfer),line=3,endLine=3,"
        "col=5,endColumn=9::50%25 of%0Ait",
        "::error file=b.py,title=Device Lens::odd: 1%25",
    ]


def test_github_has_no_columns_over_several_lines() -> None:
    far = {**PLACE, "end": {"line": 4, "column": 1}}
    assert "col=" not in github([entry(range=far)], [])


def test_sarif(run: CommandLine) -> None:
    run.write({"a.py": BUGGY, "bad.py": "x = (\n"})
    document = run("check", "--output-format", "sarif").json
    assert document["version"] == "2.1.0"
    (found,) = document["runs"]
    assert found["columnKind"] == "unicodeCodePoints"
    (result,) = found["results"]
    rule = found["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "discarded-transfer"
    assert rule["shortDescription"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a.py"
    assert place["region"] == {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 13}
    replacement = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replacement["insertedContent"]["text"].startswith("x = ")
    (invocation,) = found["invocations"]
    assert invocation["executionSuccessful"] is False
    assert len(invocation["toolExecutionNotifications"]) == 1


def test_sarif_says_where_in_a_notebook() -> None:
    document = sarif([entry(cell=2, file="ä.ipynb")], [])
    assert '"uri": "%C3%A4.ipynb"' in document
    assert "cell 2, line 3, column 5" in document
    assert '"region"' not in document


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b[" in text.style_for(Terminal())("x", "error")
    assert text.style_for(io.StringIO())("x", "error") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert text.style_for(Terminal())("x", "error") == "x"


def test_control_characters_do_not_reach_the_terminal() -> None:
    shown = text.render([Entry(entry().data, ("a\x1b[31mb",))], lambda each, name: each)
    assert "\x1b" not in shown
