import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.cell = nn.LSTMCell(1, settings.width)
        self.head = nn.Linear(settings.width, settings.classes)

    def start(self, x):
        shape = x.size(0), self.cell.hidden_size
        return torch.zeros(shape, device=x.device), x.new_zeros(shape)

    def forward(self, x):
        h, c = self.start(x)
        for step in x.unbind(1):
            h, c = self.cell(step[:, None], (h, c))
        return self.head(h)
