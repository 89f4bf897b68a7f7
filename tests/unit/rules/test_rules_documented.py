"""Every rule documents itself, and the pages say what the rules say."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from device_lens.rules.registry import RULES
from device_lens.rules.rule import HEADINGS, Rule

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_has_every_section(rule: Rule) -> None:
    assert [heading for heading in HEADINGS if not rule.section(heading)] == []
    places = [rule.documentation.index(f"## {heading}") for heading in HEADINGS]
    assert places == sorted(places)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_examples_parse(rule: Rule) -> None:
    for heading in ("Example", "Use instead"):
        code = rule.section(heading).removeprefix("```python\n").removesuffix("```")
        ast.parse(code)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_has_a_file_a_page_and_a_test(rule: Rule) -> None:
    module = ROOT / "server" / "device_lens" / "rules" / f"{rule.name.replace('-', '_')}.py"
    assert module.is_file()
    assert (ROOT / "docs" / "rules" / f"{rule.name}.md").is_file()
    assert (ROOT / "tests" / "mdtest" / "rules" / f"{rule.name}.md").is_file()


def test_pages_are_fresh() -> None:
    script = ROOT / "server" / "tools" / "generate_rule_docs.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
