"""The libraries whose values are tensors."""

TENSOR_LIBRARIES = frozenset(
    "torch torchvision torchaudio torchtext lightning pytorch_lightning accelerate transformers "
    "diffusers peft timm torch_geometric torchmetrics deepspeed fairscale kornia monai fastai "
    "ignite".split()
)
"""What a program must import somewhere for its values to be tensors."""
