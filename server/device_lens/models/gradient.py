"""Does the result of an operation require grad, and is it a leaf?"""

from __future__ import annotations

from collections.abc import Iterable

from device_lens.domain.values import Tensor
from device_lens.models.call import Services
from device_lens.models.dtypes import differentiable


def of_result(
    services: Services, operands: Iterable[Tensor], dtype: str | None
) -> tuple[bool | None, bool | None]:
    """`requires_grad` and `leaf` of a result of that dtype."""
    if differentiable(dtype) is False:
        return False, True
    needs: bool | None = False
    for operand in operands:
        if operand.requires_grad:
            needs = True
            break
        if operand.requires_grad is None:
            needs = None
    if needs is False:
        return False, True
    off = services.inference_mode()
    if off:
        return False, True
    if needs is None or off is None:
        return None, None
    return True, False


def of_written(services: Services, operands: Iterable[Tensor], value: Tensor) -> Tensor:
    """A tensor into which an operation on others wrote: where they surely have a graph it joins
    that, by whatever name it is known."""
    needs, leaf = of_result(services, [*operands, value], value.dtype)
    if needs is value.requires_grad:
        return value
    changed = value.with_(requires_grad=needs, leaf=leaf)
    if needs is True:
        services.changed_in_place(value, changed)
    return changed
