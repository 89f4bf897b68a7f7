"""Fixes applied one at a time or together, to a fixpoint."""

from __future__ import annotations

import re
from collections.abc import Sequence

from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.ide.fix_all import Apply, Texts, fix_all
from device_lens.rules.finding import Finding, Severity
from device_lens.syntax.position import LineIndex, Range

WORDS = {
    "bad": ("good", Safety.SAFE, Severity.ERROR),
    "slow": ("fast", Safety.SAFE, Severity.HINT),
    "risky": ("sound", Safety.UNSAFE, Severity.WARNING),
    "first": ("second", Safety.SAFE, Severity.WARNING),
    "second": ("third", Safety.SAFE, Severity.WARNING),
    "useless": ("useless", Safety.SAFE, Severity.WARNING),
    "harmful": ("worse", Safety.SAFE, Severity.WARNING),
    "late": ("soon", Safety.SAFE, Severity.HINT),
    "slack": ("slack", Safety.SAFE, Severity.HINT),
    "weak": ("worse", Safety.SAFE, Severity.HINT),
    "tick": ("tock", Safety.SAFE, Severity.HINT),
    "tock": ("tick", Safety.SAFE, Severity.HINT),
    "to": ("fro", Safety.SAFE, Severity.HINT),
    "fro": ("to", Safety.SAFE, Severity.ERROR),
}
"""A language of words, each with what its fix makes of it."""


def findings(texts: Texts) -> Sequence[Finding]:
    return [
        _finding(path, text, match)
        for path, text in texts.items()
        for match in re.finditer(r"\w+", text)
        if match[0] in WORDS or match[0] == "worse"
    ]


def _finding(path: str, text: str, match: re.Match[str]) -> Finding:
    index = LineIndex(text)
    where = Range(index.position(match.start()), index.position(match.end()))
    new, safety, severity = WORDS.get(match[0], ("", Safety.SAFE, Severity.ERROR))
    fixes = (Fix("fix", safety, (Edit(path, where, new),)),) if new else ()
    return Finding(match[0], severity, "", match[0], path, where, where, fixes=fixes)


def test_safe_fixes_only() -> None:
    outcome = fix_all({"a": "bad risky\nbad slow"}, findings)
    assert outcome.texts == {"a": "good risky\ngood fast"}
    assert [each.rule for each in outcome.findings] == ["risky"]
    assert len(outcome.applied) == 3


def test_unsafe_fixes_too() -> None:
    outcome = fix_all({"a": "bad risky", "b": "slow"}, findings, Apply.SAFE_AND_UNSAFE)
    assert outcome.texts == {"a": "good sound", "b": "fast"}


def test_what_a_fix_brings_up_is_fixed_too() -> None:
    assert fix_all({"a": "first"}, findings).texts == {"a": "third"}


def test_a_fix_that_does_not_help_is_not_applied() -> None:
    outcome = fix_all({"a": "useless bad"}, findings)
    assert outcome.texts == {"a": "useless good"}
    assert [each.finding.rule for each in outcome.applied] == ["bad"]


def test_a_fix_that_makes_it_worse_is_taken_back() -> None:
    outcome = fix_all({"a": "harmful bad"}, findings)
    assert outcome.texts == {"a": "harmful good"}
    assert [each.rule for each in outcome.findings] == ["harmful"]


def test_a_fix_that_another_one_undoes_is_not_applied() -> None:
    outcome = fix_all({"a": "to bad"}, findings)
    assert outcome.texts == {"a": "to good"}
    assert [each.finding.rule for each in outcome.applied] == ["bad"]


def test_files_that_are_not_given_stay() -> None:
    def elsewhere(texts: Texts) -> Sequence[Finding]:
        return findings({"b": "bad"})

    assert fix_all({"a": "x"}, elsewhere).applied == []


def test_the_next_finding_at_a_place_is_another_one() -> None:
    def cat(texts: Texts) -> Sequence[Finding]:
        found = re.search(r"\bcat\b.*?\b([ab])\b(?!\.)", texts["a"])
        if found is None:
            return []
        index = LineIndex(texts["a"])
        where = Range(index.position(0), index.position(3))
        operand = Range(index.position(found.start(1)), index.position(found.end(1)))
        fix = Fix("move", Safety.SAFE, (Edit("a", operand, f"{found[1]}.moved"),))
        return [Finding("mixed", Severity.ERROR, "", found[1], "a", where, where, fixes=(fix,))]

    assert fix_all({"a": "cat a b"}, cat).texts == {"a": "cat a.moved b.moved"}


def test_a_finding_about_the_rewritten_value_is_the_same_one() -> None:
    def mixed(texts: Texts) -> Sequence[Finding]:
        where = Range(LineIndex("").end, LineIndex("").end)
        fix = Fix("move", Safety.SAFE, (Edit("a", where, "moved."),))
        text = texts["a"]
        return [Finding("mixed", Severity.ERROR, "", text, "a", where, where, fixes=(fix,))]

    assert fix_all({"a": "x"}, mixed).texts == {"a": "x"}


def _counted(text: str) -> tuple[str, int]:
    """What becomes of a text, and how often it was looked at."""
    looks: list[Texts] = []

    def counting(texts: Texts) -> Sequence[Finding]:
        looks.append(texts)
        return findings(texts)

    return fix_all({"a": text}, counting).texts["a"], len(looks)


def test_fixes_of_what_only_costs_are_applied_together() -> None:
    assert _counted("slow\nlate") == ("fast\nsoon", 2)
    assert _counted("slow late") == ("fast soon", 3)  # in one line, one after the other
    assert _counted("bad\nslow\nlate") == ("good\nfast\nsoon", 3)


def test_one_that_does_not_help_holds_up_no_other() -> None:
    for bad in ("slack", "weak", "useless"):
        fixed, _ = _counted("\n".join(["slow", bad, "y", "tick", "late"]))
        assert fixed.split("\n")[:3] == ["fast", bad, "y"]
        assert fixed.endswith("soon")
