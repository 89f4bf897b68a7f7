"""Truncated back-propagation with hidden states in containers, async loading, generators, try."""

import asyncio
import contextlib
import itertools
import typing as t

import torch
from torch import nn

use_cuda = torch.cuda.is_available()
dev = "cuda" if use_cuda else "cpu"
LSTMState = t.NamedTuple("LSTMState", [("h", torch.Tensor), ("c", torch.Tensor)])


def repackage_hidden(h):
    """Detaches hidden states from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


class Stack(nn.Module):
    def __init__(self, n, hidden, layers):
        super().__init__()
        self.hidden = hidden
        self.cells = nn.ModuleList([nn.LSTMCell(n if i == 0 else hidden, hidden) for i in range(layers)])
        self.initial = nn.ParameterList(
            [nn.Parameter(torch.zeros(1, hidden)) for _ in range(2 * layers)]
        )
        self.read = nn.Linear(hidden, n)

    def start(self, batch: int) -> t.List[LSTMState]:
        pairs = zip(self.initial[0::2], self.initial[1::2])
        return [LSTMState(h.repeat(batch, 1), c.repeat(batch, 1)) for h, c in pairs]

    def forward(self, x, states):
        new = []
        for cell, state in zip(self.cells, states):
            h, c = cell(x, (state.h, state.c))
            x = h
            new.append(LSTMState(h, c))
        return self.read(x), new


class ScanRNN(nn.Module):
    def __init__(self, n, hidden):
        super().__init__()
        self.rnn = nn.LSTM(n, hidden, num_layers=2)
        self.gate = nn.Parameter(torch.ones(hidden))

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(2, bsz, self.rnn.hidden_size), weight.new_zeros(2, bsz, 8))

    def forward(self, x, hidden):
        out, hidden = self.rnn(x, hidden)
        return out * self.gate.sigmoid(), hidden


def waves(n: int) -> t.Iterator[torch.Tensor]:
    for i in itertools.count():
        if i >= n:
            return
        yield torch.sin(torch.arange(8.0) * 0.3 + i).view(8, 1, 1).expand(8, 2, 3).contiguous()


async def fetch(wave: torch.Tensor) -> torch.Tensor:
    await asyncio.sleep(0)
    return wave.to(dev)


async def gather(source) -> list:
    return [await fetch(w) for w in source]


@contextlib.contextmanager
def frozen(module):
    flags = [p.requires_grad for p in module.parameters()]
    for p in module.parameters():
        p.requires_grad_(False)
    yield module
    for p, flag in zip(module.parameters(), flags):
        p.requires_grad_(flag)


class EarlyStop(Exception):
    pass


def train(model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, nesterov=True, momentum=0.9)
    loss_fn = nn.MSELoss()
    states = [s for s in model.start(2)]
    best = None
    try:
        for wave in data:
            loss = 0.0
            states = [LSTMState(*(v.detach() for v in s)) for s in states]
            for x, y in zip(wave[:-1], wave[1:]):
                out, states = model(x, states)
                loss += loss_fn(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if best is None or loss < best:
                best = loss.detach()
            elif loss > 10 * best:
                raise EarlyStop
    except EarlyStop:
        print("stopped")
    except RuntimeError as error:
        print(error)
        raise
    else:
        print("all seen")
    finally:
        del optimizer
    return best, states


if __name__ == "__main__":
    torch.manual_seed(0)
    data = asyncio.run(gather(waves(4)))
    model = Stack(3, 8, layers=2)
    if use_cuda:
        model.cuda()
    best, states = train(model, data)
    scan = ScanRNN(3, 8).to(dev)
    hidden = scan.init_hidden(2)
    outputs = []
    for wave in data:
        hidden = repackage_hidden(hidden)
        out, hidden = scan(wave, hidden)
        outputs.append(out[-1])
    with frozen(scan) as still:
        again, _ = still(data[0], still.init_hidden(2))
    mean = torch.stack(outputs).mean((0, 1))
    print(best.item(), states[0].h.shape, mean[:2].cpu(), again.requires_grad)
