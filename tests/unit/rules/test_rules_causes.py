"""One cause makes one finding, where the cause is."""

from __future__ import annotations

from pathlib import Path

from rule_programs import HEAD, analysed, analysed_text, rules_of

LOSS = """\
def loss(a):
    target = torch.arange(3)
    return a * target + (a - target)

loss(torch.ones(3, device=device))
"""


def test_conflicts_with_one_cause_are_one_finding(tmp_path: Path) -> None:
    found = analysed_text(tmp_path, LOSS).findings
    assert [each.rule for each in found] == ["created-on-default-device"]
    lines = {each.range.start.line for each in found[0].related}
    assert 5 in lines


def test_the_message_names_values_devices_and_origins(tmp_path: Path) -> None:
    message = analysed_text(tmp_path, LOSS).findings[0].message
    for part in ("torch.arange", "`target`", "the CPU", "`a` is on cuda", "when CUDA is available"):
        assert part in message
    assert message.count(". ") <= 1


def test_a_cause_in_another_file_is_reported_there(tmp_path: Path) -> None:
    masks = "import torch\n\ndef mask(size):\n    return torch.ones(size)\n"
    main = f"from masks import mask\n{HEAD}y = torch.ones(3, device=device) * mask(3)\n"
    found = analysed(tmp_path, {"main.py": main, "masks.py": masks})
    assert rules_of(found["main.py"]) == []
    assert rules_of(found["masks.py"]) == ["created-on-default-device"]
    assert {each.path for each in found["masks.py"].findings[0].related} >= {
        str(tmp_path / "main.py")
    }


def test_data_of_a_script_is_not_blamed_on_its_factory(tmp_path: Path) -> None:
    text = "labels = torch.randint(0, 3, (8,))\ny = torch.ones(8, device=device) == labels\n"
    assert rules_of(analysed_text(tmp_path, text)) == ["device-mismatch"]


def test_data_of_a_dataset_is_not_blamed_on_its_factory(tmp_path: Path) -> None:
    text = """\
class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.zeros(5)

for x in torch.utils.data.DataLoader(Pairs()):
    y = x * torch.ones(5, device=device)
"""
    assert rules_of(analysed_text(tmp_path, text)) == ["device-mismatch"]


def test_a_discarded_transfer_explains_what_follows(tmp_path: Path) -> None:
    text = "x = torch.ones(3)\nx.to(device)\ny = x + torch.ones(3, device=device)\n"
    found = analysed_text(tmp_path, text).findings
    assert [each.rule for each in found] == ["discarded-transfer"]
    assert 5 in {each.range.start.line for each in found[0].related}
