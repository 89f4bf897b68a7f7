"""The script that judges the worker on a GPU: that it runs is known without one."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from device_lens.benchmark import calibrate

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "gpu_acceptance.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, under an interpreter that has torch."""
    has_torch = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True)
    if has_torch.returncode != 0:
        pytest.skip(f"no torch in {sys.executable}")
    spec = importlib.util.spec_from_file_location("gpu_acceptance", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "gpu_acceptance", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(calibrate, "SIZES", (1 << 10, 1 << 16, 1 << 20))
    return module


def test_a_rehearsal_runs_every_check(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, data = tmp_path / "report.md", tmp_path / "report.json"
    arguments = ["--device", "cpu", "--output", str(report), "--json", str(data)]
    assert script.main(arguments) == 0
    assert report.read_text(encoding="utf-8") == capsys.readouterr().out
    checks = json.loads(data.read_text(encoding="utf-8"))["checks"]
    assert {check["promise"] for check in checks} == {
        "warm answer within 250 ms",
        "bandwidth within 5 % of a plain loop",
        "calibration under 30 s",
        "model within 15 % at unseen sizes",
    }
    assert all(check["measured"] for check in checks)


def test_a_device_that_is_not_there_is_a_sentence(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["--device", "cuda:99"]) == 2
    assert len(capsys.readouterr().out.strip().splitlines()) == 1
