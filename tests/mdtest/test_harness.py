"""The harness notices what documents get wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from mdtest_document import MalformedDocument, programs
from mdtest_program import check, matches
from mdtest_rewrite import rewrite

PROGRAM = """# Title

## Case

```py
import torch

x = torch.rand(2)  # revealed: x → {value}
x.to("cuda"){mark}
```
{rest}"""
DISCARDED = "  # warning: [discarded-transfer]"


def wrong(text: str, folder: Path) -> list[str]:
    (program,) = programs(text)
    return check(program, folder)


def test_a_document_that_is_right_passes(tmp_path: Path) -> None:
    fixed = '\n```fixed\nimport torch\n\nx = torch.rand(2)\nx = x.to("cuda")\n```\n'
    text = PROGRAM.format(value="Tensor[cpu]", mark=DISCARDED, rest=fixed)
    assert wrong(text, tmp_path) == []


@pytest.mark.parametrize(
    ("value", "mark", "rest", "part"),
    [
        ("Tensor[cuda]", DISCARDED, "", "`x` is Tensor[cpu, float32, (2,)], not Tensor[cuda]"),
        ("Tensor[cpu]", "", "", "unexpected warning [discarded-transfer]"),
        ("Tensor[cpu]", "  # error: [discarded-transfer]", "", "no error [discarded-transfer]"),
        ("Tensor[cpu]", f"{DISCARDED} no such words", "", "no warning"),
        ("Tensor[cpu]", f"{DISCARDED}  # hint: [hardcoded-devices]", "", "no hint"),
        ("Tensor[cpu]", DISCARDED, "\n```fixed\nx = 1\n```\n", "after its fixes"),
        ("Tensor[cpu]", f"{DISCARDED}  # note: [round-trip]", "", "no mark is `note`"),
    ],
)
def test_a_document_that_is_wrong_fails(
    value: str, mark: str, rest: str, part: str, tmp_path: Path
) -> None:
    found = wrong(PROGRAM.format(value=value, mark=mark, rest=rest), tmp_path)
    assert any(part in sentence for sentence in found), found


def test_named_files_go_with_every_program_of_their_section() -> None:
    text = "# A\n\n`net.py`:\n\n```py\ny = 1\n```\n\n```py\na = 1\n```\n\n```py\nb = 1\n```\n"
    found = programs(text)
    assert [sorted(program.files) for program in found] == [["main.py", "net.py"]] * 2
    assert [program.title for program in found] == ["A (1)", "A (2)"]


def test_configuration_reaches_sections_below(tmp_path: Path) -> None:
    quiet = '```toml\nignore = ["discarded-transfer"]\n```\n'
    text = PROGRAM.format(value="Tensor[cpu]", mark="", rest="")
    assert wrong(text.replace("# Title\n", f"# Title\n\n{quiet}"), tmp_path) == []


@pytest.mark.parametrize(
    "text",
    ["# FP: no reason\n\n```py\nx = 1\n```\n", "# A\n\n```py\nx = 1\n", "# A\n\n```fixed\n```\n"],
)
def test_a_malformed_document_is_refused(text: str) -> None:
    with pytest.raises(MalformedDocument):
        programs(text)


def test_an_expectation_may_leave_out_other_cases_and_parts() -> None:
    actual = "Tensor[cuda | cpu when not torch.cuda.is_available(), float32, (2,)]"
    assert matches("Tensor[cuda]", actual)
    assert matches("Tensor[cuda, float32, (2,)]", actual)
    assert matches(actual, actual)
    assert not matches("Tensor[cpu]", actual)
    assert not matches("Tensor[cud]", actual)


def test_rewriting_makes_a_document_right(tmp_path: Path) -> None:
    text = PROGRAM.format(value="Tensor[mps]", mark="", rest="\n```fixed\n```\n")
    document = tmp_path / "document.md"
    document.write_text(text, encoding="utf-8")
    (tmp_path / "programs").mkdir()
    assert rewrite(document, tmp_path / "programs")
    changed = document.read_text(encoding="utf-8")
    assert "revealed: x → Tensor[cpu, float32, (2,)]" in changed
    assert 'x.to("cuda")  # warning: [discarded-transfer]' in changed
    assert 'x = x.to("cuda")' in changed
    (tmp_path / "again").mkdir()
    assert not rewrite(document, tmp_path / "again")
