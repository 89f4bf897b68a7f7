"""What every module has, held against the installed PyTorch."""

from __future__ import annotations

import pytest

from device_lens.models.torch.every_module import OF_EVERY_MODULE


def test_the_list_is_that_of_a_new_module() -> None:
    nn = pytest.importorskip("torch.nn")
    found = {name for name in dir(nn.Module()) if name[:2] != "__" and not hasattr(object, name)}
    assert found == OF_EVERY_MODULE
