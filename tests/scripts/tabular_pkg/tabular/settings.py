"""What every file of the package shares."""

import torch

device = torch.device("cpu")
seed = 0


def configure(device=None):
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    globals_ = _Setter()
    globals_.set_device(torch.device(device))
    torch.manual_seed(seed)


class _Setter:
    def set_device(self, value):
        global device
        device = value
