"""`explain`, `rule`, `serve` and the command line itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import BUGGY, CommandLine

import device_lens
from device_lens.cli.explain import Target, parse_target

PACKAGE = Path(device_lens.__file__).resolve().parent


def test_explain_as_text(run: CommandLine) -> None:
    run.write({"a.py": BUGGY})
    lines = run("explain", "a.py").out.splitlines()
    assert "a.py:3:1: x is tensor on cpu, float32, [2], 8 B" in lines
    assert "    a.py:3:5: is created on the CPU by `torch.rand`" in lines
    assert any(line.startswith("a.py:4:1: transfer cpu → cuda, 8 B, ≈ ") for line in lines)


def test_explain_a_line_and_a_place(run: CommandLine) -> None:
    run.write({"a.py": BUGGY})
    line = run("explain", "a.py:3", "--output-format", "json").json
    assert {each["text"] for each in line["expressions"]} == {"x", "torch.rand(2)"}
    place = run("explain", "a.py:4:4", "--output-format", "json").json
    assert [each["text"] for each in place["expressions"]] == ["x.to('cuda')"]


def test_explain_where_nothing_is_known(run: CommandLine) -> None:
    run.write({"a.py": "x = 1\n"})
    found = run("explain", "a.py")
    assert (found.status, found.out) == (0, "Nothing is known here: no tensor, module or device.\n")


def test_explain_tells_of_callers_that_are_left_out(run: CommandLine) -> None:
    scripts = {f"run{number}.py": "from net import f\n\nf(1)\n" for number in range(42)}
    run.write({"net.py": "def f(x):\n    return x\n", **scripts})
    limit = "limit: only the nearest 40 of 42 scripts that use it count"
    assert run("explain", "net.py").out.splitlines() == [limit]


def test_explain_what_cannot_be_read(run: CommandLine) -> None:
    found = run("explain", "absent.py:3")
    assert found.status == 2
    assert len(found.err.splitlines()) == 1


def test_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py:7").touch()
    (tmp_path / "b.py").touch()

    def target(text: str) -> tuple[str, int | None, int | None]:
        found: Target = parse_target(text)
        return Path(found.path).name, found.line, found.column

    assert target("a.py:7") == ("a.py:7", None, None)
    assert target("b.py") == ("b.py", None, None)
    assert target("b.py:7") == ("b.py", 7, None)
    assert target("b.py:7:2") == ("b.py", 7, 2)
    assert target("b.py:0") == ("b.py:0", None, None)


def test_rules_are_listed_and_printed(run: CommandLine) -> None:
    listed = run("rule").out
    assert any(line.startswith("discarded-transfer ") for line in listed.splitlines())
    page = run("rule", "discarded-transfer")
    assert page.out.startswith("# discarded-transfer\n")
    assert "## Fix safety" in page.out
    assert run("rule", "--all").out.count("## What it does") == len(listed.splitlines())
    data = run("rule", "discarded-transfer", "--output-format", "json").json
    assert data["rules"][0]["severity"] == "warning"


def test_an_unknown_rule_has_a_near_one(run: CommandLine) -> None:
    found = run("rule", "discarded-transfr")
    assert found.status == 2
    assert "did you mean discarded-transfer?" in found.err


def test_the_version(run: CommandLine) -> None:
    found = run("--version")
    assert found.status == 0
    assert found.out.startswith("device-lens ")


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["serve", "--tcp", "nowhere"]])
def test_wrong_arguments(run: CommandLine, arguments: list[str]) -> None:
    assert run(*arguments).status == 2


@pytest.mark.parametrize("command", ["check", "rule", "explain"])
def test_commands_load_only_what_they_need(command: str, tmp_path: Path) -> None:
    program = (
        "import sys; from device_lens.cli.main import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print([m for m in sys.modules if m in ('pygls', 'lsprotocol', 'jedi', 'torch', 'rich')],"
        " file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program, command, *(["x.py"] if command == "explain" else [])],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )
    assert found.stderr.splitlines()[-1] == "[]"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("command", ["check", "explain"])
def test_no_room_for_what_is_printed_is_said_in_a_line(command: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("import torch\nx = torch.ones(1).cuda()\nx.cpu()\n", "utf-8")
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "device_lens", command, "x.py"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        )
    assert found.returncode == 2
    assert found.stderr == "device-lens: No space left on device\n"
