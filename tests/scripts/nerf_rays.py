"""Fits a small radiance field to synthetic views: rays, stratified samples, chunks, a fine pass."""

import argparse
import math
from collections import namedtuple
from functools import partial

import numpy as np
import torch
from torch import nn

Rays = namedtuple("Rays", "origins directions")
DEVICE = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=6)
    parser.add_argument("--views", type=int, default=3)
    parser.add_argument("--coarse", type=int, default=8)
    parser.add_argument("--fine", type=int, default=4)
    parser.add_argument("--chunk", type=int, default=10)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--white", action="store_true")
    return parser.parse_args()


class Encoding:
    """Sines and cosines of growing frequency."""

    def __init__(self, bands, device):
        self.frequencies = 2.0 ** torch.arange(bands, device=device)

    def __call__(self, x):
        scaled = x[..., None, :] * self.frequencies[:, None]
        return torch.cat([x, scaled.sin().flatten(-2), scaled.cos().flatten(-2)], dim=-1)


class Field(nn.Module):
    def __init__(self, bands=3, width=16, skips=(1,)):
        super().__init__()
        size = 3 * (2 * bands + 1)
        self.skips = set(skips)
        self.layers = nn.ModuleList()
        for index in range(3):
            inner = size if index == 0 else width + (size if index in self.skips else 0)
            self.layers.append(nn.Linear(inner, width))
        self.density = nn.Linear(width, 1)
        self.colour = nn.Sequential(nn.Linear(width + 3, width), nn.ReLU(), nn.Linear(width, 3))

    def forward(self, encoded, directions):
        h = encoded
        for index, layer in enumerate(self.layers):
            if index in self.skips:
                h = torch.cat([h, encoded], -1)
            h = torch.relu(layer(h))
        sigma = torch.nn.functional.softplus(self.density(h))
        rgb = torch.sigmoid(self.colour(torch.cat([h, directions], -1)))
        return sigma[..., 0], rgb


def camera_rays(size, focal, pose):
    i, j = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="xy")
    grid = torch.stack([(i - size / 2) / focal, -(j - size / 2) / focal, -torch.ones(size, size)], -1)
    directions = (grid[..., None, :] * pose[:3, :3]).sum(-1)
    return Rays(pose[:3, -1].expand_as(directions), directions)


def pose_at(angle):
    c, s = math.cos(angle), math.sin(angle)
    matrix = np.array([[c, 0, s, 2 * s], [0, 1, 0, 0], [-s, 0, c, 2 * c], [0, 0, 0, 1]], dtype=np.float32)
    return torch.from_numpy(matrix)


def stratified(near, far, count, rays, perturb=True):
    edges = torch.linspace(near, far, count, device=rays.origins.device)
    depths = edges.expand(rays.origins.shape[0], count)
    if perturb:
        depths = depths + torch.rand_like(depths) * (far - near) / count
    return depths


def resample(bins, weights, count):
    pdf = weights / (weights.sum(-1, keepdim=True) + 1e-5)
    cdf = torch.cat([torch.zeros_like(pdf[..., :1]), pdf.cumsum(-1)], -1)
    u = torch.rand(*cdf.shape[:-1], count, device=bins.device)
    index = torch.searchsorted(cdf.detach(), u, right=True)
    below = (index - 1).clamp(min=0)
    return torch.gather(bins, -1, below.clamp(max=bins.shape[-1] - 1))


def integrate(sigma, rgb, depths, white):
    deltas = torch.diff(depths, append=torch.full_like(depths[:, :1], 1e3))
    alpha = 1 - torch.exp(-sigma * deltas)
    ones = torch.ones((alpha.shape[0], 1), device=alpha.device)
    through = torch.cumprod(torch.cat([ones, 1 - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * through
    colour = (weights[..., None] * rgb).sum(-2)
    if white:
        colour = colour + (1 - weights.sum(-1, keepdim=True))
    return colour, weights


def render(rays, coarse, fine, encode, args):
    points = lambda z: rays.origins[:, None] + rays.directions[:, None] * z[..., None]
    depths = stratified(1.0, 3.0, args.coarse, rays)
    spread = partial(torch.Tensor.expand, rays.directions[:, None])
    sigma, rgb = coarse(encode(points(depths)), spread(-1, args.coarse, -1))
    first, weights = integrate(sigma, rgb, depths, args.white)
    extra = resample(depths, weights, args.fine)
    depths, _ = torch.sort(torch.cat([depths, extra], -1), -1)
    sigma, rgb = fine(encode(points(depths)), spread(-1, depths.shape[-1], -1))
    second, _ = integrate(sigma, rgb, depths, args.white)
    return {"coarse": first, "fine": second}


def in_chunks(function, rays, size):
    parts = [
        function(Rays(*pair)) for pair in zip(rays.origins.split(size), rays.directions.split(size))
    ]
    return {key: torch.cat([part[key] for part in parts]) for key in parts[0]}


def main():
    args = parse()
    torch.manual_seed(0)
    poses = [pose_at(2 * math.pi * n / args.views) for n in range(args.views)]
    views = torch.rand(args.views, args.size, args.size, 3)
    encode = Encoding(3, DEVICE)
    nets = {name: Field().to(DEVICE) for name in ("coarse", "fine")}
    parameters = [p for net in nets.values() for p in net.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=5e-3, betas=(0.9, 0.999))
    rendered = partial(render, encode=encode, args=args, **nets)
    for step in range(args.steps):
        view = np.random.randint(args.views)
        rays = camera_rays(args.size, 5.0, poses[view])
        rays = Rays(*(part.reshape(-1, 3).to(DEVICE) for part in rays))
        target = views[view].reshape(-1, 3)
        chosen = torch.randperm(target.shape[0])[:12]
        rays = Rays(rays.origins[chosen], rays.directions[chosen])
        result = in_chunks(rendered, rays, args.chunk)
        goal = target[chosen].to(DEVICE)
        losses = {key: torch.mean((value - goal) ** 2) for key, value in result.items()}
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * 0.1 ** (step / 100)
        psnr = -10.0 * torch.log10(losses["fine"].detach())
        print(step, loss.item(), psnr.item())
    with torch.no_grad():
        rays = camera_rays(args.size, 5.0, poses[0])
        rays = Rays(*(part.reshape(-1, 3).to(DEVICE) for part in rays))
        image = in_chunks(rendered, rays, args.chunk)["fine"].view(args.size, args.size, 3)
        frame = (image.clamp(0, 1) * 255).byte().cpu().numpy()
    print(frame.shape)


if __name__ == "__main__":
    main()
