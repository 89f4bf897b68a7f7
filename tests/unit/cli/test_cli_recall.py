"""`check` takes the report of an earlier run only if all that it rests on is as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import BUGGY, CLEAN, QUIET, CommandLine
from recall_runs import FILES, LOSES, check, documents, fresh, recalled, statistics

from device_lens.cli import examine as examine_module
from device_lens.cli import recall as recall_module
from device_lens.project import files as files_module


@pytest.mark.parametrize("output", ["text", "json", "sarif", "github"])
def test_a_report_that_is_recalled_is_the_same_byte_for_byte(run: CommandLine, output: str) -> None:
    run.write(FILES)
    cold = run("check", "--output-format", output)
    warm = run("check", "--output-format", output)
    assert warm == cold
    assert warm == run("check", "--output-format", output, "--no-cache")
    assert "discarded-transfer" in warm.out


def test_a_warm_run_neither_parses_nor_analyses(
    warm: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fresh(warm)

    def never(*arguments: object) -> Any:
        raise AssertionError("this was known")

    monkeypatch.setattr(files_module, "_parsed", never)
    monkeypatch.setattr(examine_module, "_analyses", never)
    assert check(warm) == before
    assert recalled(statistics(warm)) == len(FILES)


def test_an_edit_renews_what_imports_the_file_and_no_more(warm: CommandLine) -> None:
    warm.write({"net.py": LOSES})
    found = statistics(warm)
    assert recalled(found) == 3  # alone.py, plain.py and broken.py
    assert found.json == fresh(warm)
    assert "net.py" in {each["file"] for each in found.json["diagnostics"]}


def test_an_edit_that_keeps_size_and_time_is_seen(warm: CommandLine) -> None:
    path = warm.folder / "alone.py"
    status = path.stat()
    path.write_bytes(BUGGY.replace("x.to", "x.ot").encode())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert "alone.py" not in {each["file"] for each in check(warm)["diagnostics"]}


def test_a_file_that_is_only_touched_is_unchanged(warm: CommandLine) -> None:
    os.utime(warm.folder / "alone.py", ns=(1, 1))
    assert recalled(statistics(warm)) == len(FILES)


def test_an_edit_taken_back_is_seen(warm: CommandLine) -> None:
    before = check(warm)
    warm.write({"net.py": LOSES})
    assert check(warm) != before
    warm.write({"net.py": FILES["net.py"]})
    assert check(warm) == before


def _delete(run: CommandLine) -> None:
    (run.folder / "net.py").unlink()


def _replace_by_folder(run: CommandLine) -> None:
    (run.folder / "net.py").unlink()
    (run.folder / "net.py").mkdir()


def _hide_by_package(run: CommandLine) -> None:
    """A package takes the place of a module of its name."""
    run.write({"net/__init__.py": LOSES})


def _make_importable(run: CommandLine) -> None:
    """A file that is left out of the run is imported none the less."""
    run.write({".gitignore": "net.py\n", "net.py": LOSES})


def _configure(run: CommandLine) -> None:
    text = QUIET + 'ignore = ["discarded-transfer"]\n'
    (run.folder / "pyproject.toml").write_text(text, encoding="utf-8")


def _misconfigure(run: CommandLine) -> None:
    (run.folder / "pyproject.toml").write_text(QUIET + "egnore = []\n", encoding="utf-8")


def _assume(run: CommandLine) -> None:
    text = QUIET + 'assume-accelerator = "mps"\n'
    (run.folder / "pyproject.toml").write_text(text, encoding="utf-8")


def _add_a_caller(run: CommandLine) -> None:
    run.write({"late.py": "import torch\nfrom net import move\nmove(torch.ones(2)).to('cuda')\n"})


CHANGES: list[Callable[[CommandLine], None]] = [
    _delete,
    _replace_by_folder,
    _hide_by_package,
    _make_importable,
    _configure,
    _misconfigure,
    _assume,
    _add_a_caller,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__.strip("_"))
def test_no_report_outlives_what_it_rests_on(
    warm: CommandLine, change: Callable[[CommandLine], None]
) -> None:
    before = statistics(warm)
    change(warm)
    after, anew = statistics(warm), statistics(warm, "--no-cache")
    assert (after.status, after.json) == (anew.status, anew.json)
    warnings = [each for each in anew.err.splitlines() if "warning: " in each]
    assert [each for each in after.err.splitlines() if "warning: " in each] == warnings
    assert recalled(after) < recalled(before)


def test_a_module_that_appears_is_followed(run: CommandLine) -> None:
    run.write({"train.py": FILES["train.py"]})
    assert check(run)["diagnostics"] == []
    run.write({"net.py": LOSES})
    assert [each["file"] for each in check(run)["diagnostics"]] == ["net.py"]


def test_a_module_that_appears_where_only_a_function_looked_is_followed(run: CommandLine) -> None:
    """`pkg.late` is no import statement's whole name: the attribute of a package is looked for."""
    run.write(
        {
            "pkg/__init__.py": "",
            "train.py": "import torch\nimport pkg\n\nx = torch.ones(2)\npkg.late.move(x)\n",
        }
    )
    check(run)
    run.write({"pkg/late.py": LOSES})
    assert check(run) == fresh(run)


@pytest.mark.parametrize("before", [None, "def move(x):\n    return x\n"])
def test_what_a_file_outside_the_index_imports_counts_too(
    run: CommandLine, before: str | None
) -> None:
    """`net.py` is left out, so that nothing but the analysis knows of its imports."""
    run.write({"train.py": FILES["train.py"], "net.py": "from deep import move\n"})
    run.write({".gitignore": "net.py\ndeep.py\n"})
    if before is not None:
        run.write({"deep.py": before})
    assert check(run)["diagnostics"] == []
    assert recalled(statistics(run)) == 1
    late = "def move(x):\n    return x.to('cuda') @ x\n"
    run.write({"deep.py": late})
    assert check(run) == fresh(run)
    assert recalled(statistics(run)) == 1
    (run.folder / "deep.py").unlink()
    assert recalled(statistics(run)) == 0


def test_files_outside_the_run_count_too(run: CommandLine) -> None:
    """Only one file is asked for; what it imports is read all the same."""
    run.write({"train.py": FILES["train.py"], "net.py": LOSES})
    asked = ("check", "train.py", "--output-format", "json", "--statistics")
    run(*asked)
    assert recalled(run(*asked)) == 1
    run.write({"net.py": "def move(x):\n    return x.numpy()\n"})
    assert recalled(run(*asked)) == 0


def test_every_option_has_reports_of_its_own(warm: CommandLine) -> None:
    for options in (["--select", "unused-ignore"], ["--ignore", "discarded-transfer"], ["net.py"]):
        assert check(warm, *options) == fresh(warm, *options)
        assert check(warm, *options) == fresh(warm, *options)


def test_names_are_relative_to_the_folder_of_each_run(
    warm: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(warm.folder.parent)
    found = check(warm, warm.folder.name)
    assert f"{warm.folder.name}/alone.py" in {each["file"] for each in found["diagnostics"]}


def test_another_version_of_the_program_starts_anew(
    warm: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recalled(statistics(warm)) == len(FILES)
    monkeypatch.setattr(recall_module, "program", lambda: "another")
    assert recalled(statistics(warm)) == 0


def test_a_developers_edit_is_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_module, "_PACKAGE", tmp_path)
    (tmp_path / "rule.py").write_text("x = 1\n")
    one = recall_module.program()
    assert recall_module.program() == one
    (tmp_path / "rule.py").write_text("x = 2\n")
    assert recall_module.program() != one


def test_an_edit_while_it_runs_leaves_no_report(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is another one when it is hashed, when it is analysed, and after that again."""
    run.write({"alone.py": BUGGY})
    analyses = examine_module._analyses

    def meddled(*arguments: Any) -> Any:
        run.write({"alone.py": CLEAN})
        found = analyses(*arguments)
        run.write({"alone.py": BUGGY})
        return found

    # The index would hold the parse: another process, as on other platforms, has none.
    monkeypatch.setattr(examine_module, "_PROJECTS", _Forgetful())
    monkeypatch.setattr(examine_module, "_analyses", meddled)
    assert check(run)["diagnostics"] == []
    monkeypatch.undo()
    monkeypatch.chdir(run.folder)
    assert [each["rule"] for each in check(run)["diagnostics"]] == ["discarded-transfer"]


class _Forgetful(dict[Any, Any]):
    def __setitem__(self, key: Any, value: Any) -> None:
        pass


def test_a_defect_is_not_remembered(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write({"alone.py": BUGGY})
    with monkeypatch.context() as patch:
        from device_lens.ide.project import Project

        def fails(*arguments: object) -> Any:
            raise RuntimeError("a defect")

        patch.setattr(Project, "analyse_together", fails)
        assert check(run)["errors"]
    assert check(run) == fresh(run)
    assert check(run)["errors"] == []


def test_fixes_look_at_files_as_they_are(warm: CommandLine) -> None:
    assert warm("check", "--fix", "alone.py").status == 0
    assert check(warm) == fresh(warm)


def test_what_is_kept_says_no_more_than_it_must(warm: CommandLine) -> None:
    """Names of files, imports and findings with their lines: no other text of a program."""
    warm.write({"secret.py": "import torch\npassword = 'hunter2'\n"})
    check(warm)
    kept = b"".join(path.read_bytes() for path in documents())
    assert b"secret.py" in kept
    assert b"hunter2" not in kept
    names = " ".join(path.name for path in documents())
    assert "secret" not in names
