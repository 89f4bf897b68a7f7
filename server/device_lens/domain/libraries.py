"""Libraries whose values are tensors, and some that have nothing to do with them."""

TENSOR_LIBRARIES = frozenset(
    "torch torchvision torchaudio torchtext lightning pytorch_lightning accelerate transformers "
    "diffusers peft timm torch_geometric torchmetrics deepspeed fairscale kornia monai fastai "
    "ignite".split()
)
"""What a program must import somewhere for its values to be tensors."""
APART = frozenset(
    "wandb neptune mlflow comet_ml clearml aim swanlab ray dask tensorflow tf jax h5py zarr".split()
)
"""Trackers of experiments, and frameworks that have tensors of their own: no context manager of
theirs decides where one of PyTorch's goes."""
