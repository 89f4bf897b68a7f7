"""Arguments to try: PyTorch's own samples (OpInfo), and some written by hand."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import torch

from model_check.names import resolve
from model_check.placement import Sample
from model_check.written_samples import written

MAX_SAMPLES = 6
"""Samples tried of one function. Those that differ in form are preferred."""
_MAX_ELEMENTS = 20_000


def all_samples() -> dict[str, list[Sample]]:
    """Samples by qualified name of the function."""
    found: dict[str, list[Sample]] = defaultdict(list)
    for name, samples in written().items():
        found[name].extend(samples)
    for name, samples in _of_opinfo().items():
        found[name].extend(samples)
    return found


def _of_opinfo() -> dict[str, list[Sample]]:
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Sample]] = defaultdict(list)
    for op in op_db:
        if op.variant_test_name and op.op is not resolve(f"torch.{op.name}"):
            continue
        samples = _pick(op)
        for name in _names(op):
            found[name].extend(samples)
    return found


def _names(op: Any) -> set[str]:
    """The public names under which an operator can be called with its samples."""
    names = {f"torch.{op.name}"}
    names.update(f"torch.{alias.name}" for alias in op.aliases)
    for base in (op, *op.aliases):
        bare = base.name.rpartition(".")[2]
        if base.method_variant is not None:
            names.add(f"torch.Tensor.{bare}")
        if base.inplace_variant is not None:
            names.add(f"torch.Tensor.{bare}_")
    if op.operator_variant is not None:
        names.add(f"torch.Tensor.__{op.operator_variant.__name__.strip('_')}__")
    if op.inplace_operator_variant is not None:
        names.add(f"torch.Tensor.__{op.inplace_operator_variant.__name__.strip('_')}__")
    if op.name.startswith("__"):
        names.add(f"torch.Tensor.{op.name}")
    return names


def _pick(op: Any) -> list[Sample]:
    """A few samples, at most one of each form first."""
    dtypes = [dtype for dtype in _PREFERRED if dtype in op.dtypes]
    kept: dict[Any, Sample] = {}
    spare: list[Sample] = []
    for dtype in dtypes[:2]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                inputs = list(op.sample_inputs("cpu", dtype))
            except Exception:
                continue
        for one in inputs:
            sample = Sample((one.input, *one.args), dict(one.kwargs))
            if sum(tensor.numel() for tensor in sample.tensors()) > _MAX_ELEMENTS:
                continue
            form = _form(sample)
            if form in kept:
                spare.append(sample)
            else:
                kept[form] = sample
    chosen = list(kept.values())[: 2 * MAX_SAMPLES]
    return chosen + spare[: max(0, MAX_SAMPLES - len(chosen))]


_PREFERRED = (torch.float32, torch.int64, torch.bool, torch.complex64)


def _form(sample: Sample) -> tuple[Any, ...]:
    def kind(thing: Any) -> Any:
        if isinstance(thing, torch.Tensor):
            return ("tensor", thing.dim(), thing.dtype)
        if isinstance(thing, (list, tuple)):
            return tuple(map(kind, thing))
        return type(thing)

    return (kind(sample.args), tuple(sorted((k, kind(v)) for k, v in sample.kwargs.items())))
