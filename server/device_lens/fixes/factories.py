"""What the rewritings know of PyTorch's factories: which take `device=`, which are random."""

from __future__ import annotations

VALUELESS = frozenset(
    "zeros ones full empty arange range linspace logspace eye tril_indices triu_indices "
    "zeros_like ones_like full_like empty_like new_zeros new_ones new_full new_empty "
    "empty_strided hann_window hamming_window bartlett_window blackman_window kaiser_window".split()
)
"""Factories that need no data from the host."""

RANDOM = frozenset(
    "rand randn randint randperm normal rand_like randn_like randint_like bernoulli poisson "
    "multinomial".split()
)
"""Their numbers depend on the device that draws them."""

FROM_DATA = frozenset("tensor as_tensor asarray scalar_tensor sparse_coo_tensor new_tensor".split())
"""Factories that copy host data in any case, wherever `device=` points."""


def short_name(factory: str) -> str:
    """The last part of a qualified name."""
    return factory.rpartition(".")[2]


def takes_device(factory: str) -> bool:
    """Whether the factory has a `device=` argument. Modules have one too."""
    name = short_name(factory)
    if name in VALUELESS or name in FROM_DATA:
        return True
    return name in RANDOM and name not in {"bernoulli", "poisson", "multinomial"}


def is_random(factory: str) -> bool:
    return short_name(factory) in RANDOM
