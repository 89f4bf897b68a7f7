"""Trains the classifier: a batch that never moves, and a copy that is made again and again."""

import torch
from model import Classifier
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def make_loader() -> DataLoader:
    images = torch.randn(256, 3, 224, 224)
    labels = torch.randint(0, 10, (256,))
    return DataLoader(TensorDataset(images, labels), batch_size=64, drop_last=True)


def train(epochs: int) -> Classifier:
    model = Classifier(classes=10).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    noise = 0.1 * torch.randn(64, 3, 224, 224)
    for epoch in range(epochs):
        total = 0.0
        for images, labels in make_loader():
            images.to(device)
            labels = labels.to(device)
            # Every batch gets the same noise.
            blur = noise.to(device)  # copied in every iteration
            loss = nn.functional.cross_entropy(model(images + blur), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total:.3f}")
    return model


if __name__ == "__main__":
    train(epochs=3)
