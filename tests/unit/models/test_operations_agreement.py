"""Which operands must share a device, and where the result is."""

from __future__ import annotations

from typing import Any

import pytest
from harness import CUDA, CUDA1, Recorder, call, conflicts, on, waits

from device_lens.domain.atom import Atom
from device_lens.domain.device import CONTESTED, CPU, UNKNOWN_DEVICE, SymbolicDevice
from device_lens.domain.guard import Guarded
from device_lens.domain.values import HostArray, Tensor, TupleValue, Unknown

HERE = on(CPU, 3, 3)
THERE = on(CUDA, 3, 3)
POINT = on(CPU)
INDEX = on(CPU, 3, 3, dtype="int64")
INDEX_THERE = on(CUDA, 3, 3, dtype="int64")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("torch.add", (THERE, HERE)),
        ("torch.matmul", (HERE, THERE)),
        ("torch.cat", ([THERE, HERE],)),
        ("torch.stack", ((HERE, THERE),)),
        ("torch.where", (on(CPU, 3, 3, dtype="bool"), THERE, THERE)),
        ("torch.einsum", ("ij,jk->ik", THERE, HERE)),
        ("torch.gather", (THERE, 0, INDEX)),
        ("torch.index_select", (THERE, 0, INDEX)),
        ("torch.meshgrid", (THERE, HERE)),
        ("torch.Tensor.masked_fill", (THERE, on(CPU, 3, 3, dtype="bool"), 0.0)),
        ("torch.Tensor.scatter_", (THERE, 0, INDEX, 1.0)),
        ("torch.nn.functional.linear", (THERE, HERE)),
        ("torch.nn.functional.cross_entropy", (THERE, INDEX)),
        ("torch.nn.functional.embedding", (INDEX, THERE)),
        ("torch.nn.functional.mse_loss", (THERE, HERE)),
        ("torch.linalg.solve", (THERE, HERE)),
        ("torch.special.xlog1py", (THERE, HERE)),
        ("torch.Tensor.__matmul__", (HERE, THERE)),
    ],
)
def test_operands_that_differ_are_reported(name: str, args: Any) -> None:
    assert len(conflicts(name, *args)) == 1


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("torch.add", (THERE, POINT)),
        ("torch.Tensor.__mul__", (POINT, THERE)),
        ("torch.where", (on(CUDA, 3, 3, dtype="bool"), THERE, POINT)),
        ("torch.maximum", (THERE, POINT)),
        ("torch.Tensor.masked_fill", (THERE, on(CUDA, 3, 3, dtype="bool"), POINT)),
        ("torch.add", (THERE, 2.0)),
        ("torch.Tensor.__add__", (THERE, HostArray())),
        ("torch.Tensor.copy_", (THERE, HERE)),
        ("torch.Tensor.fill_", (HERE, on(CUDA))),
        ("torch.nn.functional.ctc_loss", (THERE, INDEX, INDEX, INDEX)),
    ],
)
def test_guests_of_the_host_are_welcome(name: str, args: Any) -> None:
    assert conflicts(name, *args) == []


@pytest.mark.parametrize("name", ["torch.gcd", "torch.clamp_min", "torch.logaddexp", "torch.mm"])
def test_some_operations_make_no_exception_for_scalars(name: str) -> None:
    assert len(conflicts(name, THERE, POINT)) == 1


def test_a_scalar_on_the_accelerator_is_no_guest() -> None:
    assert len(conflicts("torch.add", HERE, on(CUDA))) == 1


def test_a_host_operand_of_unknown_rank_is_given_the_benefit_of_the_doubt() -> None:
    assert conflicts("torch.add", THERE, Tensor(CPU)) == []
    assert len(conflicts("torch.add", THERE, Tensor(CPU, zero_dim=False))) == 1
    assert len(conflicts("torch.matmul", THERE, Tensor(CPU))) == 1


def test_only_one_operand_of_a_logical_operation_may_be_a_guest() -> None:
    assert conflicts("torch.logical_and", THERE, POINT) == []
    assert len(conflicts("torch.logical_and", POINT, THERE)) == 1


def test_losses_take_guests_only_among_points() -> None:
    assert conflicts("torch.nn.functional.mse_loss", on(CUDA), POINT) == []
    assert len(conflicts("torch.nn.functional.mse_loss", THERE, POINT)) == 1


def test_what_is_written_into_is_no_guest() -> None:
    assert len(conflicts("torch.Tensor.__iadd__", POINT, on(CUDA))) == 1
    assert conflicts("torch.Tensor.__iadd__", THERE, POINT) == []
    assert call("torch.Tensor.add_", THERE, POINT).device is CUDA


def test_a_destination_has_to_be_where_the_operands_are() -> None:
    assert len(conflicts("torch.add", THERE, THERE, out=HERE)) == 1
    assert conflicts("torch.add", THERE, THERE, out=THERE) == []
    assert call("torch.add", THERE, 1, out=THERE) is THERE


def test_arguments_that_have_to_be_on_the_host() -> None:
    found = conflicts("torch.tensor_split", THERE, on(CUDA, 2, dtype="int64"))
    assert [conflict[4] for conflict in found] == [True]
    assert conflicts("torch.tensor_split", THERE, on(CPU, 2, dtype="int64")) == []


def test_the_report_names_operation_operands_and_places() -> None:
    operation, left, right, literals, wants_cpu = conflicts("torch.cat", [THERE, HERE])[0]
    assert (operation, left, right) == ("torch.cat", (THERE, "0[0]"), (HERE, "0[1]"))
    assert (literals, wants_cpu) == ((), False)
    assert conflicts("torch.Tensor.__add__", THERE, HERE)[0][0] == "+"
    method = conflicts("torch.Tensor.matmul", THERE, HERE)[0]
    assert (method[0], method[1][1], method[2][1]) == (".matmul()", -1, 0)
    keyword = conflicts("torch.nn.functional.linear", THERE, weight=HERE)[0]
    assert keyword[2] == (HERE, "weight")


def test_the_case_of_a_conflict_is_told() -> None:
    atom = Atom("args.cuda", "flag", True)
    moved = on(Guarded(atom, CUDA, CPU), 3, 3)
    found = conflicts("torch.add", moved, HERE)
    assert [conflict[3] for conflict in found] == [((atom, True),)]
    assert conflicts("torch.add", moved, on(Guarded(atom, CUDA, CPU), 3)) == []


def test_two_accelerators_differ() -> None:
    assert len(conflicts("torch.add", THERE, on(CUDA1, 3, 3))) == 1
    assert len(conflicts("torch.add", THERE, on(CUDA1))) == 1


def test_the_result_is_where_the_operands_are() -> None:
    assert call("torch.add", THERE, POINT).device is CUDA
    assert call("torch.add", POINT, THERE).device is CUDA
    assert call("torch.add", THERE, Unknown()).device is CUDA
    assert call("torch.add", HERE, Unknown()).device is CPU
    assert call("torch.add", POINT, Unknown()).device is UNKNOWN_DEVICE
    assert call("torch.add", THERE, HERE).device is CONTESTED
    assert call("torch.cat", Unknown("tensors")).device is UNKNOWN_DEVICE
    assert call("torch.cat", [THERE, Unknown()]).device is CUDA


def test_a_symbol_agrees_with_itself() -> None:
    symbol = SymbolicDevice("x")
    assert conflicts("torch.add", on(symbol, 3), on(symbol, 3)) == []
    assert call("torch.add", on(symbol, 3), on(symbol, 3)).device is symbol
    assert len(conflicts("torch.add", on(symbol, 3), HERE)) == 1


def test_results_of_several_tensors_have_names() -> None:
    found = call("torch.max", THERE, 1)
    assert found.names == ("values", "indices")
    assert [item.device for item in found.items] == [CUDA, CUDA]
    assert call("torch.max", THERE).shape == ()
    assert call("torch.Tensor.max", THERE, HERE).device is CONTESTED
    assert call("torch.Tensor.topk", THERE, 2).items[1].dtype == "int64"


def test_pieces_are_counted_where_that_is_known() -> None:
    found = call("torch.Tensor.chunk", on(CUDA, 6, 4), 3, dim=0)
    assert isinstance(found, TupleValue)
    assert [piece.shape for piece in found.items] == [(2, 4)] * 3
    assert len(call("torch.Tensor.chunk", Tensor(CUDA), 3, dim=-1).items) == 3
    assert len(call("torch.split", on(CUDA, 6, 4), [1, 2, 3]).items) == 3
    assert call("torch.Tensor.unbind", Tensor(CUDA)).rest.device is CUDA


def test_what_waits_for_the_device() -> None:
    assert waits("torch.Tensor.item", on(CUDA)) == [".item()"]
    assert waits("torch.nonzero", THERE) == ["torch.nonzero"]
    assert waits("torch.Tensor.__bool__", on(CUDA)) != []
    assert waits("torch.equal", THERE, THERE) != []
    assert waits("torch.add", THERE, THERE) == []
    assert waits("torch.Tensor.size", THERE) == []


def test_reflected_operators_take_operands_in_program_order() -> None:
    services = Recorder()
    from device_lens.domain.values import Const
    from device_lens.models import registry
    from device_lens.models.call import Call

    model = registry.function("torch.Tensor.__sub__")
    assert model is not None
    found = model(
        Call("torch.Tensor.__sub__", None, (Const(1.0), THERE), {}, None, services)  # type: ignore[arg-type]
    )
    assert (found.device, found.shape) == (CUDA, (3, 3))
