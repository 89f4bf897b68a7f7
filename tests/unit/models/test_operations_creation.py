"""Factories: where they create, of what shape and dtype."""

from __future__ import annotations

from typing import Any

import pytest
from harness import CUDA, CUDA1, Recorder, call, dtype, on, value

from device_lens.domain.atom import Atom
from device_lens.domain.device import CPU, UNKNOWN_DEVICE, SymbolicDevice
from device_lens.domain.guard import Guarded
from device_lens.domain.values import Const, DeviceValue, HostArray, Unknown
from device_lens.models.numbers import number


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "shape", "kind"),
    [
        ("zeros", (2, 3), {}, (2, 3), "float32"),
        ("ones", ((2, 3),), {}, (2, 3), "float32"),
        ("randn", ([2, 3],), {"dtype": dtype("float64")}, (2, 3), "float64"),
        ("empty", (), {"size": (4,)}, (4,), "float32"),
        ("zeros", ((),), {}, (), "float32"),
        ("full", ((2, 2), 7), {}, (2, 2), "int64"),
        ("full", ((2, 2), 0.5), {}, (2, 2), "float32"),
        ("arange", (5,), {}, (5,), "int64"),
        ("arange", (1, 2, 0.25), {}, (4,), "float32"),
        ("arange", (), {"end": 5, "step": 2}, (3,), "int64"),
        ("arange", (None,), {}, (None,), None),
        ("arange", (float("inf"),), {}, (None,), "float32"),
        ("arange", (number("n"),), {}, (None,), None),
        ("linspace", (0, 1, 11), {}, (11,), "float32"),
        ("eye", (3,), {}, (3, 3), "float32"),
        ("randint", (10, (4, 5)), {}, (4, 5), "int64"),
        ("randint", (2, 10, (4, 5)), {}, (4, 5), "int64"),
        ("randperm", (9,), {}, (9,), "int64"),
        ("hann_window", (16,), {}, (16,), "float32"),
        ("tensor", ([[1, 2], [3, 4]],), {}, (2, 2), "int64"),
        ("tensor", (1.5,), {}, (), "float32"),
        ("tensor", ([True],), {}, (1,), "bool"),
        ("tensor", ([],), {}, (0,), "float32"),
    ],
)
def test_a_factory_creates_on_the_default_device(
    name: str, args: Any, kwargs: Any, shape: Any, kind: Any
) -> None:
    found = call(f"torch.{name}", *args, **kwargs)
    assert found.device is CPU
    assert found.default_made
    assert (found.shape, found.dtype) == (shape, kind)
    moved_default = call(f"torch.{name}", *args, services=Recorder(default=CUDA1), **kwargs)
    assert moved_default.device is CUDA1
    chosen = call(f"torch.{name}", *args, device="cuda:1", **kwargs)
    assert chosen.device is CUDA1
    assert not chosen.default_made


def test_normal_does_not_hear_the_default_device() -> None:
    found = call("torch.normal", 0.0, 1.0, (2, 3), services=Recorder(default=CUDA1))
    assert (found.device, found.shape, found.dtype) == (CPU, (2, 3), "float32")
    assert call("torch.normal", 0.0, 1.0, (2, 3), device="cuda:1").device is CUDA1


def test_cuda_without_an_index_is_the_current_device() -> None:
    assert call("torch.ones", 3, device="cuda", services=Recorder(current=CUDA1)).device is CUDA1
    assert call("torch.ones", 3, device=0).device is CUDA


def test_no_device_is_the_default_device() -> None:
    assert call("torch.ones", 3, device=None, services=Recorder(default=CUDA)).device is CUDA
    choice = Guarded(Atom("flag"), Const("cuda"), Const(None))
    found = call("torch.ones", 3, device=choice).device
    assert (found.yes, found.no) == (CUDA, CPU)


def test_an_unknown_device_stays_the_same_symbol() -> None:
    argument = Unknown("args.device")
    first = call("torch.ones", 3, device=argument).device
    assert isinstance(first, SymbolicDevice)
    assert call("torch.zeros", 4, device=argument).device is first


def test_arguments_that_are_not_seen_may_name_a_device() -> None:
    assert call("torch.ones", 3, complete=False).device is UNKNOWN_DEVICE
    assert call("torch.ones", 3, device="cuda", complete=False).device is CUDA


def test_an_unknown_size_may_be_an_empty_tuple() -> None:
    assert call("torch.zeros", Unknown("shape")).zero_dim is None
    assert call("torch.zeros", number("n")).zero_dim is False
    assert call("torch.zeros", Unknown("n"), 3).zero_dim is False


def test_data_that_is_a_tensor_keeps_its_device() -> None:
    there = on(CUDA1, 2, 3)
    assert call("torch.tensor", there).device is CUDA1
    assert call("torch.as_tensor", there) is there
    assert call("torch.tensor", on(CPU, 2), services=Recorder(default=CUDA)).device is CUDA
    assert call("torch.as_tensor", on(CPU, 2), services=Recorder(default=CUDA)).device is CUDA
    assert call("torch.as_tensor", there, device="cpu").device is CPU
    assert call("torch.as_tensor", [there, there]).device is CPU
    assert call("torch.as_tensor", Unknown("x")).device is UNKNOWN_DEVICE


def test_numpy_arrays_stay_on_the_host_whatever_the_default_is() -> None:
    services = Recorder(default=CUDA)
    array = HostArray("float64", (2, 3))
    found = call("torch.from_numpy", array, services=services)
    assert (found.device, found.dtype, found.shape) == (CPU, "float64", (2, 3))
    assert call("torch.FloatTensor", [1.0], services=services).device is CPU
    assert call("torch.tensor", array, services=services).device is CUDA


@pytest.mark.parametrize("name", ["zeros_like", "randn_like", "empty_like", "rand_like"])
def test_like_follows_its_tensor(name: str) -> None:
    base = on(CUDA1, 2, 3, dtype="float16", requires_grad=True)
    found = call(f"torch.{name}", base, services=Recorder(default=CUDA))
    assert (found.device, found.dtype, found.shape) == (CUDA1, "float16", (2, 3))
    assert found.requires_grad is False
    assert call(f"torch.{name}", base, device="cpu").device is CPU


def test_new_follows_its_receiver() -> None:
    base = on(CUDA1, 2, 3, dtype="float16")
    assert call("torch.Tensor.new_zeros", base, 4, 5).shape == (4, 5)
    assert call("torch.Tensor.new_full", base, (4,), 1.0).device is CUDA1
    assert call("torch.Tensor.new_tensor", base, [1, 2]).dtype == "float16"
    assert call("torch.Tensor.new_ones", base, 4, device="cpu").device is CPU


def test_the_trail_reads_as_a_sentence() -> None:
    assert call("torch.ones", 3).trail.text == "is created on the CPU by `torch.ones`"
    there = call("torch.ones", 3, device="cuda:1")
    assert there.trail.text == "is created on `cuda:1` by `torch.ones`"


def test_devices_are_made_in_all_forms() -> None:
    assert call("torch.device", "cuda:1") == DeviceValue(CUDA1, placed=False)
    assert call("torch.device", "cuda", 1) == DeviceValue(CUDA1, placed=False)
    assert call("torch.device", type="cuda", index=1) == DeviceValue(CUDA1, placed=False)
    assert call("torch.device", 1) == DeviceValue(CUDA1, placed=False)
    assert call("torch.device", value(CUDA1)) == DeviceValue(CUDA1)
    assert call("torch.device", "gpu").device is UNKNOWN_DEVICE
    choice = Guarded(Atom("flag"), Const("cuda:1"), Const("cpu"))
    found = call("torch.device", choice).device
    assert (found.yes, found.no) == (CUDA1, CPU)
