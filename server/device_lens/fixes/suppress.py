"""Writes and removes `# device-lens: ignore[...]` comments."""

from __future__ import annotations

from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.syntax.position import Position, Range
from device_lens.syntax.source import SourceFile
from device_lens.syntax.suppression_removal import without_comment, without_rules
from device_lens.syntax.suppressions import Suppression


def suppress(source: SourceFile, rule: str, scope: Range) -> Fix:
    """Silences a rule for the statement (or its header) that `scope` covers."""
    edit = _extended(source, rule, scope) or _appended(source, rule, scope.end.line)
    return Fix(f"Ignore {rule} on this line", Safety.SAFE, (edit,), preferred=False)


def remove_suppression(source: SourceFile, comment: Suppression) -> Fix:
    """Takes the comment out; of a comment that says more, only its own words."""
    edit = Edit(source.path, without_comment(source.lines, comment), "")
    return Fix("Remove the ignore comment", Safety.SAFE, (edit,))


def remove_rule(source: SourceFile, comment: Suppression, rule: str) -> Fix:
    """Takes one rule out of the brackets; the last one takes the comment along."""
    edit = Edit(source.path, *without_rules(source.lines, comment, [rule]))
    return Fix(f"Remove {rule} from the ignore comment", Safety.SAFE, (edit,))


def _extended(source: SourceFile, rule: str, scope: Range) -> Edit | None:
    """Adds the rule to a comment that already speaks of the statement."""
    lines = (scope.start.line, scope.end.line)
    for comment in source.suppressions.all:
        if comment.whole_file or not comment.rules:
            continue
        beside = comment.line in lines and not comment.alone
        if beside or (comment.alone and comment.line == scope.start.line - 1):
            end = comment.rules[-1].range.end
            return Edit(source.path, Range(end, end), f", {rule}")
    return None


def _appended(source: SourceFile, rule: str, line: int) -> Edit:
    text = source.lines.line(line)
    end = Range(Position(line, len(text.rstrip())), Position(line, len(text)))
    return Edit(source.path, end, f"  # device-lens: ignore[{rule}]")
