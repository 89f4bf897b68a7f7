"""Recurrent layers and cells."""

from __future__ import annotations

from dataclasses import dataclass

from device_lens.domain.heap import ModuleObject, Parameter
from device_lens.domain.values import Const, Dim, Shape, Tensor, TupleValue
from device_lens.models.agreement import Placed
from device_lens.models.call import Call, Value, tensor_of
from device_lens.models.operands import item_of
from device_lens.models.torch.module import get_attribute
from device_lens.models.torch.nn_layer import agreeing, constructor_arguments, factory
from device_lens.models.torch.nn_shapes import number
from device_lens.models.torch.packed import packed_data, packed_like

_SIZES = "input_size hidden_size"
_REST = "bias=True batch_first=False dropout=0.0 bidirectional=False proj_size=0"


@dataclass(frozen=True, slots=True)
class Recurrent:
    """`RNN`, `LSTM`, `GRU`: `gates` is how many times the hidden size a weight is tall."""

    name: str
    gates: int
    leading: str = ""
    nonlinearity: str = ""

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Makes the weights of every layer and direction; those of the first where it is not
        known how many there are."""
        text = (
            f"{self.leading}{_SIZES} num_layers=1 {self.nonlinearity}{_REST} device=None dtype=None"
        )
        arguments = constructor_arguments(text, call)
        for name, value in arguments.items():
            if name not in ("device", "dtype"):
                call.write(module.fields, name, value)
        make = factory(call, arguments)
        for name, shape in self._weights(arguments):
            call.write(module.parameters, name, Parameter(make(shape), call.site.node))

    def _weights(self, arguments: dict[str, Value]) -> list[tuple[str, Shape]]:
        hidden, projected = number(arguments, "hidden_size"), number(arguments, "proj_size")
        tall = None if hidden is None else self.gates * hidden
        out = projected or hidden
        directions = ("", "_reverse") if _is_true(arguments, "bidirectional") else ("",)
        ways = len(directions)
        layers = number(arguments, "num_layers")
        found: list[tuple[str, Shape]] = []
        for layer in range(layers if layers is not None else 1):
            wide: Dim = _times(out, ways) if layer else number(arguments, "input_size")
            for direction in directions:
                ending = f"_l{layer}{direction}"
                found.append((f"weight_ih{ending}", (tall, wide)))
                found.append((f"weight_hh{ending}", (tall, out)))
                if _is_true(arguments, "bias"):
                    found += [(f"bias_ih{ending}", (tall,)), (f"bias_hh{ending}", (tall,))]
                if projected:
                    found.append((f"weight_hr{ending}", (projected, hidden)))
        return found

    def forward(self, call: Call) -> Value:
        """The outputs of every step and the last state."""
        module = call.receiver
        given = call.get(0, "input")
        data = packed_data(given)
        operands = _operands(call, module, data if data is not None else given)
        result = agreeing(call, self.name, operands)
        source = tensor_of(data if data is not None else given)
        shape = source.shape if source is not None else None
        output, state, cell = self._shapes(module, shape)
        outputs: Value = result.with_(shape=output, zero_dim=False)
        if data is not None:
            outputs = packed_like(call, given, result.with_(shape=None, zero_dim=False))
            state = cell = None
        hidden = result.with_(shape=state, zero_dim=False)
        if self.gates == 4:
            cells = result.with_(shape=cell, zero_dim=False)
            return TupleValue((outputs, TupleValue((hidden, cells))))
        return TupleValue((outputs, hidden))

    def _shapes(self, module: ModuleObject, shape: Shape) -> tuple[Shape, Shape, Shape]:
        """Of the output, the hidden state and the cell state."""
        fields = module.fields
        both, batch_first = _flag(fields, "bidirectional"), _flag(fields, "batch_first")
        if shape is None or len(shape) not in (2, 3) or both is None or batch_first is None:
            return None, None, None
        inner = number(fields, "hidden_size")
        hidden = number(fields, "proj_size") or inner
        directions = 2 if both else 1
        layers = _times(number(fields, "num_layers"), directions)
        output = (*shape[:-1], _times(hidden, directions))
        batch = () if len(shape) == 2 else (shape[0 if batch_first else 1],)
        return output, (layers, *batch, hidden), (layers, *batch, inner)


@dataclass(frozen=True, slots=True)
class Cell:
    """`RNNCell`, `LSTMCell`, `GRUCell`."""

    name: str
    gates: int

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Makes the weights."""
        extra = "nonlinearity='tanh' " if self.gates == 1 else ""
        text = f"{_SIZES} bias=True {extra}device=None dtype=None"
        arguments = constructor_arguments(text, call)
        for name in ("input_size", "hidden_size", "bias"):
            if name in arguments:
                call.write(module.fields, name, arguments[name])
        make = factory(call, arguments)
        hidden = number(arguments, "hidden_size")
        tall = _times(hidden, self.gates)
        shapes: dict[str, Shape] = {
            "weight_ih": (tall, number(arguments, "input_size")),
            "weight_hh": (tall, hidden),
        }
        if _is_true(arguments, "bias"):
            shapes |= {"bias_ih": (tall,), "bias_hh": (tall,)}
        for name, shape in shapes.items():
            call.write(module.parameters, name, Parameter(make(shape), call.site.node))

    def forward(self, call: Call) -> Value:
        """The next state."""
        module, given = call.receiver, call.get(0, "input")
        result = agreeing(call, self.name, _operands(call, module, given))
        source = tensor_of(given)
        shape = None
        if source is not None and source.shape:
            shape = (*source.shape[:-1], number(module.fields, "hidden_size"))
        state: Tensor = result.with_(shape=shape, zero_dim=False)
        return TupleValue((state, state)) if self.gates == 4 else state


def _operands(call: Call, module: ModuleObject, given: Value) -> list[Placed]:
    """The input, the initial state and the first weight."""
    found: list[Placed] = []
    tensor = tensor_of(given)
    if tensor is not None:
        found.append((tensor, given, call.place(0, "input")))
    for name in ("weight_ih_l0", "weight_hh_l0", "weight_ih", "weight_hh"):
        weight = get_attribute(call.services, module, name)
        held = tensor_of(weight)
        if held is not None:
            found.append((held, weight, f"self.{name}"))
    state = call.get(1, "hx")
    place = call.place(1, "hx")
    for index, value in enumerate(state.items if type(state) is TupleValue else (state,)):
        held = tensor_of(value)
        if held is not None:
            own = item_of(place, index) if type(state) is TupleValue else place
            found.append((held, value, own))
    return found


def _is_true(arguments: dict[str, Value], name: str) -> bool:
    value = arguments.get(name)
    return type(value) is Const and bool(value.value)


def _flag(arguments: dict[str, Value], name: str) -> bool | None:
    value = arguments.get(name)
    return bool(value.value) if type(value) is Const else None


def _times(left: int | None, right: int) -> int | None:
    return None if left is None else left * right


RECURRENT: tuple[Recurrent | Cell, ...] = (
    Recurrent("torch.nn.RNN", 1, nonlinearity="nonlinearity='tanh' "),
    Recurrent("torch.nn.LSTM", 4),
    Recurrent("torch.nn.GRU", 3),
    Recurrent("torch.nn.RNNBase", 1, leading="mode "),
    Cell("torch.nn.RNNCell", 1),
    Cell("torch.nn.LSTMCell", 4),
    Cell("torch.nn.GRUCell", 3),
    Cell("torch.nn.RNNCellBase", 1),
)
