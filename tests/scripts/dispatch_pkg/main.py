"""Trains the network and the loss that are asked for by the names of their files."""

import argparse
from importlib import import_module

import torch
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __init__(self, count, length, classes):
        self.targets = torch.arange(count) % classes
        ticks = torch.linspace(0, 6, length)
        self.signals = torch.sin(ticks[None] * (1 + self.targets[:, None]))

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        noise = torch.randn_like(self.signals[index]) * 0.1
        return self.signals[index] + noise, self.targets[index]


class Trainer:
    def __init__(self, settings):
        self.settings = settings
        kind = import_module("nets." + settings.net).Network
        self.net = kind(settings).to(settings.device)
        self.loss = import_module(f"losses.{settings.loss}").Loss(margin=0.3).to(settings.device)
        parameters = list(self.net.parameters()) + list(self.loss.parameters())
        self.optimizer = getattr(torch.optim, settings.optimizer)(parameters, lr=0.01)

    def step(self, batch):
        x, y = (part.to(self.settings.device) for part in batch)
        out = self.net(x)
        loss = self.loss(out, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach(), (out.argmax(1) == y).sum()

    def run(self, loader):
        for epoch in range(self.settings.epochs):
            seen, right, total = 0, 0, torch.zeros((), device=self.settings.device)
            for batch in loader:
                loss, hits = self.step(batch)
                total += loss * len(batch[0])
                right += hits.item()
                seen += len(batch[0])
            print(epoch, (total / seen).item(), right / seen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--net", required=True, help="a file of nets/")
    parser.add_argument("--loss", default="margin", help="a file of losses/")
    parser.add_argument("--optimizer", default="Adam")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--width", type=int, default=6)
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    settings = parser.parse_args()
    torch.manual_seed(0)
    data = Signals(24, 16, settings.classes)
    Trainer(settings).run(DataLoader(data, batch_size=8, shuffle=True))


if __name__ == "__main__":
    main()
