"""MoCo-like contrastive learning: momentum encoder, queue buffers, two views per sample."""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TwoViews:
    def __init__(self, base):
        self.base = base

    def __call__(self, x):
        return [self.base(x), self.base(x)]


class Noise:
    def __init__(self, sigma=0.1):
        self.sigma = sigma

    def __call__(self, x):
        return x + self.sigma * torch.randn_like(x)


class Views(Dataset):
    def __init__(self, n, transform=None):
        self.data = torch.randn(n, 12)
        self.transform = transform

    def __getitem__(self, index):
        x = self.data[index]
        if self.transform is not None:
            x = self.transform(x)
        return x, index

    def __len__(self):
        return self.data.shape[0]


class MoCo(nn.Module):
    def __init__(self, encoder, dim=8, size=32, m=0.99, temperature=0.2):
        super().__init__()
        self.m, self.t, self.size = m, temperature, size
        self.encoder_q = encoder
        self.encoder_k = copy.deepcopy(encoder)
        for p in self.encoder_k.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, size), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * self.m + q.data * (1.0 - self.m)

    @torch.no_grad()
    def _enqueue(self, keys):
        n = keys.shape[0]
        ptr = int(self.queue_ptr)
        self.queue[:, ptr : ptr + n] = keys.T
        self.queue_ptr[0] = (ptr + n) % self.size

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update()
            shuffle = torch.randperm(im_k.size(0), device=im_k.device)
            k = F.normalize(self.encoder_k(im_k[shuffle]), dim=1)
            k = k[torch.argsort(shuffle)]
        positive = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        negative = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([positive, negative], dim=1) / self.t
        labels = torch.zeros(logits.shape[0], dtype=torch.long).to(logits.device)
        self._enqueue(k)
        return logits, labels


def nt_xent(a, b, temperature=0.5):
    z = F.normalize(torch.cat([a, b]), dim=1)
    similarity = z @ z.t() / temperature
    mask = torch.eye(z.size(0), dtype=torch.bool, device=z.device)
    similarity = similarity.masked_fill(mask, float("-inf"))
    n = a.size(0)
    partner = torch.cat([torch.arange(n, 2 * n), torch.arange(n)]).to(z.device)
    return F.cross_entropy(similarity, partner)


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        res = []
        for k in topk:
            correct_k = correct[:k].reshape(-1).float().sum(0, keepdim=True)
            res.append(correct_k.mul_(100.0 / target.size(0)))
        return res


device = torch.device("cuda", 0) if torch.cuda.device_count() > 0 else torch.device("cpu")
encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU(inplace=True), nn.Linear(16, 8))
model = MoCo(encoder).to(device)
trainable = filter(lambda p: p.requires_grad, model.parameters())
optimizer = torch.optim.SGD(trainable, lr=0.1)
loader = DataLoader(Views(32, TwoViews(Noise())), batch_size=8, drop_last=True, pin_memory=True)

for epoch in range(2):
    losses, top1 = AverageMeter(), AverageMeter()
    for images, _ in loader:
        images[0] = images[0].cuda(device, non_blocking=True)
        images[1] = images[1].cuda(device, non_blocking=True)
        output, target = model(im_q=images[0], im_k=images[1])
        extra = nt_xent(model.encoder_q(images[0]), model.encoder_q(images[1]))
        loss = F.cross_entropy(output, target) + 0.1 * extra
        acc1, acc5 = accuracy(output, target, topk=(1, 5))
        losses.update(loss.item(), images[0].size(0))
        top1.update(acc1[0], images[0].size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, losses.avg, float(top1.avg))
