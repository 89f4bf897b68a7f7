"""A small image classifier, and a layer with a mistake that no test on a CPU shows."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
        )
        self.head = nn.Linear(16, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(images).flatten(1))


class Calibrated(nn.Module):
    """Divides the scores of a classifier by a temperature for each class."""

    def __init__(self, classifier: Classifier, classes: int) -> None:
        super().__init__()
        self.classifier = classifier
        self.temperature = torch.full((classes,), 1.5)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.classifier(images) / self.temperature
