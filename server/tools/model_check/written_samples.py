"""Samples written by hand, for functions that PyTorch's own leave out.

Each line is a qualified name and the arguments of a call as Python text. Names at hand: `x(2, 3)`
(random floats), `p(…)` (positive floats), `i(high, 2, 3)` (integers below `high`), `b(…)`
(booleans), `s()` and `c()` (sparse matrices), `q()` (a quantized tensor), `torch` and `np`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model_check.placement import Sample

_LINES = Path(__file__).with_name("written_samples.txt")


def written() -> dict[str, list[Sample]]:
    """Samples by qualified name."""
    found: dict[str, list[Sample]] = defaultdict(list)
    for name, arguments in _entries():
        args, kwargs = _evaluate(arguments)
        found[name].append(Sample(args, kwargs))
    return found


def _entries() -> Iterator[tuple[str, str]]:
    for line in _LINES.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            names, _, arguments = line.partition(" | ")
            for name in names.split():
                yield name if name.startswith("torch.") else f"torch.{name}", arguments


def _evaluate(arguments: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    def collect(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, kwargs

    names: dict[str, Any] = {
        "torch": torch,
        "np": np,
        "call": collect,
        "x": lambda *size: torch.randn(*size) if size else torch.randn(()),
        "p": lambda *size: torch.rand(*size) + 0.1,
        "i": lambda high, *size: torch.randint(high, size),
        "b": lambda *size: torch.rand(*size) > 0.5,
        "s": lambda: torch.eye(4).to_sparse(),
        "c": lambda: torch.eye(4).to_sparse_csr(),
        "q": lambda: torch.quantize_per_tensor(torch.rand(2, 3), 0.1, 0, torch.qint8),
    }
    found: tuple[tuple[Any, ...], dict[str, Any]] = eval(f"call({arguments})", names)
    return found
