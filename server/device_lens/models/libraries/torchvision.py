"""torchvision: models on the host until they are moved, datasets, transforms, boxes."""

from __future__ import annotations

from device_lens.domain.device import CPU
from device_lens.domain.heap import DictObject, Instance, ListObject
from device_lens.domain.values import NONE, External, HostArray, Shape, Tensor, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value, is_none, tensor_of
from device_lens.models.libraries.images import IMAGE
from device_lens.models.libraries.opaque import (
    OpaqueModule,
    register,
    tensor_output,
    unknown_output,
)
from device_lens.models.numbers import number
from device_lens.models.registry import (
    ALIASES,
    BASES,
    FUNCTIONS,
    MODULE_PACKAGES,
    MODULES,
    PACKAGES,
    ModuleModel,
)
from device_lens.models.torch.construction import opaque
from device_lens.models.torch.nn_layer import agreeing, operands_of
from device_lens.models.words import words

CLASSIFIER = "torchvision.models.Classifier"
DETECTOR = "torchvision.models.Detector"
SEGMENTER = "torchvision.models.Segmenter"
DATASET = "torchvision.datasets.VisionDataset"
COMPOSE = "torchvision.transforms.Compose"
TO_TENSOR = "torchvision.transforms.ToTensor"
TO_IMAGE = "torchvision.transforms.ToPILImage"
TRANSFORM = "torchvision.transforms.Transform"
_IMAGES: dict[str, Shape] = {
    **dict.fromkeys(words("MNIST FashionMNIST KMNIST EMNIST QMNIST"), (28, 28)),
    **dict.fromkeys(words("CIFAR10 CIFAR100 SVHN"), (32, 32, 3)),
}
"""Sizes of the images of data sets in which all have one."""


_KEEPING = frozenset(
    words(
        """Normalize RandomHorizontalFlip RandomVerticalFlip RandomRotation ColorJitter
        RandomErasing RandomAffine GaussianBlur RandomAutocontrast RandomEqualize"""
    )
)
"""Transforms that keep an image's size."""


_EXTENTS = frozenset(
    words("get_dimensions get_image_num_channels get_image_size get_num_channels get_size")
)
"""Functions that tell an image's extent."""


def _of_kind(kind: str) -> Model:
    def model(call: Call) -> Value:
        return opaque(call, kind, call.services.default_device(), "float32")

    return model


def _segmented(call: Call, result: Tensor) -> Value:
    return DictObject({"out": result, "aux": result}, None, call.site.node)


def _package(name: str) -> Model | None:
    """Models by their namespace, transforms and datasets by theirs."""
    parts = name.split(".")
    last = parts[-1]
    if parts[-2][:1].isupper():
        return None
    if parts[1:2] == ["models"] and last[:1].islower() and len(parts) <= 5:
        if "detection" in parts:
            return _of_kind(DETECTOR)
        if "segmentation" in parts:
            return _of_kind(SEGMENTER)
        return None if last in ("transforms", "verify", "get_state_dict") else _of_kind(CLASSIFIER)
    if parts[1:2] == ["transforms"]:
        if last in _EXTENTS:
            return _extent
        if last[:1].isupper():
            return _transform(last)
        return _follows if last == "erase" else _follows_image
    if parts[1:2] == ["datasets"] and last[:1].isupper():
        return _dataset(last)
    if parts[1:2] == ["utils"] or last == "batched_nms":
        return _follows_first
    return _follows if parts[1:2] == ["ops"] else None


def _module_class(name: str) -> ModuleModel | None:
    """`torchvision.models.ResNet`, `torchvision.ops.RoIAlign` and their like."""
    parts = name.split(".")
    is_class = parts[-1][:1].isupper() and "_Weights" not in name
    return MODULES.get(CLASSIFIER) if parts[1:2] == ["models"] and is_class else None


def _transform(name: str) -> Model:
    def model(call: Call) -> Value:
        made = Instance(External(TRANSFORM), call.site.node)
        made.fields["<keeps>"] = name in _KEEPING
        return made

    return model


def _compose(call: Call) -> Value:
    made = Instance(External(COMPOSE), call.site.node)
    made.fields["transforms"] = call.get(0, "transforms", NONE)
    return made


def _composed(call: Call) -> Value:
    """Hands the image through every transform."""
    items, rest = call.services.iterate(call.receiver.fields.get("transforms", NONE))
    value = call.args[0] if call.args else call.unknown()
    for transform in (*items, rest):
        if transform is not None and not is_none(transform):
            value = call.services.invoke(transform, (value,), {})
    return value


def _extent(call: Call) -> Value:
    """How many channels an image has, or its sizes: Python's numbers."""
    if call.name.endswith("channels"):
        return number("a number")
    return ListObject((), number("a number"), "list", call.site.node)


def _follows(call: Call) -> Value:
    """A function of tensors that share a device gives tensors there; images stay images."""
    operands = operands_of(call.args, call.kwargs, {})
    if not operands:
        return call.args[0] if call.args and type(call.args[0]) is Instance else call.unknown()
    return agreeing(call, call.name, operands).with_(shape=None, zero_dim=None)


def _follows_image(call: Call) -> Value:
    """A function of an image: means and displacements are copied to where that is (torchvision's
    `transforms/_functional_tensor.py`)."""
    given = call.args[0] if call.args else next(iter(call.kwargs.values()), NONE)
    operands = operands_of((given,), {}, {})
    if not operands:
        return given if type(given) is Instance else call.unknown()
    return agreeing(call, call.name, operands).with_(shape=None, zero_dim=None)


def _follows_first(call: Call) -> Value:
    """A function that takes boxes, labels, points from anywhere gives a tensor where the first is
    that it is given."""
    first = call.args[0] if call.args else next(iter(call.kwargs.values()), NONE)
    operands = operands_of((first,), {}, {})
    if not operands:
        return call.unknown()
    return agreeing(call, call.name, operands).with_(shape=None, dtype=None, zero_dim=None)


def _transformed(call: Call) -> Value:
    """An image after a transform: a tensor stays where it is."""
    value = call.args[0] if call.args else NONE
    tensor = tensor_of(value)
    if tensor is None:
        return value if type(value) is HostArray else call.unknown()
    if isinstance(call.receiver, Instance) and call.receiver.fields.get("<keeps>") is True:
        return tensor
    return tensor.with_(shape=None, dtype=None, zero_dim=False)


def to_tensor(call: Call) -> Value:
    """An image (height, width, channels) as a float tensor (channels, height, width) in host
    memory."""
    value = call.args[0] if call.args else NONE
    shape: Shape = None
    if type(value) is HostArray and value.shape is not None:
        height, width, *channels = value.shape if len(value.shape) > 1 else (None, None)
        shape = (channels[0] if channels else 1, height, width)
    trail = call.trail("encoded", "is made from an image by `ToTensor`")
    return Tensor(CPU, "float32", shape, trail, zero_dim=False)


def _maker(name: str) -> Model:
    return lambda call: Instance(External(name), call.site.node)


def _dataset(name: str) -> Model:
    def model(call: Call) -> Value:
        made = Instance(External(DATASET), call.site.node)
        made.fields.update(_transforms(call, name))
        made.fields["<image>"] = HostArray("uint8", _IMAGES.get(name))
        made.fields.update(_contents(call, name))
        return made

    return model


def _contents(call: Call, name: str) -> dict[str, Value]:
    """The attributes of a data set with all images and labels."""
    if name.startswith("CIFAR"):
        return {"data": HostArray("uint8", (None, 32, 32, 3))}
    if not name.endswith("MNIST"):
        return {}
    trail = call.trail("created", "is read from disk by the data set")
    images = Tensor(CPU, "uint8", (None, 28, 28), trail)
    labels = Tensor(CPU, "int64", (None,), trail)
    return {
        **dict.fromkeys(("data", "train_data", "test_data"), images),
        **dict.fromkeys(("targets", "train_labels", "test_labels"), labels),
    }


def _transforms(call: Call, name: str) -> dict[str, Value]:
    """What an image and its label are put through; unknown where the arguments are."""
    at = _PLACES.get(name)
    found: dict[str, Value] = {}
    for offset, key in enumerate(("transform", "target_transform")):
        otherwise: Value = (
            NONE if call.complete and (at is not None or not call.args) else Unknown()
        )
        given = call.get(at + offset, key) if at is not None else call.kwargs.get(key)
        found[key] = otherwise if given is None else given
    return found


def _set_up(call: Call) -> Value:
    """`super().__init__(root, transform=…)` of a data set of the program's own."""
    name = call.name.split(".")[-2]
    for key, value in {**_transforms(call, name), **_contents(call, name)}.items():
        call.write(call.receiver.fields, key, value)
    return NONE


_PLACES = {
    **dict.fromkeys(("ImageFolder", "Food101", "SEMEION"), 1),
    **dict.fromkeys("CIFAR10 CIFAR100 MNIST FashionMNIST KMNIST QMNIST SVHN ImageNet".split(), 2),
    **dict.fromkeys(("DatasetFolder", "STL10", "CelebA", "FakeData"), 3),
}
"""Which argument of a data set is the transform of images."""


def _item(call: Call) -> Value:
    """An image and its label, each through its transform."""
    fields = call.receiver.fields
    image: Value = fields.get("<image>", Unknown("an image"))
    label: Value = HostArray("int64", ())
    if not is_none(fields.get("transform")):
        image = call.services.invoke(fields["transform"], (image,), {})
    if not is_none(fields.get("target_transform")):
        label = call.services.invoke(fields["target_transform"], (label,), {})
    return TupleValue((image, label))


def _read_image(call: Call) -> Value:
    return Tensor(CPU, "uint8", (None, None, None))


def _image(call: Call) -> Value:
    """A tensor from anywhere as an image in host memory."""
    return Instance(External(IMAGE), call.site.node)


def _nothing(call: Call) -> Value:
    return NONE


def _chunks(call: Call) -> Value:
    return ListObject((), _transformed(call), "tuple", call.site.node)


def register_all() -> None:
    register(OpaqueModule(CLASSIFIER, tensor_output))
    register(OpaqueModule(DETECTOR, unknown_output))
    register(OpaqueModule(SEGMENTER, _segmented))
    PACKAGES["torchvision"] = _package
    MODULE_PACKAGES["torchvision"] = _module_class
    FUNCTIONS[COMPOSE] = _compose
    FUNCTIONS[f"{COMPOSE}.__call__"] = _composed
    FUNCTIONS[f"{TRANSFORM}.__call__"] = _transformed
    FUNCTIONS["torchvision.transforms.FiveCrop.__call__"] = _chunks
    for name in words("ToTensor PILToTensor ToImage"):
        FUNCTIONS[f"torchvision.transforms.{name}"] = _maker(TO_TENSOR)
    FUNCTIONS[f"{TO_TENSOR}.__call__"] = to_tensor
    FUNCTIONS["torchvision.transforms.Lambda"] = lambda call: call.get(0, "lambd", NONE)
    FUNCTIONS["torchvision.transforms.ToPILImage"] = _maker(TO_IMAGE)
    FUNCTIONS[f"{TO_IMAGE}.__call__"] = _image
    FUNCTIONS["torchvision.transforms.functional.to_pil_image"] = _image
    ALIASES["torchvision.transforms.v2.functional.to_pil_image"] = (
        "torchvision.transforms.functional.to_pil_image"
    )
    for name in words("to_tensor pil_to_tensor to_image"):
        FUNCTIONS[f"torchvision.transforms.functional.{name}"] = to_tensor
        ALIASES[f"torchvision.transforms.v2.functional.{name}"] = (
            f"torchvision.transforms.functional.{name}"
        )
    for name in words("Compose Lambda ToTensor PILToTensor ToImage ToPILImage"):
        ALIASES[f"torchvision.transforms.v2.{name}"] = f"torchvision.transforms.{name}"
        ALIASES[f"torchvision.transforms.transforms.{name}"] = f"torchvision.transforms.{name}"
    for name in _PLACES:
        FUNCTIONS[f"torchvision.datasets.{name}.__init__"] = _set_up
        FUNCTIONS[f"torchvision.datasets.{name}.__getitem__"] = _item
    BASES[DATASET] = ("torch.utils.data.Dataset",)
    FUNCTIONS[f"{DATASET}.__getitem__"] = _item
    for name in words("read_image decode_image decode_jpeg decode_png"):
        FUNCTIONS[f"torchvision.io.{name}"] = _read_image
    FUNCTIONS["torchvision.utils.save_image"] = _nothing
