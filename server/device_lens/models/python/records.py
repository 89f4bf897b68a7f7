"""Named tuples and dataclasses: records whose fields carry tensors."""

from __future__ import annotations

import ast
from typing import Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.heap import DictObject, Instance
from device_lens.domain.values import NONE, Const, External, Partial, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.numbers import sequence
from device_lens.models.python.builtins import first_argument
from device_lens.models.registry import FUNCTIONS

NAMED_TUPLE = "collections.<named tuple>"
FIELD = "dataclasses.Field"
FROM_ITEMS = "collections.<named tuple>._make"


def maker(names: tuple[str, ...], defaults: tuple[Value, ...] = ()) -> Partial:
    """The class of a named tuple as a function that makes such tuples; `defaults` are the values
    of its last fields."""
    given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    return Partial(External(NAMED_TUPLE), (Const(names),), given)


def _named_tuple(call: Call) -> Value:
    """`namedtuple("P", "a b")`."""
    fields = call.get(1, "field_names")
    text = constant(fields)
    if isinstance(text, str):
        names = tuple(text.replace(",", " ").split())
    else:
        items, _ = call.services.iterate(fields) if fields is not None else ((), None)
        names = tuple(str(constant(item)) for item in items)
    defaults = sequence(call.kwargs.get("defaults", NONE)) or ()
    return maker(names, defaults[-len(names) :] if names else ())


def _typed_named_tuple(call: Call) -> Value:
    """`NamedTuple("P", [("a", Tensor), …])`."""
    items, _ = call.services.iterate(call.get(1, "fields", TupleValue(())))
    names = [constant(item.items[0]) for item in items if type(item) is TupleValue and item.items]
    return maker(tuple(str(name) for name in names))


def _typed_dict(call: Call) -> Value:
    """`TypedDict("D", {"a": Tensor})`: what it makes is a plain dictionary."""
    return External("builtins.dict")


def _make_named(call: Call) -> Value:
    names = constant(call.args[0]) if call.args else ()
    values = call.args[1:]
    items = tuple(
        values[i] if i < len(values) else call.kwargs.get(name, Unknown(name))
        for i, name in enumerate(names)
    )
    return TupleValue(items, names)


def _as_mapping(call: Call) -> Value:
    """`record._asdict()`."""
    record = call.receiver
    if type(record) is not TupleValue or not record.names:
        return DictObject({}, Unknown(), call.site.node)
    return DictObject(dict(zip(record.names, record.items, strict=True)), None, call.site.node)


def _with_fields(call: Call) -> Value:
    """`record._replace(a=x)`."""
    record = call.receiver
    if type(record) is not TupleValue or not record.names or not call.complete:
        return Unknown()
    pairs = zip(record.names, record.items, strict=True)
    return TupleValue(tuple(call.kwargs.get(name, item) for name, item in pairs), record.names)


def _as_dict(call: Call) -> Value:
    value = first_argument(call)
    if isinstance(value, Instance):
        names = _field_names(value.cls) or tuple(value.fields)
        entries = {name: value.fields[name] for name in names if name in value.fields}
        return DictObject(entries, None, call.site.node)
    return DictObject({}, Unknown(), call.site.node)


def _as_tuple(call: Call) -> Value:
    value = first_argument(call)
    names = _field_names(value.cls) if isinstance(value, Instance) else None
    if names is None:
        return Unknown()
    return TupleValue(tuple(value.fields.get(name, Unknown(name)) for name in names))


def _field_names(cls: Value) -> tuple[str, ...] | None:
    if type(cls) is not ClassValue:
        return None
    for owner in cls.mro:
        if owner.data_fields is not None:
            return tuple(name for name, _ in owner.data_fields)
    return None


def of_class(cls: Value, name: str, node: Any) -> Value | None:
    """`Record._fields`, `Record._make`, `Record.__dataclass_fields__`; None of other classes."""
    if type(cls) is not ClassValue:
        return None
    if name == "__dataclass_fields__":
        names = _field_names(cls)
        if names is None:
            return None
        described = {each: Instance(External(FIELD), node) for each in names}
        for each, field in described.items():
            field.fields["name"] = Const(each)
        return DictObject(described, None, node)
    if "typing.NamedTuple" not in cls.foreign:
        return None
    if name == "_make":
        return Partial(External(FROM_ITEMS), (cls,), {})
    return TupleValue(tuple(map(Const, annotated_names(cls))))


def of_maker(value: Partial, name: str) -> Value | None:
    """`_fields` and `_make` of what `namedtuple` made; None of anything else."""
    if value.function != External(NAMED_TUPLE):
        return None
    if name == "_make":
        return Partial(External(FROM_ITEMS), (value,), {})
    return TupleValue(tuple(map(Const, constant(value.args[0])))) if name == "_fields" else None


def annotated_names(cls: ClassValue) -> list[str]:
    """The fields that the class of a named tuple declares."""
    return [
        item.target.id
        for owner in reversed(cls.mro)
        for item in owner.node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    ]


def _from_items(call: Call) -> Value:
    """`Record._make(items)`: what any further item is stands for the fields that are left."""
    if len(call.args) != 2:
        return Unknown()
    maker_of, source = call.args
    items, rest = call.services.iterate(source)
    names = constant(maker_of.args[0]) if type(maker_of) is Partial else annotated_names(maker_of)
    count = len(names)
    if rest is not None:
        items = (*items, *[rest] * (count - len(items)))
    return call.services.invoke(maker_of, items[:count], {})


def _fields(call: Call) -> Value:
    """`fields(record)`: descriptions of which the name is known."""
    value = first_argument(call)
    names = _field_names(value.cls if isinstance(value, Instance) else value)
    if names is None:
        return Unknown()
    described = []
    for name in names:
        field = Instance(External(FIELD), call.site.node)
        field.fields["name"] = Const(name)
        described.append(field)
    return TupleValue(tuple(described))


def _replace(call: Call) -> Value:
    """`replace(record, a=x)`, which is made as any record is; changes that are not known may be of
    any field."""
    value = first_argument(call)
    if type(value) is not Instance:
        return Unknown()
    new = Instance(value.cls, call.site.node)
    for name, old in value.fields.items():
        new.fields[name] = old if call.complete else Unknown(str(name))
    new.fields.update(call.kwargs)
    completes = new.cls.lookup("__post_init__") if type(new.cls) is ClassValue else None
    if isinstance(completes, Function) and call.complete:
        call.services.invoke(BoundMethod(new, completes), (), {})
    return new


def register() -> None:
    """Fills the registry."""
    models: dict[str, Model] = {
        "collections.namedtuple": _named_tuple,
        "typing.NamedTuple": _typed_named_tuple,
        "typing.TypedDict": _typed_dict,
        NAMED_TUPLE: _make_named,
        FROM_ITEMS: _from_items,
        "tuple._asdict": _as_mapping,
        "tuple._replace": _with_fields,
        "dataclasses.asdict": _as_dict,
        "dataclasses.astuple": _as_tuple,
        "dataclasses.fields": _fields,
        "dataclasses.replace": _replace,
    }
    FUNCTIONS.update(models)
