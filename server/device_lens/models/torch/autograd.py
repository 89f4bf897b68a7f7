"""Switching autograd on and off, and asking it for gradients."""

from __future__ import annotations

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, is_accelerator
from device_lens.domain.guard import combine
from device_lens.domain.heap import Instance, ListObject, Parameter
from device_lens.domain.values import FALSE, NONE, TRUE, Const, Partial, Tensor, TupleValue, Unknown
from device_lens.models import gradient
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Model, Services, Value, constant, tensor_of
from device_lens.models.numbers import sequence
from device_lens.models.operands import item_of
from device_lens.models.registry import ALIASES, CLASS_METHODS, FUNCTIONS
from device_lens.models.signature import Place
from device_lens.models.torch.objects import class_model, first, instance, nothing, register_names
from device_lens.models.words import words

SWITCHES = {
    "torch.no_grad": False,
    "torch.inference_mode": False,
    "torch.enable_grad": True,
}
"""Contexts and decorators, with what they set autograd to."""
CONTEXT = "torch.autograd.function.FunctionCtx"
INPUTS = "<inputs>"
"""The field of a context with what `Function.apply` has been given."""
BEFORE = "<before>"
"""The field of a switch that was thrown when it was made: what autograd was set to before."""


def _switch(name: str, enabled: bool) -> Model:
    def model(call: Call) -> Value:
        if call.args and type(call.args[0]) in (Function, BoundMethod, Partial):
            return call.args[0]
        made = instance(call, name)
        mode = constant(call.get(0, "mode", TRUE), True)
        made.fields["<enabled>"] = enabled if mode is not False else True
        return made

    return model


def _is_on(call: Call) -> bool | None:
    """What autograd is set to."""
    off = call.services.inference_mode()
    return None if off is None else not off


def _set_grad_enabled(call: Call) -> Value:
    """A context; the function switches already when it is called."""
    mode = constant(call.get(0, "mode"))
    enabled = mode if isinstance(mode, bool) else None
    made = instance(call, "torch.set_grad_enabled")
    made.fields.update({"<enabled>": enabled, BEFORE: _is_on(call)})
    call.services.set_global("grad", enabled)
    return made


def _decorate(call: Call) -> Value:
    """`@torch.set_grad_enabled(mode)`: nothing is switched outside of the function."""
    if isinstance(call.receiver, Instance) and BEFORE in call.receiver.fields:
        call.services.set_global("grad", call.receiver.fields[BEFORE])
    return first(call)


def _is_grad_enabled(call: Call) -> Value:
    on = _is_on(call)
    return call.unknown() if on is None else Const(on)


def gradient_of(value: Value) -> Tensor:
    """The gradient that a backward pass gives a tensor."""
    tensor = value.tensor if type(value) is Parameter else tensor_of(value)
    if tensor is None:
        return Tensor(requires_grad=None, leaf=None)
    return tensor.with_(requires_grad=None, leaf=None, pinned=False)


def _grad(call: Call) -> Value:
    """`torch.autograd.grad(outputs, inputs)`: one gradient beside each input, which has a graph of
    its own if that is asked for and the output has one."""
    _check_given(call, "outputs", 2, "grad_outputs")
    output = tensor_of(call.get(0, "outputs"))
    has_graph = output is not None and output.requires_grad is True
    joins = has_graph and constant(call.get(4, "create_graph")) is True

    def one(value: Value) -> Value:
        found = gradient_of(value)
        return found.with_(requires_grad=True, leaf=False) if joins else found

    inputs = call.get(1, "inputs")
    if tensor_of(inputs) is not None:
        return TupleValue((one(inputs),))
    if inputs is None:
        return call.unknown()
    items, rest = call.services.iterate(inputs)
    if rest is not None:
        return ListObject((), one(items[0] if items else rest), "tuple", call.site.node)
    return TupleValue(tuple(map(one, items)))


def _backward(call: Call) -> Value:
    """`torch.autograd.backward(tensors, grad_tensors)`."""
    _check_given(call, "tensors", 1, "grad_tensors")
    return NONE


def _check_given(call: Call, outputs: str, position: int, gradients: str) -> None:
    """The gradient that is given for an output has to be where that is, unless it has no
    dimensions."""
    check_beside(call, one_by_one(call, 0, outputs), one_by_one(call, position, gradients))


def check_beside(
    call: Call, left: list[tuple[Value, Place]], right: list[tuple[Value, Place]]
) -> None:
    """Each gradient, or direction, has to be where its tensor is, unless it has no dimensions."""
    for (output, its), (its_gradient, other) in zip(left, right, strict=False):
        tensor, given = tensor_of(output), tensor_of(its_gradient)
        if tensor is not None and given is not None and given.zero_dim is False:
            pair: list[Placed] = [(tensor, output, its), (given, its_gradient, other)]
            common_device(call.services, call.name, pair, True)


def one_by_one(call: Call, position: int, name: str) -> list[tuple[Value, Place]]:
    """A tensor, or those of a list of known length, with their places."""
    value, place = call.get(position, name), call.place(position, name)
    items = sequence(value)
    if items is None:
        return [(value, place)]
    return [(item, item_of(place, number)) for number, item in enumerate(items)]


def _variable(call: Call) -> Value:
    """`Variable(x)`: the tensor itself."""
    value = call.get(0, "data")
    tensor = tensor_of(value)
    if tensor is None:
        return call.unknown()
    needs = constant(call.get(1, "requires_grad"))
    return tensor.with_(requires_grad=True, leaf=True) if needs is True else value


def _functional(call: Call) -> Value:
    """`jacobian(func, inputs)`, `hessian`: `func` is called with copies of the inputs, and what
    comes of it is beside these."""
    inputs, output = _called_with_inputs(call)
    if tensor_of(inputs) is not None:
        by_input: Value = gradient_of(inputs).with_(shape=None)
    elif type(inputs) is TupleValue and all(tensor_of(each) for each in inputs.items):
        found = tuple(gradient_of(each).with_(shape=None) for each in inputs.items)
        by_input = TupleValue(found)
        if call.name.endswith("hessian"):
            return TupleValue((by_input,) * len(found))
    else:
        return call.unknown()
    if type(output) is TupleValue and not call.name.endswith("hessian"):
        return TupleValue((by_input,) * len(output.items))
    return by_input


def _product(call: Call) -> Value:
    """`vjp(func, inputs, v)` and its kin: what `func` gives, and a product beside the inputs, or
    that of `jvp` beside what it gives."""
    inputs, output = _called_with_inputs(call)
    beside = output if call.name.endswith("jvp") else inputs
    if tensor_of(beside) is not None:
        return TupleValue((output, gradient_of(beside)))
    if type(beside) is TupleValue and all(tensor_of(each) for each in beside.items):
        return TupleValue((output, TupleValue(tuple(map(gradient_of, beside.items)))))
    return TupleValue((output, call.unknown()))


def _called_with_inputs(call: Call) -> tuple[Value, Value]:
    """The inputs, and what the function gives for them."""
    inputs = call.get(1, "inputs")
    given = inputs.items if type(inputs) is TupleValue else (inputs or call.unknown(),)
    return inputs, call.services.invoke(call.get(0, "func", call.unknown()), given, {})


def _apply(call: Call) -> Value:
    """`Function.apply`: the program's own `forward` with a context. Autograd is off in it, and in
    `backward` unless that is differentiated itself."""
    owner = call.receiver
    if type(owner) is not ClassValue:
        return call.unknown()
    forward, setup = owner.lookup("forward"), owner.lookup("setup_context")
    if forward is None:
        return call.unknown()
    context = instance(call, CONTEXT)
    if call.complete:
        context.fields[INPUTS] = TupleValue(call.args)
    before = _is_on(call)
    call.services.set_global("grad", False)
    if setup is None:
        output = call.services.invoke(forward, (context, *call.args), call.kwargs)
    else:
        output = call.services.invoke(forward, call.args, call.kwargs)
        call.services.invoke(setup, (context, TupleValue(call.args), output), {})
    backward = owner.lookup("backward")
    if backward is not None and before is not False:
        gradients = gradients_of(output)
        default = call.services.default_device()
        call.services.set_global("default_device", default_in_backward(call.services, gradients))
        call.services.invoke(backward, (context, *gradients), {})
        call.services.set_global("default_device", default)
    call.services.set_global("grad", before)
    return _within_graph(call, output)


def default_in_backward(services: Services, gradients: tuple[Value, ...]) -> DeviceTree:
    """Where factories create in the backward pass. That of an accelerator runs on a thread of its
    own, in which `torch.set_default_device()` and `with torch.device(d):` do not hold
    (pytorch/pytorch#172798); that of the host where somebody starts it."""
    present, of_type = services.default_device(), services.default_type_device()
    if present == of_type:
        return present
    tensors = [found for found in map(tensor_of, gradients) if found is not None]

    def leaf(device: DeviceTree) -> DeviceTree:
        return of_type if is_accelerator(device) else UNKNOWN_DEVICE

    found: DeviceTree = combine(leaf, tensors[0].device) if tensors else UNKNOWN_DEVICE
    return found


def _within_graph(call: Call, output: Value) -> Value:
    """What `forward` has computed without a graph gets its place in the graph of the inputs."""
    operands = [found for found in map(tensor_of, call.args) if found is not None]
    complete = len(operands) == len(call.args)

    def placed(value: Value) -> Value:
        if type(value) is not Tensor:
            return value
        needs, leaf = gradient.of_result(call.services, operands, value.dtype)
        known = needs is True or complete
        return value.with_(requires_grad=needs if known else None, leaf=leaf if known else None)

    if type(output) is TupleValue:
        return TupleValue(tuple(map(placed, output.items)), output.names)
    return placed(output)


def gradients_of(output: Value) -> tuple[Value, ...]:
    """What a backward pass gives a function or module first: a gradient beside each output."""
    outputs = output.items if type(output) is TupleValue else (output,)
    return tuple(
        value if tensor_of(value) is None else gradient_of(value).with_(requires_grad=False)
        for value in outputs
    )


def _save(call: Call) -> Value:
    """`ctx.save_for_backward(…)`."""
    if isinstance(call.receiver, Instance):
        saved = TupleValue(call.args) if call.complete else Unknown("ctx.saved_tensors")
        call.write(call.receiver.fields, "saved_tensors", saved)
    return NONE


def register_all() -> None:
    for name, enabled in SWITCHES.items():
        FUNCTIONS[name] = _switch(name, enabled)
        ALIASES[name.replace("torch.", "torch.autograd.grad_mode.")] = name
        ALIASES[name.replace("torch.", "torch.autograd.")] = name
        FUNCTIONS[f"{name}.__call__"] = first
    FUNCTIONS["torch.set_grad_enabled"] = _set_grad_enabled
    ALIASES["torch.autograd.set_grad_enabled"] = "torch.set_grad_enabled"
    FUNCTIONS["torch.set_grad_enabled.__call__"] = _decorate
    FUNCTIONS["torch.is_grad_enabled"] = _is_grad_enabled
    FUNCTIONS["torch.is_inference_mode_enabled"] = lambda call: FALSE
    FUNCTIONS["torch.autograd.grad"] = _grad
    FUNCTIONS["torch.autograd.backward"] = _backward
    FUNCTIONS["torch.autograd.Variable"] = _variable
    ALIASES["torch.autograd.variable.Variable"] = "torch.autograd.Variable"
    register_names("torch.autograd.functional", "jacobian hessian", _functional)
    register_names("torch.autograd.functional", "vjp jvp vhp hvp", _product)
    FUNCTIONS["torch.autograd.Function.apply"] = _apply
    CLASS_METHODS.add("torch.autograd.Function.apply")
    for name in words("Function InplaceFunction NestedIOFunction"):
        ALIASES[f"torch.autograd.function.{name}"] = "torch.autograd.Function"
    for name in words("save_for_backward save_for_forward"):
        FUNCTIONS[f"{CONTEXT}.{name}"] = _save
    register_names(CONTEXT, "mark_dirty mark_non_differentiable set_materialize_grads", nothing)
    for name in words(
        "detect_anomaly set_detect_anomaly profiler.profile profiler.record_function"
    ):
        FUNCTIONS[f"torch.autograd.{name}"] = class_model(f"torch.autograd.{name}")
    register_names("torch.autograd", "gradcheck gradgradcheck", lambda call: TRUE)
    FUNCTIONS["torch.autograd.graph.save_on_cpu"] = class_model("torch.autograd.graph.save_on_cpu")
    FUNCTIONS["torch.autograd.Function.mark_dirty"] = lambda call: NONE
