"""What an operator of NumPy reads beside an array: tensors, and lists that hold some."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import ListObject
from device_lens.domain.values import HostArray, TupleValue
from device_lens.interpreter.services import with_active
from device_lens.models.libraries.host import held_tensor
from device_lens.models.wording import operation

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def read_tensor(
    machine: Machine, node: Any, method: str, left: Any, right: Any, frame: Frame
) -> None:
    """NumPy reads a tensor that an operator puts beside an array: it computes the result. A number
    of NumPy's is one to PyTorch as well, and an array of objects asks each of them."""
    if _is_array(left if type(left) is HostArray else right):
        tensor, position, told = _beside(left, right, operation(f"torch.Tensor.{method}"), "tensor")
        with_active(machine, node, frame, lambda: machine.host_read(told, tensor, position))


def reads_items(
    machine: Machine, node: Any, method: str, left: Any, right: Any, frame: Frame
) -> bool:
    """Whether NumPy computes with an array and a list or tuple. It makes an array of that, for
    which it reads what is in it, also beside an array of objects."""
    pair = (left, right)
    if not any(map(_is_array, pair)) or not any(map(_is_list, pair)):
        return False
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return True  # no operand of a chain is told by its number
    listed, position, told = _beside(left, right, operation(f"torch.Tensor.{method}"), "list")
    found = held_tensor(listed)
    value, nested = (listed, False) if found is None else found
    with_active(machine, node, frame, lambda: machine.host_read(told, value, position, nested))
    return True


def _beside(left: Any, right: Any, symbol: str, kind: str) -> tuple[Any, int, str]:
    """What is no array of two operands, its place, and the operator as a reader knows it."""
    if type(left) is HostArray:
        return right, 0, f"array {symbol} {kind}"
    return left, -1, f"{kind} {symbol} array"


def _is_array(value: Any) -> bool:
    """Whether a value surely is an array of NumPy's rather than a number of it."""
    return type(value) is HostArray and value.dtype is not None and value.zero_dim is False


def _is_list(value: Any) -> bool:
    return type(value) is TupleValue or (type(value) is ListObject and value.kind == "list")
