"""`torch.func`: functions made of functions.

`vmap(f)` works where `f` does. `grad(f)`, `jacrev(f)` and their kin give results that live where
the argument is that they differentiate by. `functional_call` runs a module on parameters that it is
given, and leaves it as it was; `stack_module_state` makes those of several modules into one.
"""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE, same_everywhere
from device_lens.domain.heap import DictObject, ModuleObject, Parameter
from device_lens.domain.values import BoundExternal, Const, External, Partial, Tensor, TupleValue
from device_lens.models.call import Call, Model, Value, tensor_of
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.autograd import check_beside, one_by_one
from device_lens.models.torch.parts import Part, all_parts, is_many
from device_lens.models.words import words

DERIVATIVES = words("grad jacrev jacfwd hessian grad_and_value")
_TRANSFORMED = "torch.func.derivative"
_WITH_VALUE = "torch.func.derivative_and_value"
_VECTORISED = "torch.func.vectorised"
_PULLED = "torch.func.pulled_back"


def _vectorise(call: Call) -> Value:
    return BoundExternal(call.get(0, "func"), _VECTORISED)


def _vectorised(call: Call) -> Value:
    """`vmap(f)(x, …)`: what `f` gives, with a dimension more."""
    return _batched(call.services.invoke(call.receiver, call.args, call.kwargs))


def _batched(value: Value) -> Value:
    if type(value) is Tensor:
        return value.with_(shape=None, zero_dim=False)
    if isinstance(value, TupleValue):
        return TupleValue(tuple(map(_batched, value.items)), value.names)
    return value


def _transform(applied: str) -> Model:
    """`grad(f)`: a callable that remembers `f`."""

    def model(call: Call) -> Value:
        function = call.get(0, "func")
        argument = call.get(1, "argnums")
        if argument is not None and argument != Const(0):
            return call.unknown()
        return BoundExternal(function, applied)

    return model


def _derivative(call: Call) -> Value:
    """`grad(f)(x, …)`: a tensor, or as many as `x` holds, where `x` is."""
    call.services.invoke(call.receiver, call.args, call.kwargs)
    return _alike(call.args[0]) if call.args else call.unknown()


def _derivative_and_value(call: Call) -> Value:
    result = call.services.invoke(call.receiver, call.args, call.kwargs)
    return TupleValue((_alike(call.args[0]), result)) if call.args else call.unknown()


def _forward_mode(call: Call) -> Value:
    """`jvp(f, primals, tangents)`: what `f` gives, and a direction beside it. Each of those
    that are given is where its input is."""
    primals = call.get(1, "primals")
    if type(primals) is not TupleValue or call.kwargs.keys() - {"func", "primals", "tangents"}:
        return call.unknown()
    given = one_by_one(call, 1, "primals"), one_by_one(call, 2, "tangents")
    check_beside(call, *given)
    output = call.services.invoke(call.get(0, "func", call.unknown()), primals.items, {})
    return TupleValue((output, _alike(output)))


def _reverse_mode(call: Call) -> Value:
    """`vjp(f, x, …)`: what `f` gives, and a function that gives gradients beside `x`."""
    if not call.args or call.kwargs or not call.complete:
        return call.unknown()
    output = call.services.invoke(call.args[0], call.args[1:], {})
    return TupleValue((output, Partial(External(_PULLED), (output, *call.args[1:]), {})))


def _pulled(call: Call) -> Value:
    """The gradients beside the inputs, for one beside the output."""
    if len(call.args) < 2:
        return call.unknown()
    return TupleValue(tuple(map(_alike, call.args[1:-1])))


def _alike(value: Value) -> Value:
    found = tensor_of(value)
    if found is not None:
        return Tensor(found.device, found.dtype, requires_grad=None, leaf=None)
    if isinstance(value, TupleValue):
        return TupleValue(tuple(map(_alike, value.items)))
    if type(value) is DictObject:
        rest = None if value.rest is None else _alike(value.rest)
        return DictObject({key: _alike(each) for key, each in value.entries.items()}, rest)
    return Tensor(UNKNOWN_DEVICE, requires_grad=None, leaf=None)


def _functional_call(call: Call) -> Value:
    """`functional_call(module, parameters, args, kwargs)`."""
    module, args = call.get(0, "module"), call.get(2, "args", TupleValue(()))
    given = call.get(1, "parameter_and_buffer_dicts")
    if not isinstance(module, ModuleObject):
        return call.unknown()
    kwargs = call.get(3, "kwargs")
    named = dict(kwargs.entries) if type(kwargs) is DictObject else {}
    positional = args.items if type(args) is TupleValue else (args,)
    own = [part for part in all_parts(module) if part.key in part.table]
    before = [(part.table, part.key, part.table[part.key]) for part in own]
    for part in own:
        call.write(part.table, part.key, _given(given, part, call))
    try:
        return call.services.invoke(module, positional, named)
    finally:
        for table, key, value in before:
            call.write(table, key, value)


def _given(given: Value, part: Part, call: Call) -> Value:
    """What a part is during the call: of a tuple of dicts, the first that has it."""
    dicts = given.items if type(given) is TupleValue else (given,)
    if not all(type(each) is DictObject for each in dicts):
        return _held(part, Tensor(UNKNOWN_DEVICE, zero_dim=None), call)
    for each in dicts:
        found = each.entries.get(part.name, each.rest)
        if found is not None:
            tensor = tensor_of(found) or Tensor(UNKNOWN_DEVICE, zero_dim=None)
            return _held(part, tensor, call)
    return part.value


def _held(part: Part, tensor: Tensor, call: Call) -> Value:
    return Parameter(tensor, call.site.node) if part.kind == "parameter" else tensor


def _stack_module_state(call: Call) -> Value:
    """`stack_module_state(models)`: the parameters and the buffers of models of one kind by name,
    each stacked along a new dimension."""
    items, rest = call.services.iterate(call.get(0, "models"))
    models = [*items, *([] if rest is None else [rest])]
    if not models or not all(isinstance(each, ModuleObject) for each in models):
        return TupleValue((call.unknown(), call.unknown()))
    count = len(items) if rest is None else None
    by_name = [{part.name: part for part in all_parts(each)} for each in models]
    found: dict[str, DictObject] = {kind: DictObject() for kind in ("parameter", "buffer")}
    for name, part in by_name[0].items():
        if is_many(name) or not all(name in each for each in by_name):
            found[part.kind].fields["rest"] = call.unknown()
            continue
        stacked = _stacked([tensor_of(each[name].value) for each in by_name], count)
        call.write(found[part.kind].entries, name, stacked)
    return TupleValue((found["parameter"], found["buffer"]))


def _stacked(tensors: list[Tensor | None], count: int | None) -> Value:
    """Tensors along a new dimension, as a leaf of its own; they have to be in one place."""
    first = tensors[0]
    if first is None:
        return Tensor(UNKNOWN_DEVICE, zero_dim=False)
    together = all(each and same_everywhere(each.device, first.device) for each in tensors)
    shape = None if first.shape is None else (count, *first.shape)
    return first.with_(
        device=first.device if together else UNKNOWN_DEVICE, shape=shape, zero_dim=False, leaf=True
    )


def register_all() -> None:
    FUNCTIONS["torch.func.stack_module_state"] = _stack_module_state
    FUNCTIONS["torch.func.functional_call"] = _functional_call
    ALIASES["torch.nn.utils.stateless.functional_call"] = "torch.func.functional_call"
    FUNCTIONS["torch.func.jvp"] = _forward_mode
    FUNCTIONS["torch.func.vjp"] = _reverse_mode
    FUNCTIONS[_PULLED] = _pulled
    FUNCTIONS["torch.vmap"] = FUNCTIONS["torch.func.vmap"] = _vectorise
    FUNCTIONS[_VECTORISED] = _vectorised
    for name in DERIVATIVES:
        applied = _WITH_VALUE if name.endswith("value") else _TRANSFORMED
        FUNCTIONS[f"torch.func.{name}"] = _transform(applied)
    FUNCTIONS[_TRANSFORMED] = _derivative
    FUNCTIONS[_WITH_VALUE] = _derivative_and_value
