"""What orders values compares them: `max(a, b)`, `sorted(items)`, `items.sort()`. Tensors that are
compared meet, as the operands of `<` do."""

from __future__ import annotations

from device_lens.domain.device import CONTESTED, DeviceTree
from device_lens.domain.guard import leaves
from device_lens.domain.heap import ListObject, Parameter
from device_lens.domain.lengths import surely_held
from device_lens.domain.values import NONE, Tensor
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Model, Value, tensor_of
from device_lens.models.operands import item_of


def where_compared(
    call: Call, operation: str, items: tuple[Value, ...], within: int | str | None = None
) -> DeviceTree | None:
    """Where tensors are that are surely put in order, which are reported if they are apart; None
    where they need not meet. `within` is the argument that holds them, if they are none themselves.

    Of two each meets the other. Of several all do with some, which leads from any to any: but one
    number on the host meets those of any device, and may stand between them."""
    if len(items) < 2 or call.kwargs.get("key", NONE) != NONE:
        return None
    operands: list[Placed] = []
    for number, item in enumerate(items):
        tensor = tensor_of(item) if type(item) in (Tensor, Parameter) else None
        if tensor is None or (len(items) > 2 and tensor.zero_dim is not False):
            return None
        operands.append((tensor, item, number if within is None else item_of(within, number)))
    return common_device(call.services, operation, operands, True)


def one_compared(value: Value, device: DeviceTree | None) -> Value:
    """One of those that were compared, on no device where they were apart."""
    apart = device is not None and CONTESTED in leaves(device)
    return value.with_(device=device) if apart and type(value) is Tensor else value


def orders(operation: str, model: Model) -> Model:
    """A method of a list that puts its items in order."""

    def ordering(call: Call) -> Value:
        held = call.receiver
        if type(held) is ListObject and held.kind == "list":
            all_compared(call, operation, held.items, held.rest, held, -1)
        return model(call)

    return ordering


def all_compared(
    call: Call,
    operation: str,
    items: tuple[Value, ...],
    rest: Value,
    source: Value,
    within: int,
) -> None:
    """Reports items that are apart, of what is put in order as a whole."""
    if rest is None and surely_held(source, items) == len(items):
        where_compared(call, operation, items, within)
