"""Stars for the eyes of type checkers while the modules that they name are edited."""

from __future__ import annotations

from pathlib import Path

from ide_editing import Editing

ZOO = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from nets import *\n"
NETS = """\
import torch


def make():
    return torch.ones(3, device="cuda")
"""
MAIN = "import zoo\n\na = zoo.make()\nb = zoo.other()\n"


def test_names_come_and_go_with_the_module_that_has_them(tmp_path: Path) -> None:
    editing = Editing(tmp_path, {"zoo": ZOO, "nets": NETS, "main": MAIN})
    editing.agree()
    editing.edit("nets", '"cuda"', '"cpu"')
    editing.agree()
    editing.edit("nets", "def make", "def other():\n    return torch.ones(2)\n\n\ndef make")
    editing.agree()
    editing.edit("nets", "def make", "def made")
    editing.agree()


def test_a_bare_word_may_be_a_name_that_a_star_brings(tmp_path: Path) -> None:
    kept = "import torch\n\nkept = torch.ones(2)\n"
    editing = Editing(tmp_path, {"nets": kept, "main": "from nets import *\n\nkept\nlater = 2\n"})
    editing.agree()
    editing.edit("main", "kept\n", "def k\n")
    editing.agree()
    editing.edit("main", "def k\n", "kept\n")
    editing.agree()
