"""What an editor offers at a range: fixes, ignore comments, the rule's page, fixing everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from device_lens.fixes.edit import Edit, Fix
from device_lens.fixes.suppress import suppress
from device_lens.rules.finding import Finding
from device_lens.rules.unused_ignore import RULE as UNUSED_IGNORE
from device_lens.syntax.position import Range
from device_lens.syntax.source import SourceFile


class ActionKind(Enum):
    """What an action does; the kinds map onto those of the protocol."""

    QUICK_FIX = "quickfix"
    HOIST = "refactor.rewrite"
    SUPPRESS = "suppress"
    EXPLAIN = "explain"
    FIX_ALL = "source.fixAll.deviceLens"


@dataclass(frozen=True, slots=True)
class CodeAction:
    """One entry of the menu. Its edits are empty where a command or a later step does the work."""

    kind: ActionKind
    title: str
    finding: Finding | None = None
    edits: tuple[Edit, ...] = ()
    preferred: bool = False
    needs_confirmation: bool = False
    """Whether the edits change what the program computes."""


def code_actions(source: SourceFile, findings: Sequence[Finding], where: Range) -> list[CodeAction]:
    """The actions for the findings that touch a range: safe fixes first, then unsafe ones,
    then ignoring and explaining; last the fix of everything that is safe."""
    here = [each for each in findings if _touch(each.range, where)]
    fixes = [action for finding in here for action in _fixes(finding)]
    fixes.sort(key=lambda action: (action.needs_confirmation, not action.preferred))
    others = [action for finding in here for action in _others(source, finding)]
    return [*fixes, *others, *_fix_all(findings)]


def _touch(left: Range, right: Range) -> bool:
    return left.start <= right.end and right.start <= left.end


def _fixes(finding: Finding) -> Iterator[CodeAction]:
    first_safe = next((fix for fix in finding.fixes if fix.safe), None)
    for fix in finding.fixes:
        yield CodeAction(
            ActionKind.QUICK_FIX,
            fix.title if fix.safe else f"{fix.title} (changes behaviour)",
            finding,
            fix.edits,
            preferred=fix is first_safe,
            needs_confirmation=not fix.safe,
        )
        if finding.rule == "transfer-in-loop":
            yield CodeAction(ActionKind.HOIST, fix.title, finding, fix.edits)


def _others(source: SourceFile, finding: Finding) -> Iterator[CodeAction]:
    if finding.rule != UNUSED_IGNORE.name:
        fix = suppress(source, finding.rule, finding.statement)
        yield CodeAction(ActionKind.SUPPRESS, fix.title, finding, fix.edits)
    yield CodeAction(ActionKind.EXPLAIN, f"Explain {finding.rule}", finding)


def _fix_all(findings: Sequence[Finding]) -> Iterator[CodeAction]:
    """The action that applies every safe fix of the file; its edits are computed on demand."""
    if any(_safe(finding) for finding in findings):
        yield CodeAction(ActionKind.FIX_ALL, "Fix all that is safe to fix")


def _safe(finding: Finding) -> Fix | None:
    return next((fix for fix in finding.fixes if fix.safe), None)
