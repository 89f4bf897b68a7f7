"""Runs the comparison over every target and prints what came out."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from device_lens.models import registry
from model_check import accelerator, targets
from model_check.comparison import Verdict, verify
from model_check.exceptions import DELIBERATE, INTERNALS_TEXT
from model_check.names import resolve
from model_check.placement import Sample
from model_check.samples import all_samples

COVERED = 0.95
VERIFIED = 0.85


def run(only: list[str], verbose: bool) -> int:
    """Prints the table; 1 where a goal is missed or a disagreement is not explained. Where there
    is no CUDA, tensors are fake: devices and shapes without values."""
    samples = all_samples()
    print(f"PyTorch {torch.__version__}, the host and {accelerator.described()}")
    with accelerator.tensors():
        return _run(samples, only, verbose)


def _run(samples: dict[str, list[Sample]], only: list[str], verbose: bool) -> int:
    if only:
        for name in only:
            _detail(_verify(name, samples, accelerator.DEVICE))
        return 0
    groups = {
        "overridable": targets.overridable(),
        "factories and moves": targets.makers(),
    }
    good = True
    for title, namespaces in groups.items():
        verdicts = []
        print(f"\n{title:28}{'public':>8}{'covered':>9}{'verified':>10}{'mixed':>7}")
        for namespace, names in namespaces.items():
            if namespace == "attributes":
                continue
            public = [f"{namespace}.{name}" for name in targets.public(names)]
            found = [_verify(name, samples, accelerator.DEVICE) for name in public]
            _row(namespace, found)
            verdicts.extend(found)
        _row("total", verdicts)
        good = _goals(verdicts, verbose) and good
    _left_out(groups["overridable"])
    return 0 if good else 1


def _verify(qualified: str, samples: dict[str, list[Sample]], device: str) -> Verdict:
    function = resolve(qualified)
    if function is None:
        return Verdict(qualified, registry.function(qualified) is not None)
    return verify(qualified, function, samples.get(qualified, []), device)


def _row(title: str, verdicts: Iterable[Verdict]) -> None:
    found = list(verdicts)
    covered = sum(v.covered for v in found)
    verified = sum(v.verified for v in found)
    mixed = sum(v.mixed > 0 for v in found)
    print(f"{title:28}{len(found):8}{covered:9}{verified:10}{mixed:7}")


def _goals(verdicts: list[Verdict], verbose: bool) -> bool:
    covered = sum(v.covered for v in verdicts) / max(1, len(verdicts))
    verified = sum(v.verified for v in verdicts) / max(1, len(verdicts))
    print(f"covered {covered:.1%}, verified {verified:.1%}")
    unexplained = [v for v in verdicts if v.disagreements]
    for verdict in unexplained:
        _detail(verdict)
    for verdict in verdicts:
        if verdict.deliberate:
            print(f"  deliberate: {verdict.name}: {DELIBERATE[verdict.name][1]}")
    if verbose:
        _gaps(verdicts)
    return covered >= COVERED and verified >= VERIFIED and not unexplained


def _gaps(verdicts: list[Verdict]) -> None:
    missing = [v.name for v in verdicts if not v.modelled]
    print("without a model:", " ".join(missing) or "none")
    for verdict in verdicts:
        if verdict.modelled and not verdict.ran:
            print(f"  never ran: {verdict.name}: {'; '.join(sorted(verdict.reasons)[:2])}")
        elif verdict.several and not verdict.mixed:
            print(f"  never mixed: {verdict.name}")
        elif verdict.unknown:
            print(f"  unknown: {verdict.name}: {sorted(verdict.unknown)[:2]}")


def _detail(verdict: Verdict) -> None:
    print(
        f"  {verdict.name}: modelled {verdict.modelled}, ran {verdict.ran}, mixed {verdict.mixed}"
    )
    for text in verdict.disagreements[:6]:
        print(f"      {text}")
    if verdict.unknown:
        print(f"      unknown: {'; '.join(sorted(verdict.unknown)[:4])}")
    if not verdict.ran:
        print(f"      did not run: {'; '.join(sorted(verdict.reasons)[:3])}")


def _left_out(namespaces: dict[str, set[str]]) -> None:
    attributes = sorted(namespaces["attributes"])
    read = [name for name in attributes if registry.attribute(f"torch.Tensor.{name}") is not None]
    print(f"\nattributes of tensors: {len(attributes)}, read by models: {len(read)}")
    private = sorted(
        name
        for names in namespaces.values()
        for name in names
        if name.startswith("_") and not name.startswith("__")
    )
    print(f"private names left out: {' '.join(private)}")
    for reason, text in INTERNALS_TEXT.items():
        print(f"left out, {reason}: {' '.join(text.split())}")
