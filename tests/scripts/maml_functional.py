"""Learns to learn sines: inner steps on functional copies of the parameters, one outer step."""

import random
from collections import OrderedDict

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.set_default_dtype(torch.float32)


class Task:
    def __init__(self, rng):
        self.amplitude = rng.uniform(0.1, 5.0)
        self.phase = rng.uniform(0, 3.1)

    def draw(self, count, device=None):
        x = torch.rand(count, 1, device=device) * 10 - 5
        return x, self.amplitude * torch.sin(x - self.phase)


class Tasks:
    def __init__(self, count, seed=0):
        rng = random.Random(seed)
        self.tasks = [Task(rng) for _ in range(count)]

    def __len__(self):
        return len(self.tasks)

    def __getitem__(self, index):
        return self.tasks[index]


def network(width=8):
    return nn.Sequential(
        OrderedDict(
            first=nn.Linear(1, width),
            first_act=nn.Tanh(),
            second=nn.Linear(width, width),
            second_act=nn.Tanh(),
            out=nn.Linear(width, 1),
        )
    )


class MetaLearner(nn.Module):
    def __init__(self, net, inner_lr=0.01, inner_steps=2, first_order=False):
        super().__init__()
        self.net = net
        self.rates = nn.ParameterDict(
            {
                name.replace(".", "_"): nn.Parameter(torch.full_like(p, inner_lr))
                for name, p in net.named_parameters()
            }
        )
        self.inner_steps = inner_steps
        self.first_order = first_order
        self.loss = nn.MSELoss()

    def adapted(self, x, y):
        fast = OrderedDict(self.net.named_parameters())
        for _ in range(self.inner_steps):
            loss = self.loss(functional_call(self.net, fast, (x,)), y)
            gradients = torch.autograd.grad(
                loss, tuple(fast.values()), create_graph=not self.first_order
            )
            fast = OrderedDict(
                (name, weight - self.rates[name.replace(".", "_")] * gradient)
                for (name, weight), gradient in zip(fast.items(), gradients)
            )
        return fast

    def forward(self, support, query):
        fast = self.adapted(*support)
        x, y = query
        prediction = functional_call(self.net, fast, (x,))
        return self.loss(prediction, y), prediction


def to(pair, device):
    return tuple(part.to(device) for part in pair)


def per_sample_norms(net, x, y):
    weights = {name: p.detach() for name, p in net.named_parameters()}

    def loss(weights, one_x, one_y):
        out = functional_call(net, weights, (one_x.unsqueeze(0),))
        return ((out - one_y.unsqueeze(0)) ** 2).mean()

    gradients = vmap(grad(loss), in_dims=(None, 0, 0))(weights, x, y)
    flat = torch.cat([g.flatten(1) for g in gradients.values()], dim=1)
    return flat.norm(dim=1)


def run(device):
    torch.manual_seed(0)
    learner = MetaLearner(network()).to(device)
    optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
    tasks = Tasks(4)
    best = None
    for epoch in range(2):
        total = torch.zeros((), device=device)
        for index in range(len(tasks)):
            task = tasks[index]
            support, query = task.draw(5), task.draw(7)
            support, query = to(support, device), to(query, device)
            loss, prediction = learner(support, query)
            total = total + loss / len(tasks)
        optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_value_(learner.parameters(), 10.0)
        optimizer.step()
        value = total.detach()
        if best is None or value < best:
            best = value
            state = {k: v.clone() for k, v in learner.state_dict().items()}
        print(epoch, value.item(), tuple(prediction.shape))
    learner.load_state_dict(state)
    x, y = tasks[0].draw(6, device=device)
    norms = per_sample_norms(learner.net, x, y)
    order = norms.argsort(descending=True)
    hardest = x[order[:2]]
    fast = learner.adapted(x, y)
    after = functional_call(learner.net, fast, (hardest,))
    print(after.detach().cpu().numpy().ravel(), best.item())


if __name__ == "__main__":
    run(device="cuda" if torch.cuda.is_available() else "cpu")
