"""Containers of modules and parameters."""

from __future__ import annotations

from fake_services import CUDA, FakeServices, call, run, tensor

from device_lens.domain.device import CPU
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import ListObject, ModuleObject, Parameter
from device_lens.domain.values import NONE, Const, SliceValue, Unknown
from device_lens.models.torch.parts import all_parts, devices_of


def linear(services: FakeServices, size: int = 2) -> ModuleObject:
    made: ModuleObject = call(services, "torch.nn.Linear", size, size)
    return made


def test_a_sequential_hands_its_input_through() -> None:
    services = FakeServices()
    net = call(
        services,
        "torch.nn.Sequential",
        linear(services),
        call(services, "torch.nn.ReLU"),
    )
    run(services, net, "cuda")
    assert run(services, net, "__call__", tensor("cuda", 3, 2)).device is CUDA
    assert not services.conflicts
    run(services, net, "__call__", tensor("cpu", 3, 2))
    assert services.conflicts == [("torch.nn.Linear", 0, "self.weight")]


def test_members_by_position_and_slice() -> None:
    services = FakeServices()
    first, second = linear(services), linear(services, 3)
    net = call(services, "torch.nn.Sequential", first, second)
    assert run(services, net, "__getitem__", 0) is first
    assert run(services, net, "__getitem__", -1) is second
    part = run(services, net, "__getitem__", SliceValue(Const(1), NONE, NONE))
    assert run(services, part, "__getitem__", 0) is second
    assert run(services, net, "__len__") == Const(2)


def test_an_index_that_is_not_known_keeps_all_members() -> None:
    services = FakeServices()
    first, second = linear(services), call(services, "torch.nn.ReLU")
    net = call(services, "torch.nn.ModuleList", [first, second])
    chosen = run(services, net, "__getitem__", Unknown("i"))
    assert isinstance(chosen, Guarded)
    assert {chosen.yes, chosen.no} == {first, second}


def test_lists_grow() -> None:
    services = FakeServices()
    layers = call(services, "torch.nn.ModuleList")
    last = linear(services)
    assert run(services, layers, "append", linear(services)) is layers
    run(services, layers, "extend", [last])
    run(services, layers, "insert", 0, call(services, "torch.nn.ReLU"))
    assert run(services, layers, "__getitem__", -1) is last
    assert run(services, layers, "__len__") == Const(3)
    run(services, layers, "cuda")
    assert devices_of(last) is CUDA


def test_a_list_of_any_number_has_one_member_for_all() -> None:
    services = FakeServices()
    member = linear(services)
    layers = call(services, "torch.nn.ModuleList", ListObject((), member))
    assert run(services, layers, "__getitem__", 3) is member
    assert run(services, layers, "__iter__").rest is member
    run(services, layers, "cuda")
    assert devices_of(member) is CUDA


def test_modules_by_key() -> None:
    services = FakeServices()
    head = linear(services)
    heads = call(services, "torch.nn.ModuleDict", {"a": head})
    run(services, heads, "__setitem__", "b", linear(services))
    assert run(services, heads, "__getitem__", "a") is head
    assert [key.value for key in run(services, heads, "keys").items] == ["a", "b"]
    assert run(services, heads, "items").items[0].items[1] is head
    assert run(services, heads, "__contains__", "c") == Const(False)


def test_parameter_lists_make_parameters_of_tensors() -> None:
    services = FakeServices()
    own = Parameter(tensor("cpu", 2))
    held = call(services, "torch.nn.ParameterList", [own, tensor("cpu", 3)])
    run(services, held, "cuda")
    assert [part.value.tensor.device for part in all_parts(held)] == [CUDA, CUDA]
    assert run(services, held, "__getitem__", 0) is own
    assert isinstance(run(services, held, "__getitem__", 1), Parameter)


def test_replacing_a_member_leaves_the_others() -> None:
    services = FakeServices()
    net = call(services, "torch.nn.Sequential", linear(services), linear(services))
    run(services, net, "cuda")
    fresh = linear(services)
    run(services, net, "__setitem__", 1, fresh)
    assert run(services, net, "__getitem__", 1) is fresh
    assert devices_of(fresh) is CPU
