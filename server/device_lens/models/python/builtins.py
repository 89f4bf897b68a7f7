"""Built-in functions: they pass tensors on, or ask for numbers."""

from __future__ import annotations

from typing import Any

from device_lens.domain import optional_items
from device_lens.domain.by_number import keep_places_of
from device_lens.domain.code import BoundMethod
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import PRESENT, DictObject, ListObject, Parameter
from device_lens.domain.join import join_all
from device_lens.domain.lengths import AT_LEAST, surely_held
from device_lens.domain.objects import (
    any_of_these,
    any_one,
    holds_all,
    holds_objects,
    keep_any,
    may_hold,
)
from device_lens.domain.presence import carry, conditions
from device_lens.domain.torch_keys import named_for
from device_lens.domain.values import (
    NONE,
    Const,
    External,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, tensor_of, treated_as_tensor
from device_lens.models.methods import find_method
from device_lens.models.numbers import is_number, number, text, text_begun, text_numbered
from device_lens.models.python import dict_classes, sets
from device_lens.models.python.conversions import converts
from device_lens.models.python.ordered import in_order
from device_lens.models.python.ordering import all_compared, one_compared, where_compared
from device_lens.models.python.pairs import fill_from_pairs
from device_lens.models.python.picked import keep_held, one_of_these, some_of
from device_lens.models.python.sequence_cases import by_case
from device_lens.models.python.text_cases import by_cases


def listing(call: Call, items: tuple[Value, ...], rest: Value, kind: str = "list") -> ListObject:
    return ListObject(items, rest, kind, call.site.node)


def first_argument(call: Call) -> Value:
    return call.args[0] if call.args else Unknown()


def _sequence(kind: str) -> Model:
    def model(call: Call) -> Value:
        if not call.args:
            return TupleValue(()) if kind == "tuple" else listing(call, (), None, kind)
        items, rest = call.services.iterate(call.args[0])
        if kind == "tuple" and rest is None:
            return TupleValue(items)
        asked = ask_key(call, items, rest)
        if kind == "sorted":
            all_compared(call, "sorted()", items, rest, call.args[0], 0)
            ordered = in_order(call, call.args[0], items, asked)
            if ordered is not None:
                return listing(call, ordered, None)
            return some_of(call, call.args[0], picked=False)
        if kind in ("list", "tuple") and sets.is_set(call.args[0]) and holds_objects(items):
            return some_of(call, call.args[0], kind, picked=False)  # in no order that is known
        made = listing(call, items, rest, "list" if kind == "iter" else kind)
        if kind in ("list", "tuple"):
            keep_places_of(call.args[0], made)
        keep_held(call.args[0], made)
        if kind != "set":
            optional_items.carry(call.args[0], made)
        least = surely_held(call.args[0], items)
        if least < len(items):
            made.fields[AT_LEAST] = least
            made.fields[PRESENT] = items, conditions(call.args[0], items)
        return made

    return model


MOST_ASKED = 8
"""Items of which a function that orders them is asked one by one."""


def ask_key(call: Call, items: tuple[Value, ...], rest: Value) -> tuple[Value, ...] | None:
    """Runs `key=`, which may read what the items hold. Answers what each of them is ordered by,
    itself where there is no key; None where they are not asked one by one."""
    key = call.kwargs.get("key", NONE)
    if key == NONE:
        return items if rest is None else None
    many = len(items) > MOST_ASKED
    asked = (any_item(items, rest),) if many else (*items, rest)
    answers = [call.services.invoke(key, (item,), {}) for item in asked if item is not None]
    return None if many or rest is not None else tuple(answers)


def any_item(items: tuple[Value, ...], rest: Value) -> Value:
    found = [item for item in (*items, rest) if item is not None]
    return join_all(found) if found else Unknown()


def _sum(call: Call) -> Value:
    """The sum of tensors is where they are: added up by their own operator."""
    items, rest = call.services.iterate(first_argument(call))
    operands = [item for item in (*items[:8], rest) if item is not None]
    start = call.get(1, "start")
    if start is not None:
        operands.insert(0, start)
    tensors = [o for o in operands if tensor_of(o) is not None]
    if not any(map(treated_as_tensor, tensors)):
        if operands and all(is_number(o) for o in operands):
            return number()
        if all(type(o) in (Const, HostArray) for o in operands) and operands:
            return Unknown("a number")
        return join_all(operands) if operands else Const(0)
    add = registry.function("torch.Tensor.__add__")
    total: Value = tensors[0]
    others = tensors[1:] or ([tensors[0]] if rest is not None or len(items) > 1 else [])
    for operand in others:
        if add is None:
            return total
        request = Call("torch.Tensor.__add__", total, (operand,), {}, call.site, call.services)
        total = add(request)
    return total


def _extreme(call: Call) -> Value:
    values = list(call.args)
    sure, within = len(values), None
    if len(values) == 1:
        within = 0
        items, rest = call.services.iterate(values[0])
        sure = min(surely_held(values[0], items), len(items))
        values = [item for item in (*items, rest) if item is not None]
    if "key" in call.kwargs:
        ask_key(call, tuple(values), None)
        if len(call.args) == 1:
            values = [*may_hold(call.args[0], items, rest)]
        return one_of_these(call, [*values, *_otherwise(call)]) if values else Unknown()
    if len(values) > 1:
        _wait_for_tensors(call, values)
    compared = where_compared(call, _as_called(call), tuple(values[:sure]), within)
    if values and all(type(v) is Const for v in values):
        return _chosen(call, values, sure)
    found = join_all(values) if values else Unknown()
    found = any_one(tuple(values), found) if len(values) > 1 else found
    are_numbers = type(found) is Unknown and all(map(is_number, values))
    return number("an extreme") if values and are_numbers else one_compared(found, compared)


def _chosen(call: Call, values: list[Value], sure: int) -> Value:
    """The extreme of constants of which the first `sure` are there: any of the others that may be
    it, where these need not be."""
    choose = max if call.name.endswith("max") else min
    try:
        if sure == len(values):
            return Const(choose(v.value for v in values))
        if sure == 0:
            return join_all([*values, *_otherwise(call)])
        best = choose(v.value for v in values[:sure])
        more = [v for v in values[sure:] if choose(best, v.value) != best]
        return join_all([Const(best), *more])
    except TypeError:
        return Unknown()


def _otherwise(call: Call) -> list[Value]:
    """What `max([], default=x)` gives."""
    return [call.kwargs["default"]] if "default" in call.kwargs else []


def _wait_for_tensors(call: Call, values: list[Value]) -> None:
    """Python compares one by one, which asks each tensor for its value."""
    for index, value in enumerate(values):
        if type(value) in (Tensor, Parameter):
            position = index if len(call.args) > 1 else 0
            call.services.synchronize(_as_called(call), value, position)


def _as_called(call: Call) -> str:
    """`max()`, as a reader knows it."""
    return f"{call.name.removeprefix('builtins.')}()"


def _str(call: Call) -> Value:
    value = first_argument(call)
    as_text(call, value, "__repr__" if call.name.endswith("repr") else "__str__")
    if type(value) is Guarded:
        return by_cases(string_of, (value,), text("a string"))
    return string_of(value)


def string_of(value: Value) -> Value:
    """`str(value)` where no condition tells it apart."""
    if type(value) is Const and not isinstance(value.value, bytes):
        return Const(str(value.value))
    from device_lens.domain.device import ANY_INDEX, Device
    from device_lens.domain.values import DeviceValue, DtypeValue

    if type(value) is DtypeValue and value.name is not None:
        return Const(f"torch.{value.name}")
    if type(value) is DeviceValue:

        def name(leaf: Any) -> Value:
            if not isinstance(leaf, Device):
                return Unknown("a device")
            known = leaf.type == "cpu" or leaf.index not in (None, ANY_INDEX)
            if known or (leaf.index is None and value.placed is False):
                return Const(str(leaf))
            numbered = value.placed or leaf.index is not None
            found = (text_numbered if numbered else text_begun)(f"{leaf.type}:")
            return named_for(found, leaf) if value.placed else found

        return combine(name, value.device)
    if type(value) is External and value.name in _NAMED_ALIKE:
        return Const(f"<class '{value.name.removeprefix('builtins.')}'>")
    return text("a string")


_NAMED_ALIKE = frozenset(
    "torch.Tensor numpy.ndarray builtins.dict builtins.list builtins.tuple builtins.set "
    "builtins.str builtins.int builtins.float builtins.bool builtins.NoneType".split()
)
"""Classes whose full names are what the program calls them by."""


def as_text(call: Call, value: Value, name: str = "__str__") -> None:
    """Runs what an object of the program's own says of itself."""
    method = find_method(value, name)
    if method is None and name == "__str__":
        method = find_method(value, "__repr__")
    if type(method) is BoundMethod:
        call.services.invoke(method, (), {})


def _print(call: Call) -> Value:
    for index, value in enumerate(call.args):
        as_text(call, value)
        if treated_as_tensor(value):
            call.services.synchronize("print()", value, index)
    return NONE


def _dict(call: Call) -> Value:
    found = DictObject(site=call.site.node)
    if call.args:
        source = dict_classes.content(call.args[0])
        if type(source) is DictObject:
            found.entries.update(source.entries)
            carry(source.entries, found.entries)
            found.fields.update(rest=source.rest, rest_key=source.fields["rest_key"])
            keep_any(found, any_of_these(source), whole=holds_all(source))
        else:
            fill_from_pairs(call, found, source)
    found.entries.update(call.kwargs)
    if not call.complete:
        found.fields["rest"] = Unknown()
    return found


def _identity(call: Call) -> Value:
    return first_argument(call)


def _unknown(label: str) -> Model:
    return lambda call: Unknown(label)


def _some_number(call: Call) -> Value:
    return number("a number")


def _some_text(call: Call) -> Value:
    return text("a string")


def _none(call: Call) -> Value:
    return NONE


def _abs(call: Call) -> Value:
    value = first_argument(call)
    model = registry.function("torch.Tensor.abs")
    if tensor_of(value) is not None and model is not None:
        return model(Call("torch.Tensor.abs", value, (), {}, call.site, call.services))
    if type(value) is Const and isinstance(value.value, int | float):
        return Const(abs(value.value))
    return value if type(value) is HostArray else number("a number")


def register() -> None:
    models: dict[str, Model] = {
        "list": by_case(_sequence("list"), of_gpus=True),
        "tuple": by_case(_sequence("tuple"), of_gpus=True),
        "set": _sequence("set"),
        "frozenset": _sequence("set"),
        "sorted": _sequence("sorted"),
        "dict": _dict,
        "sum": _sum,
        "min": _extreme,
        "max": _extreme,
        "abs": _abs,
        "float": converts("float"),
        "int": converts("int"),
        "bool": converts("bool"),
        "complex": converts("complex"),
        "str": _str,
        "repr": _str,
        "format": _some_text,
        "print": _print,
        "round": _unknown("a number"),
        "pow": _unknown("a number"),
        "divmod": _unknown("two numbers"),
        "hash": _some_number,
        "id": _some_number,
        "ord": _some_number,
        "chr": _some_text,
        "hex": _some_text,
        "input": _some_text,
        "open": _unknown("a file"),
        "object": _unknown("an object"),
        "issubclass": _unknown("a boolean"),
    }
    for name, model in models.items():
        registry.FUNCTIONS["builtins." + name] = model
    registry.FUNCTIONS["builtins.property.setter"] = _identity
    registry.FUNCTIONS["builtins.<identity>"] = _identity


IDENTITY = External("builtins.<identity>")
"""A decorator or wrapper that gives back what it is given."""
