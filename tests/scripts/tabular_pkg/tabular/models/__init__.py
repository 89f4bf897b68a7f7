"""Models by name."""

from .layers import CategoricalEmbeddings
from .zoo import Linear, ResNet

_REGISTRY = {cls.__name__.lower(): cls for cls in (Linear, ResNet)}


def list_models():
    return sorted(_REGISTRY)


def build_model(name, **kwargs):
    return _REGISTRY[name](**kwargs)


__all__ = ["CategoricalEmbeddings", "build_model", "list_models"]
