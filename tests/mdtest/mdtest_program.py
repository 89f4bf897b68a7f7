"""Analyses a program of a test document, and compares it with what its comments expect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mdtest_document import Program

from device_lens.ide.cases import read
from device_lens.ide.fix_all import Apply
from device_lens.ide.fixing import fix_files
from device_lens.ide.places import range_of
from device_lens.ide.project import Analysis, Project
from device_lens.interpreter.facts import Expression, Kind
from device_lens.project.files import Snapshot
from device_lens.rules.finding import Finding, Severity

_LEVELS = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "info": Severity.INFORMATION,
    "hint": Severity.HINT,
}
MARK = re.compile(r"#\s*(revealed|error|warning|info|hint):\s*((?:(?!\s*#\s*\w+:).)*)")
_LIKE_MARK = re.compile(r"#\s*(\w+):\s*\[[a-z0-9-]+\]")
_RULE = re.compile(r"\[([a-z0-9-]+)\]\s*(.*)")
_NAMES = {
    Kind.TENSOR: "Tensor",
    Kind.MODULE: "Module",
    Kind.OPTIMIZER: "Optimizer",
    Kind.DATALOADER: "DataLoader",
    Kind.DEVICE: "Device",
    Kind.CONTAINER: "Container",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One expectation. `line` is where it holds, `written` where it stands, from 0."""

    kind: str
    body: str
    line: int
    written: int


@dataclass(slots=True)
class Outcome:
    """What is known of a program, by file name."""

    analyses: dict[str, Analysis]
    project: Project
    root: Path


def analyse(program: Program, root: Path) -> Outcome:
    """Writes the program below `root` and looks at it as the command line would."""
    root = root.resolve()
    settings = program.configuration
    if settings and "[tool" not in settings:
        settings = f"[tool.device-lens]\n{settings}"
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    paths = {name: str(root / name) for name in program.files}
    for name, fence in program.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(fence.text, encoding="utf-8")
    project = Project(str(root))
    project.index(paths.values())
    found: dict[str, Analysis] = {}
    for analysis in _analyses(project, paths.values()):
        found[analysis.facts.path] = analysis
    return Outcome(
        {name: found.get(path) or project.without_analysis(path) for name, path in paths.items()},
        project,
        root,
    )


def _analyses(project: Project, paths: Iterable[str], alone: bool = False) -> Iterator[Analysis]:
    for group in project.groups(sorted(paths)):
        yield from project.analyse_together(group.targets, group.entries, only_findings=alone)


def _not_found_alone(outcome: Outcome) -> Iterator[str]:
    """What is found where everything is looked at, and is not where only what can be found is, or
    the other way round."""
    paths = [analysis.facts.path for analysis in outcome.analyses.values()]
    alone = {each.facts.path: each for each in _analyses(outcome.project, paths, alone=True)}
    for name, whole in outcome.analyses.items():
        other = alone.get(whole.facts.path)
        found = () if other is None else other.findings
        if other is None or set(map(_told, whole.findings)) == set(map(_told, found)):
            continue
        for finding in {*whole.findings} ^ {*found}:
            line = finding.range.start.line + 1
            yield f"{name}, line {line}: [{finding.rule}] depends on what `check` leaves out"


def _told(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.range, finding.severity, finding.message


def check(program: Program, root: Path, rule: str = "") -> list[str]:
    """What is not as expected, one sentence each. Warnings and errors have to be expected, and
    whatever the rule tells that the document is about."""
    outcome = analyse(program, root)
    wrong = list(_not_found_alone(outcome))
    for name, analysis in outcome.analyses.items():
        faults = (each for each in analysis.facts.limits if each.endswith("not understood"))
        wrong += [f"{name}: {fault}" for fault in faults]
    for name, fence in program.files.items():
        for line, text in enumerate(fence.lines):
            words = (found[1] for found in _LIKE_MARK.finditer(text) if not MARK.match(found[0]))
            wrong += [f"{name}, line {fence.line + line + 1}: no mark is `{w}`" for w in words]
        for sentence, line in _compare(fence.lines, outcome.analyses[name], rule):
            wrong.append(f"{name}, line {fence.line + line + 1}: {sentence}")
    for name, fence in program.fixed.items():
        text = fixed_text(program, outcome, name)
        if text != without_marks(fence.text):
            wrong.append(f"{name}: after its fixes it is\n{text}")
    return wrong


def fixed_text(program: Program, outcome: Outcome, name: str) -> str:
    """The text of a file after the fixes that its `fixed` fence asks for, without marks."""
    findings = [each for analysis in outcome.analyses.values() for each in analysis.findings]
    any_safe = any(fix.safe for finding in findings for fix in finding.fixes)
    wants_all = program.fixed[name].options == "unsafe" or not any_safe
    apply = Apply.SAFE_AND_UNSAFE if wants_all else Apply.SAFE
    paths = [str(outcome.root / each) for each in program.files]
    fixed = fix_files(outcome.project, paths, Snapshot(), apply)
    content = fixed.contents.get(str(outcome.root / name), program.files[name].text)
    assert isinstance(content, str)
    return without_marks(content)


def without_marks(text: str) -> str:
    """A text without its expectations; a line that has nothing else is left out."""
    lines = text.split("\n")
    plain = [re.sub(r"\s*" + MARK.pattern, "", line).rstrip() for line in lines]
    kept = [new for new, old in zip(plain, lines, strict=True) if new or not MARK.search(old)]
    return "\n".join(kept)


def marks(lines: list[str]) -> Iterator[Mark]:
    """The expectations of a file; one on a line of its own is about the next line of code."""
    for number, line in enumerate(lines):
        target = number
        if line.lstrip().startswith("#"):
            while target < len(lines) - 1 and _is_comment(lines[target]):
                target += 1
        for found in MARK.finditer(line):
            yield Mark(found[1], found[2].strip(), target, number)


def revealed(expression: Expression | None) -> str:
    """`Tensor[cuda:0, float32, (64, 10)]`, with `?` for what is not known."""
    if expression is None:
        return "Unknown"
    cases = read(expression.device)
    device = cases.device or (f"device of {cases.symbol}" if cases.symbol else "?")
    for other in cases.alternatives:
        device += f" | {other.device or '?'} when {other.condition}"
    parts = [device]
    if expression.kind is Kind.TENSOR:
        parts += [expression.dtype or "?", _shape(expression)]
    return f"{_NAMES[expression.kind]}[{', '.join(parts)}]"


def matches(expected: str, actual: str) -> bool:
    """Whether an expectation holds; it may leave out the other cases, and parts at the end."""
    if expected == actual:
        return True
    plain = re.sub(r" \| [^,\]]* when [^,\]]*(?=[,\]|])", "", actual)
    return expected == plain or (expected.endswith("]") and plain.startswith(expected[:-1] + ", "))


def find(analysis: Analysis, text: str, line: int) -> Expression | None:
    """The expression with that text on a line: where it is assigned, else the last one."""
    source = analysis.facts.source
    found: list[tuple[bool, int, Expression]] = []
    for expression in analysis.facts.expressions:
        where = range_of(source, expression.site)
        if where.start.line == line and source.text_of(where) == text:
            node = expression.site.node
            stored = isinstance(node, ast.arg) or isinstance(getattr(node, "ctx", None), ast.Store)
            found.append((stored, where.start.column, expression))
    return max(found, key=lambda each: each[:2])[2] if found else None


def _compare(lines: list[str], analysis: Analysis, rule: str) -> Iterator[tuple[str, int]]:
    expected = list(marks(lines))
    for mark in expected:
        if mark.kind == "revealed":
            text, _, value = mark.body.partition(" → ")
            actual = revealed(find(analysis, text.strip(), mark.line))
            if not matches(value.strip(), actual):
                yield f"`{text}` is {actual}, not {value}", mark.line
    left = list(analysis.findings)
    for mark in expected:
        if mark.kind != "revealed":
            finding = next((each for each in left if _is_expected(mark, each)), None)
            if finding is None:
                yield f"no {mark.kind} {mark.body}", mark.line
            else:
                left.remove(finding)
    for finding in left:
        if finding.rule == rule or finding.severity.at_least(Severity.WARNING):
            line = finding.range.start.line
            yield f"unexpected {finding.severity.value} [{finding.rule}] {finding.message}", line


def _is_expected(mark: Mark, finding: Finding) -> bool:
    body = _RULE.match(mark.body)
    return (
        body is not None
        and finding.rule == body[1]
        and finding.severity is _LEVELS[mark.kind]
        and finding.range.start.line == mark.line
        and body[2] in finding.message
    )


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _shape(expression: Expression) -> str:
    if expression.shape is None:
        return "?"
    dims = ["?" if dim is None else str(dim) for dim in expression.shape]
    return f"({dims[0]},)" if len(dims) == 1 else f"({', '.join(dims)})"
