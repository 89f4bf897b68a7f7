"""Training and keeping."""

import torch
from torch import nn

from .helpers import MeanMetric, move


class Experiment:
    def __init__(self, model, settings):
        self.device = settings.device
        self.model = model.to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.loss = nn.L1Loss(reduction="none")

    def fit(self, loader, epochs):
        for _ in range(epochs):
            metric = MeanMetric(self.device)
            for batch in loader:
                num, cat, target = move(batch, self.device)
                error = self.loss(self.model(num, cat), target)
                metric += error.detach()
                self.optimizer.zero_grad()
                error.mean().backward()
                self.optimizer.step()
            value = metric.compute()
        print("fit", float(value))

    @torch.no_grad()
    def score(self, loader):
        self.model.eval()
        errors = []
        for row in loader:
            row = move(row, self.model.device)
            errors.append((self.model(row.num, row.cat) - row.target).abs())
        self.model.train()
        return torch.cat(errors).mean()

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "optim": self.optimizer.state_dict()}, path)

    @classmethod
    def load(cls, path, model, settings):
        state = torch.load(path, map_location=settings.device)
        self = cls(model, settings)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optim"])
        return self
