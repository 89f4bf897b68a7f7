"""A tiny detector: anchors, box matching, lists of target dicts, non-maximum suppression."""

import sys
from typing import Dict, List, Optional, Tuple

import torch
from torch import nn
from torch.nn import functional as F


def box_area(boxes: torch.Tensor) -> torch.Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    return inter / (box_area(a)[:, None] + box_area(b) - inter)


def nms(boxes, scores, threshold):
    order = scores.sort(descending=True).indices
    keep = []
    while order.numel() > 0:
        best = order[0]
        keep.append(best)
        if order.numel() == 1:
            break
        iou = box_iou(boxes[best].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][iou <= threshold]
    return torch.stack(keep)


class AnchorGenerator(nn.Module):
    def __init__(self, sizes=(8.0, 16.0)):
        super().__init__()
        self.cell_anchors = [torch.tensor([-s, -s, s, s]) / 2 for s in sizes]

    def forward(self, feature: torch.Tensor, stride: int) -> torch.Tensor:
        height, width = feature.shape[-2:]
        dtype, device = feature.dtype, feature.device
        shifts_x = torch.arange(0, width, dtype=dtype, device=device) * stride
        shifts_y = torch.arange(0, height, dtype=dtype, device=device) * stride
        y, x = torch.meshgrid(shifts_y, shifts_x, indexing="ij")
        shifts = torch.stack((x.reshape(-1), y.reshape(-1)) * 2, dim=1)
        cell = torch.stack(self.cell_anchors).to(dtype=dtype, device=device)
        return (shifts.view(-1, 1, 4) + cell.view(1, -1, 4)).reshape(-1, 4)


class Matcher:
    def __init__(self, high: float, low: float):
        self.high, self.low = high, low

    def __call__(self, iou: torch.Tensor) -> torch.Tensor:
        values, matches = iou.max(dim=0)
        matches[values < self.low] = -1
        matches[(values >= self.low) & (values < self.high)] = -2
        return matches


class Detector(nn.Module):
    def __init__(self, n_classes: int = 3):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1),
            nn.GroupNorm(2, 8),
            nn.ReLU(inplace=True),
            nn.Conv2d(8, 8, 3, stride=2, padding=1),
        )
        self.anchors = AnchorGenerator()
        self.classify = nn.Conv2d(8, 2 * n_classes, 1)
        self.regress = nn.Conv2d(8, 2 * 4, 1)
        self.matcher = Matcher(0.4, 0.2)
        self.n_classes = n_classes
        self.register_buffer("mean", torch.tensor([0.48, 0.45, 0.4]).view(-1, 1, 1))

    def preprocess(self, images: List[torch.Tensor]) -> torch.Tensor:
        images = [(image - self.mean) * 2 for image in images]
        height = max(image.shape[-2] for image in images)
        width = max(image.shape[-1] for image in images)
        batch = images[0].new_full((len(images), 3, height, width), 0.0)
        for image, slot in zip(images, batch):
            slot[: image.shape[0], : image.shape[1], : image.shape[2]].copy_(image)
        return batch

    def forward(
        self,
        images: List[torch.Tensor],
        targets: Optional[List[Dict[str, torch.Tensor]]] = None,
    ):
        batch = self.preprocess(images)
        features = self.backbone(batch)
        anchors = self.anchors(features, stride=4)
        logits = self._flatten(self.classify(features), self.n_classes)
        deltas = self._flatten(self.regress(features), 4)
        if self.training:
            assert targets is not None
            return self.loss(logits, deltas, anchors, targets)
        return self.decode(logits, deltas, anchors)

    @staticmethod
    def _flatten(x: torch.Tensor, k: int) -> torch.Tensor:
        n, _, h, w = x.shape
        return x.view(n, -1, k, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, k)

    def loss(self, logits, deltas, anchors, targets) -> Dict[str, torch.Tensor]:
        losses: Tuple[list, list] = ([], [])
        for row, delta, target in zip(logits, deltas, targets):
            matched = self.matcher(box_iou(target["boxes"], anchors))
            foreground = matched >= 0
            goal = torch.zeros_like(row)
            goal[foreground, target["labels"][matched[foreground]]] = 1.0
            losses[0].append(F.binary_cross_entropy_with_logits(row, goal))
            wanted = target["boxes"][matched[foreground]] - anchors[foreground]
            losses[1].append(F.smooth_l1_loss(delta[foreground], wanted, reduction="sum"))
        return {"class": torch.stack(losses[0]).mean(), "box": sum(losses[1]) / len(losses[1])}

    @torch.no_grad()
    def decode(self, logits, deltas, anchors):
        results = []
        for row, delta in zip(logits.sigmoid(), deltas):
            scores, labels = row.max(-1)
            keep = nms(anchors + delta, scores, 0.5)[:3]
            results.append({"scores": scores[keep], "labels": labels[keep]})
        return results


def synthetic(n, generator):
    images, targets = [], []
    for _ in range(n):
        image = torch.rand(3, 32, 32, generator=generator)
        corner = torch.randint(0, 16, (2, 2), generator=generator).float()
        boxes = torch.cat([corner, corner + 12], dim=1)
        images.append(image)
        targets.append({"boxes": boxes, "labels": torch.tensor([0, 2])})
    return images, targets


def main(argv=None) -> int:
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    generator = torch.Generator().manual_seed(0)
    model = Detector()
    model.to(device)
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(params, lr=0.01, momentum=0.9, weight_decay=5e-4)
    for _ in range(2):
        images, targets = synthetic(2, generator)
        images = list(image.to(device) for image in images)
        targets = [{k: v.to(device) for k, v in t.items()} for t in targets]
        loss_dict = model(images, targets)
        losses = sum(loss for loss in loss_dict.values())
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
        loss_value = losses.item()
    model.eval()
    images, _ = synthetic(1, generator)
    outputs = model([img.to(device) for img in images])
    outputs = [{k: v.to(torch.device("cpu")) for k, v in t.items()} for t in outputs]
    print(loss_value, outputs[0]["scores"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
