"""Meta-device initialisation, to_empty, default devices, freezing, low-rank adapters."""

import io
import os

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

DEVICE = os.environ.get("FINETUNE_DEVICE", "cuda" if torch.cuda.is_available() else "cpu")


def skip_init(module_class, *args, **kwargs):
    with torch.device("meta"):
        module = module_class(*args, **kwargs)
    return module.to_empty(device=kwargs.get("device") or DEVICE)


class LoRA(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 2, alpha: float = 4.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        weight = base.weight
        self.a = nn.Parameter(torch.randn(rank, base.in_features, device=weight.device) * 0.01)
        self.b = nn.Parameter(weight.new_zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b) * self.scale

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.b @ self.a * self.scale
        return self.base


class Mixer(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.register_buffer("mask", torch.ones(dim))

    def reset(self):
        for layer in self.layers:
            nn.init.kaiming_uniform_(layer.weight, a=5**0.5)
            nn.init.zeros_(layer.bias)
        self.norm.reset_parameters()
        self.mask.fill_(1)

    def forward(self, x):
        for layer in self.layers:
            x = F.silu(layer(self.norm(x * self.mask)))
        return x


def replace_linears(module, make):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, make(child))
        else:
            replace_linears(child, make)
    return module


def roundtrip(model):
    stream = io.BytesIO()
    torch.save(model.state_dict(), stream)
    stream.seek(0)
    state = torch.load(stream, map_location=lambda storage, loc: storage)
    host = torch.load(io.BytesIO(stream.getvalue()), map_location=torch.device("cpu"))
    return state, host


def main():
    model = skip_init(Mixer, 6, 3)
    model.reset()
    shapes = {n: tuple(p.shape) for n, p in model.named_parameters()}
    state, host = roundtrip(model)
    twin = Mixer(6, 3)
    missing = twin.load_state_dict(state, strict=True)
    twin.to(DEVICE)
    x = torch.randn(4, 6, device=DEVICE)
    same = torch.allclose(model(x), twin(x))

    replace_linears(model, LoRA)
    parametrizations.weight_norm(twin.layers[0])
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adagrad(trainable, lr=0.1)
    for _ in range(3):
        y = model(x)
        loss = (y - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    merged = model.layers[0].merge()
    flat = torch.nn.utils.parameters_to_vector(trainable)
    print(same, missing, loss.item(), merged.weight.device, flat.numel(), len(shapes))

    torch.set_default_device(DEVICE)
    probe = torch.arange(6.0)
    grid = torch.linspace(0, 1, 6)
    layer = nn.Linear(6, 2)
    result = layer(probe + grid)
    kept = torch.zeros(2, device="cpu")
    torch.set_default_device("cpu")
    plain = torch.ones(2)
    with torch.device(DEVICE):
        inner = torch.ones(2)
        clone = inner.clone()
    total = result.detach().cpu() + plain + kept
    print(total.sum().item(), (inner + clone).sum().item(), host["norm.weight"].device)


if __name__ == "__main__":
    main()
