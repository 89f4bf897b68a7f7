"""Prints what came out of the comparison of modules."""

from __future__ import annotations

import torch

from model_check.modules import ModuleVerdict, classes, verify_class

COVERED = 0.95
VERIFIED = 0.85
DELIBERATE = {
    "Container": "has no forward of its own",
    "DataParallel": "needs several real devices",
    "Module": "has no forward of its own",
    "ModuleDict": "cannot be called",
    "ModuleList": "cannot be called",
    "ParameterDict": "cannot be called",
    "ParameterList": "cannot be called",
    "RNNBase": "has no forward of its own",
    "RNNCellBase": "has no forward of its own",
    "SyncBatchNorm": "needs a process group",
}
"""Classes that are not called, with the reason."""


def run(only: list[str]) -> int:
    """Prints the table; 1 where a goal is missed or anything disagrees."""
    device = "cuda:0"
    if not torch.cuda.is_available():
        print("There is no CUDA device and no emulation of one.")
        return 2
    found = [verify_class(name, device) for name in only or classes()]
    called = [verdict for verdict in found if verdict.name not in DELIBERATE]
    for verdict in found:
        _detail(verdict, bool(only))
    covered = sum(verdict.covered for verdict in called) / max(1, len(called))
    verified = sum(verdict.verified for verdict in called) / max(1, len(called))
    mixed = sum(verdict.mixed for verdict in called)
    print(f"{len(found)} classes, {len(called)} that are called: covered {covered:.1%}, ", end="")
    print(f"verified {verified:.1%}, {mixed} calls with module and inputs apart")
    for name, reason in DELIBERATE.items():
        print(f"  not called: {name}: {reason}")
    wrong = any(verdict.wrong for verdict in found)
    return 1 if wrong or covered < COVERED or verified < VERIFIED else 0


def _detail(verdict: ModuleVerdict, everything: bool) -> None:
    if not verdict.modelled:
        print(f"  {verdict.name}: no model")
    for text, where in verdict.wrong.items():
        print(f"  {verdict.name}: {text} [{where}]")
    for where in sorted(verdict.unknown)[:2]:
        print(f"  {verdict.name}: unknown [{where}]")
    if everything or (not verdict.ran and verdict.name not in DELIBERATE):
        for reason in sorted(verdict.reasons)[:4]:
            print(f"  {verdict.name}: not run: {reason}")
        print(f"  {verdict.name}: {verdict.ran} ran, {verdict.mixed} apart")
