"""Every class of `torch.nn` against PyTorch: its parts, and its calls with module and inputs in
every placement."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from device_lens.domain.device import Device
from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import External
from device_lens.models import registry
from device_lens.models.call import Call
from device_lens.models.torch.module import move
from device_lens.models.torch.parts import all_parts, tensor_in
from model_check.abstraction import differences, value
from model_check.module_samples import ModuleSample, samples_of
from model_check.placement import Placement, Sample, one_apart, uniform
from model_check.recorder import SITE, Recorder

HOST = "cpu"
_DEVICE_ERROR = re.compile(r"device|cuda|on CPU|weight type", re.I)
PARTS_MAY_DIFFER = {
    "AdaptiveLogSoftmaxWithLoss": "sizes of the tail's projections are not computed",
}
"""Classes with parts whose shapes the models leave open, with the reason."""


class ModuleRecorder(Recorder):
    """Also calls modules that modules call, and iterates over containers."""

    def invoke(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(function, ModuleObject):
            return forward(self, function, args, kwargs)
        return super().invoke(function, args, kwargs)


@dataclass
class ModuleVerdict:
    """What came out for one class."""

    name: str
    modelled: bool
    ran: int = 0
    mixed: int = 0
    unknown: set[str] = field(default_factory=set)
    wrong: dict[str, str] = field(default_factory=dict)
    reasons: set[str] = field(default_factory=set)

    @property
    def covered(self) -> bool:
        return self.modelled and not self.unknown

    @property
    def verified(self) -> bool:
        return self.covered and self.ran > 0 and not self.wrong


def classes() -> list[str]:
    """Every module class of the `torch.nn` namespace."""
    found = vars(torch.nn).items()
    return sorted(n for n, c in found if isinstance(c, type) and issubclass(c, torch.nn.Module))


def verify_class(name: str, device: str) -> ModuleVerdict:
    """Compares all samples of one class."""
    verdict = ModuleVerdict(name, registry.module(f"torch.nn.{name}") is not None)
    if not verdict.modelled:
        return verdict
    for sample in samples_of(name):
        try:
            real = getattr(torch.nn, name)(*sample.constructor.args, **sample.constructor.kwargs)
        except Exception as error:
            verdict.reasons.add(f"cannot be made: {str(error)[:100]}")
            continue
        if isinstance(real, torch.nn.modules.lazy.LazyModuleMixin):
            _execute(real, sample.call)
        _compare_parts(verdict, name, sample, real)
        for home in (HOST, device):
            for placement in _placements(sample.call, home, device):
                _compare(verdict, name, sample, real, home, placement)
    return verdict


def _placements(call: Sample, home: str, device: str) -> Iterator[Placement]:
    """Inputs beside the module, all elsewhere, and each one elsewhere."""
    other = device if home == HOST else HOST
    yield uniform(call, home)
    yield uniform(call, other)
    for position in range(call.count() if call.count() > 1 else 0):
        yield one_apart(call, position, other, home)


def abstract_module(services: Recorder, name: str, constructor: Sample) -> ModuleObject:
    """The module as its model makes it."""
    module = ModuleObject(External(f"torch.nn.{name}"), SITE.node)
    args = tuple(_argument(services, arg) for arg in constructor.args)
    kwargs = {key: _argument(services, arg) for key, arg in constructor.kwargs.items()}
    model = registry.module(f"torch.nn.{name}")
    assert model is not None
    model.initialise(Call(model.name, None, args, kwargs, SITE, services), module)
    return module


def _argument(services: Recorder, concrete: Any) -> Any:
    """An argument of a constructor; a module is remade from its own sample."""
    if isinstance(concrete, torch.nn.Module):
        made: Sample = concrete.made_from  # type: ignore[assignment]
        return abstract_module(services, type(concrete).__name__, made)
    return value(concrete)


def forward(
    services: Recorder, module: ModuleObject, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What the model of the module's class says of a call."""
    name = module.cls.name
    model = registry.module(name)
    assert model is not None, name
    return model.forward(Call(name, module, args, kwargs, SITE, services))


def _compare_parts(
    verdict: ModuleVerdict, name: str, sample: ModuleSample, real: torch.nn.Module
) -> None:
    module = abstract_module(ModuleRecorder(), name, sample.constructor)
    known = {part.name: tensor_in(part.value) for part in all_parts(module)}
    named = dict([*real.named_parameters(), *real.named_buffers()])
    if set(known) != set(named):
        apart = sorted(set(known) ^ set(named))
        verdict.wrong.setdefault(f"parts differ: {', '.join(apart)}", str(sample))
        return
    for key, tensor in named.items():
        for text in differences(known[key], tensor, key):
            verdict.wrong.setdefault(text, str(sample))


def _compare(
    verdict: ModuleVerdict,
    name: str,
    sample: ModuleSample,
    real: torch.nn.Module,
    home: str,
    placement: Placement,
) -> None:
    here = f"module on {home}, {placement.label}: {sample}"
    apart = placement.mixed or not _is_beside(placement.sample, home)
    result, error = _execute(copy.deepcopy(real).to(home), placement.sample)
    if error is not None and not (apart and _DEVICE_ERROR.search(str(error))):
        verdict.reasons.add(f"{here}: {str(error)[:100]}")
        return
    verdict.ran += 1
    verdict.mixed += apart
    services = ModuleRecorder()
    module = abstract_module(services, name, sample.constructor)
    move(services, module, Device(home) if home == HOST else Device("cuda", 0))
    args = tuple(map(value, placement.sample.args))
    kwargs = {key: value(item) for key, item in placement.sample.kwargs.items()}
    abstract = forward(services, module, args, kwargs)
    if error is not None:
        if not services.conflicts:
            verdict.wrong.setdefault("raises unseen", here)
        return
    if services.conflicts:
        verdict.wrong.setdefault("false conflict", here)
        return
    for text in differences(abstract, result):
        if text.startswith("unknown"):
            if not apart:
                verdict.unknown.add(here)
        else:
            verdict.wrong.setdefault(text, here)


def _is_beside(call: Sample, home: str) -> bool:
    return all(str(tensor.device) == home for tensor in call.tensors())


def _execute(module: torch.nn.Module, call: Sample) -> tuple[Any, Exception | None]:
    try:
        with torch.random.fork_rng(devices=[]):
            return module(*call.args, **call.kwargs), None
    except Exception as error:
        return None, error
