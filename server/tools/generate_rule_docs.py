"""Writes the page of each rule, and the tables of all rules, from what the rules say of themselves.

    python server/tools/generate_rule_docs.py [--check]

`--check` writes nothing and fails where a page is missing, stale, or of no rule.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

_SERVER = Path(__file__).resolve().parent.parent
_FOLDER = _SERVER.parent / "docs" / "rules"
_README = _SERVER.parent / "README.md"
_START, _END = "<!-- rules: generated -->\n", "<!-- /rules -->"

sys.path.insert(0, str(_SERVER))

from device_lens.rules.registry import RULES  # noqa: E402
from device_lens.rules.rule import HEADINGS, Rule  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description="Generates the pages in docs/rules.")
    parser.add_argument("--check", action="store_true", help="only tell whether they are fresh")
    pages = {f"{name}.md": _page(rule) for name, rule in RULES.items()}
    pages["README.md"] = _index()
    if parser.parse_args().check:
        return _check(pages)
    _FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (_FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    for path in _strangers(pages):
        path.unlink()
    _README.write_text(_readme(), encoding="utf-8", newline="\n")
    return 0


def _readme() -> str:
    """The project's README with its table of rules as the rules say it."""
    text = _README.read_text(encoding="utf-8")
    before, found, rest = text.partition(_START)
    _, closed, after = rest.partition(_END)
    if not found or not closed:
        raise SystemExit("README.md has no place for the table of rules")
    return f"{before}{_START}{_table('docs/rules/')}{_END}{after}"


def _page(rule: Rule) -> str:
    missing = [heading for heading in HEADINGS if not rule.section(heading)]
    if missing:
        raise SystemExit(f"{rule.name}: no section {', '.join(missing)}")
    return rule.page


def _index() -> str:
    return "# Rules\n\n" + _table("")


def _table(folder: str) -> str:
    order = sorted(RULES.values(), key=lambda rule: (rule.severity.rank, rule.name))
    rows = [
        f"| [{r.name}]({folder}{r.name}.md) | {r.severity.value} | {r.summary} |" for r in order
    ]
    head = "| rule | default severity | what it flags |\n| --- | --- | --- |\n"
    return head + "\n".join(rows) + "\n"


def _check(pages: dict[str, str]) -> int:
    stale = [name for name, text in pages.items() if _read(_FOLDER / name) != text]
    stale += [path.name for path in _strangers(pages)]
    stale = [f"docs/rules/{name}" for name in sorted(stale)]
    if _read(_README) != _readme():
        stale.append("README.md")
    for name in stale:
        print(f"{name} is not what the rules say", file=sys.stderr)
    return 1 if stale else 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _strangers(pages: dict[str, str]) -> list[Path]:
    return [path for path in sorted(_FOLDER.glob("*.md")) if path.name not in pages]


if __name__ == "__main__":
    sys.exit(main())
