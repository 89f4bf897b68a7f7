"""Applies fixes, looking again after each, until none is left to apply.

A fix counts when its finding is gone afterwards and no finding at warning level or above is new.
One mismatch can hide the next, since nothing is known after it: what turns up behind a fix is
fixed in turn, and all of it is taken back if something new remains in the end, save an error behind
another one that has nothing to do with what was changed. Fixes of what only
costs, which hides nothing, are applied together where they have nothing to do with each other: a
look at a program with many scripts takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from device_lens.fixes.edit import Edit, Fix, OverlapError, apply_edits, follower
from device_lens.fixes.names import words
from device_lens.rules.finding import Finding, Severity
from device_lens.syntax.position import LineIndex

MAX_FIXES = 400
"""Fixes applied in one run, so that it ends whatever the rules say."""
MAX_CHAIN = 12
"""Fixes in a row of which each brings up the next finding."""

Texts = Mapping[str, str]
Analyse = Callable[[Texts], Sequence[Finding]]
"""The findings of all files when these files have these texts, those of rules that are turned off
included: what a fix brings up is no better for not being shown."""
Chosen = Callable[[Finding], bool]
_Key = tuple[str, str, str]


class Apply(Enum):
    """Which fixes to apply."""

    SAFE = "safe"
    SAFE_AND_UNSAFE = "safe and unsafe"


@dataclass(frozen=True, slots=True)
class Applied:
    """A fix that was applied, and what it repaired."""

    finding: Finding
    fix: Fix


@dataclass(slots=True)
class Outcome:
    """The texts after all fixes, with the findings that remain."""

    texts: dict[str, str]
    findings: list[Finding]
    applied: list[Applied] = field(default_factory=list)


def fix_all(
    texts: Texts,
    analyse: Analyse,
    apply: Apply = Apply.SAFE,
    chosen: Chosen = lambda finding: True,
) -> Outcome:
    """Applies every fix of the kind asked for, of a finding that is chosen, that keeps its word.

    Only files in `texts` are changed; their new texts are given to `analyse`.
    """
    outcome = Outcome(dict(texts), list(analyse(texts)))
    refused: set[tuple[_Key, tuple[Edit, ...]]] = set()
    seen = {_state(texts)}
    most = MAX_FIXES
    while len(outcome.applied) < MAX_FIXES:
        wanted = list(filter(chosen, outcome.findings))
        candidates = list(_candidates(wanted, outcome.texts, apply, refused))
        if not candidates:
            break
        group = _apart(candidates, min(most, MAX_FIXES - len(outcome.applied)))
        if len(group) > 1:
            together = _together(outcome, group, analyse)
            if together is None or _state(together.texts) in seen:
                most = len(group) // 2
            else:
                outcome = together
                seen.add(_state(outcome.texts))
            continue
        candidate = candidates[0]
        better = _chain(outcome, candidate, analyse, apply, chosen)
        if better is None or _state(better.texts) in seen:
            refused.add((_key(candidate.finding), candidate.fix.edits))
        else:
            outcome = better
            seen.add(_state(better.texts))
    return outcome


def _state(texts: Texts) -> int:
    """What tells whether the texts were the same before: one fix may undo what another does."""
    return hash(frozenset(texts.items()))


def _candidates(
    findings: Sequence[Finding],
    texts: Texts,
    apply: Apply,
    refused: set[tuple[_Key, tuple[Edit, ...]]],
) -> Iterator[Applied]:
    """The fixes that may be tried: the loudest findings first, each with its fixes in order."""
    for finding in sorted(findings, key=lambda each: each.severity.rank):
        for fix in finding.fixes:
            wanted = fix.safe or apply is Apply.SAFE_AND_UNSAFE
            ours = all(edit.path in texts for edit in fix.edits)
            if wanted and ours and (_key(finding), fix.edits) not in refused:
                yield Applied(finding, fix)


def _apart(candidates: Sequence[Applied], most: int) -> list[Applied]:
    """Those of the fixes, for what only costs, of which none has a line or a symbol in common with
    another one. None where there is something louder."""
    found: list[Applied] = []
    taken = set[tuple[str, int | str]]()
    for each in candidates:
        if each.finding.severity.at_least(Severity.WARNING):
            return []
        edits = each.fix.edits
        lines = {
            (edit.path, line)
            for edit in edits
            for line in range(edit.range.start.line, edit.range.end.line + 1)
        }
        symbol = (each.finding.path, each.finding.symbol)
        books = {(edit.path, -1) for edit in edits if edit.path.endswith(".ipynb")}
        lines |= books  # a notebook's text follows its cells by one fix at a time
        if taken.isdisjoint(lines) and symbol not in taken and len(found) < most:
            found.append(each)
        taken |= {*lines, symbol}
    return found


def _together(start: Outcome, steps: Sequence[Applied], analyse: Analyse) -> Outcome | None:
    """The outcome after several fixes; None where one of them does not keep its word."""
    after = _applied(start, steps, analyse)
    if after is None:
        return None
    was = _counterparts(steps, start, after)
    fixed = {id(step.finding) for step in steps}
    for finding, before in zip(after.findings, was, strict=True):
        is_new = before is None and finding.severity.at_least(Severity.WARNING)
        if is_new or id(before) in fixed:
            return None
    return after


def _chain(
    start: Outcome, first: Applied, analyse: Analyse, apply: Apply, chosen: Chosen
) -> Outcome | None:
    """The outcome after a fix and those of the findings that it brings up; None where one of
    them cannot be fixed, or does not go away, and what was changed may be to blame."""
    now, step = start, first
    pending: list[Finding] = []
    lines: set[tuple[str, str]] = set()
    for _ in range(MAX_CHAIN):
        after = _applied(now, (step,), analyse)
        if after is None:
            return None
        was = _counterparts((step,), now, after)
        if any(each is step.finding for each in was):
            return None
        pending = [
            finding
            for finding, before in zip(after.findings, was, strict=True)
            if finding.severity.at_least(Severity.WARNING)
            and (before is None or any(before is each for each in pending))
        ]
        if not pending:
            return after
        lines |= _changed_lines(now.texts, after.texts)
        mendable = list(filter(chosen, pending))
        found = next(_candidates(mendable, after.texts, apply, set()), None)
        if found is None:
            errors = (first.finding, *pending)
            is_behind = all(each.severity is Severity.ERROR for each in errors)
            apart = is_behind and all(_is_apart(each, lines, after.texts) for each in pending)
            return after if apart else None
        now, step = after, found
    return None


def _changed_lines(before: Texts, after: Texts) -> set[tuple[str, str]]:
    """The lines that are new, by their files."""
    return {
        (path, line)
        for path, text in after.items()
        if text != before[path]
        for line in set(text.splitlines()) - set(before[path].splitlines())
    }


def _is_apart(finding: Finding, lines: set[tuple[str, str]], texts: Texts) -> bool:
    """Whether an error tells how both of its values got where they are, and all that stands on
    other lines than those. One of a rule for what is made somewhere is told where that is."""
    ways = [each for each in finding.related if not each.message.endswith(" here")]
    if len(ways) + (not finding.rule.endswith("-mismatch")) < 2:
        return False
    places = [(finding.path, finding.range), *((each.path, each.range) for each in finding.related)]
    return all(
        (path, line) not in lines
        for path, where in places
        for line in texts.get(path, "").splitlines()[where.start.line : where.end.line + 1]
    )


def _applied(outcome: Outcome, steps: Sequence[Applied], analyse: Analyse) -> Outcome | None:
    texts = dict(outcome.texts)
    by_path: dict[str, list[Edit]] = {}
    for step in steps:
        for edit in step.fix.edits:
            by_path.setdefault(edit.path, []).append(edit)
    try:
        for path, edits in by_path.items():
            texts[path] = apply_edits(texts[path], edits)
    except OverlapError:
        return None
    if texts == outcome.texts:
        return None
    return Outcome(texts, list(analyse(texts)), [*outcome.applied, *steps])


def _counterparts(
    steps: Sequence[Applied], before: Outcome, after: Outcome
) -> list[Finding | None]:
    """For each finding after fixes what it was before: one of the same rule at the same place,
    else one that says the same elsewhere, save those that are fixed; None for a new one."""
    places = _by_place(steps, before)
    left = {id(each): each for each in before.findings}
    found: list[Finding | None] = []
    indexes = {path: LineIndex(text) for path, text in after.texts.items()}
    for finding in after.findings:
        index = indexes.get(finding.path)
        at = -1 if index is None else index.offset(finding.range.start)
        here = places.get((finding.path, finding.rule, at), [])
        same = next((each for each in here if _is_rewritten(each.symbol, finding.symbol)), None)
        if same is not None:
            here.remove(same)
        found.append(left.pop(id(same)) if same is not None else None)
    for step in steps:
        left.pop(id(step.finding), None)
    for number, finding in enumerate(after.findings):
        if found[number] is None:
            alike = (each for each in left.values() if _key(each) == _key(finding))
            twin = next(alike, None)
            found[number] = left.pop(id(twin)) if twin is not None else None
    return found


def _by_place(
    steps: Sequence[Applied], before: Outcome
) -> dict[tuple[str, str, int], list[Finding]]:
    """The findings before fixes by file, rule and where they begin after them."""
    found: dict[tuple[str, str, int], list[Finding]] = {}
    edits = [edit for step in steps for edit in step.fix.edits]
    follow = {
        path: follower(text, [edit for edit in edits if edit.path == path])
        for path, text in before.texts.items()
    }
    fixed = [step.finding for step in steps]
    others = (each for each in before.findings if not any(each is one for one in fixed))
    for finding in (*others, *fixed):
        if finding.path in follow:
            at = follow[finding.path](finding.range.start)
            found.setdefault((finding.path, finding.rule, at), []).append(finding)
    return found


def _is_rewritten(before: str, after: str) -> bool:
    """Whether two symbols can be one value whose expression was rewritten: `x` and `x.to(d)`."""
    old, new = words(before), words(after)
    return old <= new or new <= old


def _key(finding: Finding) -> _Key:
    """What stays of a finding when lines move."""
    return finding.path, finding.rule, finding.symbol
