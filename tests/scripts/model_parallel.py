"""Two GPUs: a model split over cuda:0 and cuda:1, pipelined micro batches, DataParallel."""

import torch
from torch import nn

assert torch.cuda.device_count() >= 2
FIRST, SECOND = torch.device("cuda:0"), torch.device("cuda:1")


class Split(nn.Module):
    def __init__(self, width=16, splits=2, devices=(FIRST, SECOND)):
        super().__init__()
        self.devices = devices
        self.seq1 = nn.Sequential(nn.Linear(8, width), nn.ReLU()).to(devices[0])
        self.seq2 = nn.Sequential(nn.Linear(width, width), nn.ReLU()).to(devices[1])
        self.head = nn.Linear(width, 4).cuda(1)
        self.splits = splits

    def forward(self, x):
        parts = iter(x.split(x.size(0) // self.splits, dim=0))
        s_next = next(parts)
        s_prev = self.seq1(s_next).to(self.devices[1])
        ret = []
        for s_next in parts:
            s_prev = self.seq2(s_prev)
            ret.append(self.head(s_prev.view(s_prev.size(0), -1)))
            s_prev = self.seq1(s_next).to(self.devices[1])
        s_prev = self.seq2(s_prev)
        ret.append(self.head(s_prev))
        return torch.cat(ret)


class Sharded(nn.Module):
    """Layers dealt out over devices in turn."""

    def __init__(self, depth=4):
        super().__init__()
        self.layers = nn.ModuleList()
        self.placement = []
        for i in range(depth):
            device = f"cuda:{i % 2}"
            self.placement.append(device)
            self.layers.append(nn.Linear(8, 8).to(device))

    def forward(self, x):
        for layer in self.layers:
            weight = layer.weight
            x = torch.tanh(nn.functional.linear(x.to(weight.device), weight, layer.bias))
        return x.to("cuda:0")


def all_reduce(tensors, target):
    total = torch.zeros_like(tensors[0], device=target)
    for t in tensors:
        total += t.to(target, non_blocking=True)
    return total / len(tensors)


def main():
    model = Split()
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        inputs = torch.randn(8, 8, device=FIRST)
        labels = torch.randn(8, 4).to(SECOND)
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = loss_fn(outputs, labels)
        loss.backward()
        optimizer.step()
    print(loss.item(), outputs.get_device())

    with torch.cuda.device(1):
        a = torch.ones(3).cuda()
        b = torch.ones(3, device="cuda")
        c = torch.zeros(3)
        d = (a + b).cpu() + c
    e = torch.ones(3).cuda()
    print(d.sum(), e.sum())

    sharded = Sharded()
    y = sharded(torch.randn(2, 8))
    z = sharded(y) + y
    parallel = nn.DataParallel(nn.Linear(8, 2).to(FIRST), device_ids=[0, 1])
    out = parallel(z)
    replica = parallel.module
    print(out.shape, replica.weight.device)

    partials = [torch.full((2,), float(i), device=d) for i, d in enumerate((FIRST, SECOND))]
    mean = all_reduce(partials, SECOND)
    print(mean.tolist())
    torch.cuda.set_device(1)
    late = torch.arange(4).cuda()
    other = torch.arange(4, device=torch.device("cuda", 0))
    print((late.to(other.device) * other).sum())


if __name__ == "__main__":
    main()
