"""Lists of one item for each GPU that there is: `list(range(torch.cuda.device_count()))`."""

from __future__ import annotations

from device_lens.domain.by_number import number_of
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import ListObject
from device_lens.domain.values import TupleValue
from device_lens.models.call import Value


def counts_what_is_there(value: Value) -> bool:
    """Whether this is a number of accelerators: there is at least one, or none."""
    if type(value) is not Guarded or getattr(value.no, "value", None) != 0:
        return False
    truths = getattr(value.yes, "truths", None)
    return truths is not None and truths.get(("Gt", 0)) is value.atom


def is_empty(value: Value) -> bool:
    """Whether a list surely has no items."""
    return type(value) is ListObject and not value.items and value.rest is None


def are_those(value: Value) -> bool:
    """Whether this is such a list, which is empty where there is no GPU."""
    if type(value) is not Guarded or number_of(value.yes) is None:
        return False
    return value.no == TupleValue(()) or is_empty(value.no)
