"""Every class of `torch.nn`: known to the models, with the parameters and buffers it has in
PyTorch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "models"))

from fake_services import FakeServices, call  # noqa: E402

from device_lens.models import registry  # noqa: E402
from device_lens.models.torch.parts import all_parts, tensor_in  # noqa: E402

CLASSES = sorted(
    name
    for name, cls in vars(torch.nn).items()
    if isinstance(cls, type) and issubclass(cls, torch.nn.Module)
)
MADE: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Linear", (3, 4), {}),
    ("Linear", (3, 4), {"bias": False}),
    ("Bilinear", (2, 3, 4), {}),
    ("Conv1d", (4, 8, 3), {"bias": False}),
    ("Conv2d", (4, 8, 3), {"groups": 2}),
    ("Conv3d", (4, 8, (3, 2, 1)), {}),
    ("ConvTranspose2d", (4, 8, (3, 2)), {"groups": 2}),
    ("BatchNorm1d", (3,), {"affine": False}),
    ("BatchNorm2d", (3,), {}),
    ("BatchNorm3d", (3,), {"track_running_stats": False}),
    ("SyncBatchNorm", (3,), {}),
    ("InstanceNorm2d", (3,), {}),
    ("InstanceNorm2d", (3,), {"affine": True, "track_running_stats": True}),
    ("LayerNorm", ((3, 4),), {}),
    ("LayerNorm", (5,), {"elementwise_affine": False}),
    ("LayerNorm", (5,), {"bias": False}),
    ("RMSNorm", (4,), {}),
    ("GroupNorm", (2, 4), {}),
    ("Embedding", (10, 3), {}),
    ("EmbeddingBag", (10, 3), {}),
    ("PReLU", (), {}),
    ("RNN", (3, 4, 2, "relu"), {}),
    ("LSTM", (3, 4, 2), {"batch_first": True, "bidirectional": True}),
    ("LSTM", (3, 4), {"proj_size": 2}),
    ("GRU", (3, 4), {"bias": False}),
    ("RNNCell", (3, 4), {}),
    ("LSTMCell", (3, 4), {}),
    ("GRUCell", (3, 4), {}),
    ("MultiheadAttention", (8, 2), {}),
    ("MultiheadAttention", (8, 2), {"kdim": 3, "vdim": 4}),
    ("MultiheadAttention", (8, 2), {"bias": False, "add_bias_kv": True}),
    ("TransformerEncoderLayer", (8, 2, 16), {}),
    ("TransformerDecoderLayer", (8, 2), {}),
    ("Transformer", (8, 2, 2, 1, 32), {}),
    ("ReLU", (), {}),
    ("MaxPool2d", (2,), {}),
    ("MSELoss", (), {}),
]


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_has_a_model(name: str) -> None:
    assert registry.module(f"torch.nn.{name}") is not None
    file = getattr(torch.nn, name).__module__
    if file.startswith("torch.nn.modules."):
        assert registry.canonical(f"{file}.{name}") == f"torch.nn.{name}"


@pytest.mark.parametrize(("name", "args", "kwargs"), MADE)
def test_parts_are_those_of_pytorch(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    real = getattr(torch.nn, name)(*args, **kwargs)
    named = [*real.named_parameters(), *real.named_buffers()]
    module = call(FakeServices(), f"torch.nn.{name}", *args, **kwargs)
    shapes, dtypes = {}, {}
    for part in all_parts(module):
        held = tensor_in(part.value)
        if held is not None:
            shapes[part.name] = held.shape
            dtypes[part.name] = f"torch.{held.dtype}"
    assert shapes == {key: tuple(value.shape) for key, value in named}
    assert dtypes == {key: str(value.dtype) for key, value in named}


@pytest.mark.parametrize("name", ["state_dict", "to", "register_buffer", "named_parameters"])
def test_methods_exist_in_pytorch(name: str) -> None:
    assert hasattr(torch.nn.Module, name)
    assert registry.function(f"torch.nn.Module.{name}") is not None
