"""Layers of several models."""

import torch
from torch import nn


class CategoricalEmbeddings(nn.Module):
    def __init__(self, cardinalities, dim):
        super().__init__()
        offsets = torch.tensor([0, *cardinalities[:-1]]).cumsum(0)
        self.register_buffer("offsets", offsets, persistent=False)
        self.embeddings = nn.Embedding(sum(cardinalities), dim)
        self.bias = nn.Parameter(torch.zeros(len(cardinalities), dim))

    def forward(self, x):
        return (self.embeddings(x + self.offsets) + self.bias).flatten(1)


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, **kwargs):
        return x + self.fn(x, **kwargs)
