"""Optimizers, data loaders, checkpoints and the state of a program around its modules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fake_services import CUDA, SITE, FakeServices, call, run, tensor

from device_lens.domain.device import CPU, Agreement, Device, DeviceTree, agree
from device_lens.domain.guard import Guarded, Literals, primary
from device_lens.domain.heap import DictObject, Instance, ListObject
from device_lens.domain.trail import Site
from device_lens.domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    DeviceValue,
    External,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models.torch.copying import fresh
from device_lens.models.torch.module import set_attribute
from device_lens.models.torch.optim import ENTRIES
from device_lens.models.torch.parts import devices_of


class Optimizers(FakeServices):
    """Also takes what optimizers and loaders report."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[str] = []

    def optimizer_conflict(
        self,
        form: str,
        optimizer: Site | None,
        move: Site | None,
        state: Site | None,
        literals: Literals,
    ) -> None:
        self.forms.append(form)

    def generator_conflict(
        self, consumer: str, generator: Any, position: int | str, needed: DeviceTree
    ) -> None:
        if agree(generator.fields["device"].device, needed) is Agreement.DIFFERENT:
            self.forms.append(consumer)


def optimizer(services: FakeServices, name: str, module: Any, **options: Any) -> Any:
    return call(services, f"torch.optim.{name}", run(services, module, "parameters"), **options)


def test_an_optimizer_before_the_move_is_fine() -> None:
    services = Optimizers()
    net = call(services, "torch.nn.Linear", 2, 2)
    adam = optimizer(services, "Adam", net, lr=0.1)
    run(services, net, "cuda")
    run(services, adam, "step")
    run(services, adam, "step")
    assert services.forms == []
    state = adam.fields[ENTRIES].rest
    assert state.rest.device is CUDA
    assert state.entries["step"].device is CPU


@pytest.mark.parametrize(
    ("name", "before", "form"),
    [
        ("Adagrad", [], "eager-state"),
        ("Adam", ["step"], "stepped-state"),
        ("Adam", ["load_state_dict"], "loaded-state"),
    ],
)
def test_a_move_that_leaves_the_state_behind(name: str, before: list[str], form: str) -> None:
    services = Optimizers()
    net = call(services, "torch.nn.Linear", 2, 2)
    made = optimizer(services, name, net)
    for method in before:
        run(services, made, method)
    run(services, net, "cuda")
    run(services, made, "step")
    assert services.forms == [form]


def test_plain_gradient_descent_has_no_state_to_leave() -> None:
    services = Optimizers()
    net = call(services, "torch.nn.Linear", 2, 2)
    sgd = optimizer(services, "SGD", net, lr=0.1)
    run(services, sgd, "step")
    run(services, net, "cuda")
    run(services, sgd, "step")
    assert services.forms == []


def test_parameters_replaced_after_the_optimizer_took_them() -> None:
    services = Optimizers()
    net = call(services, "torch.nn.Sequential", call(services, "torch.nn.Linear", 2, 2))
    sgd = optimizer(services, "SGD", net, lr=0.1)
    set_attribute(services, net, "0", call(services, "torch.nn.Linear", 2, 3), SITE)
    run(services, sgd, "step")
    assert services.forms == ["replaced-parameters"]


def test_groups_of_an_optimizer() -> None:
    services = FakeServices()
    net = call(services, "torch.nn.Linear", 2, 2)
    group = {"params": run(services, net, "parameters"), "lr": 0.5}
    adam = call(services, "torch.optim.Adam", [group], lr=0.1)
    first = adam.fields["param_groups"].items[0]
    assert first.entries["lr"] == Const(0.5)
    assert len(first.entries["params"].items) == 2


def loader(services: FakeServices, dataset: Any, **options: Any) -> Any:
    made = call(services, "torch.utils.data.DataLoader", dataset, **options)
    return run(services, made, "__iter__").rest


def test_batches_stay_on_the_host_and_are_pinned_when_asked() -> None:
    services = FakeServices()
    data = call(
        services,
        "torch.utils.data.TensorDataset",
        tensor("cpu", 8, 3),
        tensor("cpu", 8),
    )
    first, second = loader(services, data, batch_size=4, pin_memory=True).items
    assert (first.device, first.shape, first.pinned) == (CPU, (4, 3), True)
    assert second.shape == (4,)
    assert loader(services, data, batch_size=4).items[0].pinned is False


def test_a_dataset_on_an_accelerator_gives_batches_there() -> None:
    services = FakeServices()
    data = call(services, "torch.utils.data.TensorDataset", tensor("cuda", 8, 3))
    assert loader(services, data).items[0].device is CUDA


def test_collation_by_kind() -> None:
    services = FakeServices()
    item = DictObject(
        {
            "x": tensor("cpu", 3),
            "y": Const(1),
            "name": Const("a"),
            "z": HostArray("float64", (2,)),
        }
    )
    batch = loader(services, ListObject((item,)), batch_size=4)
    assert batch.entries["x"].shape == (4, 3)
    assert (batch.entries["y"].dtype, batch.entries["y"].device) == ("int64", CPU)
    assert batch.entries["name"].rest == Const("a")
    assert batch.entries["z"].shape == (4, 2)


def test_what_a_dataset_holds_may_be_unknown_but_is_on_the_host() -> None:
    services = FakeServices()
    batch = loader(services, ListObject((), Unknown("sample")))
    assert batch.device is CPU


def test_a_collate_function_gets_the_items() -> None:
    services = FakeServices()

    def collate(items: ListObject) -> Any:
        return items.rest.with_(device=CUDA)

    data = ListObject((), tensor("cpu", 3))
    assert loader(services, data, batch_size=4, collate_fn=collate).device is CUDA


def test_splitting_a_dataset() -> None:
    services = FakeServices()
    data = call(services, "torch.utils.data.TensorDataset", tensor("cpu", 8, 3))
    parts = call(services, "torch.utils.data.random_split", data, [6, 2])
    assert len(parts.items) == 2
    assert loader(services, parts.items[0], batch_size=2).items[0].shape == (2, 3)


def test_what_is_saved_can_be_loaded_elsewhere() -> None:
    services = FakeServices()
    services.shared = {}  # type: ignore[attr-defined]
    net = call(services, "torch.nn.Linear", 2, 2, device="cuda")
    call(services, "torch.save", {"model": run(services, net, "state_dict")}, "a.pt")
    run(services, net, "cpu")
    as_saved = call(services, "torch.load", "a.pt")
    assert as_saved.entries["model"].entries["weight"].device is CUDA
    moved = call(services, "torch.load", "a.pt", map_location="cpu")
    assert moved.entries["model"].entries["weight"].device is CPU
    table = call(services, "torch.load", "a.pt", map_location={"cuda": "cuda:1"})
    assert table.entries["model"].entries["weight"].device is Device("cuda", 1)


def test_loading_what_is_not_known() -> None:
    services = FakeServices()
    assert call(services, "torch.load", "other.pt", map_location="cuda").device is CUDA
    storage = call(services, "torch.load", "other.pt", map_location=lambda storage, where: storage)
    assert isinstance(storage, Unknown)


def test_the_current_device_and_the_default_one() -> None:
    services = FakeServices()
    call(services, "torch.cuda.set_device", 1)
    assert call(services, "torch.cuda.current_device") == Const(1)
    net = call(services, "torch.nn.Linear", 2, 2)
    run(services, net, "cuda")
    assert devices_of(net) is Device("cuda", 1)
    call(services, "torch.set_default_device", "cuda")
    assert services.default_device() is Device("cuda", 1)
    call(services, "torch.set_default_device", None)
    assert services.default_device() is CPU


def test_accelerators_are_assumed_by_choice() -> None:
    services = FakeServices()
    name = "torch.backends.mps.is_available"
    assert primary(call(services, "torch.cuda.is_available")) == TRUE
    assert primary(call(services, name)) == FALSE
    services.options = SimpleNamespace(assume_accelerator="mps")  # type: ignore[attr-defined]
    assert primary(call(services, "torch.cuda.is_available")) == FALSE
    assert primary(call(services, name)) == TRUE
    current = primary(call(services, "torch.accelerator.current_accelerator"))
    assert current == DeviceValue(Device("mps"), placed=False)


def test_the_number_of_devices_rests_on_availability() -> None:
    services = FakeServices()
    count = call(services, "torch.cuda.device_count")
    available = call(services, "torch.cuda.is_available")
    assert isinstance(count, Guarded)
    assert count.atom is available.atom
    assert count.no == Const(0)
    assert count.yes.truths["Gt", 0] is available.atom


def test_a_data_parallel_wrapper_scatters_its_inputs() -> None:
    services = FakeServices()
    net = call(services, "torch.nn.Linear", 4, 2)
    wrapped = call(services, "torch.nn.DataParallel", net, [0, 1])
    run(services, wrapped, "__call__", tensor("cpu", 3, 4))
    assert services.conflicts == [("torch.nn.DataParallel", "self.weight", 0)]
    services.conflicts.clear()
    run(services, wrapped, "cuda")
    result = run(services, wrapped, "__call__", tensor("cpu", 3, 4))
    assert primary(result.device).type == "cuda"
    assert not services.conflicts


def test_a_data_parallel_wrapper_for_one_gpu_takes_the_module_there() -> None:
    services = FakeServices()
    net = call(services, "torch.nn.Linear", 4, 2)
    wrapped = call(services, "torch.nn.DataParallel", net, [1])
    result = run(services, wrapped, "__call__", tensor("cpu", 3, 4))
    assert primary(result.device) is Device("cuda", 1)
    assert not services.conflicts


def test_distributed_wrappers_hand_on() -> None:
    services = FakeServices()
    net = call(services, "torch.nn.Linear", 4, 2, device="cuda")
    wrapped = call(services, "torch.nn.parallel.DistributedDataParallel", net)
    assert services.attribute(wrapped, "module") is net
    assert run(services, wrapped, "__call__", tensor("cuda", 3, 4)).device is CUDA


def test_distributions_sample_beside_their_parameters() -> None:
    services = FakeServices()
    normal = call(services, "torch.distributions.Normal", tensor("cuda", 3), tensor("cuda", 3))
    assert run(services, normal, "sample").device is CUDA
    assert run(services, normal, "log_prob", tensor("cuda", 3)).device is CUDA
    assert not services.conflicts
    run(services, normal, "log_prob", tensor("cpu", 3))
    assert len(services.conflicts) == 1
    mixed = call(services, "torch.distributions.Normal", tensor("cuda", 3), tensor("cpu", 3))
    assert len(services.conflicts) == 1  # it keeps what it is given
    run(services, mixed, "sample")
    assert len(services.conflicts) == 2
    run(services, mixed, "log_prob", tensor("cuda", 3))
    assert len(services.conflicts) == 3
    call(services, "torch.distributions.Uniform", tensor("cuda", 3), tensor("cpu", 3))
    assert len(services.conflicts) == 4
    single = call(services, "torch.distributions.Normal", tensor("cuda"), tensor("cuda"))
    run(services, single, "log_prob", tensor("cpu", 3))
    assert len(services.conflicts) == 5


def test_gradient_clipping_and_generators() -> None:
    services = FakeServices()
    net = call(services, "torch.nn.Linear", 2, 2, device="cuda")
    norm = call(
        services,
        "torch.nn.utils.clip_grad_norm_",
        run(services, net, "parameters"),
        1.0,
    )
    assert (norm.device, norm.shape) == (CUDA, ())
    made = call(services, "torch.Generator", device="cuda")
    assert made.fields["device"] == DeviceValue(CUDA)
    assert run(services, made, "manual_seed", 0) is made


def test_scalers_and_switches() -> None:
    services = Optimizers()
    net = call(services, "torch.nn.Linear", 2, 2)
    adam = optimizer(services, "Adam", net)
    scaler = call(services, "torch.cuda.amp.GradScaler")
    loss = tensor("cuda")
    assert run(services, scaler, "scale", loss) is loss
    run(services, scaler, "step", adam)
    assert isinstance(adam.fields[ENTRIES].rest, DictObject)
    off = call(services, "torch.no_grad")
    assert isinstance(off, Instance)
    assert off.cls == External("torch.no_grad")


def test_deep_copies_share_nothing() -> None:
    services = FakeServices()
    net = call(services, "torch.nn.Sequential", call(services, "torch.nn.Linear", 2, 2))
    copied = call(services, "copy.deepcopy", TupleValue((net, net)))
    assert copied.items[0] is copied.items[1]
    run(services, copied.items[0], "cuda")
    assert devices_of(net) is CPU
    assert devices_of(copied.items[0]) is CUDA


def test_gradients_are_beside_their_inputs() -> None:
    services = FakeServices()
    inputs = TupleValue((tensor("cuda", 3, grad=True), tensor("cpu", 2, grad=True)))
    gradients = call(services, "torch.autograd.grad", tensor("cuda"), inputs)
    assert [item.device for item in gradients.items] == [CUDA, CPU]
    assert isinstance(gradients.items[0], Tensor)
    assert NONE not in gradients.items


def test_loaders_draw_their_indices_on_the_host() -> None:
    services = Optimizers()
    for device in ("cpu", "cuda"):
        generator = call(services, "torch.Generator", device=device)
        call(services, "torch.utils.data.DataLoader", [tensor()], generator=generator)
    assert services.forms == ["DataLoader"]


def test_each_turn_of_a_loop_gets_a_batch_of_its_own() -> None:
    services = FakeServices()
    item = DictObject({"x": tensor("cpu", 3)})
    batch = loader(services, ListObject((item,)), batch_size=4)
    first = fresh(TupleValue((Const(0), batch))).items[1]
    first.entries["x"] = tensor("cuda", 4, 3)
    assert fresh(batch).entries["x"].device is CPU
    assert fresh(item) is item
