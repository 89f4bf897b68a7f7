"""Which expression a fix follows."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_programs import analysed_text

CALL = "f(torch.ones(3, device=device))\n"


@pytest.mark.parametrize(
    ("body", "device"),
    [
        ("def f(x):\n    y = torch.zeros(3)\n    return x * y\n", "x.device"),
        ("def f(x):\n    d = x.device\n    y = torch.zeros(3)\n    return (x * 1) * y\n", "d"),
        ("def f(x):\n    y = torch.zeros(3)\n    z = x * 2\n    return z * y\n", "x.device"),
        (
            "def f(x, n=1):\n    if n > 2:\n        z = x\n    y = torch.zeros(3)\n"
            "    z = x * 2\n    return z * y\n",
            "x.device",
        ),
    ],
    ids=["the operand", "a device of the function", "a name bound later", "a name of a branch"],
)
def test_followed(tmp_path: Path, body: str, device: str) -> None:
    found = analysed_text(tmp_path, body + CALL).findings
    assert [each.rule for each in found] == ["created-on-default-device"]
    assert found[0].fixes[0].edits[0].new_text == f", device={device}"


def test_a_rebound_device_is_not_followed(tmp_path: Path) -> None:
    text = """\
x = torch.ones(3, device=device)
device = torch.device("cpu")
y = torch.zeros(3)
z = (x + 1) * y
"""
    found = analysed_text(tmp_path, text).findings
    assert [each.rule for each in found] == ["created-on-default-device"]
    assert found[0].fixes[0].edits[0].new_text == ", device=x.device"


def test_parameters_of_the_module(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def start(self):
        return torch.zeros(3)

    def forward(self, x):
        return self.fc(x) * self.start()

Net().to(device)(torch.ones(3, device=device))
"""
    found = analysed_text(tmp_path, text).findings
    assert [each.rule for each in found] == ["created-on-default-device"]
    assert found[0].fixes[0].edits[0].new_text in (
        ", device=next(self.parameters()).device",
        ", device=next(self.fc.parameters()).device",
    )
