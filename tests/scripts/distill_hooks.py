"""Knowledge distillation with feature hooks, a dict config, partials and gradient checkpointing."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

CONFIG = {
    "device": "cuda" if torch.cuda.is_available() else "cpu",
    "student": {"width": 8, "depth": 1},
    "teacher": {"width": 32, "depth": 3, "use_checkpoint": True},
    "loss": {"kind": "kl", "temperature": 4.0, "alpha": 0.7},
    "steps": 4,
}

ACTIVATIONS = {"relu": nn.ReLU, "gelu": partial(nn.GELU, approximate="tanh")}


class Block(nn.Module):
    def __init__(self, width, act="relu"):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.act = ACTIVATIONS[act]()
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return x + self.scale * self.act(self.fc(x))


class Net(nn.Module):
    def __init__(self, width, depth, n_in=10, n_out=5, use_checkpoint=False, act="gelu"):
        super().__init__()
        self.stem = nn.Linear(n_in, width)
        self.blocks = nn.ModuleDict({f"block{i}": Block(width, act) for i in range(depth)})
        self.head = nn.Linear(width, n_out)
        self.use_checkpoint = use_checkpoint

    def forward(self, x):
        x = self.stem(x)
        for name, block in self.blocks.items():
            if self.use_checkpoint and self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.head(x)


class FeatureTap:
    """Keeps what a layer gave."""

    def __init__(self, module):
        self.output = None
        self.handle = module.register_forward_hook(self._keep)

    def _keep(self, module, inputs, output):
        self.output = output

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.handle.remove()
        return False


def kl_loss(student, teacher, temperature):
    s = F.log_softmax(student / temperature, dim=-1)
    t = F.softmax(teacher / temperature, dim=-1)
    return F.kl_div(s, t, reduction="batchmean") * temperature**2


def mse_loss(student, teacher, temperature):
    return F.mse_loss(student, teacher)


LOSSES = dict(kl=kl_loss, mse=mse_loss)


def make_loss(cfg):
    soft = partial(LOSSES[cfg["kind"]], temperature=cfg["temperature"])
    alpha = cfg["alpha"]

    def loss(student, teacher, target):
        return alpha * soft(student, teacher) + (1 - alpha) * F.cross_entropy(student, target)

    return loss


def stream(n, device):
    generator = torch.Generator(device="cpu")
    generator.manual_seed(1)
    for _ in range(n):
        x = torch.randn(6, 10, generator=generator)
        y = x.abs().sum(-1).long().clamp_(max=4)
        yield x.to(device), y.to(device)


def train(cfg):
    device = cfg["device"]
    teacher = Net(**cfg["teacher"]).to(device)
    student = Net(**cfg["student"]).to(device)
    optimizers = {
        "teacher": torch.optim.Adam(teacher.parameters()),
        "student": torch.optim.Adam(student.parameters()),
    }
    for x, y in stream(cfg["steps"], device):
        loss = F.cross_entropy(teacher(x), y)
        optimizers["teacher"].zero_grad()
        loss.backward()
        optimizers["teacher"].step()
    teacher.eval().requires_grad_(False)
    regress = nn.Linear(cfg["student"]["width"], cfg["teacher"]["width"], device=device)
    objective = make_loss(cfg["loss"])
    with FeatureTap(teacher.stem) as t_tap, FeatureTap(student.stem) as s_tap:
        for x, y in stream(cfg["steps"], device):
            with torch.no_grad():
                soft = teacher(x)
            out = student(x)
            hint = F.mse_loss(regress(s_tap.output), t_tap.output)
            total = objective(out, soft, y) + 0.1 * hint
            optimizers["student"].zero_grad()
            total.backward()
            optimizers["student"].step()
    return student, total.detach()


student, last = train(CONFIG)
parameters = {k: v.cpu() for k, v in student.state_dict().items()}
print(last.item(), sum(p.numel() for p in parameters.values()))
