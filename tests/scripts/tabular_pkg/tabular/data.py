"""Synthetic tables."""

from typing import NamedTuple

import torch
from torch.utils.data import DataLoader, IterableDataset, random_split
from torch.utils.data import Dataset as _Dataset


class Row(NamedTuple):
    num: torch.Tensor
    cat: torch.Tensor
    target: torch.Tensor


class Table(_Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(3)
        self.num = torch.randn(n, 4, generator=g)
        self.cat = torch.stack(
            [torch.randint(0, k, (n,), generator=g) for k in (3, 5)], dim=1
        )
        self.target = self.num.sum(1) + self.cat[:, 0].float()

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i) -> Row:
        return Row(self.num[i], self.cat[i], self.target[i])


class Stream(IterableDataset):
    def __init__(self, table, repeats):
        self.table, self.repeats = table, repeats

    def __iter__(self):
        for _ in range(self.repeats):
            for i in range(len(self.table)):
                yield self.table[i]


def make_loaders(n, batch_size):
    train, valid = random_split(Table(n), [n - 16, 16])
    return (
        DataLoader(Stream(train, 1), batch_size=batch_size),
        DataLoader(valid, batch_size=batch_size, shuffle=False),
    )
