"""Device Lens for PyTorch: infers on which device every tensor and module lives."""

__version__ = "0.1.0"
