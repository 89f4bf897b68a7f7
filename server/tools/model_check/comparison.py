"""One function's model against the function itself, over samples in every placement."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from device_lens.domain.values import Unknown
from device_lens.models import registry
from model_check import accelerator
from model_check.abstraction import differences, value
from model_check.exceptions import DELIBERATE
from model_check.placement import (
    Placement,
    Sample,
    one_apart,
    one_scalar,
    uniform,
    with_destination,
)
from model_check.recorder import Recorder, run_model

MAX_TENSORS = 6
"""Tensors of a sample that are moved one at a time."""
_DEVICE_ERROR = re.compile(r"device|cuda|on CPU|weight type|lengths", re.I)


@dataclass
class Verdict:
    """What came out for one function."""

    name: str
    modelled: bool
    ran: int = 0
    """Placements in which PyTorch ran and the model was compared."""
    mixed: int = 0
    """Those with tensors on different devices."""
    several: bool = False
    """Whether a sample has more than one tensor."""
    unknown: set[str] = field(default_factory=set)
    """Placements on one device whose result's device the model does not tell."""
    missed: set[str] = field(default_factory=set)
    """Placements that raise and that the model says nothing about."""
    wrong: dict[str, str] = field(default_factory=dict)
    """Disagreements, with the placement in which each showed first."""
    reasons: set[str] = field(default_factory=set)
    """Why samples did not run."""

    @property
    def covered(self) -> bool:
        return self.modelled and not self.unknown

    @property
    def disagreements(self) -> list[str]:
        """Everything in which the model and PyTorch differ, that `exceptions` does not explain."""
        missed = [f"raises unseen [{where}]" for where in sorted(self.missed)]
        wrong = [f"{text} [{where}]" for text, where in self.wrong.items()]
        fragment = DELIBERATE.get(self.name, ("", ""))[0]
        return [text for text in wrong + missed if not fragment or fragment not in text]

    @property
    def deliberate(self) -> bool:
        """Whether there are disagreements that are explained."""
        return self.name in DELIBERATE and bool(self.wrong or self.missed)

    @property
    def verified(self) -> bool:
        return self.covered and self.ran > 0 and not self.disagreements


def verify(name: str, function: Callable[..., Any], samples: list[Sample], device: str) -> Verdict:
    """Runs the samples in every placement and compares."""
    verdict = Verdict(name, registry.function(name) is not None)
    if not verdict.modelled:
        return verdict
    for sample in samples:
        try:
            _verify_sample(verdict, name, function, sample, device)
        except (RuntimeError, NotImplementedError) as error:
            verdict.reasons.add(f"cannot be placed: {str(error)[:120]}")
    return verdict


def _verify_sample(
    verdict: Verdict, name: str, function: Callable[..., Any], sample: Sample, device: str
) -> None:
    plain = _compare(verdict, name, function, uniform(sample, "cpu"))
    grad = _compare(verdict, name, function, uniform(sample, "cpu", grad=True))
    count = sample.count()
    verdict.several = verdict.several or count > 1
    if not (plain or grad) or any(not tensor.numel() for tensor in sample.tensors()):
        return
    home = uniform(sample, device, not plain)
    wants_host = bool(_model(name, home.sample, True)[1].conflicts)
    if not count or not (_compare(verdict, name, function, home) or wants_host):
        return
    for position in range(min(count, MAX_TENSORS) if count > 1 else 0):
        for placement in (
            one_apart(sample, position, "cpu", device),
            one_apart(sample, position, device, "cpu"),
        ):
            _compare(verdict, name, function, placement)
        if not accelerator.is_fake():
            _verify_scalars(verdict, name, function, sample, position, device)
    if plain and "out" not in sample.kwargs and "__" not in name:
        _verify_destination(verdict, name, function, sample, device)


def _verify_scalars(
    verdict: Verdict,
    name: str,
    function: Callable[..., Any],
    sample: Sample,
    position: int,
    device: str,
) -> None:
    """A tensor without dimensions in one place, where the function takes such a tensor at all."""
    tensor = sample.tensors()[position]
    if not tensor.dim() or not tensor.numel() or tensor.layout is not torch.strided:
        return
    if _compare(verdict, name, function, one_scalar(sample, position, "cpu", "cpu")):
        _compare(verdict, name, function, one_scalar(sample, position, device, device))
        _compare(verdict, name, function, one_scalar(sample, position, "cpu", device))
        _compare(verdict, name, function, one_scalar(sample, position, device, "cpu"))


def _verify_destination(
    verdict: Verdict, name: str, function: Callable[..., Any], sample: Sample, device: str
) -> None:
    """`out=`, where the function has it: on the operands' device, and elsewhere."""
    if any(not tensor.dim() for tensor in sample.tensors()):
        return
    result, error = _execute(function, uniform(sample, "cpu").sample)
    if error is not None or not isinstance(result, torch.Tensor):
        return
    if _compare(verdict, name, function, with_destination(sample, result, "cpu", "cpu")):
        for source, target in (("cpu", device), (device, "cpu")):
            _compare(verdict, name, function, with_destination(sample, result, target, source))


def _compare(
    verdict: Verdict, name: str, function: Callable[..., Any], placement: Placement
) -> bool:
    """Compares one placement; False where PyTorch does not run it."""
    sample = placement.sample
    views = _views(name, sample)
    concrete, error = _execute(function, sample)
    if error is not None and (not placement.mixed or not _DEVICE_ERROR.search(str(error))):
        verdict.reasons.add(f"{placement.label}: {str(error)[:120]}")
        return False
    verdict.ran += 1
    verdict.mixed += placement.mixed
    if error is not None:
        if not views[""][1].conflicts:
            verdict.missed.add(f"{placement.label}: {sample}")
        return False
    for suffix, modelled in views.items():
        _note(verdict, placement, concrete, modelled, suffix)
    return True


def _views(name: str, sample: Sample) -> dict[str, tuple[Any, Recorder]]:
    """What the model says to who knows everything, no shapes, or nothing of one tensor."""
    found = {"": _model(name, sample, True), " (without shapes)": _model(name, sample, False)}
    tensors = sample.tensors()
    for position in range(min(len(tensors), MAX_TENSORS) if len(tensors) > 1 else 0):
        hidden = tensors[position]
        found[f" (tensor {position} unknown)"] = _model(name, sample, True, hidden)
    return found


def _note(
    verdict: Verdict, placement: Placement, concrete: Any, modelled: Any, suffix: str
) -> None:
    abstract, services = modelled
    where = f"{placement.label}: {placement.sample}"
    if services.conflicts:
        verdict.wrong.setdefault(f"false conflict{suffix}", where)
        return
    for text in differences(abstract, concrete):
        if text.startswith("unknown"):
            if not suffix and not placement.mixed:
                verdict.unknown.add(placement.label)
            continue
        verdict.wrong.setdefault(text + suffix, where)


def _model(
    name: str, sample: Sample, shapes: bool, hidden: torch.Tensor | None = None
) -> tuple[Any, Recorder]:
    services = Recorder()
    replaced = {} if hidden is None else {id(hidden): Unknown("hidden")}
    args = tuple(value(arg, shapes, replaced) for arg in sample.args)
    kwargs = {key: value(arg, shapes, replaced) for key, arg in sample.kwargs.items()}
    return run_model(name, args, kwargs, services), services


def _execute(function: Callable[..., Any], sample: Sample) -> tuple[Any, Exception | None]:
    try:
        with torch.random.fork_rng(devices=[]):
            return function(*sample.args, **sample.kwargs), None
    except Exception as error:
        return None, error
