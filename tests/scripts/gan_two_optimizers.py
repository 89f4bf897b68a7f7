"""A GAN on rings of points: two optimizers, fixed noise, alternating steps."""

import argparse
import itertools
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--latent", type=int, default=8)
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--no-cuda", action="store_true")
opt = parser.parse_args()

cuda = torch.cuda.is_available() and not opt.no_cuda
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
device = torch.device("cuda:0" if cuda else "cpu")


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.02)
        if m.bias is not None:
            m.bias.data.zero_()


class Generator(nn.Module):
    def __init__(self, latent):
        super().__init__()

        def block(n_in, n_out, normalize=True):
            layers = [nn.Linear(n_in, n_out)]
            if normalize:
                layers.append(nn.BatchNorm1d(n_out, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.net = nn.Sequential(
            *block(latent, 16, normalize=False),
            *block(16, 32),
            nn.Linear(32, 2),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def ring(n):
    angle = torch.rand(n) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1, device=real.device)
    mixed = (alpha * real + (1 - alpha) * fake.detach()).requires_grad_(True)
    score = critic(mixed)
    (grad,) = torch.autograd.grad(
        outputs=score, inputs=mixed, grad_outputs=torch.ones_like(score), create_graph=True
    )
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


loader = DataLoader(TensorDataset(ring(64)), batch_size=opt.batch_size, shuffle=True)
generator = Generator(opt.latent)
discriminator = Discriminator()
criterion = nn.BCEWithLogitsLoss()
if cuda:
    generator.cuda()
    discriminator.cuda()
    criterion.cuda()
generator.apply(weights_init)
discriminator.apply(weights_init)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(itertools.chain(discriminator.parameters()), lr=2e-4)
fixed_noise = torch.randn(4, opt.latent, device=device)

history = {"g": [], "d": []}
for epoch in range(opt.epochs):
    for i, (points,) in enumerate(loader):
        valid = Tensor(points.size(0)).fill_(1.0)
        fake_label = torch.zeros_like(valid)
        real = points.type(Tensor)

        optimizer_d.zero_grad()
        z = torch.randn(real.shape[0], opt.latent, device=device)
        fake = generator(z)
        loss_real = criterion(discriminator(real), valid)
        loss_fake = criterion(discriminator(fake.detach()), fake_label)
        penalty = gradient_penalty(discriminator, real, fake)
        loss_d = (loss_real + loss_fake) / 2 + 10 * penalty
        loss_d.backward()
        optimizer_d.step()

        optimizer_g.zero_grad(set_to_none=True)
        loss_g = F.softplus(-discriminator(fake)).mean()
        loss_g.backward()
        optimizer_g.step()
        history["g"].append(loss_g.item())
        history["d"].append(loss_d.detach())
    with torch.no_grad():
        sample = generator(fixed_noise).detach().cpu()
    radius = sample.norm(dim=1)
    print(epoch, sum(history["g"]) / len(history["g"]), radius.mean().item())
mean_d = torch.stack(history["d"]).mean()
print(mean_d)
