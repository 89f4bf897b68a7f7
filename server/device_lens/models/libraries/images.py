"""PIL and OpenCV: images are in host memory."""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.values import External, HostArray
from device_lens.models.call import Call, Model, Value
from device_lens.models.libraries.host import host_function, read_arguments
from device_lens.models.registry import FUNCTIONS, PACKAGES
from device_lens.models.words import words

IMAGE = "PIL.Image.Image"


def _image(call: Call) -> Value:
    return Instance(External(IMAGE), call.site.node)


def _from_array(call: Call) -> Value:
    read_arguments(call, "Image.fromarray()")
    return _image(call)


def _opencv(name: str) -> Model:
    return host_function(name)


def _pillow(name: str) -> Model | None:
    return _image if name.startswith("PIL.Image") else None


def register_all() -> None:
    PACKAGES["cv2"] = _opencv
    PACKAGES["PIL"] = _pillow
    PACKAGES["imageio"] = PACKAGES["skimage"] = _opencv
    FUNCTIONS["PIL.Image.fromarray"] = _from_array
    for name in words("convert resize crop rotate copy transpose filter"):
        FUNCTIONS[f"{IMAGE}.{name}"] = _image
    FUNCTIONS[f"{IMAGE}.__array__"] = lambda call: HostArray("uint8")
