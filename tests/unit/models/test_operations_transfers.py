"""Moves and conversions of tensors."""

from __future__ import annotations

from typing import Any

import pytest
from harness import CUDA, CUDA1, Recorder, call, dtype, on, read, value

from device_lens.domain.atom import Atom
from device_lens.domain.device import CPU, UNKNOWN_DEVICE, SymbolicDevice
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import Parameter
from device_lens.domain.values import (
    FALSE,
    TRUE,
    Const,
    DeviceValue,
    DtypeValue,
    External,
    Tensor,
    Unknown,
)

HERE = on(CPU, 2, 3)
THERE = on(CUDA, 2, 3)


@pytest.mark.parametrize(
    ("args", "kwargs", "device", "kind"),
    [
        (("cuda:1",), {}, CUDA1, "float32"),
        (("cuda",), {}, CUDA, "float32"),
        ((1,), {}, CUDA1, "float32"),
        ((value(CUDA1),), {}, CUDA1, "float32"),
        ((dtype("float16"),), {}, CPU, "float16"),
        (("cuda:1", dtype("float16")), {}, CUDA1, "float16"),
        ((on(CUDA1, dtype="int64"),), {}, CUDA1, "int64"),
        ((), {"device": "cuda:1"}, CUDA1, "float32"),
        ((), {"device": "cuda:1", "dtype": dtype("int64")}, CUDA1, "int64"),
        ((), {"other": on(CUDA1)}, CUDA1, "float32"),
        ((None, dtype("float64")), {}, CPU, "float64"),
        (("cuda", True), {}, CUDA, "float32"),
        ((), {"memory_format": Unknown()}, CPU, "float32"),
        ((Unknown("weight_dtype"),), {}, CPU, None),
    ],
)
def test_to_in_all_its_forms(args: Any, kwargs: Any, device: Any, kind: Any) -> None:
    found = call("torch.Tensor.to", HERE, *args, **kwargs)
    assert (found.device, found.dtype, found.shape) == (device, kind, (2, 3))


def test_a_move_to_where_it_is_gives_the_tensor_itself() -> None:
    assert call("torch.Tensor.to", THERE, "cuda") is THERE
    assert call("torch.Tensor.cpu", HERE) is HERE
    assert call("torch.Tensor.float", THERE) is THERE
    assert call("torch.Tensor.to", THERE, "cuda", copy=True) is not THERE
    made = call("torch.ones", 3)
    assert call("torch.Tensor.to", made, "cpu").default_made
    assert not call("torch.Tensor.cuda", made).default_made


def test_cuda_names_the_current_device_or_one() -> None:
    assert call("torch.Tensor.cuda", HERE, services=Recorder(current=CUDA1)).device is CUDA1
    assert call("torch.Tensor.cuda", HERE, 1).device is CUDA1
    assert call("torch.Tensor.cuda", HERE, None).device is CUDA
    assert call("torch.Tensor.cuda", HERE, non_blocking=True).device is CUDA


@pytest.mark.parametrize("name", ["half", "float", "double", "bfloat16", "long", "int", "bool"])
def test_conversions_stay(name: str) -> None:
    found = call(f"torch.Tensor.{name}", on(CUDA1, 2, dtype="complex64"))
    assert found.device is CUDA1
    assert found.dtype != "complex64"


def test_types_may_move() -> None:
    assert call("torch.Tensor.type", HERE, "torch.cuda.HalfTensor").device is CUDA
    assert call("torch.Tensor.type", THERE, External("torch.FloatTensor")).device is CPU
    assert call("torch.Tensor.type", THERE, dtype("int64")).device is CUDA
    assert call("torch.Tensor.type_as", HERE, on(CUDA1, dtype="int64")).device is CUDA1


def test_a_moved_leaf_that_requires_grad_is_no_leaf() -> None:
    source = on(CPU, 2, requires_grad=True)
    found = call("torch.Tensor.to", source, "cuda")
    assert (found.requires_grad, found.leaf) == (True, False)
    assert call("torch.Tensor.cuda", Parameter(source)).leaf is False
    assert call("torch.Tensor.to", source, "cpu") is source
    assert call("torch.Tensor.to", source, Unknown("device")).leaf is None
    assert call("torch.Tensor.cuda", source, services=Recorder(off=True)).requires_grad is False


def test_the_trail_tells_the_move() -> None:
    found = call("torch.Tensor.to", call("torch.ones", 3), "cuda:1")
    texts = [step.text for step in found.trail.steps()]
    assert texts == ["is created on the CPU by `torch.ones`", "is moved to `cuda:1`"]


def test_an_unknown_that_moves_may_be_anything() -> None:
    moved = call("torch.Tensor.to", Unknown("batch"), "cuda")
    assert isinstance(moved, Unknown)
    assert moved.device is CUDA
    evident = Unknown("x")
    evident.tensor_evidence = True
    assert isinstance(call("torch.Tensor.to", evident, "cuda"), Tensor)
    symbol = SymbolicDevice("x")
    assert call("torch.Tensor.half", Unknown("x", symbol)).device is symbol


def test_arguments_that_are_not_seen_may_move() -> None:
    assert call("torch.Tensor.to", HERE, complete=False).device is UNKNOWN_DEVICE


def test_pinned_memory() -> None:
    pinned = call("torch.Tensor.pin_memory", HERE)
    assert (pinned.device, pinned.pinned) == (CPU, True)
    assert not call("torch.Tensor.to", pinned, "cuda").pinned


def test_attributes() -> None:
    tensor = on(CUDA1, 2, 3, requires_grad=True)
    assert read(tensor, "torch.Tensor.device") == DeviceValue(CUDA1, placed=True)
    assert read(tensor, "torch.Tensor.shape").items == (Const(2), Const(3))
    assert read(tensor, "torch.Tensor.dtype") == DtypeValue("float32")
    assert read(tensor, "torch.Tensor.T").shape == (3, 2)
    assert read(tensor, "torch.Tensor.ndim") == Const(2)
    assert read(tensor, "torch.Tensor.requires_grad") == TRUE
    assert read(tensor, "torch.Tensor.data").requires_grad is False
    assert read(tensor, "torch.Tensor.grad").device is CUDA1
    assert read(value(CUDA1), "torch.device.type") == Const("cuda")
    assert read(value(CUDA1), "torch.device.index") == Const(1)


def test_questions_of_the_device_are_trees() -> None:
    atom = Atom("flag")
    tree = Guarded(atom, CUDA, CPU)
    found = read(Tensor(tree), "torch.Tensor.is_cuda")
    assert (found.yes, found.no) == (TRUE, FALSE)
    kind = read(value(CUDA), "torch.device.type")
    assert kind == Const("cuda")
    symbol = SymbolicDevice("x")
    asked = read(Tensor(symbol), "torch.Tensor.is_cuda")
    assert (asked.yes, asked.no) == (TRUE, FALSE)
    assert read(Tensor(symbol), "torch.Tensor.is_cuda") == asked
