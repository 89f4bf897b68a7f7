"""Evaluates the classifier: operands that live on two devices, and NumPy on the wrong side."""

import numpy as np
import torch
from model import Calibrated, Classifier


def accuracy(model: Classifier, images: torch.Tensor, labels: torch.Tensor) -> float:
    with torch.no_grad():
        predicted = model(images.cuda()).argmax(dim=1)
    return (predicted == labels).float().mean().item()


def confidence(model: Classifier, images: torch.Tensor) -> np.ndarray:
    calibrated = Calibrated(model, classes=10).cuda()
    with torch.no_grad():
        return calibrated(images.cuda()).softmax(dim=1).numpy()


def main() -> None:
    model = Classifier(classes=10).cuda().eval()
    images = torch.randn(256, 3, 32, 32)
    labels = torch.randint(0, 10, (256,))
    print(accuracy(model, images, labels))
    print(confidence(model, images))
    print(model(images).mean())


if __name__ == "__main__":
    main()
