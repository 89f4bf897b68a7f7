"""What stands for an accelerator: CUDA, real or emulated, or else PyTorch's fake tensors."""

from __future__ import annotations

import contextlib
import logging
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

DEVICE = "cuda:0"


def tensors() -> AbstractContextManager[Any]:
    """Within it tensors can be on `DEVICE`. Fake ones know devices and shapes but no values, so
    that some functions do not run."""
    if not is_fake():
        return contextlib.nullcontext()
    logging.getLogger("torch._subclasses").setLevel(logging.CRITICAL)
    return FakeTensorMode(allow_non_fake_inputs=True)


def is_fake() -> bool:
    """Fake tensors let host tensors without dimensions meet any device in every function."""
    return not torch.cuda.is_available()


def described() -> str:
    return "fake CUDA tensors, which know less" if is_fake() else "CUDA"
