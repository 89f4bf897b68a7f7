"""`check --fix`, `--unsafe-fixes`, `--diff`."""

from __future__ import annotations

import json
import os
import sys

import pytest
from cli_runs import BUGGY, CommandLine
from test_cli_check import NOTEBOOK

FIXED = BUGGY.replace("x.to", "x = x.to")
UNSAFE = "import torch\n\nx = torch.ones(2)\nx = torch.randn(3).to('cuda')\n"


def test_fixes_are_written_and_the_rest_is_reported(run: CommandLine) -> None:
    run.write({"a.py": BUGGY})
    found = run("check", "--fix")
    assert (found.status, found.out) == (0, "Nothing found in 1 file.\n")
    assert found.err == "Fixed 1 finding.\n"
    assert run.read("a.py") == FIXED


def test_a_diff_changes_nothing(run: CommandLine) -> None:
    run.write({"sub/a.py": BUGGY})
    found = run("check", "--diff")
    assert found.status == 1
    assert found.out.splitlines() == [
        "--- a/sub/a.py",
        "+++ b/sub/a.py",
        "@@ -1,4 +1,4 @@",
        " import torch",
        " ",
        " x = torch.rand(2)",
        "-x.to('cuda')",
        "+x = x.to('cuda')",
    ]
    assert run.read("sub/a.py") == BUGGY


def test_unsafe_fixes_are_applied_only_on_request(run: CommandLine) -> None:
    run.write({"a.py": UNSAFE})
    run("check", "--fix")
    assert run.read("a.py") == UNSAFE
    shown = run("check", "--unsafe-fixes")
    assert run.read("a.py") == UNSAFE
    assert "1 can be fixed (--fix --unsafe-fixes)." in shown.out
    run("check", "--fix", "--unsafe-fixes")
    assert "torch.randn(3, device='cuda')" in run.read("a.py")


def test_what_is_found_in_other_files_stands_in_no_way(run: CommandLine) -> None:
    run.write({"a.py": f"import helper\n{BUGGY}", "helper.py": BUGGY})
    found = run("check", "--fix", "a.py")
    assert found.err == "Fixed 1 finding.\n"
    assert run.read("a.py") == f"import helper\n{FIXED}"
    assert run.read("helper.py") == BUGGY


def test_a_fix_that_fails_inside_is_told(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise ValueError("no reason")

    monkeypatch.setattr("device_lens.ide.fixing.fix_all", fail)
    run.write({"a.py": BUGGY})
    found = run("check", "--fix", "--jobs", "1")
    assert run.read("a.py") == BUGGY
    assert "not fixed: internal error: ValueError: no reason" in found.err
    assert found.status == 2


def test_a_fix_that_brings_up_what_is_not_shown_is_not_applied(run: CommandLine) -> None:
    text = "import torch\nfrom kit import Packed\n\na = torch.ones(3)\nb = Packed(a)\nb.detach()\n"
    text += "b.to('cuda')\nassert torch.equal(b.view(3), a)\n"
    run.write({"a.py": text})
    shown = run("check", "--fix", "--select", "discarded-transfer")
    assert run.read("a.py") == text
    assert "discarded-transfer" in shown.out
    assert "created-on-default-device" not in shown.out


@pytest.mark.parametrize(
    "text",
    [
        BUGGY.replace("\n", "\r\n"),
        "\ufeff" + BUGGY,
        "# note: \x0c é 🙂 \u2028\n" + BUGGY,
        BUGGY.removesuffix("\n"),
    ],
)
def test_line_ends_and_marks_stay(run: CommandLine, text: str) -> None:
    run.write({"a.py": text})
    run("check", "--fix")
    assert run.read("a.py") == text.replace("x.to", "x = x.to")


def test_the_encoding_stays(run: CommandLine) -> None:
    text = f"# -*- coding: latin-1 -*-\nname = 'é'\n{BUGGY}"
    path = run.folder / "a.py"
    path.write_bytes(text.encode("latin-1"))
    run("check", "--fix")
    assert path.read_bytes() == text.replace("x.to", "x = x.to").encode("latin-1")


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")
def test_permissions_and_links_stay(run: CommandLine) -> None:
    run.write({"real.py": BUGGY})
    (run.folder / "real.py").chmod(0o755)
    (run.folder / "link.py").symlink_to("real.py")
    run("check", "--fix", "link.py")
    assert (run.folder / "link.py").is_symlink()
    assert run.read("real.py") == FIXED
    assert os.stat(run.folder / "real.py").st_mode & 0o777 == 0o755
    assert [each.name for each in run.folder.iterdir() if "device-lens-" in each.name] == []


def test_a_notebook_keeps_its_form(run: CommandLine) -> None:
    run.write({"book.ipynb": NOTEBOOK})
    assert run("check", "--fix").status == 0
    before, after = json.loads(NOTEBOOK), json.loads(run.read("book.ipynb"))
    assert after["cells"][2]["source"] == ["x = x.to('cuda')\n", "x"]
    after["cells"][2]["source"] = before["cells"][2]["source"]
    assert after == before
    assert run.read("book.ipynb").startswith('{\n "nbformat": 4,')


COUNTS = """\
import torch


def count(parts):
    total = torch.zeros(9)
    for part in parts:
        total += torch.bincount(part, minlength=9)
    return total


device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
places = torch.tensor([1, 2], device=device)
print(count([torch.tensor([1, 2])])[places])
"""


def test_a_fix_that_brings_other_findings_is_told_to_be_left(run: CommandLine) -> None:
    run.write({"a.py": COUNTS})
    assert "1 can be fixed (--fix)." in run("check").out
    found = run("check", "--fix")
    assert run.read("a.py") == COUNTS
    assert found.out.endswith("1 error. 1 left as it was: its fix brings other findings.\n")


BEHIND = """\
import torch
from torch import nn


def table(n):
    return torch.arange(n).float()


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.l = nn.Linear(n, n)
        self.prior = torch.distributions.Normal(torch.zeros(n), torch.ones(n))

    def forward(self, x):
        y = self.l(x) + table(x.size(1))
        return self.prior.log_prob(y)


if torch.cuda.is_available():
    net = Net().to("cuda")
    net(torch.rand(2, 4, device="cuda"))
"""


def test_an_error_behind_another_one_leaves_its_fix(run: CommandLine) -> None:
    """It has no fix, and the one of the first has nothing to do with it."""
    run.write({"a.py": BEHIND})
    found = run("check", "--fix", "--unsafe-fixes")
    assert found.err == "Fixed 1 finding.\n"
    assert "table(x.size(1)).to(x.device)" in run.read("a.py")
    assert "a.py:13:" in found.out
