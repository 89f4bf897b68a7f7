"""Entry of a package with relative imports, re-exports and a shared device."""

import argparse
import tempfile
from pathlib import Path

import torch
from tabular import Experiment, settings
from tabular.data import make_loaders
from tabular.models import build_model, list_models


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=list_models(), default="resnet")
    parser.add_argument("--device", default=None)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--save", type=Path, default=None)
    return parser.parse_args()


def main():
    args = parse()
    settings.configure(device=args.device)
    train, valid = make_loaders(n=48, batch_size=8)
    model = build_model(args.model, n_num=4, categories=[3, 5])
    experiment = Experiment(model, settings)
    experiment.fit(train, epochs=args.epochs)
    score = experiment.score(valid)
    folder = args.save or Path(tempfile.mkdtemp())
    path = folder / "last.pt"
    experiment.save(path)
    fresh = build_model(args.model, n_num=4, categories=[3, 5])
    restored = Experiment.load(path, fresh, settings)
    again = restored.score(valid)
    print(score.item(), again.item())
    weights = torch.load(path, map_location="cpu")["model"]
    print(sum(w.abs().sum() for w in weights.values()).item())


if __name__ == "__main__":
    main()
