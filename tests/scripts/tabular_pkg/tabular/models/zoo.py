"""Whole models."""

import torch
from torch import nn

from .layers import CategoricalEmbeddings, Residual


class Base(nn.Module):
    dim = 4

    def __init__(self, n_num, categories):
        super().__init__()
        self.tokens = CategoricalEmbeddings(categories, self.dim)
        self.width = n_num + self.dim * len(categories)

    @property
    def device(self):
        return next(self.parameters()).device

    def features(self, num, cat):
        return torch.cat([num, self.tokens(cat)], dim=1)


class Linear(Base):
    def __init__(self, n_num, categories):
        super().__init__(n_num, categories)
        self.out = nn.Linear(self.width, 1)

    def forward(self, num, cat):
        return self.out(self.features(num, cat)).squeeze(-1)


class ResNet(Base):
    def __init__(self, n_num, categories, depth=2):
        super().__init__(n_num, categories)
        self.blocks = nn.Sequential(
            *[
                Residual(nn.Sequential(nn.LayerNorm(self.width), nn.Linear(self.width, self.width)))
                for _ in range(depth)
            ]
        )
        self.out = nn.Linear(self.width, 1)

    def forward(self, num, cat):
        x = self.blocks(self.features(num, cat))
        return self.out(x.relu()).squeeze(-1)
