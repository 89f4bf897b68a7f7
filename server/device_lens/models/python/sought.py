"""What looks for a value among the items of a list compares it with one after the other, until one
is equal: `x in items`, `items.index(x)`, `items.remove(x)`, `items.count(x)`. What looks for one in
a tensor compares it with all of that."""

from __future__ import annotations

from device_lens.domain.heap import ListObject, Parameter
from device_lens.domain.lengths import surely_held
from device_lens.domain.values import NONE, Const, Tensor, TupleValue
from device_lens.models.agreement import common_device
from device_lens.models.call import Call, Model, Services, Value, tensor_of
from device_lens.models.operands import item_of

_IN_ORDER = ("list", "tuple", "deque")
"""Sets and dicts look for what has the same hash first."""

_TENSORS = (Tensor, Parameter)


def compare(
    services: Services,
    operation: str,
    sought: tuple[Value, int],
    items: tuple[Value, int],
) -> None:
    """Reports that a tensor meets one on another device. Each comes with its argument position.
    Which of the further items it meets hangs on what the first one is equal to. A tensor is
    compared as a whole."""
    value, place = sought
    held, within = items
    asked = tensor_of(value) if type(value) in _TENSORS else None
    whole = tensor_of(held) if type(held) in _TENSORS else None
    if asked is not None and whole is not None:
        common_device(services, operation, [(whole, held, within), (asked, value, place)], True)
        return
    if asked is None or type(held) not in (ListObject, TupleValue):
        return
    if getattr(held, "kind", "tuple") not in _IN_ORDER:
        return
    for number, item in enumerate(held.items[: surely_held(held, held.items)]):
        if _is_never_equal(item):
            continue
        met = tensor_of(item) if type(item) in _TENSORS else None
        if met is not None and item is not value:
            first = met, item, item_of(within, number)
            common_device(services, operation, [first, (asked, value, place)], True)
        return


def _is_never_equal(item: Value) -> bool:
    """Whether no tensor equals an item."""
    return item == NONE or (type(item) is Const and isinstance(item.value, str))


def looks(operation: str, model: Model) -> Model:
    """A method of a list that looks for its first argument."""

    def looking(call: Call) -> Value:
        if call.args:
            compare(call.services, operation, (call.args[0], 0), (call.receiver, -1))
        return model(call)

    return looking
