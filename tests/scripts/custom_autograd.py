"""Custom autograd functions, function transforms, weight tying, parameter lists."""

import math

import torch
from torch import nn
from torch.autograd import Function
from torch.func import functional_call, grad, vmap


class StraightThrough(Function):
    @staticmethod
    def forward(ctx, x, codebook):
        distance = torch.cdist(x, codebook)
        index = distance.argmin(dim=-1)
        ctx.save_for_backward(index, codebook)
        ctx.mark_non_differentiable(index)
        return codebook[index], index

    @staticmethod
    def backward(ctx, grad_output, grad_index):
        index, codebook = ctx.saved_tensors
        grad_codebook = torch.zeros_like(codebook).index_add_(0, index, grad_output)
        return grad_output, grad_codebook


class Clamp(Function):
    @staticmethod
    def forward(ctx, x, bound):
        ctx.bound = bound
        ctx.save_for_backward(x)
        return x.clamp(-bound, bound)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        inside = x.abs() <= ctx.bound
        return g * inside.to(g.dtype), None


quantize = StraightThrough.apply


class TiedModel(nn.Module):
    def __init__(self, vocab=11, dim=8, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.decoder = nn.Linear(dim, vocab, bias=False)
        self.decoder.weight = self.embed.weight
        self.mixes = nn.ParameterList([nn.Parameter(torch.eye(dim)) for _ in range(layers)])
        self.gains = nn.ParameterDict(
            {"in": nn.Parameter(torch.ones(dim)), "out": nn.Parameter(torch.ones(dim))}
        )
        self.codebook = nn.Parameter(torch.randn(4, dim) / math.sqrt(dim))

    def forward(self, tokens):
        h = self.embed(tokens) * self.gains["in"]
        for mix in self.mixes:
            h = torch.tanh(h @ mix)
        flat = h.reshape(-1, h.size(-1))
        code, index = quantize(flat, self.codebook)
        h = Clamp.apply(flat + code, 3.0).view_as(h)
        return self.decoder(h * self.gains["out"]), index


def per_sample_gradients(model, tokens, targets):
    params = {k: v.detach() for k, v in model.named_parameters()}
    buffers = {k: v.detach() for k, v in model.named_buffers()}

    def loss_of(p, b, sample, target):
        h = functional_call(model.embed, {"weight": p["embed.weight"]}, (sample,))
        logits = h @ p["embed.weight"].t()
        return nn.functional.cross_entropy(logits, target)

    per_sample = vmap(grad(loss_of), in_dims=(None, None, 0, 0))
    found = per_sample(params, buffers, tokens, targets)
    return {name: g.norm() for name, g in found.items()}


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TiedModel()
    model = model.to(device=device, dtype=torch.float32)
    assert model.decoder.weight is model.embed.weight
    tokens = torch.randint(0, 11, (3, 5)).to(device)
    optimizer = torch.optim.RMSprop(
        [
            {"params": model.mixes.parameters(), "lr": 1e-3},
            {"params": [p for n, p in model.named_parameters() if not n.startswith("mixes")]},
        ],
        lr=1e-2,
    )
    usage = torch.zeros(4, device=tokens.device)
    for _ in range(3):
        logits, index = model(tokens[:, :-1])
        usage += torch.bincount(index, minlength=4)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    norms = per_sample_gradients(model, tokens[:, :-1], tokens[:, 1:])
    print(loss.item(), usage.tolist(), norms["embed.weight"].item())
    first = next(iter(model.parameters()))
    hessian = torch.autograd.functional.hessian(lambda v: (v**3).sum(), first[0, :2].detach())
    print(first.device, hessian.diagonal())


main()
