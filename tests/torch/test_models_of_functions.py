"""A choice of functions and methods against PyTorch itself, in every placement of their tensors.

`server/tools/verify_models.py` does this for all of them; where there is no GPU, tensors are fake.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server" / "tools"))

from model_check import accelerator  # noqa: E402
from model_check.abstraction import differences, value  # noqa: E402
from model_check.comparison import verify  # noqa: E402
from model_check.names import resolve  # noqa: E402
from model_check.recorder import SITE, Recorder  # noqa: E402
from model_check.written_samples import written  # noqa: E402

from device_lens.domain.values import DeviceValue  # noqa: E402
from device_lens.models import registry  # noqa: E402
from device_lens.models.call import Call  # noqa: E402

SEVERAL = """
    torch.max torch.where torch.meshgrid torch.einsum torch.scatter_reduce torch.bilinear
    torch.lstm_cell torch.div torch.embedding torch.hinge_embedding_loss torch.triplet_margin_loss
    torch.cosine_similarity torch.chain_matmul torch.prelu torch.nn.functional.linear
    torch.nn.functional.embedding torch.nn.functional.cross_entropy
    torch.nn.functional.scaled_dot_product_attention torch.Tensor.type_as
"""
ALONE = """
    torch.zeros torch.ones torch.randn torch.full torch.arange torch.linspace torch.eye
    torch.zeros_like torch.tensor torch.randint torch.Tensor.new_zeros torch.Tensor.half
    torch.Tensor.cpu torch.Tensor.double torch.Tensor.requires_grad_ torch.split torch.hann_window
    torch.Tensor.size torch.Tensor.numel torch.slogdet torch.pixel_shuffle
    torch.nn.functional.avg_pool2d
"""
SAMPLES = written()


@pytest.fixture(autouse=True)
def _tensors() -> Iterator[None]:
    with accelerator.tensors():
        yield


@pytest.mark.parametrize("name", SEVERAL.split())
def test_operands_agree_as_in_pytorch(name: str) -> None:
    verdict = _verdict(name)
    assert verdict.mixed
    assert verdict.disagreements == []


@pytest.mark.parametrize("name", ALONE.split())
def test_results_are_where_pytorch_puts_them(name: str) -> None:
    verdict = _verdict(name)
    assert verdict.ran
    assert verdict.disagreements == []


def _verdict(name: str) -> Any:
    function = resolve(name)
    assert function is not None
    verdict = verify(name, function, SAMPLES[name], accelerator.DEVICE)
    assert verdict.covered
    return verdict


@pytest.mark.parametrize("name", "device shape dtype T mT data ndim is_cuda is_cpu".split())
@pytest.mark.parametrize("device", ["cpu", accelerator.DEVICE])
def test_attributes_read_as_in_pytorch(name: str, device: str) -> None:
    tensor = torch.ones(2, 3, device=device, requires_grad=device == "cpu")
    model = registry.attribute(f"torch.Tensor.{name}")
    assert model is not None
    found = model(Call(name, value(tensor), (), {}, SITE, Recorder()))
    real = getattr(tensor, name)
    if isinstance(real, torch.Tensor):
        assert list(differences(found, real)) == []
    elif isinstance(real, torch.device):
        assert found == DeviceValue(value(real).device, placed=True)
    else:
        assert found == value(real)
