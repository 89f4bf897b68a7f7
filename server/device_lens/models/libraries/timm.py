"""timm: image models on the host until they are moved."""

from __future__ import annotations

from device_lens.models.call import Call, Model, Value
from device_lens.models.libraries.opaque import OpaqueModule, register, tensor_output
from device_lens.models.registry import FUNCTIONS, PACKAGES
from device_lens.models.torch.construction import opaque

MODEL = "timm.Model"


def _model(call: Call) -> Value:
    return opaque(call, MODEL, call.services.default_device(), "float32")


def _package(name: str) -> Model | None:
    """`timm.models.resnet50(…)` and its like."""
    parts = name.split(".")
    is_entry = len(parts) >= 3 and parts[1] == "models" and parts[-1].islower()
    return _model if is_entry and any(letter.isdigit() for letter in parts[-1]) else None


def register_all() -> None:
    register(OpaqueModule(MODEL, tensor_output))
    FUNCTIONS["timm.create_model"] = _model
    PACKAGES["timm"] = _package
