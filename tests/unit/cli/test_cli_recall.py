"""`check` takes the report of an earlier run only if all that it rests on is as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import BUGGY, CLEAN, QUIET, CommandLine, Run

from device_lens.cli import examine as examine_module
from device_lens.cli import recall as recall_module
from device_lens.project import files as files_module

FILES = {
    "train.py": "import torch\nfrom net import move\n\nx = torch.ones(2)\nmove(x)\n",
    "net.py": "def move(x):\n    return x\n",
    "alone.py": BUGGY,
    "plain.py": "x = 1  # device-lens: ignore[round-trip]\n",
    "broken.py": "import torch\nx = (\n",
}
LOSES = "def move(x):\n    x.to('cuda')\n"


def _json(run: CommandLine, *options: str) -> dict[str, Any]:
    return run("check", "--output-format", "json", "--jobs", "1", *options).json


def _fresh(run: CommandLine, *options: str) -> dict[str, Any]:
    return _json(run, "--no-cache", *options)


@pytest.fixture
def warm(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """A folder whose reports are kept, in a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(run.folder.parent / f"{run.folder.name}-cache"))
    run.write(FILES)
    _json(run)
    return run


def _documents(run: CommandLine) -> list[Path]:
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "device-lens" / "check-1"
    return sorted(cache.glob("*.json"))


def _recalled(run: Run) -> int:
    line = next((each for each in run.err.splitlines() if "unchanged" in each), "0 of them")
    return int(line.split()[0])


def _statistics(run: CommandLine, *options: str) -> Run:
    return run("check", "--output-format", "json", "--jobs", "1", "--statistics", *options)


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
    before = _fresh(warm)

    def never(*arguments: object) -> Any:
        raise AssertionError("this was known")

    monkeypatch.setattr(files_module, "_parsed", never)
    monkeypatch.setattr(examine_module, "_analyses", never)
    assert _json(warm) == before
    assert _recalled(_statistics(warm)) == len(FILES)


def test_an_edit_renews_what_imports_the_file_and_no_more(warm: CommandLine) -> None:
    warm.write({"net.py": LOSES})
    found = _statistics(warm)
    assert _recalled(found) == 3  # alone.py, plain.py and broken.py
    assert found.json == _fresh(warm)
    assert "net.py" in {each["file"] for each in found.json["diagnostics"]}


def test_an_edit_that_keeps_size_and_time_is_seen(warm: CommandLine) -> None:
    path = warm.folder / "alone.py"
    status = path.stat()
    path.write_bytes(BUGGY.replace("x.to", "x.ot").encode())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert "alone.py" not in {each["file"] for each in _json(warm)["diagnostics"]}


def test_a_file_that_is_only_touched_is_unchanged(warm: CommandLine) -> None:
    os.utime(warm.folder / "alone.py", ns=(1, 1))
    assert _recalled(_statistics(warm)) == len(FILES)


def test_an_edit_taken_back_is_seen(warm: CommandLine) -> None:
    before = _json(warm)
    warm.write({"net.py": LOSES})
    assert _json(warm) != before
    warm.write({"net.py": FILES["net.py"]})
    assert _json(warm) == before


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
    before = _statistics(warm)
    change(warm)
    after, fresh = _statistics(warm), _statistics(warm, "--no-cache")
    assert (after.status, after.json) == (fresh.status, fresh.json)
    warnings = [each for each in fresh.err.splitlines() if "warning: " in each]
    assert [each for each in after.err.splitlines() if "warning: " in each] == warnings
    assert _recalled(after) < _recalled(before)


def test_a_module_that_appears_is_followed(run: CommandLine) -> None:
    run.write({"train.py": FILES["train.py"]})
    assert _json(run)["diagnostics"] == []
    run.write({"net.py": LOSES})
    assert [each["file"] for each in _json(run)["diagnostics"]] == ["net.py"]


def test_a_module_that_appears_where_only_a_function_looked_is_followed(run: CommandLine) -> None:
    """`pkg.late` is no import statement's whole name: the attribute of a package is looked for."""
    run.write(
        {
            "pkg/__init__.py": "",
            "train.py": "import torch\nimport pkg\n\nx = torch.ones(2)\npkg.late.move(x)\n",
        }
    )
    _json(run)
    run.write({"pkg/late.py": LOSES})
    assert _json(run) == _fresh(run)


@pytest.mark.parametrize("before", [None, "def move(x):\n    return x\n"])
def test_what_a_file_outside_the_index_imports_counts_too(
    run: CommandLine, before: str | None
) -> None:
    """`net.py` is left out, so that nothing but the analysis knows of its imports."""
    run.write({"train.py": FILES["train.py"], "net.py": "from deep import move\n"})
    run.write({".gitignore": "net.py\ndeep.py\n"})
    if before is not None:
        run.write({"deep.py": before})
    assert _json(run)["diagnostics"] == []
    assert _recalled(_statistics(run)) == 1
    late = "def move(x):\n    return x.to('cuda') @ x\n"
    run.write({"deep.py": late})
    assert _json(run) == _fresh(run)
    assert _recalled(_statistics(run)) == 1
    (run.folder / "deep.py").unlink()
    assert _recalled(_statistics(run)) == 0


def test_files_outside_the_run_count_too(run: CommandLine) -> None:
    """Only one file is asked for; what it imports is read all the same."""
    run.write({"train.py": FILES["train.py"], "net.py": LOSES})
    asked = ("check", "train.py", "--output-format", "json", "--statistics")
    run(*asked)
    assert _recalled(run(*asked)) == 1
    run.write({"net.py": "def move(x):\n    return x.numpy()\n"})
    assert _recalled(run(*asked)) == 0


def test_every_option_has_reports_of_its_own(warm: CommandLine) -> None:
    for options in (["--select", "unused-ignore"], ["--ignore", "discarded-transfer"], ["net.py"]):
        assert _json(warm, *options) == _fresh(warm, *options)
        assert _json(warm, *options) == _fresh(warm, *options)


def test_names_are_relative_to_the_folder_of_each_run(
    warm: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(warm.folder.parent)
    found = _json(warm, warm.folder.name)
    assert f"{warm.folder.name}/alone.py" in {each["file"] for each in found["diagnostics"]}


def test_another_version_of_the_program_starts_anew(
    warm: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _recalled(_statistics(warm)) == len(FILES)
    monkeypatch.setattr(recall_module, "program", lambda: "another")
    assert _recalled(_statistics(warm)) == 0


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
    assert _json(run)["diagnostics"] == []
    monkeypatch.undo()
    monkeypatch.chdir(run.folder)
    assert [each["rule"] for each in _json(run)["diagnostics"]] == ["discarded-transfer"]


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
        assert _json(run)["errors"]
    assert _json(run) == _fresh(run)
    assert _json(run)["errors"] == []


def test_fixes_look_at_files_as_they_are(warm: CommandLine) -> None:
    assert warm("check", "--fix", "alone.py").status == 0
    assert _json(warm) == _fresh(warm)


def test_folders_that_hold_no_cache_are_lines_in_the_statistics(
    run: CommandLine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run.write({"alone.py": BUGGY})
    in_the_way = tmp_path_factory.mktemp("cache") / "file"
    in_the_way.write_text("a file where the folder should be")
    found = _statistics(run, "--cache-dir", str(in_the_way))
    assert found.status == 1
    assert found.json == _fresh(run)
    (limit,) = [each for each in found.err.splitlines() if each.startswith("limit: ")]
    assert limit.startswith("limit: the cache cannot be written: ")


def _oddities(good: bytes) -> dict[str, bytes]:
    body = good.partition(b"\n")[2]
    return {
        "empty": b"",
        "half": good[: len(good) // 2],
        "one byte changed": good.replace(b"alone", b"alobe"),
        "no checksum": body,
        "too deep": b"[" * 100_000,
        "no text": b"\xff\xfe\n" + body,
    }


@pytest.mark.parametrize("which", list(_oddities(b"")))
def test_broken_documents_are_made_anew(warm: CommandLine, which: str) -> None:
    before = _fresh(warm)
    for path in _documents(warm):
        path.write_bytes(_oddities(path.read_bytes())[which])
    assert _json(warm) == before
    assert _recalled(_statistics(warm)) == len(FILES)


def _planted(data: Any, value: object) -> list[Any]:
    """Copies of a document, in each of which one part is something else."""
    found: list[Any] = [value]
    if isinstance(data, dict):
        for key, inner in data.items():
            found += [{**data, key: each} for each in _planted(inner, value)]
    elif isinstance(data, list) and data:
        found += [[each, *data[1:]] for each in _planted(data[0], value)]
    return found


@pytest.mark.parametrize("value", [None, -1, "x", [], {}, [[]], {"x": [1]}, True, 1e300])
def test_documents_are_input_like_any_other(run: CommandLine, value: object) -> None:
    """Whoever wrote them: right checksums, wrong contents. Nothing is raised."""
    from device_lens.cli.report import Report, report_from_json, report_to_json
    from device_lens.project.outline import outline_from_json

    run.write(FILES)
    _json(run, "--cache-dir", "kept")
    for path in (run.folder / "kept" / "check-1").glob("*.json"):
        data = json.loads(path.read_bytes().partition(b"\n")[2])
        if "report" in data:
            for planted in _planted(data["report"], value):
                found = report_from_json(planted)
                assert found is None or report_to_json(found) == planted
                assert found is None or isinstance(found, Report)
        else:
            for planted in _planted(next(iter(data.values())), value):
                outline_from_json(planted)
            for planted in _planted(data, value):
                recall_module.Outlines(recall_module.States(), planted).of("a.py")


def test_what_is_kept_says_no_more_than_it_must(warm: CommandLine) -> None:
    """Names of files, imports and findings with their lines: no other text of a program."""
    warm.write({"secret.py": "import torch\npassword = 'hunter2'\n"})
    _json(warm)
    kept = b"".join(path.read_bytes() for path in _documents(warm))
    assert b"secret.py" in kept
    assert b"hunter2" not in kept
    names = " ".join(path.name for path in _documents(warm))
    assert "secret" not in names


def test_two_processes_share_a_cache(run: CommandLine) -> None:
    run.write({f"part{n}/pyproject.toml": "" for n in range(6)})
    run.write({f"part{n}/{name}": text for n in range(6) for name, text in FILES.items()})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "device_lens", "check", "--output-format", "json"]
    running = [
        subprocess.Popen(
            [*command, "--cache-dir", "kept", "--jobs", "2"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    outputs = [each.communicate()[0] for each in running]
    fresh = run("check", "--output-format", "json", "--no-cache")
    assert [each.decode() for each in outputs] == [fresh.out, fresh.out]
    assert not list((run.folder / "kept").rglob("*.tmp"))
    again = _statistics(run, "--cache-dir", "kept")
    assert _recalled(again) == 6 * len(FILES)
    assert again.out == fresh.out
