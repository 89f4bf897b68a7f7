"""Other libraries: where what they give is, and what they read."""

from __future__ import annotations

from typing import Any

import pytest
from fake_services import CUDA, FakeServices, call, run, tensor

from device_lens.domain.device import CPU, UNKNOWN_DEVICE
from device_lens.domain.guard import primary
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.domain.values import External, HostArray, Unknown
from device_lens.models import registry
from device_lens.models.torch.parts import devices_of


def test_numpy_reads_tensors_and_gives_arrays() -> None:
    services = FakeServices()
    assert isinstance(call(services, "numpy.mean", tensor("cuda", 3)), HostArray)
    call(services, "numpy.array", [tensor("cuda", 3), tensor("cuda", 3)])
    call(services, "numpy.linalg.norm", tensor("cuda", 3))
    assert services.host_reads == ["np.mean", "np.array", "np.linalg.norm"]


def test_numpy_looks_without_reading() -> None:
    services = FakeServices()
    call(services, "numpy.shape", tensor("cuda", 3))
    assert services.host_reads == []


@pytest.mark.parametrize(
    ("name", "args", "shape"),
    [
        ("zeros", (((2, 3)),), (2, 3)),
        ("ones", (4,), (4,)),
        ("random.rand", (2, 5), (2, 5)),
    ],
)
def test_shapes_of_arrays(name: str, args: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    assert call(FakeServices(), f"numpy.{name}", *args).shape == shape


@pytest.mark.parametrize(
    "name",
    [
        "matplotlib.pyplot.plot",
        "sklearn.metrics.accuracy_score",
        "scipy.stats.norm",
        "cv2.resize",
    ],
)
def test_host_libraries_read_their_arguments(name: str) -> None:
    services = FakeServices()
    call(services, name, tensor("cuda", 3))
    assert len(services.host_reads) == 1


def test_labels_of_plots_are_not_read() -> None:
    services = FakeServices()
    call(services, "matplotlib.pyplot.title", tensor("cuda"))
    assert services.host_reads == []


def test_estimators_read_in_their_methods() -> None:
    services = FakeServices()
    model = call(services, "sklearn.linear_model.LogisticRegression")
    assert run(services, model, "fit", tensor("cuda", 3)) is model
    assert len(services.host_reads) == 1


def test_vision_models_are_on_the_host_until_they_move() -> None:
    services = FakeServices()
    net = call(services, "torchvision.models.resnet18", weights=None)
    assert isinstance(net, ModuleObject)
    assert devices_of(net) is CPU
    run(services, net, "to", "cuda")
    assert run(services, net, "__call__", tensor("cuda", 1, 3, 8, 8)).device is CUDA
    run(services, net, "__call__", tensor("cpu", 1, 3, 8, 8))
    assert len(services.conflicts) == 1


def test_a_vision_dataset_goes_through_its_transform() -> None:
    services = FakeServices()
    steps = [
        call(services, "torchvision.transforms.ToTensor"),
        call(services, "torchvision.transforms.Normalize", (0.1,), (0.3,)),
    ]
    transform = call(services, "torchvision.transforms.Compose", steps)
    data = call(services, "torchvision.datasets.MNIST", "root", transform=transform)
    loader = call(services, "torch.utils.data.DataLoader", data, batch_size=64)
    images, labels = run(services, loader, "__iter__").rest.items
    assert (images.device, images.shape, images.dtype) == (
        CPU,
        (64, 1, 28, 28),
        "float32",
    )
    assert (labels.device, labels.shape, labels.dtype) == (CPU, (64,), "int64")


def test_image_models_of_timm() -> None:
    services = FakeServices()
    net = call(services, "timm.create_model", "resnet50")
    run(services, net, "cuda")
    assert run(services, net, "__call__", tensor("cuda", 1, 3, 8, 8)).device is CUDA


def test_tokens_move_in_place() -> None:
    services = FakeServices()
    tokenizer = call(services, "transformers.AutoTokenizer.from_pretrained", "name")
    encoding = run(services, tokenizer, "__call__", "text", return_tensors="pt")
    assert encoding.entries["input_ids"].device is CPU
    move = registry.function("transformers.BatchEncoding.to")
    assert move is not None
    assert services_method(services, "transformers.BatchEncoding.to", encoding, "cuda") is encoding
    assert encoding.entries["input_ids"].device is CUDA


def services_method(services: FakeServices, name: str, receiver: Any, *args: Any) -> Any:
    """A method of something that is no instance."""
    from fake_services import SITE, value

    from device_lens.models.call import Call

    model = registry.function(name)
    assert model is not None
    return model(Call(name, receiver, tuple(map(value, args)), {}, SITE, services))


def test_pretrained_models_are_on_the_host_or_where_they_are_mapped() -> None:
    services = FakeServices()
    name = "transformers.AutoModelForCausalLM.from_pretrained"
    assert devices_of(call(services, name, "x")) is CPU
    assert devices_of(call(services, name, "x", device_map="cuda")) is CUDA
    assert devices_of(call(services, name, "x", device_map={"": "cuda"})) is CUDA
    spread = call(services, name, "x", device_map="auto")
    assert devices_of(spread) is UNKNOWN_DEVICE
    run(services, spread, "__call__", tensor("cpu", 2))
    assert services.conflicts == []


def test_settings_and_trainers_are_no_modules() -> None:
    services = FakeServices()
    assert type(call(services, "transformers.BertConfig")) is Instance
    assert type(call(services, "transformers.Trainer")) is Instance
    assert isinstance(call(services, "transformers.BertModel", Unknown("config")), ModuleObject)


def test_accelerate_moves_what_it_prepares() -> None:
    services = FakeServices()
    accelerator = call(services, "accelerate.Accelerator")
    net = call(services, "torch.nn.Linear", 2, 2)
    data = call(services, "torch.utils.data.TensorDataset", tensor("cpu", 8, 2))
    loader = call(services, "torch.utils.data.DataLoader", data, batch_size=4)
    prepared = run(services, accelerator, "prepare", net, loader)
    assert prepared.items[0] is net
    (batch,) = run(services, prepared.items[1], "__iter__").rest.items
    assert batch.device == devices_of(net)
    assert primary(batch.device) is CUDA
    assert run(services, net, "__call__", batch).device == batch.device
    assert not services.conflicts


def test_graphs_move_with_all_their_tensors() -> None:
    services = FakeServices()
    graph = call(
        services,
        "torch_geometric.data.Data",
        x=tensor("cpu", 4, 3),
        edge_index=tensor("cpu", 2, 5),
    )
    assert run(services, graph, "to", "cuda") is graph
    assert services.attribute(graph, "x").device is CUDA
    layer = call(services, "torch_geometric.nn.GCNConv", 3, 2)
    run(services, layer, "cuda")
    out = run(services, layer, "__call__", graph.fields["x"], graph.fields["edge_index"])
    assert out.device is CUDA
    assert not services.conflicts


def test_environments_are_host_code() -> None:
    services = FakeServices()
    env = call(services, "gymnasium.make", "CartPole-v1")
    state, _ = run(services, env, "reset").items
    assert isinstance(state, HostArray)
    assert len(run(services, env, "step", 0).items) == 5


def test_lightning_modules_are_modules_that_know_their_device() -> None:
    services = FakeServices()
    name = registry.canonical("pytorch_lightning.LightningModule")
    assert registry.bases(name) == ("torch.nn.Module",)
    module = ModuleObject(External(name))
    module.modules["fc"] = call(services, "torch.nn.Linear", 2, 2, device="cuda")
    assert services.attribute(module, "device").device is CUDA


def test_frames_and_images() -> None:
    services = FakeServices()
    frame = call(services, "pandas.read_csv", "a.csv")
    assert isinstance(services.attribute(frame, "values"), HostArray)
    call(services, "PIL.Image.fromarray", tensor("cuda", 3))
    assert len(services.host_reads) == 1
    figure, axes = call(services, "matplotlib.pyplot.subplots").items
    run(services, axes, "plot", tensor("cuda", 3))
    assert len(services.host_reads) == 2
    assert isinstance(figure, Instance)
