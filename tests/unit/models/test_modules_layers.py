"""Calls of `torch.nn` modules: what has to agree, where the result is."""

from __future__ import annotations

import pytest
from fake_services import CUDA, FakeServices, call, run, tensor

from device_lens.domain.atom import Atom
from device_lens.domain.device import CONTESTED, CPU
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import ListObject, Parameter
from device_lens.domain.values import NONE, Tensor, TupleValue, Unknown
from device_lens.models.torch.module import move
from device_lens.models.torch.parts import all_parts, devices_of, tensor_in


def test_input_and_parameters_must_agree() -> None:
    services = FakeServices()
    linear = call(services, "torch.nn.Linear", 3, 4)
    result = run(services, linear, "__call__", tensor("cuda", 2, 3))
    assert result.device is CONTESTED
    assert services.conflicts == [("torch.nn.Linear", 0, "self.weight")]


def test_output_is_beside_the_parameters_and_carries_a_graph() -> None:
    services = FakeServices()
    linear = call(services, "torch.nn.Linear", 3, 4, device="cuda")
    result = run(services, linear, "__call__", tensor("cuda", 2, 3))
    assert (result.device, result.shape) == (CUDA, (2, 4))
    assert (result.requires_grad, result.leaf) == (True, False)
    services.globals["grad"] = False
    assert run(services, linear, "__call__", tensor("cuda", 2, 3)).requires_grad is False
    assert not services.conflicts


def test_an_unknown_input_gives_an_output_beside_the_parameters() -> None:
    services = FakeServices()
    linear = call(services, "torch.nn.Linear", 3, 4, device="cuda")
    assert run(services, linear, "__call__", Unknown("x")).device is CUDA
    assert not services.conflicts


def test_a_guard_keeps_module_and_input_together() -> None:
    services = FakeServices()
    either = Guarded(Atom("torch.cuda.is_available()", "accelerator", True), CUDA, CPU)
    linear = call(services, "torch.nn.Linear", 3, 4)
    move(services, linear, either)
    result = run(services, linear, "__call__", Tensor(either, "float32", (2, 3)))
    assert result.device == either
    assert not services.conflicts


@pytest.mark.parametrize("name", ["ReLU", "Dropout", "Softmax", "Sigmoid", "GELU", "Flatten"])
def test_modules_without_parameters_follow_their_input(name: str) -> None:
    services = FakeServices()
    module = call(services, f"torch.nn.{name}")
    assert devices_of(module) is None
    assert run(services, module, "__call__", tensor("cuda", 2, 3)).device is CUDA
    assert not services.conflicts


def test_losses_need_input_and_target_together() -> None:
    services = FakeServices()
    loss = call(services, "torch.nn.CrossEntropyLoss")
    good = run(
        services,
        loss,
        "__call__",
        tensor("cuda", 4, 3),
        tensor("cuda", 4, dtype="int64"),
    )
    assert (good.device, good.shape) == (CUDA, ())
    assert not services.conflicts
    run(
        services,
        loss,
        "__call__",
        tensor("cuda", 4, 3),
        tensor("cpu", 4, dtype="int64"),
    )
    assert services.conflicts == [("torch.nn.CrossEntropyLoss", 0, 1)]


def test_the_weight_of_a_loss_is_a_buffer() -> None:
    services = FakeServices()
    loss = call(services, "torch.nn.CrossEntropyLoss", weight=tensor("cpu", 3))
    run(
        services,
        loss,
        "__call__",
        tensor("cuda", 4, 3),
        tensor("cuda", 4, dtype="int64"),
    )
    assert [conflict[2] for conflict in services.conflicts] == ["self.weight"]
    services.conflicts.clear()
    run(services, loss, "cuda")
    run(
        services,
        loss,
        "__call__",
        tensor("cuda", 4, 3),
        tensor("cuda", 4, dtype="int64"),
    )
    assert not services.conflicts


def test_identity_gives_its_very_input() -> None:
    services = FakeServices()
    given = tensor("cuda", 2)
    assert run(services, call(services, "torch.nn.Identity"), "__call__", given) is given


def test_recurrent_layers_give_outputs_and_states() -> None:
    services = FakeServices()
    lstm = call(services, "torch.nn.LSTM", 3, 4, 2, batch_first=True, device="cuda")
    out = run(services, lstm, "__call__", tensor("cuda", 2, 5, 3))
    output, state = out.items
    assert (output.device, output.shape) == (CUDA, (2, 5, 4))
    assert [part.shape for part in state.items] == [(2, 2, 4), (2, 2, 4)]
    gru = run(
        services,
        call(services, "torch.nn.GRU", 3, 4),
        "__call__",
        tensor("cpu", 5, 2, 3),
    )
    assert isinstance(gru.items[1], Tensor)
    assert not services.conflicts


def test_a_hidden_state_left_on_the_host_is_told() -> None:
    services = FakeServices()
    lstm = call(services, "torch.nn.LSTM", 3, 4, device="cuda")
    state = TupleValue((tensor("cpu", 1, 2, 4), tensor("cpu", 1, 2, 4)))
    run(services, lstm, "__call__", tensor("cuda", 5, 2, 3), state)
    assert services.conflicts == [("torch.nn.LSTM", 0, "1[0]"), ("torch.nn.LSTM", 0, "1[1]")]


def test_packed_sequences_pass_through_recurrent_layers() -> None:
    services = FakeServices()
    rnn = "torch.nn.utils.rnn."
    packed = call(
        services,
        rnn + "pack_padded_sequence",
        tensor("cuda", 3, 2, 1),
        tensor("cpu", 2),
    )
    assert packed.fields["data"].device is CUDA
    assert packed.fields["batch_sizes"].device is CPU
    gru = call(services, "torch.nn.GRU", 1, 4, device="cuda")
    output = run(services, gru, "__call__", packed).items[0]
    padded, lengths = call(services, rnn + "pad_packed_sequence", output).items
    assert (padded.device, lengths.device) == (CUDA, CPU)
    assert not services.conflicts


def test_lengths_must_be_on_the_host() -> None:
    services = FakeServices()
    name = "torch.nn.utils.rnn.pack_padded_sequence"
    call(services, name, tensor("cuda", 3, 2, 1), tensor("cuda", 2, dtype="int64"))
    assert len(services.conflicts) == 1


def test_attention_gives_values_and_weights() -> None:
    services = FakeServices()
    attention = call(services, "torch.nn.MultiheadAttention", 4, 2, device="cuda")
    query = tensor("cuda", 3, 1, 4)
    values, weights = run(services, attention, "__call__", query, query, query).items
    assert (values.device, values.shape, weights.device) == (CUDA, (3, 1, 4), CUDA)
    alone = run(services, attention, "__call__", query, query, query, need_weights=False)
    assert alone.items[1] == NONE


def test_a_transformer_copies_its_layer() -> None:
    services = FakeServices()
    layer = call(services, "torch.nn.TransformerEncoderLayer", 8, 2)
    encoder = call(services, "torch.nn.TransformerEncoder", layer, 3)
    run(services, encoder, "cuda")
    assert devices_of(encoder) is CUDA
    assert devices_of(layer) is CPU
    result = run(services, encoder, "__call__", tensor("cuda", 5, 2, 8))
    assert (result.device, result.shape) == (CUDA, (5, 2, 8))
    run(services, encoder, "__call__", tensor("cuda", 5, 2, 8), mask=tensor("cpu", 5, 5))
    assert not services.conflicts, "it may be causal"
    padding = tensor("cpu", 2, 5)
    run(services, encoder, "__call__", tensor("cuda", 5, 2, 8), src_key_padding_mask=padding)
    assert len(services.conflicts) == 1


def test_parameters_of_modules_are_where_the_default_is() -> None:
    services = FakeServices()
    services.globals["default_device"] = CUDA
    assert devices_of(call(services, "torch.nn.Conv2d", 1, 2, 3)) is CUDA
    assert devices_of(call(services, "torch.nn.Conv2d", 1, 2, 3, device="cpu")) is CPU


def test_a_parameter_is_a_leaf_that_requires_grad() -> None:
    services = FakeServices()
    made = call(services, "torch.nn.Parameter", tensor("cuda", 3))
    assert isinstance(made, Parameter)
    assert (made.tensor.device, made.tensor.requires_grad, made.tensor.leaf) == (
        CUDA,
        True,
        True,
    )
    frozen = call(services, "torch.nn.Parameter", tensor("cpu", 3), requires_grad=False)
    assert frozen.tensor.requires_grad is False


def test_parts_without_a_known_count_are_told_by_their_first() -> None:
    services = FakeServices()
    lstm = call(services, "torch.nn.LSTM", 3, 4, Unknown("layers"))
    assert [part.name for part in all_parts(lstm)] == [
        "weight_ih_l0",
        "weight_hh_l0",
        "bias_ih_l0",
        "bias_hh_l0",
    ]
    assert all(tensor_in(part.value) is not None for part in all_parts(lstm))


def test_several_pooling_results() -> None:
    services = FakeServices()
    pool = call(services, "torch.nn.MaxPool2d", 2, return_indices=True)
    result = run(services, pool, "__call__", tensor("cuda", 1, 1, 4, 4))
    items = result.items if isinstance(result, (TupleValue, ListObject)) else (result,)
    assert all(item.device is CUDA for item in items)
