"""A trainer with callbacks and registries, EMA, AMP with a gradient scaler, an LR finder."""

import copy
import math
from abc import ABC, abstractmethod
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, Dataset, RandomSampler, Subset

MODELS = {}


def register(name):
    def wrap(cls):
        MODELS[name] = cls
        return cls

    return wrap


def build(name, *args, **kwargs):
    if name not in MODELS:
        raise KeyError(name)
    return MODELS[name](*args, **kwargs)


@dataclass
class Config:
    model: str = "conv"
    lr: float = 1e-2
    epochs: int = 1
    device: str = "auto"
    amp: bool = True
    betas: tuple = (0.9, 0.99)
    tags: list = field(default_factory=list)

    def __post_init__(self):
        if self.device == "auto":
            self.device = "cuda" if torch.cuda.is_available() else "cpu"


@register("mlp")
class Mlp(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, n_classes))

    def forward(self, x):
        return self.net(x)


@register("conv")
class Conv(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(2)
        )
        self.classifier = nn.Linear(16, n_classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Squares(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        image = torch.zeros(1, 8, 8)
        image[0, : i % 8 + 1, : i % 8 + 1] = 1
        return {"image": image, "label": i % 3, "id": f"sample-{i}"}


class Callback(ABC):
    @abstractmethod
    def on_step_end(self, trainer, batch, loss): ...

    def on_epoch_end(self, trainer):
        pass


class LossTracker(Callback):
    def __init__(self):
        self.total = None
        self.values = []

    def on_step_end(self, trainer, batch, loss):
        detached = loss.detach()
        self.total = detached if self.total is None else self.total + detached
        self.values.append(detached)

    def on_epoch_end(self, trainer):
        stacked = torch.stack(self.values)
        print("loss", stacked.mean().item(), self.total.item())


class Ema(Callback):
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        self.backup = {}

    @torch.no_grad()
    def on_step_end(self, trainer, batch, loss):
        current = trainer.model.state_dict()
        for key, value in self.shadow.state_dict().items():
            if value.dtype.is_floating_point:
                value.mul_(self.decay).add_(current[key], alpha=1 - self.decay)
            else:
                value.copy_(current[key])

    @contextmanager
    def applied(self, model):
        self.backup = {k: v.clone() for k, v in model.state_dict().items()}
        model.load_state_dict(self.shadow.state_dict())
        try:
            yield model
        finally:
            model.load_state_dict(self.backup)


class Trainer:
    def __init__(self, model, config, callbacks=()):
        self.config = config
        self.device = torch.device(config.device)
        self.model = model.to(self.device)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr, betas=config.betas)
        self.scaler = GradScaler(self.device.type, enabled=config.amp)
        self.callbacks = list(callbacks)
        self.criterion = nn.CrossEntropyLoss(weight=torch.ones(3, device=self.device))

    def add(self, *callbacks):
        self.callbacks.extend(callbacks)
        return self

    @property
    def context(self):
        if not self.config.amp:
            return nullcontext()
        return autocast(device_type=self.device.type, dtype=torch.bfloat16)

    def _to_device(self, batch):
        return {k: v.to(self.device) if torch.is_tensor(v) else v for k, v in batch.items()}

    def step(self, batch):
        batch = self._to_device(batch)
        with self.context:
            logits = self.model(batch["image"])
            loss = self.criterion(logits.float(), batch["label"])
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        for callback in self.callbacks:
            callback.on_step_end(self, batch, loss)
        return loss, norm

    def fit(self, loader):
        for _ in range(self.config.epochs):
            self.model.train()
            for batch in loader:
                loss, norm = self.step(batch)
            for callback in self.callbacks:
                callback.on_epoch_end(self)
        return loss

    @torch.inference_mode()
    def evaluate(self, loader):
        self.model.eval()
        hits, seen = 0, 0
        for batch in loader:
            batch = self._to_device(batch)
            pred = self.model(batch["image"]).argmax(dim=1)
            hits += pred.eq(batch["label"]).sum().item()
            seen += len(pred)
        return hits / seen


def find_lr(model, loader, device, low=1e-5, high=1.0):
    model = copy.deepcopy(model).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=low)
    steps = len(loader)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: math.exp(i / steps * math.log(high / low))
    )
    best, best_lr = math.inf, low
    for batch in loader:
        image, label = batch["image"].to(device), batch["label"].to(device)
        loss = nn.functional.cross_entropy(model(image), label)
        if loss.item() < best:
            best, best_lr = loss.item(), optimizer.param_groups[0]["lr"]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return best_lr


def main():
    config = Config(tags=["demo"])
    data = Squares()
    train_set, val_set = Subset(data, range(16)), Subset(data, range(16, 24))
    loader = DataLoader(train_set, batch_size=4, sampler=RandomSampler(train_set))
    val_loader = DataLoader(val_set, batch_size=4)
    model = build(config.model, n_classes=3)
    config.lr = max(find_lr(model, loader, config.device), 1e-4)
    trainer = Trainer(model, config, [LossTracker()])
    ema = Ema(model)
    trainer.add(ema)
    last = trainer.fit(loader)
    with ema.applied(trainer.model) as smooth:
        print(trainer.evaluate(val_loader), next(smooth.parameters()).device)
    print(last.item())


if __name__ == "__main__":
    main()
