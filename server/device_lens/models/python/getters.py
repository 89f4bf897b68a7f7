"""operator: functions that read items and attributes, as `itemgetter(1)` does."""

from __future__ import annotations

from device_lens.domain.values import BoundExternal, Const, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value, constant, tensor_of
from device_lens.models.numbers import is_number, number
from device_lens.models.registry import FUNCTIONS, function
from device_lens.models.torch.unnamed_parts import some_attribute
from device_lens.models.words import words

_ITEMS = "operator.itemgetter.__call__"
_ATTRIBUTES = "operator.attrgetter.__call__"
_METHOD = "operator.methodcaller.__call__"
_OPERATORS = words("add sub mul truediv floordiv mod pow matmul and or xor neg eq ne lt le gt ge")
_SPELLED = {"and": "and_", "or": "or_"}


def _getter(name: str) -> Model:
    """A function that keeps what it is to read."""

    def model(call: Call) -> Value:
        return BoundExternal(TupleValue((TupleValue(call.args), _keywords(call))), name)

    return model


def _keywords(call: Call) -> TupleValue:
    return TupleValue(
        tuple(TupleValue((Const(name), value)) for name, value in call.kwargs.items())
    )


def _wanted(call: Call) -> tuple[Value, ...]:
    found: tuple[Value, ...] = call.receiver.items[0].items
    return found


def _read(call: Call, found: list[Value]) -> Value:
    return found[0] if len(found) == 1 else TupleValue(tuple(found))


def _items(call: Call) -> Value:
    if not call.args:
        return Unknown()
    return _read(call, [call.services.item(call.args[0], index) for index in _wanted(call)])


def _attributes(call: Call) -> Value:
    if not call.args:
        return Unknown()
    found = []
    for path in _wanted(call):
        value, name = call.args[0], constant(path)
        if not isinstance(name, str):
            found.append(some_attribute(value, path, "an attribute", dotted=True))
            continue
        for part in name.split("."):
            value = call.services.attribute(value, part)
        found.append(value)
    return _read(call, found)


def _method(call: Call) -> Value:
    """`methodcaller("to", device)`."""
    name, *args = _wanted(call)
    if not call.args:
        return Unknown()
    if isinstance(constant(name), str):
        method = call.services.attribute(call.args[0], constant(name))
    else:
        method = some_attribute(call.args[0], name, "a method")
    kwargs = {constant(pair.items[0]): pair.items[1] for pair in call.receiver.items[1].items}
    return call.services.invoke(method, tuple(args), kwargs)


def _get_item(call: Call) -> Value:
    return call.services.item(*call.args[:2]) if len(call.args) == 2 else Unknown()


def _operator(name: str) -> Model:
    """`operator.add` for `+`, where an operand is a tensor."""
    qualified = f"torch.Tensor.__{name}__"

    def model(call: Call) -> Value:
        model = function(qualified)
        operands = call.args
        if model is None or not operands or all(tensor_of(each) is None for each in operands):
            return number() if operands and all(map(_is_number, operands)) else Unknown()
        if tensor_of(operands[0]) is None:
            return model(Call(qualified, None, operands, {}, call.site, call.services))
        return model(Call(qualified, operands[0], operands[1:], {}, call.site, call.services))

    return model


def _is_number(value: Value) -> bool:
    return is_number(value) or isinstance(constant(value), int | float)


def register() -> None:
    """Fills the registry."""
    FUNCTIONS["operator.itemgetter"] = _getter(_ITEMS)
    FUNCTIONS["operator.attrgetter"] = _getter(_ATTRIBUTES)
    FUNCTIONS["operator.methodcaller"] = _getter(_METHOD)
    FUNCTIONS.update({_ITEMS: _items, _ATTRIBUTES: _attributes, _METHOD: _method})
    FUNCTIONS["operator.getitem"] = _get_item
    for name in _OPERATORS:
        FUNCTIONS["operator." + _SPELLED.get(name, name)] = _operator(name)
