"""How many members a container of modules has."""

from __future__ import annotations

from device_lens.domain.guard import combine
from device_lens.domain.heap import COUNT, ModuleObject
from device_lens.domain.values import Const
from device_lens.models.call import Call, Value
from device_lens.models.numbers import number


def count(call: Call, module: ModuleObject, more: int) -> None:
    """Takes note that a container has more members, or fewer. How many depends on the path, and a
    loop adds as many as it has turns: the registry has those that any of them adds."""

    def counted(before: Value) -> Value:
        if type(before) is Const:
            return Const(before.value + more)
        return before if more > 0 else number("a length")

    known = module.fields.get(COUNT)
    if known is not None:
        call.write(module.fields, COUNT, combine(counted, known))
