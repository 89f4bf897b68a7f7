"""What is computed where a tensor operation or a module's call stands, as plain data for costs."""

from __future__ import annotations

from dataclasses import dataclass

from device_lens.domain.trail import Site
from device_lens.domain.values import Shape

TRAFFIC = ""
"""The name of a step that is no known operation, but cheap arithmetic over what it reads and
writes: an activation, a normalisation, a pooling."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a library: its name among those that costs know (`matmul`, `linear`,
    `conv2d`, `relu`…) with the shapes of its operands, or `TRAFFIC` with those of all tensors that
    it reads and writes. Stride and padding are those of a convolution."""

    name: str
    shapes: tuple[Shape, ...]
    dtype: str | None
    stride: int = 1
    padding: int = 0


@dataclass(slots=True)
class Operation:
    """An operator or a call whose work is known: the same in every activation.

    `steps` are its library operations with how often each runs; a module's call has those of its
    whole `forward`. `inputs` are shape and dtype of the tensors that the module is called with,
    empty for a single operation: there the step says it."""

    site: Site
    steps: tuple[tuple[Step, int], ...]
    inputs: tuple[tuple[Shape, str | None], ...] = ()
