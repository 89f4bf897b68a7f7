import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self, margin=0.5, **rest):
        super().__init__()
        self.margin = nn.Parameter(torch.tensor(margin))

    def forward(self, logits, target):
        right = logits.gather(1, target[:, None])
        wrong = logits.scatter(1, target[:, None], float("-inf")).max(1, keepdim=True).values
        return torch.relu(wrong - right + self.margin).mean()
