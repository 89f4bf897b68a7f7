"""Conditions on the machine: which accelerators it has, and how many."""

from __future__ import annotations

from functools import cache

from device_lens.domain.atom import Atom
from device_lens.domain.device import Device
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.values import FALSE, NONE, TRUE, Const, DeviceValue, Unknown
from device_lens.models.call import Call, Model, Services, Value
from device_lens.models.numbers import number
from device_lens.models.registry import ATTRIBUTES, FUNCTIONS
from device_lens.models.words import words

TEXTS = {
    "cuda": "torch.cuda.is_available()",
    "mps": "torch.backends.mps.is_available()",
    "xpu": "torch.xpu.is_available()",
    "accelerator": "torch.accelerator.is_available()",
    "npu": "torch.npu.is_available()",
    "hpu": "torch.hpu.is_available()",
    "mtia": "torch.mtia.is_available()",
    "xla": "torch_xla.core.xla_model.xla_device()",
}
"""Kinds of accelerator, with how programs ask for them."""


@cache
def availability(kind: str, assumed: str = "cuda") -> Atom:
    """The condition that an accelerator of that kind is there; one for all programs. By default
    there is the accelerator that is `assumed`, and no other."""
    return Atom(TEXTS[kind], "accelerator", kind in (assumed, "accelerator"), shared=True)


@cache
def several(kind: str) -> Atom:
    """The condition that there is more than one accelerator of a kind."""
    return Atom(f"torch.{kind}.device_count() > 1", "environment", True, shared=True)


@cache
def device_count(kind: str, assumed: str) -> Guarded:
    """The number of accelerators of a kind: 0 where there is none, else a number of which only
    the comparisons with 0 and 1 are known to mean something."""
    present = availability(kind, assumed)
    name = f"torch.{kind}.device_count()"
    count = number(name)
    one = Guarded(several(kind), False, True)
    count.truths = {
        "truth": present,
        ("Gt", 0): present,
        ("GtE", 1): present,
        ("NotEq", 0): present,
        ("Gt", 1): several(kind),
        ("GtE", 2): several(kind),
        ("==", 1): one,
        ("LtE", 1): one,
        ("Lt", 2): one,
        ("==", 0): Atom(f"{name} == 0", "environment", False, shared=True),
    }
    return Guarded(present, count, Const(0))


def assumed_accelerator(services: Services) -> str:
    """The accelerator that the analysis assumes to be there."""
    options = getattr(services, "options", None)
    return str(getattr(options, "assume_accelerator", "cuda"))


def is_available(kind: str) -> Model:
    """The model of a question such as `torch.cuda.is_available()`."""

    def model(call: Call) -> Value:
        there = Guarded(availability(kind, assumed_accelerator(call.services)), TRUE, FALSE)
        return _unless_hidden(call, kind, there, FALSE)

    return model


def _unless_hidden(call: Call, kind: str, there: Value, hidden: Value) -> Value:
    """An answer about GPUs, and another one where the program hides all of them."""
    if (assumed_accelerator(call.services) if kind == "accelerator" else kind) != "cuda":
        return there

    def answer(leaf: Value) -> Value:
        if leaf == FALSE:
            return there
        return hidden if leaf == TRUE else call.unknown()

    return combine(answer, call.services.gpus_hidden())


def _count(kind: str) -> Model:
    def model(call: Call) -> Value:
        assumed = assumed_accelerator(call.services)
        asked = assumed if kind == "accelerator" else kind
        return _unless_hidden(call, asked, device_count(asked, assumed), Const(0))

    return model


def _current_accelerator(call: Call) -> Value:
    assumed = assumed_accelerator(call.services)
    atom = availability("accelerator", assumed)
    there = Guarded(atom, DeviceValue(Device(assumed), placed=False), NONE)
    return _unless_hidden(call, "accelerator", there, NONE)


def _is_built(call: Call) -> Value:
    """Whether PyTorch was built for CUDA, which it is where there are GPUs, hidden or not."""
    return Guarded(availability("cuda", assumed_accelerator(call.services)), TRUE, FALSE)


def _is_cpu_only(call: Call) -> Value:
    """`torch.version.cuda`: a version where PyTorch was built for CUDA."""
    atom = availability("cuda", assumed_accelerator(call.services))
    version = Unknown("torch.version.cuda")
    version.truths = {"truth": atom, "not none": atom}
    return combine(lambda there: version if there else NONE, Guarded(atom, True, False))


def register_all() -> None:
    for kind, text in TEXTS.items():
        if text.endswith(".is_available()"):
            FUNCTIONS[text.removesuffix("()")] = is_available(kind)
    for name in words("torch.mps.is_available torch.backends.mps.is_built torch.has_mps"):
        FUNCTIONS[name] = is_available("mps")
    FUNCTIONS["torch.backends.cuda.is_built"] = _is_built
    FUNCTIONS["torch.cuda._is_compiled"] = _is_built
    FUNCTIONS["torch.accelerator.current_accelerator"] = _current_accelerator
    for kind in words("cuda mps xpu accelerator"):
        FUNCTIONS[f"torch.{kind}.device_count"] = _count(kind)
    ATTRIBUTES["torch.version.cuda"] = _is_cpu_only
    ATTRIBUTES["torch.has_cuda"] = _is_built
    ATTRIBUTES["torch.has_mps"] = is_available("mps")
