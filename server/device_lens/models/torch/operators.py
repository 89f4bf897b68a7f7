"""Python's operators on tensors. Operands come in program order, the left one as the receiver
where it is a tensor."""

from __future__ import annotations

from device_lens.models.operation import TableModel
from device_lens.models.registry import FUNCTIONS
from device_lens.models.table import entries, register

TABLE = """
(@input, @other) -> broadcast.promote scalars
    __add__ __sub__ __mul__ __floordiv__ __mod__ __pow__ __and__ __or__ __xor__ __lshift__
    __rshift__ __radd__ __rsub__ __rmul__ __rfloordiv__ __rmod__ __rpow__ __rand__ __ror__ __rxor__
    __rlshift__ __rrshift__
(@input, @other) -> broadcast.quotient scalars
    __truediv__ __div__ __rtruediv__ __rdiv__
(@input, @other) -> broadcast.bool scalars
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__
(@input, @other) -> product.keep
    __matmul__
(@input, @other) -> any.keep
    __rmatmul__
(@input) -> same.keep
    __neg__ __pos__ __invert__
(@input) -> same.real
    __abs__
(@input, ~element) -> host waits
    __contains__
(@input) -> host waits
    __bool__ __nonzero__ __float__ __int__ __long__ __index__ __complex__ __repr__ __format__
(@input) -> host
    __len__ __hash__ __dlpack_device__
(@input, memo) -> same.keep
    __deepcopy__
(@input, dim) -> same.keep
    __reversed__
"""
IN_PLACE = """
    iadd isub imul itruediv idiv ifloordiv imod ipow iand ior ixor ilshift irshift
"""


def register_all() -> None:
    register(TABLE, "torch.Tensor")
    plain = dict(entries(TABLE))
    for name in IN_PLACE.split():
        row = plain[f"__{name[1:]}__"]
        FUNCTIONS[f"torch.Tensor.__{name}__"] = TableModel(row, written=True)
