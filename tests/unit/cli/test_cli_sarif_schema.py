"""What `--output-format sarif` prints is SARIF 2.1.0, by the schema of the standard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import BUGGY, CommandLine
from jsonschema import Draft7Validator

SCHEMA = (
    Path(__file__).parents[3]
    / "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
)
MISMATCH = """\
import torch

device = torch.device("cuda")


def shift(x: torch.Tensor) -> torch.Tensor:
    return x + torch.ones(2)


for _ in range(3):
    print(shift(torch.ones(2, device=device)).sum().item())
"""
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "a",
            "metadata": {},
            "outputs": [],
            "source": BUGGY.splitlines(keepends=True),
        }
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture(scope="module")
def validator() -> Draft7Validator:
    if not SCHEMA.is_file():
        pytest.skip("the schema comes with the Node packages, which are not installed: npm ci")
    return Draft7Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def faults(validator: Draft7Validator, document: Any) -> list[str]:
    return [f"{each.json_path}: {each.message}" for each in validator.iter_errors(document)]


def test_findings_of_every_kind_are_sarif(run: CommandLine, validator: Draft7Validator) -> None:
    run.write(
        {
            "plain ä.py": BUGGY,
            "mismatch.py": MISMATCH,
            "cells.ipynb": json.dumps(NOTEBOOK),
            "bad.py": "x = (\n",
        }
    )
    document = run("check", "--output-format", "sarif").json
    (found,) = document["runs"]
    assert found["invocations"][0]["toolExecutionNotifications"]
    results = found["results"]
    assert any("fixes" in each for each in results)
    assert any("relatedLocations" in each for each in results)
    assert any("logicalLocations" in each["locations"][0] for each in results)
    assert faults(validator, document) == []


def test_a_run_without_findings_is_sarif(run: CommandLine, validator: Draft7Validator) -> None:
    run.write({"a.py": "import torch\n"})
    assert faults(validator, run("check", "--output-format", "sarif").json) == []


def test_the_schema_refuses_what_is_not_sarif(run: CommandLine, validator: Draft7Validator) -> None:
    run.write({"a.py": BUGGY})
    document = run("check", "--output-format", "sarif").json
    document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert faults(validator, document)
