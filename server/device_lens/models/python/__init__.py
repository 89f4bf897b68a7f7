"""Python's own functions and types, as far as tensors and devices pass through them."""
