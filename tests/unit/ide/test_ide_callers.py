"""What is told in a file of what the scripts that reach it do."""

from __future__ import annotations

from pathlib import Path

from ide_editing import Editing

MODEL = """\
import torch


def run(x):
    return x.to("cuda:1")


def noise():
    return torch.rand(2)
"""
TRAIN = """\
import os
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
import torch
import model

if __name__ == "__main__":
    # here
    model.run(torch.zeros(2))
"""


def test_a_finding_whose_cause_stands_in_the_script(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"model": MODEL, "train": TRAIN})
    _, found = editing.said("model")
    (message,) = [each[2] for each in found if each[0] == "visible-devices"]
    assert "(train.py, line 2)" in message


def test_a_default_device_that_a_script_comes_to_set(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"model": MODEL, "train": TRAIN})
    assert _made(editing) == "cpu"
    for setter in ('torch.set_default_device("cuda")', "torch.set_default_tensor_type(kind)"):
        editing.edit("train", "# here", setter)
        assert _made(editing) is None
        editing.agree()
        editing.edit("train", setter, "# here")
        assert _made(editing) == "cpu"
        editing.agree()


def _made(editing: Editing) -> str | None:
    """Where the tensor is that a function makes which nobody calls."""
    told, _ = editing.said("model")
    found: list[str | None] = [
        each["device"]
        for each in told["expressions"]
        if each["text"] == "torch.rand(2)"  # type: ignore[index]
    ]
    return found[0]
