"""A normalising flow on two moons: coupling layers, log-determinants, a VAE-like base, sampling."""

import abc
import os

import numpy as np
import torch
import torch.distributions as D
from torch import Tensor, nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split

device = torch.device(os.environ.get("FLOW_DEVICE", "cuda" if torch.cuda.is_available() else "cpu"))


class Bijection(nn.Module, metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]: ...

    @abc.abstractmethod
    def inverse(self, z: Tensor) -> Tensor: ...


class ActNorm(Bijection):
    def __init__(self, size):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(size))
        self.shift = nn.Parameter(torch.zeros(size))
        self.initialised = False

    def forward(self, x):
        if not self.initialised:
            with torch.no_grad():
                self.shift.copy_(-x.mean(0))
                self.log_scale.copy_(-torch.log(x.std(0) + 1e-6))
            self.initialised = True
        return (x + self.shift) * self.log_scale.exp(), self.log_scale.sum().expand(len(x))

    def inverse(self, z):
        return z * torch.exp(-self.log_scale) - self.shift


class Coupling(Bijection):
    def __init__(self, size, hidden, flip):
        super().__init__()
        mask = torch.arange(size) % 2
        self.register_buffer("mask", (1 - mask if flip else mask).float())
        make = lambda: nn.Sequential(nn.Linear(size, hidden), nn.Tanh(), nn.Linear(hidden, size))
        self.scale, self.move = make(), make()

    def parts(self, kept):
        inverse = 1 - self.mask
        return torch.tanh(self.scale(kept)) * inverse, self.move(kept) * inverse

    def forward(self, x):
        kept = x * self.mask
        s, t = self.parts(kept)
        return kept + (1 - self.mask) * (x * s.exp() + t), s.sum(-1)

    def inverse(self, z):
        kept = z * self.mask
        s, t = self.parts(kept)
        return kept + (1 - self.mask) * ((z - t) * (-s).exp())


class Rotation(Bijection):
    def __init__(self, size):
        super().__init__()
        q, _ = torch.linalg.qr(torch.randn(size, size))
        self.weight = nn.Parameter(q)

    def forward(self, x):
        _, logdet = torch.linalg.slogdet(self.weight)
        return x @ self.weight, logdet.repeat(x.shape[0])

    def inverse(self, z):
        return torch.linalg.solve(self.weight.T, z.T).T


class Flow(nn.Module):
    def __init__(self, size=2, depth=2, hidden=8):
        super().__init__()
        steps: list[Bijection] = []
        for index in range(depth):
            steps += [ActNorm(size), Coupling(size, hidden, bool(index % 2)), Rotation(size)]
        self.steps = nn.ModuleList(steps)
        self.register_buffer("origin", torch.zeros(size))
        self.register_buffer("spread", torch.ones(size))

    @property
    def base(self):
        return D.Independent(D.Normal(self.origin, self.spread), 1)

    def log_prob(self, x):
        total = torch.zeros(x.shape[0], device=x.device)
        for step in self.steps:
            x, change = step(x)
            total = total + change
        return self.base.log_prob(x) + total

    @torch.no_grad()
    def sample(self, count):
        z = self.base.sample((count,))
        for step in reversed(self.steps):
            z = step.inverse(z)
        return z


def moons(count, rng):
    angles = rng.uniform(0, np.pi, count)
    upper = np.stack([np.cos(angles), np.sin(angles)], 1)
    lower = np.stack([1 - np.cos(angles), 0.5 - np.sin(angles)], 1)
    points = np.where(rng.random((count, 1)) < 0.5, upper, lower)
    return points.astype(np.float32) + rng.normal(0, 0.05, points.shape).astype(np.float32)


class Stopper:
    def __init__(self, patience=2):
        self.patience, self.best, self.left = patience, None, patience
        self.kept = {}

    def __call__(self, score, model):
        if self.best is None or score < self.best:
            self.best, self.left = score, self.patience
            self.kept = {k: v.detach().clone() for k, v in model.state_dict().items()}
        else:
            self.left -= 1
        return self.left <= 0


def bits(model, loader):
    losses = [(-model.log_prob(x.to(device))).mean() for (x,) in loader]
    return torch.stack(losses).mean()


data = TensorDataset(torch.as_tensor(moons(60, np.random.default_rng(0))))
train_set, valid_set = random_split(data, [48, 12], generator=torch.Generator().manual_seed(0))
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=12)
flow = Flow().to(device)
optimizer = optim.Adamax(flow.parameters(), lr=1e-2)
scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
stop = Stopper()
for epoch in range(3):
    flow.train()
    for (x,) in train_loader:
        x = x.to(device)
        loss = -flow.log_prob(x + 0.01 * torch.randn_like(x)).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), max_norm=5)
        optimizer.step()
    flow.eval()
    with torch.no_grad():
        score = bits(flow, valid_loader)
    scheduler.step(score)
    print(epoch, loss.item(), score.item())
    if stop(score.item(), flow):
        break
flow.load_state_dict(stop.kept)
samples = flow.sample(20)
corners = torch.cartesian_prod(torch.linspace(-1, 2, 4), torch.linspace(-1, 1, 3)).to(device)
density = flow.log_prob(corners).exp().detach().cpu().numpy().reshape(4, 3)
print(samples.cpu().mean(0).tolist(), density.max())
