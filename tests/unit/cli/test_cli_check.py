"""`check`: what it reads, how it exits, what it prints."""

from __future__ import annotations

import json

import pytest
from cli_runs import BUGGY, CLEAN, CommandLine

from device_lens.cli import check as check_module
from device_lens.ide.plan import SLICE
from device_lens.project.files import ParseCache

NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
            {
                "cell_type": "code",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": ["%matplotlib inline\n", "import torch\n", "x = torch.rand(2)"],
            },
            {
                "cell_type": "code",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": ["x.to('cuda')"],
            },
        ],
    },
    indent=1,
)


def test_a_package_elsewhere_is_one_project(
    run: CommandLine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its folders import each other, whichever of them is asked for and from wherever."""
    package = tmp_path_factory.mktemp("elsewhere") / "library"
    for folder in (package, package / "layers", package / "models"):
        folder.mkdir()
        (folder / "__init__.py").write_text("", encoding="utf-8")
    (package / "layers" / "made.py").write_text(
        "import torch\ntable = torch.rand(2, device='cuda')\n", encoding="utf-8"
    )
    (package / "models" / "used.py").write_text(
        "import torch\nfrom library.layers import made\nfrom ..layers.made import table\n"
        "made.table + torch.rand(2)\ntable + torch.rand(2)\n",
        encoding="utf-8",
    )
    for asked in (package, package / "models", package / "models" / "used.py"):
        found = run("check", str(asked), "--output-format", "json", "--select", "device-mismatch")
        assert [each["rule"] for each in found.json["diagnostics"]] == ["device-mismatch"] * 2


def test_nothing_found(run: CommandLine) -> None:
    run.write({"a.py": CLEAN})
    found = run("check")
    assert (found.status, found.out, found.err) == (0, "Nothing found in 1 file.\n", "")


def test_text(run: CommandLine) -> None:
    run.write({"sub/a.py": BUGGY})
    found = run("check", ".")
    assert found.status == 1
    first, bar, source, carets, *rest = found.out.splitlines()
    assert first.startswith("sub/a.py:4:1: warning[discarded-transfer] ")
    assert [bar, source, carets] == ["  |", "4 | x.to('cuda')", "  | ^^^^^^^^^^^^"]
    assert "  = fix: Assign the result: x = x.to('cuda')" in rest
    assert rest[-1] == "Found 1 finding in 1 file: 1 warning. 1 can be fixed (--fix)."


def test_carets_stand_below_wide_characters_and_tabs(run: CommandLine) -> None:
    run.write({"a.py": 'import torch\nif True:\n\tx = torch.ones(2); "日本"; x.to("cuda")\n'})
    lines = run("check").out.splitlines()
    place = lines.index('3 | \tx = torch.ones(2); "日本"; x.to("cuda")')
    assert lines[place + 1] == "  | \t" + " " * 27 + "^" * 12


def test_json_is_the_contracts(run: CommandLine) -> None:
    run.write({"a.py": BUGGY, "b.py": CLEAN})
    found = run("check", "--output-format", "json").json
    assert found["version"] == 1
    assert found["errors"] == []
    (item,) = found["diagnostics"]
    assert list(item) == [
        "file", "cell", "rule", "severity", "message", "symbol", "range", "related", "fixes"
    ]  # fmt: skip
    assert (item["file"], item["cell"], item["rule"]) == ("a.py", None, "discarded-transfer")
    assert (item["severity"], item["symbol"]) == ("warning", "x")
    assert item["range"] == {"start": {"line": 4, "column": 1}, "end": {"line": 4, "column": 13}}
    assert {"file", "cell", "range", "message"} <= item["related"][0].keys()
    (fix,) = item["fixes"]
    assert (fix["title"], fix["safety"], fix["preferred"]) == (
        "Assign the result: x = x.to('cuda')", "safe", True
    )  # fmt: skip
    edit = fix["edits"][0]
    assert (edit["file"], edit["cell"]) == ("a.py", None)
    assert {"range", "new_text"} <= edit.keys()


def test_findings_are_in_order(run: CommandLine) -> None:
    run.write({"b.py": BUGGY + "x.cuda()\n", "a.py": BUGGY})
    found = run("check", "--output-format", "json", "b.py", "a.py").json["diagnostics"]
    places = [(each["file"], each["range"]["start"]["line"]) for each in found]
    assert places == [("a.py", 4), ("b.py", 4), ("b.py", 5)]


def test_lines_of_a_notebook_count_in_its_cells(run: CommandLine) -> None:
    run.write({"book.ipynb": NOTEBOOK})
    (found,) = run("check", "--output-format", "json").json["diagnostics"]
    assert (found["cell"], found["range"]["start"]) == (2, {"line": 1, "column": 1})
    assert [(each["cell"], each["range"]["start"]["line"]) for each in found["related"]] == [(1, 3)]
    assert run("check").out.startswith("book.ipynb:cell 2:1:1: warning")


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["x.half()  # to look at\n", "\n"], 0),
        (["x.half();\n"], 1),
        (["x.half()\n", "print(x)"], 1),
        (["x.cuda()"], 1),
        (["for y in [x]:\n", "    y.half()"], 1),
    ],
)
def test_a_notebook_shows_the_last_line_of_a_cell(
    run: CommandLine, lines: list[str], found: int
) -> None:
    book = json.loads(NOTEBOOK)
    book["cells"][2]["source"] = lines
    run.write({"book.ipynb": json.dumps(book)})
    done = run("check", "--select", "discarded-transfer", "--output-format", "json")
    assert len(done.json["diagnostics"]) == found


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], 1),
        (["--exit-zero"], 0),
        (["--fail-on", "error"], 0),
        (["--fail-on", "hint"], 1),
        (["--ignore", "discarded-transfer"], 0),
        (["--select", "device-mismatch,transfer-in-loop"], 0),
        (["--select", "discarded-transfer"], 1),
    ],
)
def test_exit_status(run: CommandLine, options: list[str], status: int) -> None:
    run.write({"a.py": BUGGY})
    assert run("check", *options).status == status


def test_what_cannot_be_read_is_a_line_and_the_others_are_done(run: CommandLine) -> None:
    run.write({"a.py": BUGGY, "bad.py": "x = (\n", "zero.py": "\0", "odd.ipynb": "[]"})
    found = run("check", "--output-format", "json", ".", "absent.py")
    assert found.status == 2
    assert [each["rule"] for each in found.json["diagnostics"]] == ["discarded-transfer"]
    named = {each["file"]: each["message"] for each in found.json["errors"]}
    assert named.keys() == {"absent.py", "bad.py", "zero.py", "odd.ipynb"}
    assert named["bad.py"].startswith("line 1: ")
    assert len(found.err.splitlines()) == 4
    assert "Traceback" not in found.err


@pytest.mark.parametrize("name", ["discarded-transfers", "nothing"])
def test_unknown_rules_are_refused(run: CommandLine, name: str) -> None:
    found = run("check", "--select", name)
    assert found.status == 2
    assert f"no rule is named '{name}'" in found.err
    assert ("did you mean discarded-transfer?" in found.err) == (name != "nothing")


def test_the_configuration_counts_and_is_checked(run: CommandLine) -> None:
    run.write(
        {
            "a.py": BUGGY,
            "left_out/b.py": BUGGY,
            "pyproject.toml": "[tool.device-lens]\nexclude = ['left_out']\n"
            "severitie = {}\nseverity = {discarded-transfer = 'hint', hardcoded-device = 'off'}\n",
        }
    )
    found = run("check", "--output-format", "json")
    assert found.status == 0
    assert [(each["file"], each["severity"]) for each in found.json["diagnostics"]] == [
        ("a.py", "hint")
    ]
    assert "severitie" in found.err
    assert "`severity`" in found.err
    assert run("check", "left_out/b.py").out.startswith("left_out/b.py:4:1: hint")


def test_callers_outside_the_given_files_count(run: CommandLine) -> None:
    net = "def move(x, w):\n    return x + w\n"
    train = "import torch\nfrom net import move\n\nmove(torch.ones(3), torch.ones(3).cuda())\n"
    run.write({"net.py": net, "train.py": train})
    (found,) = run("check", "--output-format", "json", "net.py").json["diagnostics"]
    assert (found["rule"], found["severity"]) == ("device-mismatch", "error")
    assert run("check", "train.py").status == 0


def test_processes_make_no_difference(run: CommandLine) -> None:
    run.write({f"part{number}/a.py": BUGGY for number in range(5)})
    one = run("check", "--output-format", "json", "--jobs", "1")
    many = run("check", "--output-format", "json", "--jobs", "2")
    assert one.json == many.json
    assert len(one.json["diagnostics"]) == 5


def test_statistics_count_by_rule(run: CommandLine) -> None:
    run.write({"a.py": BUGGY + "x.cuda()\n"})
    lines = run("check", "--statistics").out.splitlines()
    assert "     2  warning      discarded-transfer" in lines
    assert lines[-1].startswith("1 files, 6 lines in ")


def test_a_file_without_tensors_has_its_comments_checked(run: CommandLine) -> None:
    run.write({"a.py": "x = 1  # device-lens: ignore[round-trip]\n"})
    (found,) = run("check", "--output-format", "json").json["diagnostics"]
    assert (found["rule"], found["severity"]) == ("unused-ignore", "hint")


def test_one_bound_on_parsed_files_holds_for_all_projects(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many folders are many projects; memory grows with none of them."""
    parsed = ParseCache(most_lines=100)
    monkeypatch.setattr(check_module, "ParseCache", lambda most_lines: parsed)
    run.write({f"part{n}/pyproject.toml": "" for n in range(10)})
    run.write({f"part{n}/a.py": BUGGY + "# a comment\n" * 40 for n in range(10)})
    found = run("check", "--output-format", "json", "--jobs", "1", "--no-cache")
    assert len(found.json["diagnostics"]) >= 10
    held = [n for n in range(10) if parsed.state(str(run.folder / f"part{n}" / "a.py"))]
    assert 0 < len(held) < 4


def test_modules_that_processes_share(run: CommandLine) -> None:
    """Groups of one component run in processes that have the modules already."""
    use = "import torch\n\nfrom made import table\n\n\ndef f():\n    return table + torch.rand(2)\n"
    files = {f"part_{number:03}.py": use for number in range(2 * SLICE)}
    made = {"made.py": "import torch\n\ntable = torch.rand(2, device='cuda')\n"}
    run.write({**files, **made})
    options = ["--output-format", "json", "--select", "device-mismatch"]
    one = run("check", *options, "--jobs", "1", "--no-cache").json
    assert len(one["diagnostics"]) == len(files)
    for jobs in ("1", "2"):
        for _ in range(2):  # the second time reports are taken again
            assert run("check", *options, "--jobs", jobs, "--cache-dir", f"kept{jobs}").json == one
        run.write({"part_007.py": use.replace("torch.rand(2)", "2")})
        less = run("check", *options, "--jobs", jobs, "--cache-dir", f"kept{jobs}").json
        assert len(less["diagnostics"]) == len(files) - 1
        run.write({"part_007.py": use})
    run.write({"made.py": made["made.py"].replace("cuda", "cpu")})
    for jobs in ("1", "2"):
        found = run("check", *options, "--jobs", jobs, "--cache-dir", f"kept{jobs}").json
        assert found["diagnostics"] == []
