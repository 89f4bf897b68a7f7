"""Shapes, dtypes and gradients of results, and what is made of unknowns."""

from __future__ import annotations

from typing import Any

import pytest
from harness import CUDA, Recorder, call, on

from device_lens.domain.device import CPU, UNKNOWN_DEVICE, Device, SymbolicDevice
from device_lens.domain.heap import Parameter
from device_lens.domain.values import Const, Tensor, Unknown
from device_lens.models import registry
from device_lens.models.numbers import is_number
from device_lens.models.operation import TableModel

X = on(CPU, 2, 3, 4)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "shape"),
    [
        ("add", (on(CPU, 2, 1, 4), on(CPU, 3, 1)), {}, (2, 3, 4)),
        ("sum", (X,), {}, ()),
        ("sum", (X, 1), {}, (2, 4)),
        ("mean", (X,), {"dim": (0, 2), "keepdim": True}, (1, 3, 1)),
        ("argmax", (X,), {"dim": -1}, (2, 3)),
        ("Tensor.sum", (X,), {"axis": 0}, (3, 4)),
        ("matmul", (X, on(CPU, 4, 5)), {}, (2, 3, 5)),
        ("bmm", (X, on(CPU, 2, 4, 6)), {}, (2, 3, 6)),
        ("Tensor.view", (X, 6, -1), {}, (6, 4)),
        ("Tensor.view", (X, (24,)), {}, (24,)),
        ("Tensor.reshape", (X, -1, 12), {}, (2, 12)),
        ("Tensor.permute", (X, 2, 0, 1), {}, (4, 2, 3)),
        ("permute", (X, (2, 0, 1)), {}, (4, 2, 3)),
        ("transpose", (X, 0, -1), {}, (4, 3, 2)),
        ("Tensor.t", (on(CPU, 2, 3),), {}, (3, 2)),
        ("Tensor.unsqueeze", (X, 1), {}, (2, 1, 3, 4)),
        ("Tensor.squeeze", (on(CPU, 1, 3, 1),), {}, (3,)),
        ("squeeze", (on(CPU, 1, 3, 1), 0), {}, (3, 1)),
        ("flatten", (X, 1), {}, (2, 12)),
        ("cat", ([X, X],), {"dim": 1}, (2, 6, 4)),
        ("stack", ([X, X],), {"dim": -1}, (2, 3, 4, 2)),
        ("Tensor.expand", (on(CPU, 1, 3), 5, -1), {}, (5, 3)),
        ("Tensor.repeat", (on(CPU, 2, 3), 2, 2), {}, (4, 6)),
        ("nn.functional.linear", (X, on(CPU, 7, 4)), {}, (2, 3, 7)),
        (
            "nn.functional.embedding",
            (on(CPU, 2, 3, dtype="int64"), on(CPU, 9, 5)),
            {},
            (2, 3, 5),
        ),
        (
            "nn.functional.conv2d",
            (on(CPU, 2, 3, 32, 32), on(CPU, 8, 3, 3, 3)),
            {"stride": 2, "padding": 1},
            (2, 8, 16, 16),
        ),
        ("nn.functional.max_pool2d", (on(CPU, 2, 3, 32, 32), 2), {}, (2, 3, 16, 16)),
        (
            "nn.functional.cross_entropy",
            (on(CPU, 4, 9), on(CPU, 4, dtype="int64")),
            {},
            (),
        ),
        ("Tensor.narrow", (X, 1, 0, 2), {}, (2, 2, 4)),
        ("einsum", ("bij,jk->bik", X, on(CPU, 4, 5)), {}, (2, 3, 5)),
        ("einsum", ("ij, jk", on(CPU, 2, 3), on(CPU, 3, 5)), {}, (2, 5)),
        ("einsum", ("ij,ij->j", on(CPU, 2, 1), on(CPU, 1, 4)), {}, (4,)),
        ("einsum", ("ij,ij->i", on(CPU, 1, 4), on(CPU, None, 4)), {}, (None,)),
        ("einsum", ("ii", on(CPU, 3, 3)), {}, ()),
        ("einsum", ("...ij,jk->...ik", X, on(CPU, 4, 5)), {}, None),
        ("einsum", ("ij->ijk", on(CPU, 2, 3)), {}, None),
        ("outer", (on(CPU, 2), on(CPU, 3)), {}, (2, 3)),
        ("cdist", (on(CPU, 2, 3, 4), on(CPU, 1, 5, 4)), {}, (2, 3, 5)),
        ("repeat_interleave", (X, 2), {}, (48,)),
        ("Tensor.repeat_interleave", (X, 2), {"dim": -1}, (2, 3, 8)),
        ("Tensor.repeat_interleave", (X, on(CPU, 3, dtype="int64"), 1), {}, (2, None, 4)),
    ],
)
def test_shapes(name: str, args: Any, kwargs: Any, shape: Any) -> None:
    assert call(f"torch.{name}", *args, **kwargs).shape == shape


@pytest.mark.parametrize(
    ("name", "args", "kind"),
    [
        ("add", (on(CPU, 2, dtype="int64"), on(CPU, 2, dtype="float16")), "float16"),
        ("add", (on(CPU, 2, dtype="int64"), 1.5), "float32"),
        ("add", (on(CPU, 2, dtype="float16"), on(CPU, dtype="float64")), "float16"),
        ("add", (on(CPU, 2, dtype="int64"), on(CPU, dtype="float64")), "float64"),
        ("div", (on(CPU, 2, dtype="int64"), 2), "float32"),
        ("Tensor.__floordiv__", (on(CPU, 2, dtype="int64"), 2), "int64"),
        ("eq", (X, X), "bool"),
        ("argmax", (X,), "int64"),
        ("sum", (on(CPU, 2, dtype="bool"),), "int64"),
        ("exp", (on(CPU, 2, dtype="int64"),), "float32"),
        ("abs", (on(CPU, 2, dtype="complex64"),), "float32"),
        ("fft.rfft", (X,), "complex64"),
        ("add", (Tensor(CPU), X), None),
    ],
)
def test_dtypes(name: str, args: Any, kind: Any) -> None:
    assert call(f"torch.{name}", *args).dtype == kind


def test_results_of_what_requires_grad_require_grad() -> None:
    source = on(CPU, 2, requires_grad=True)
    found = call("torch.exp", source)
    assert (found.requires_grad, found.leaf) == (True, False)
    assert call("torch.argmax", found).requires_grad is False
    assert call("torch.eq", found, 0).requires_grad is False
    assert call("torch.Tensor.detach", found).requires_grad is False
    assert call("torch.add", X, Parameter(source)).requires_grad is True
    assert call("torch.add", X, X).requires_grad is False
    assert call("torch.add", X, Unknown()).requires_grad is None
    assert call("torch.exp", source, services=Recorder(off=True)).requires_grad is False
    assert call("torch.exp", source, services=Recorder(off=None)).requires_grad is None
    assert call("torch.Tensor.add_", X, source).requires_grad is True
    assert call("torch.Tensor.requires_grad_", X).requires_grad is True


def test_a_result_that_may_be_its_operand_may_be_a_leaf() -> None:
    source = on(CPU, 2, 3, requires_grad=True)
    assert call("torch.Tensor.contiguous", source).leaf is None
    assert call("torch.Tensor.clone", source).leaf is False


def test_the_history_of_the_operand_that_decides_is_kept() -> None:
    made = call("torch.ones", 3)
    assert call("torch.add", made, 1).trail is made.trail
    moved = call("torch.Tensor.cuda", made)
    assert call("torch.mul", call("torch.tensor", 2.0), moved).trail is moved.trail


def test_questions_of_sizes() -> None:
    assert call("torch.Tensor.size", X, -1) == Const(4)
    assert call("torch.Tensor.numel", X) == Const(24)
    assert call("torch.Tensor.dim", X) == Const(3)
    assert is_number(call("torch.Tensor.size", Tensor(CPU), 0))
    assert call("torch.zeros", call("torch.Tensor.size", Tensor(CPU), 0)).zero_dim is False


@pytest.mark.parametrize("name", ["unsqueeze", "masked_fill", "permute", "add_", "new_zeros"])
def test_methods_that_only_tensors_have_are_evidence(name: str) -> None:
    receiver = Unknown("x", SymbolicDevice("x"))
    found = call(f"torch.Tensor.{name}", receiver, 1)
    assert receiver.tensor_evidence
    assert found is receiver or found.device is receiver.device


@pytest.mark.parametrize("name", ["split", "index", "sum", "view", "mean", "reshape"])
def test_methods_that_others_have_too_are_none(name: str) -> None:
    receiver = Unknown("x", SymbolicDevice("x"))
    found = (
        call(f"torch.Tensor.{name}", receiver, ",")
        if registry.function(f"torch.Tensor.{name}")
        else Unknown("x", receiver.device)
    )
    assert not receiver.tensor_evidence
    assert isinstance(found, Unknown)
    assert found.device is receiver.device


@pytest.mark.parametrize("name", ["item", "size", "stride", "dim"])
def test_methods_that_give_no_tensor_are_on_no_device(name: str) -> None:
    receiver = Unknown("x", Device("cuda", 1))
    found = call(f"torch.Tensor.{name}", receiver)
    assert not receiver.tensor_evidence
    assert isinstance(found, Unknown)
    assert found.device is UNKNOWN_DEVICE


def test_every_row_can_be_read() -> None:
    registry.function("torch.add")
    rows = [model for model in registry.FUNCTIONS.values() if isinstance(model, TableModel)]
    assert len(rows) > 500
    for model in rows:
        operation = model.operation
        assert operation.form in ("tensor", "tuple", "list", "host", "none", "written")
        names = [slot.name for slot in operation.signature.slots]
        assert len(names) == len(set(names)), model.row
        assert operation.guests is None or all(
            name in names or name.startswith("<") for name in operation.guests
        ), model.row


def test_results_on_the_accelerator_stay_there() -> None:
    there = on(CUDA, 4, 4)
    for name in (
        "sum",
        "softmax",
        "fft.fft",
        "linalg.inv",
        "cumsum",
        "nn.functional.gelu",
    ):
        args = (there, 0) if name in ("softmax", "cumsum") else (there,)
        assert call(f"torch.{name}", *args).device is CUDA
