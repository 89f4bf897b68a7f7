"""Freezes a small language model, puts low-rank adapters into its layers and trains these."""

import copy
import math
import os
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Settings:
    vocabulary: int = 50
    width: int = 16
    heads: int = 2
    depth: int = 2
    rank: int = 2
    targets: tuple = ("query", "value")
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")


class Adapted(nn.Module):
    def __init__(self, base, rank, alpha=4.0):
        super().__init__()
        self.base = base
        for parameter in self.base.parameters():
            parameter.requires_grad_(False)
        factory = {"device": base.weight.device, "dtype": base.weight.dtype}
        self.down = nn.Parameter(torch.empty(rank, base.in_features, **factory))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, **factory))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.down.T @ self.up.T) * self.scale

    @torch.no_grad()
    def merged(self):
        layer = copy.deepcopy(self.base)
        layer.weight += self.scale * self.up @ self.down
        return layer


class Attention(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.heads = settings.heads
        self.query = nn.Linear(settings.width, settings.width)
        self.key = nn.Linear(settings.width, settings.width)
        self.value = nn.Linear(settings.width, settings.width)
        self.out = nn.Linear(settings.width, settings.width)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x):
        q, k, v = (self.split(layer(x)) for layer in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.norms = nn.ModuleDict({name: nn.LayerNorm(settings.width) for name in ("a", "m")})
        self.attention = Attention(settings)
        self.mlp = nn.Sequential(
            nn.Linear(settings.width, 4 * settings.width),
            nn.GELU(),
            nn.Linear(4 * settings.width, settings.width),
        )

    def forward(self, x):
        x = x + self.attention(self.norms["a"](x))
        return x + self.mlp(self.norms["m"](x))


class Model(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.tokens = nn.Embedding(settings.vocabulary, settings.width)
        self.places = nn.Embedding(64, settings.width)
        self.blocks = nn.ModuleList(Block(settings) for _ in range(settings.depth))
        self.head = nn.Linear(settings.width, settings.vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, labels=None):
        places = torch.arange(ids.size(1), device=ids.device)
        x = self.tokens(ids) + self.places(places)[None]
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        if labels is None:
            return logits, None
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        return logits, loss


def adapt(module, settings):
    """Replaces the named layers, however deep they are."""
    for name, child in module.named_children():
        if name in settings.targets and isinstance(child, nn.Linear):
            setattr(module, name, Adapted(child, settings.rank))
        else:
            adapt(child, settings)
    return module


def batches(count, settings, generator):
    for _ in range(count):
        ids = torch.randint(settings.vocabulary, (4, 12), generator=generator)
        yield {"ids": ids, "labels": ids.clone()}


@torch.inference_mode()
def sample(model, prompt, steps):
    model.eval()
    for _ in range(steps):
        logits, _ = model(prompt)
        probabilities = torch.softmax(logits[:, -1] / 0.8, dim=-1)
        prompt = torch.cat([prompt, torch.multinomial(probabilities, 1)], dim=1)
    return prompt


def main():
    settings = Settings()
    torch.manual_seed(0)
    model = Model(settings).to(settings.device)
    model.requires_grad_(False)
    adapt(model, settings)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=1e-2)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (step + 1))
    average = torch.optim.swa_utils.AveragedModel(model)
    context = torch.autocast(settings.device, torch.bfloat16) if settings.rank > 8 else nullcontext()
    generator = torch.Generator().manual_seed(1)
    history = []
    for step, batch in enumerate(batches(4, settings, generator)):
        batch = {name: value.to(settings.device) for name, value in batch.items()}
        with context:
            logits, loss = model(**batch)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(trainable, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        average.update_parameters(model)
        history.append((loss.item(), norm.item()))
        if step % 2 == 0:
            accuracy = (logits[:, :-1].argmax(-1) == batch["labels"][:, 1:]).float().mean()
            print(step, f"{accuracy:.2f}")
    adapters = {n: p.detach().cpu() for n, p in model.named_parameters() if p.requires_grad}
    path = os.path.join(tempfile.mkdtemp(), "adapters.pt")
    torch.save(adapters, path)
    restored = torch.load(path, map_location=settings.device)
    model.load_state_dict(restored, strict=False)
    layer = model.blocks[0].attention.query
    merged = layer.merged()
    probe = torch.randn(2, settings.width, device=settings.device)
    print((merged(probe) - layer(probe)).abs().max().item())
    prompt = torch.zeros(1, 1, dtype=torch.long, device=settings.device)
    print(sample(average.module, prompt, 3).tolist(), history[-1])


if __name__ == "__main__":
    main()
