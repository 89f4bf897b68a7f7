"""Moves and measures."""

from collections.abc import Mapping, Sequence

import torch

__all__ = ["MeanMetric", "move"]


def move(data, device):
    """Any nest of tensors on `device`."""
    if isinstance(data, torch.Tensor):
        return data.to(device, non_blocking=True)
    if isinstance(data, Mapping):
        return {key: move(value, device) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(move(value, device) for value in data))
    if isinstance(data, Sequence) and not isinstance(data, str):
        return type(data)(move(value, device) for value in data)
    return data


class MeanMetric:
    def __init__(self, device=None):
        self.total = torch.tensor(0.0, device=device)
        self.weight = torch.tensor(0.0, device=device)

    def __iadd__(self, value):
        self.total += value.sum()
        self.weight += value.numel()
        return self

    def compute(self):
        return self.total / self.weight
