"""What assigning to a module registers, and what its moves reach."""

from __future__ import annotations

from fake_services import CUDA, SITE, FakeServices, call, run, tensor

from device_lens.domain.atom import Atom
from device_lens.domain.device import CPU, UNKNOWN_DEVICE, is_unknown
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import Instance, ModuleObject, Parameter
from device_lens.domain.values import NONE, Const, External, TupleValue
from device_lens.models.call import Call
from device_lens.models.torch.construction import opaque
from device_lens.models.torch.forward_hooks import run_after
from device_lens.models.torch.module import (
    get_attribute,
    lose,
    move,
    opaque_attribute,
    set_attribute,
)
from device_lens.models.torch.moved_along import HELD
from device_lens.models.torch.parts import (
    all_parts,
    bytes_and_count,
    devices_of,
    home_device,
    walk,
)


def make() -> tuple[FakeServices, ModuleObject]:
    services = FakeServices()
    return services, ModuleObject(External("Net"), SITE)


def assign(services: FakeServices, module: ModuleObject, name: str, value: object) -> str:
    return set_attribute(services, module, name, value, SITE)


def test_assignment_registers_by_kind() -> None:
    services, module = make()
    assert assign(services, module, "fc", call(services, "torch.nn.Linear", 2, 3)) == "module"
    assert assign(services, module, "w", Parameter(tensor())) == "parameter"
    assert assign(services, module, "mask", tensor()) == "plain"
    module.buffers["mean"] = NONE
    assert assign(services, module, "mean", tensor()) == "buffer"
    assert assign(services, module, "w", NONE) == "parameter"
    assert assign(services, module, "fc", NONE) == "module"
    buffer = call(services, "torch.nn.Buffer", tensor())
    assert assign(services, module, "grid", buffer) == "buffer"


def test_a_module_that_a_guard_chooses_is_registered() -> None:
    services, module = make()
    either = Guarded(Atom("flag"), call(services, "torch.nn.Linear", 2, 2), NONE)
    assert assign(services, module, "head", either) == "module"
    move(services, module, CUDA)
    assert devices_of(module) is CUDA


def test_a_move_reaches_parts_and_not_plain_attributes() -> None:
    services, module = make()
    weight = Parameter(tensor(CPU, 3))
    assign(services, module, "w", weight)
    assign(services, module, "mask", tensor(CPU, 3))
    module.buffers["mean"] = tensor(CPU, 3, dtype="int64")
    assign(services, module, "inner", call(services, "torch.nn.Linear", 3, 3))
    move(services, module, CUDA, "float16")
    assert weight.tensor.device is CUDA
    assert weight.tensor.dtype == "float16"
    assert module.buffers["mean"].device is CUDA
    assert module.buffers["mean"].dtype == "int64"
    assert get_attribute(services, module, "mask").device is CPU
    assert devices_of(module) is CUDA


def test_to_answers_the_module_itself() -> None:
    services = FakeServices()
    linear = call(services, "torch.nn.Linear", 2, 3)
    assert run(services, linear, "to", "cuda") is linear
    assert run(services, linear, "half") is linear
    part = next(all_parts(linear)).value.tensor
    assert (part.device, part.dtype) == (CUDA, "float16")
    assert part.trail.kind == "moved"
    assert part.trail.first.kind == "created"


def test_a_move_undone_leaves_everything_where_it_was() -> None:
    services = FakeServices()
    linear = call(services, "torch.nn.Linear", 2, 3)
    mark = services.journal.mark()
    run(services, linear, "cuda")
    services.journal.undo(mark)
    assert devices_of(linear) is CPU


def test_shared_and_cyclic_modules_are_walked_once() -> None:
    services, module = make()
    linear = call(services, "torch.nn.Linear", 2, 2)
    assign(services, module, "a", linear)
    assign(services, module, "b", linear)
    assign(services, linear, "up", module)
    assert [name for name, _ in walk(module)] == ["", "a"]
    assert bytes_and_count(module) == (24, 6)


def test_parts_in_two_places_are_nowhere() -> None:
    services, module = make()
    assign(services, module, "a", call(services, "torch.nn.Linear", 2, 2))
    assert devices_of(module) is CPU
    assign(services, module, "b", call(services, "torch.nn.Linear", 2, 2, device="cuda"))
    assert devices_of(module) is UNKNOWN_DEVICE
    assert home_device(module) is CPU
    assert devices_of(ModuleObject(External("Empty"))) is None


def test_an_opaque_module_moves_with_its_children_and_its_parameter() -> None:
    services = FakeServices()
    request = Call("lib.model", None, (), {}, SITE, services)
    model = opaque(request, "lib.Model", CPU, "float32")
    head = opaque_attribute(model, "head")
    parameter = run(services, model, "parameters").rest
    assert opaque_attribute(model, "head") is head
    assert devices_of(head) is CPU
    move(services, model, CUDA)
    assert devices_of(head) is CUDA
    assert parameter.tensor.device is CUDA
    assert opaque_attribute(model, "config") is opaque_attribute(model, "config")


def test_iterating_over_parts() -> None:
    services, module = make()
    assign(services, module, "fc", call(services, "torch.nn.Linear", 2, 3))
    module.buffers["mean"] = tensor(CPU, 3)
    names = [item.items[0] for item in run(services, module, "named_parameters").items]
    assert names == [Const("fc.weight"), Const("fc.bias")]
    assert len(run(services, module, "buffers").items) == 1
    assert len(run(services, module, "modules").items) == 2
    assert len(run(services, module, "children").items) == 1
    state = run(services, module, "state_dict")
    assert list(state.entries) == ["mean", "fc.weight", "fc.bias"]
    assert state.entries["fc.weight"].requires_grad is False


def test_loading_a_state_keeps_the_device_unless_it_is_assigned() -> None:
    services = FakeServices()
    target = call(services, "torch.nn.Linear", 2, 3)
    source = run(services, call(services, "torch.nn.Linear", 2, 3, device="cuda"), "state_dict")
    run(services, target, "load_state_dict", source)
    assert devices_of(target) is CPU
    run(services, target, "load_state_dict", source, assign=True)
    assert devices_of(target) is CUDA


def test_apply_visits_submodules_first() -> None:
    services, module = make()
    linear = call(services, "torch.nn.Linear", 2, 2)
    assign(services, module, "fc", linear)
    visited: list[object] = []
    run(services, module, "apply", visited.append)
    assert visited == [linear, module]


def test_freezing_and_modes() -> None:
    services = FakeServices()
    linear = call(services, "torch.nn.Linear", 2, 2)
    run(services, linear, "requires_grad_", False)
    run(services, linear, "eval")
    assert all(part.value.tensor.requires_grad is False for part in all_parts(linear))
    assert linear.fields["training"] == Const(False)


def test_forward_hooks_may_replace_the_output() -> None:
    services = FakeServices()
    linear = call(services, "torch.nn.Linear", 2, 2)
    other = tensor("cuda", 1)

    def hook(module: object, args: TupleValue, output: object) -> object:
        assert args.items == ()
        return other

    handle = run(services, linear, "register_forward_hook", hook)
    assert isinstance(handle, Instance)
    assert run_after(services, linear, ((), {}), tensor()) is other


def test_modules_nested_deeper_than_calls_can_be_are_walked() -> None:
    _, inner = make()
    inner.parameters["w"] = Parameter(tensor())
    for _ in range(3000):
        _, outer = make()
        outer.modules["a"] = outer.modules["b"] = inner
        inner = outer
    assert sum(1 for _ in walk(inner)) == 3001
    assert len(list(all_parts(inner))) == 1


def test_modules_that_hold_each_other_are_lost_once() -> None:
    services = FakeServices()
    modules = [ModuleObject(External("Net"), SITE) for _ in range(3)]
    for module in modules:
        module.own[HELD] = tuple(each for each in modules if each is not module)
        module.parameters["weight"] = Parameter(tensor())
    lose(services, modules[0])
    assert all(is_unknown(devices_of(module)) for module in modules)
    move(services, modules[0], CUDA)
    assert [devices_of(module) is CUDA for module in modules] == [True, False, False]
