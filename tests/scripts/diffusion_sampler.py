"""Diffusion with schedule tensors kept on the CPU and gathered per step; EMA; sampling loops."""

import argparse
import inspect
import logging
from copy import deepcopy

import torch
from torch import nn, optim

logger = logging.getLogger(__name__)


def extract(values, t, shape):
    out = values.gather(-1, t.cpu())
    return out.reshape(t.shape[0], *((1,) * (len(shape) - 1))).to(t.device)


class Schedule:
    """Plain tensors on the CPU, never moved."""

    def __init__(self, steps, start=1e-3, end=0.2):
        self.steps = steps
        self.betas = torch.linspace(start, end, steps)
        self.alphas = 1.0 - self.betas
        self.bar = torch.cumprod(self.alphas, dim=0)
        self.bar_prev = torch.nn.functional.pad(self.bar[:-1], (1, 0), value=1.0)
        self.variance = self.betas * (1.0 - self.bar_prev) / (1.0 - self.bar)

    def add_noise(self, x, t, noise=None):
        noise = torch.randn_like(x) if noise is None else noise
        a = extract(self.bar.sqrt(), t, x.shape)
        b = extract((1 - self.bar).sqrt(), t, x.shape)
        return a * x + b * noise, noise

    def __getattr__(self, name):
        raise AttributeError(name)


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, t):
        half = self.dim // 2
        frequencies = torch.exp(torch.arange(half, device=t.device) * -0.5)
        angles = t[:, None].float() * frequencies[None]
        return self.mlp(torch.cat([angles.sin(), angles.cos()], dim=-1))


class Denoiser(nn.Module):
    def __init__(self, n_in=2, dim=16, n_classes=None):
        super().__init__()
        self.time = TimeEmbedding(dim)
        self.label = nn.Embedding(n_classes + 1, dim) if n_classes else None
        self.inp = nn.Linear(n_in, dim)
        self.mid = nn.Sequential(*[m for _ in range(2) for m in (nn.Linear(dim, dim), nn.SiLU())])
        self.out = nn.Linear(dim, n_in)

    def forward(self, x, t, y=None):
        emb = self.time(t)
        if self.label is not None and y is not None:
            emb = emb + self.label(y)
        h = self.inp(x) + emb
        return self.out(self.mid(h))


class Ema(nn.Module):
    def __init__(self, model, decay, device=None):
        super().__init__()
        self.module = deepcopy(model)
        self.module.eval()
        self.decay = decay
        self.device = device
        if self.device is not None:
            self.module.to(device=device)

    def _update(self, model, update_fn):
        with torch.no_grad():
            for ema_v, model_v in zip(
                self.module.state_dict().values(), model.state_dict().values()
            ):
                if self.device is not None:
                    model_v = model_v.to(device=self.device)
                ema_v.copy_(update_fn(ema_v, model_v))

    def update(self, model):
        self._update(model, update_fn=lambda e, m: self.decay * e + (1.0 - self.decay) * m)


@torch.no_grad()
def sample(model, schedule, n, device, guidance=None, callback=lambda step, x: None):
    x = torch.randn(n, 2, device=device)
    y = torch.arange(n, device=device) % 2
    for step in reversed(range(schedule.steps)):
        t = torch.full((n,), step, device=device, dtype=torch.long)
        eps = model(x, t, y)
        if guidance:
            null = model(x, t, torch.full_like(y, 2))
            eps = null + guidance * (eps - null)
        alpha, bar = schedule.alphas[step].to(device), schedule.bar[step].to(device)
        mean = (x - (1 - alpha) / (1 - bar).sqrt() * eps) / alpha.sqrt()
        noise = torch.randn_like(x) if step > 0 else 0.0
        x = mean + schedule.variance[step].sqrt() * noise
        callback(step, x)
    return x


def parse_args(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--iters", type=int, default=3)
    parser.add_argument("--guidance", type=float, default=1.5)
    parser.add_argument("--ema", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--gpu", type=int, default=0)
    args, unknown = parser.parse_known_args(argv)
    args.device = f"cuda:{args.gpu}" if torch.cuda.is_available() and args.gpu >= 0 else "cpu"
    return args


def main():
    args = parse_args()
    torch.manual_seed(0)
    model = Denoiser(n_classes=2).to(args.device)
    fused = "fused" in inspect.signature(optim.AdamW).parameters and False
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, fused=fused)
    schedule = Schedule(args.steps)
    ema = Ema(model, 0.9) if args.ema else None
    frames = []
    for it in range(args.iters):
        label = torch.randint(0, 2, (8,))
        x0 = torch.randn(8, 2) + label[:, None] * 3.0
        x0, label = (v.to(args.device) for v in (x0, label))
        t = torch.randint(0, schedule.steps, (x0.size(0),), device=args.device)
        xt, noise = schedule.add_noise(x0, t)
        drop = torch.rand(label.shape, device=label.device) < 0.1
        label = torch.where(drop, torch.full_like(label, 2), label)
        loss = torch.nn.functional.mse_loss(model(xt, t, label), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if ema is not None:
            ema.update(model)
        logger.info("%d %f", it, loss.item())
    net = ema.module if ema else model
    images = sample(
        net, schedule, 4, args.device, args.guidance, lambda step, x: frames.append(x.cpu())
    )
    film = torch.stack(frames)
    print(film.shape, images.cpu().mean().item())


if __name__ == "__main__":
    main()
