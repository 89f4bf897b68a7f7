"""What must hold of every text, however broken: nothing is raised, and every range lies where it
says it does."""

from __future__ import annotations

import ast
import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from random import Random
from types import MappingProxyType
from typing import Any

from device_lens.domain.device import Device, SymbolicDevice
from device_lens.domain.guard import Guarded
from device_lens.domain.trail import Site, Trail
from device_lens.fixes.edit import apply_edits
from device_lens.ide.cases import read
from device_lens.ide.code_actions import code_actions
from device_lens.ide.explain import explain
from device_lens.ide.fixing import fix_files
from device_lens.ide.hover import hover
from device_lens.ide.inlay_hints import HintOptions, inlay_hints
from device_lens.ide.locations import Printer
from device_lens.ide.places import range_of
from device_lens.ide.project import Analysis, Content, Project
from device_lens.ide.semantic_tokens import semantic_tokens
from device_lens.interpreter.facts import FileFacts
from device_lens.lsp.convert import to_client_range
from device_lens.project.files import OpenDocument, Snapshot
from device_lens.syntax.position import LineIndex, Position, Range, column_of_units
from device_lens.syntax.resting import rest
from device_lens.syntax.source import SourceFile, parse

FOLDER = "/device-lens-fuzz"
"""A folder that does not exist: all files are open documents."""
MAIN = f"{FOLDER}/main.py"
ALL_HINTS = HintOptions(devices=True, threshold_ms=0.0)
MOST_FIXES = 12
"""Fixes of one text that are tried: each means another parse."""
LONG_LINE = 3000
"""Characters beyond which the way back from a client's columns is not tried: it is slow."""
_ENCODINGS = ("utf-8", "utf-16", "utf-32")


class Wrong(Exception):
    """Something that must not be. The message says what."""


def snapshot_of(contents: Mapping[str, Content]) -> Snapshot:
    """Open documents with these contents."""
    documents = {path: OpenDocument(1, content) for path, content in contents.items()}
    return Snapshot(MappingProxyType(documents))


def look(text: str, random: Random) -> None:
    """Takes a text through everything. Raises `Wrong`, and whatever the analysis raises."""
    project = Project(FOLDER)
    analysis = project.analyse(MAIN, snapshot_of({MAIN: text}))
    check_source(analysis.facts.source, text)
    _check_rest(text)
    check_analysis(analysis, random)
    if analysis.findings and random.random() < 0.1:
        fixed = fix_files(project, [MAIN], snapshot_of({MAIN: text}))
        after = fixed.contents.get(MAIN, text)
        before = len(analysis.facts.source.problems)
        problems = parse(MAIN, after).problems if isinstance(after, str) else ()
        _demand(len(problems) <= before, f"fixing broke the syntax: {problems[:1]}")


def _check_rest(text: str) -> None:
    """What was let rest is what it was."""
    resting, other = parse(MAIN, text), parse(MAIN, text)
    rest(resting)
    for one, two in zip(resting.chunks, other.chunks, strict=True):
        for mine, theirs in zip(one.body, two.body, strict=True):
            same = ast.dump(mine, include_attributes=True) == ast.dump(
                theirs, include_attributes=True
            )
            _demand(same, "what was let rest is not what it was")


def check_source(source: SourceFile, text: str) -> None:
    """Chunks in order and apart, their text the file's, their names where they stand."""
    if source.cell_map is None:
        _demand(source.text == text, "the source has another text")
    line = 0
    for start, chunk in zip(source.starts, source.chunks, strict=True):
        _demand(start >= line, f"a chunk at line {start} overlaps the one before it")
        line = start + chunk.line_count
        lines = source.lines.lines[start:line]
        _demand("\n".join(lines) == chunk.text, f"the chunk at line {start} has another text")
        # What was left out as broken stands as `pass` or as names bound to nothing.
        broken = {start + each for omitted in chunk.omitted for each in range(*omitted)}
        for statement in chunk.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.expr | ast.stmt | ast.arg):
                    where = source.range(chunk, node)
                    check_range(source.lines, where, type(node).__name__)
                    if where.start.line not in broken:
                        _check_word(source, where, node)
    _demand(line <= len(source.lines.lines), "a chunk ends behind the text")
    for problem in source.problems:
        check_range(source.lines, problem.range, f"problem {problem.message!r}")
    for comment in source.suppressions.all:
        check_range(source.lines, comment.range, "suppression")


def check_range(lines: LineIndex, where: Range, what: str) -> None:
    """A range lies within the text, and in each line within the line, in every encoding."""
    if where.start > where.end:
        raise Wrong(f"{what}: {where} ends before it starts")
    for position in (where.start, where.end):
        inside = 0 <= position.line < len(lines.lines)
        inside = inside and 0 <= position.column <= len(lines.line(position.line))
        if not inside:
            raise Wrong(f"{what}: {position} lies outside the text")
    if max(len(lines.line(where.start.line)), len(lines.line(where.end.line))) > LONG_LINE:
        return
    for place in (where.start, where.end):
        _survives(lines.line(place.line), place.column)


@lru_cache(maxsize=200_000)
def _survives(line: str, column: int) -> None:
    """A column is the same after the way to a client and back. The same lines come again and
    again: each of their columns is tried once."""
    place = Position(0, column)
    for encoding in _ENCODINGS:
        sent = to_client_range(LineIndex(line), Range(place, place), encoding)
        back = column_of_units(line, sent.start.character, encoding)
        if back != column:
            raise Wrong(f"column {column} of {line!r} does not survive {encoding}")


def _check_word(source: SourceFile, where: Range, node: ast.AST) -> None:
    """A name stands where its node says."""
    if isinstance(node, ast.Name):
        word, text = node.id, source.text_of(where)
    elif isinstance(node, ast.arg):
        word, text = node.arg, source.text_of(where)
        text = text[: len(node.arg)] if text.isascii() else word
    else:
        return
    if unicodedata.normalize("NFKC", text) != word:
        raise Wrong(f"{where} is {text!r}, not {word!r}")


def check_analysis(analysis: Analysis, random: Random, with_words: bool = True) -> None:
    """Everything that is shown of a file lies in it, and can be shown. What the command line says
    is left to who compares it, where `with_words` is False."""
    facts, source = analysis.facts, analysis.facts.source
    check_understood(facts)
    own = {id(chunk.lineage) for chunk in source.chunks}
    nodes = {id(n) for chunk in source.chunks for top in chunk.body for n in ast.walk(top)}
    for what, site in sites_in_facts(facts):
        if site.path == facts.path:
            _demand(id(site.chunk.lineage) in own, f"{what} stands in a chunk of another version")
            known = id(site.node) in nodes or _is_made(site.node)
            _demand(known, f"{what} stands at a node of another version")
            check_range(source.lines, range_of(source, site), what)
        else:
            other = analysis.sources(site.path)
            _demand(other is not None, f"{what} stands in a file that is not at hand")
    for finding in analysis.findings:
        _check_finding(analysis, finding)
    fixes = [(fix, finding) for finding in analysis.findings for fix in finding.fixes]
    for fix, finding in random.sample(fixes, min(MOST_FIXES, len(fixes))):
        _check_fix(source, fix, finding.rule)
    _check_shown(analysis, random, with_words)


def check_understood(facts: FileFacts) -> None:
    """Raises where a statement was lost by a fault of the analysis."""
    lost = [limit for limit in facts.limits if limit.endswith("not understood")]
    _demand(not lost, f"lost: {lost}")


def _check_finding(analysis: Analysis, finding: Any) -> None:
    source = analysis.facts.source
    check_range(source.lines, finding.range, finding.rule)
    check_range(source.lines, finding.statement, f"statement of {finding.rule}")
    _demand(finding.range.start < finding.range.end, f"{finding.rule} is about nothing")
    _demand(bool(finding.message.strip()), f"{finding.rule} says nothing")
    for related in finding.related:
        other = analysis.sources(related.path)
        if other is not None:
            check_range(other.lines, related.range, f"related place of {finding.rule}")
    for fix in finding.fixes:
        for edit in fix.edits:
            other = analysis.sources(edit.path)
            _demand(other is not None, f"a fix of {finding.rule} edits an unknown file")
            check_range(other.lines, edit.range, f"edit of {finding.rule}")


def _check_fix(source: SourceFile, fix: Any, rule: str) -> None:
    """The edits of a fix do not overlap, and what parsed before them parses after them."""
    after = apply_edits(source.text, [edit for edit in fix.edits if edit.path == source.path])
    if source.cell_map is None:
        problems = parse(source.path, after).problems
        _demand(
            len(problems) <= len(source.problems),
            f"{fix.title!r} of {rule} breaks the syntax: {problems[:1]}",
        )


def _check_shown(analysis: Analysis, random: Random, with_words: bool) -> None:
    facts, source = analysis.facts, analysis.facts.source
    whole = Range(Position(0, 0), source.lines.end)
    for position in _positions(analysis, random):
        shown = hover(facts, position, analysis.costs, analysis.sources)
        if shown is not None:
            check_range(source.lines, shown.range, "hover")
            _demand(position in shown.range, f"the hover at {position} is about {shown.range}")
            _demand(bool(shown.markdown.strip()), f"the hover at {position} is empty")
    for hint in inlay_hints(facts, whole, analysis.costs, ALL_HINTS):
        check_range(source.lines, Range(hint.position, hint.position), f"hint {hint.label!r}")
    tokens = semantic_tokens(facts)
    for token in tokens:
        check_range(source.lines, token.range, "token")
        word = unicodedata.normalize("NFKC", source.text_of(token.range))
        _demand(word.isidentifier(), f"the token at {token.range} is {word!r}")
    for one, other in pairwise(tokens):
        _demand(one.range.end <= other.range.start, f"tokens overlap at {other.range}")
    actions = code_actions(source, analysis.findings, whole)
    for action in actions:
        for edit in action.edits:
            other_source = analysis.sources(edit.path)
            if other_source is not None:
                check_range(other_source.lines, edit.range, f"action {action.title!r}")
    if with_words:
        json.dumps(explained(analysis))


def explained(analysis: Analysis) -> dict[str, Any]:
    """What the command line says of the file."""
    printer = Printer(FOLDER, analysis.sources)
    return explain(analysis.facts, analysis.sources, analysis.costs, printer)


def _positions(analysis: Analysis, random: Random) -> Iterator[Position]:
    """Places of facts, and any places, outside the text too."""
    facts, source = analysis.facts, analysis.facts.source
    some = random.sample(facts.expressions, min(8, len(facts.expressions)))
    some += random.sample(facts.transfers, min(4, len(facts.transfers)))
    for fact in some:
        yield range_of(source, fact.site).start
    for _ in range(4):
        line = random.randint(0, len(source.lines.lines) + 1)
        yield Position(line, random.randint(0, len(source.lines.line(line)) + 1))


def sites_in_facts(facts: Any) -> Iterator[tuple[str, Site]]:
    """Every place of every fact, with the fact's name."""
    groups = (facts.expressions, facts.transfers, facts.conflicts, facts.synchronizations)
    for group in (*groups, facts.others, facts.skipped):
        for fact in group:
            for site in _sites(fact):
                yield type(fact).__name__, site


def _sites(value: Any) -> Iterator[Site]:
    if isinstance(value, Site):
        yield value
    elif isinstance(value, Trail):
        for step in value.steps():
            yield step.site
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _sites(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from _sites(getattr(value, each.name))


def picture(analysis: Analysis, random: Random) -> dict[str, Any]:
    """Everything that is known of a file as values that two analyses of one text share."""
    facts, source = analysis.facts, analysis.facts.source
    whole = Range(Position(0, 0), source.lines.end)
    state = random.getstate()
    positions = list(_positions_of_text(source, random))
    random.setstate(state)
    groups = ("expressions", "transfers", "conflicts", "synchronizations", "others", "skipped")
    return {
        "problems": [(each.message, each.range) for each in source.problems],
        **{
            name: sorted(map(repr, (_plain(each, analysis) for each in getattr(facts, name))))
            for name in groups
        },
        "limits": facts.limits,
        "findings": list(analysis.findings),
        "fixes": [tuple(each.fixes) for each in analysis.findings],
        "hints": inlay_hints(facts, whole, analysis.costs, ALL_HINTS),
        "tokens": semantic_tokens(facts),
        "hovers": [hover(facts, at, analysis.costs, analysis.sources) for at in positions],
        "explained": explained(analysis),
    }


def _positions_of_text(source: SourceFile, random: Random) -> Iterator[Position]:
    for _ in range(6):
        line = random.randrange(len(source.lines.lines))
        yield Position(line, random.randint(0, len(source.lines.line(line))))


def _plain(value: Any, analysis: Analysis) -> Any:
    """A value of a fact without identities: places as ranges, devices as words."""
    if isinstance(value, Site):
        source = analysis.sources(value.path)
        return value.path, None if source is None else range_of(source, value)
    if isinstance(value, Trail):
        return [(step.kind, step.text, _plain(step.site, analysis)) for step in value.steps()]
    if isinstance(value, Device | SymbolicDevice | Guarded):
        return read(value)
    if isinstance(value, tuple | list):
        return [_plain(each, analysis) for each in value]
    if isinstance(value, Enum) or value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value):
        named = {each.name: _plain(getattr(value, each.name), analysis) for each in fields(value)}
        return type(value).__name__, named
    return type(value).__name__


def _is_made(node: ast.AST) -> bool:
    """Whether a node may be made for the place of a parameter's name (`scan.bare_name`)."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Wrong(otherwise)
