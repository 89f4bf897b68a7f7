"""Most `torch.nn` modules as rows: what the constructor keeps, which parameters and buffers it
makes, and the function that a call of the module amounts to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import cache
from typing import Any

from device_lens.domain.code import BoundMethod
from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree
from device_lens.domain.heap import MISSING, ModuleObject, Parameter
from device_lens.domain.values import NONE, Const, Shape, Tensor
from device_lens.models import gradient, registry, wording
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Services, Value, constant, is_none, tensor_of
from device_lens.models.dtypes import DEFAULT, named
from device_lens.models.methods import find_method
from device_lens.models.relayed import Operand, with_conflicts
from device_lens.models.torch.conversions import device_argument
from device_lens.models.torch.module import get_attribute
from device_lens.models.torch.nn_shapes import part_shape
from device_lens.models.torch.parts import REST, all_parts, tensor_in
from device_lens.models.words import words


@dataclass(frozen=True, slots=True)
class Made:
    """A parameter or buffer that a constructor makes. `shape` is in the language of
    `nn_shapes.part_shape`; `when` names the constructor arguments that have to be true, `given` the
    one whose tensor is taken in place of a new one."""

    name: str
    shape: str
    when: str = ""
    buffer: bool = False
    dtype: str | None = None
    given: str = ""


@dataclass(frozen=True, slots=True)
class Layer:
    """A module class. `constructor` is its parameter list with defaults (`self` left out), `keeps`
    names the arguments that become buffers, `function` is what a call of the module computes, and
    `passes` names the module's attributes that go to that function by keyword (`pad=padding`
    where the names differ)."""

    name: str
    constructor: str
    makes: tuple[Made, ...] = ()
    keeps: str = ""
    function: str = ""
    passes: str = ""

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Keeps the arguments as attributes, and makes the parts."""
        arguments = constructor_arguments(self.constructor, call)
        kept = words(self.keeps)
        parts = {made.name for made in self.makes}
        for name, value in arguments.items():
            if name in kept:
                call.write(module.buffers, name, NONE if is_none(value) else value)
            elif name not in parts and name not in ("device", "dtype"):
                call.write(module.fields, name, value)
        if self.makes:
            make_parts(call, module, self.makes, arguments)
            method = find_method(module, "reset_parameters")
            if type(method) is BoundMethod:  # the program's own, which PyTorch's constructor calls
                call.services.invoke(method, (), {})

    def forward(self, call: Call) -> Value:
        """The result of the function, with conflicts told in terms of the module."""
        module = call.receiver
        kwargs = dict(call.kwargs)
        sources = passed(self.passes)
        for name, attribute in sources.items():
            value = get_attribute(call.services, module, attribute)
            if value is not None:
                kwargs[name] = value
        model = registry.function(self.function) if self.function else None
        if model is None:
            return agreeing(call, self.name, operands_of(call.args, kwargs, sources))
        services = _forwarding(call, self.name, sources)
        inner = Call(self.function, None, call.args, kwargs, call.site, services, call.complete)
        return model(inner)


class NamedInputs(Layer):
    """A layer whose function has the module's parts between the inputs: those after the first go
    to it by the names that the layer has for them."""

    __slots__ = ()
    names = ("offsets", "per_sample_weights")

    def forward(self, call: Call) -> Value:
        """See `Layer.forward`."""
        by_place = dict(zip(self.names, call.args[1:], strict=False))
        places = {name: place for place, name in enumerate(by_place, 1)}
        args, kwargs, site = call.args[:1], by_place | call.kwargs, call.site
        services = _with_places(call.services, places)
        inner = Call(call.name, call.receiver, args, kwargs, site, services, call.complete)
        return Layer.forward(self, inner)


def _with_places(services: Services, places: dict[str, int]) -> Services:
    """Services that are told of operands by their places in the program, not by the names under
    which they are handed on."""

    def placed(operand: Operand) -> Operand:
        value, place = operand
        return operand if isinstance(place, int) else (value, places.get(place, place))

    def told(name: str, left: Operand, right: Operand, literals: Any, wants_cpu: bool) -> None:
        services.conflict(name, placed(left), placed(right), literals, wants_cpu)

    return with_conflicts(services, told)


def _forwarding(call: Call, name: str, attributes: dict[str, str]) -> Services:
    """The services of a module's call as the function sees them that the module calls: operands
    that the module adds are told as its attributes."""

    def placed(operand: Operand) -> Operand:
        value, place = operand
        attribute = attributes.get(place) if isinstance(place, str) else None
        return operand if attribute is None else (value, f"self.{attribute}")

    def told(_: str, left: Operand, right: Operand, literals: Any, wants_cpu: bool) -> None:
        call.services.conflict(name, placed(left), placed(right), literals, wants_cpu)

    return with_conflicts(call.services, told)


@cache
def passed(text: str) -> dict[str, str]:
    """A function's keywords with the module's attributes that they get."""
    found = {}
    for word in words(text):
        name, _, attribute = word.partition("=")
        found[name] = attribute or name
    return found


@cache
def parameter_list(text: str) -> tuple[tuple[str, Const | None], ...]:
    """Names and defaults of `"in_features out_features bias=True"`."""
    found: list[tuple[str, Const | None]] = []
    for word in words(text):
        name, _, default = word.partition("=")
        found.append((name, Const(ast.literal_eval(default)) if default else None))
    return tuple(found)


def constructor_arguments(text: str, call: Call) -> dict[str, Value]:
    """The constructor's arguments by name; those left out have their default, if one is known."""
    found: dict[str, Value] = {}
    for position, (name, default) in enumerate(parameter_list(text)):
        value = call.get(position, name, default)
        if value is not None and value is not MISSING:
            found[name] = value
    for name, value in call.kwargs.items():
        found.setdefault(name, value)
    return found


def factory(call: Call, arguments: dict[str, Value]) -> Callable[..., Tensor]:
    """Makes the tensors of a module's parameters: on `device=`, else on the default device."""
    inner = Call(call.name, None, (), arguments, call.site, call.services)
    device: DeviceTree | None = device_argument(inner)
    if device is None:
        device = call.services.default_device()
    dtype = arguments.get("dtype")
    default = DEFAULT if is_none(dtype) else named(dtype)
    trail = call.trail("created", wording.created(call.name, device))

    def make(shape: Shape, dtype: str | None = None, grad: bool = True) -> Tensor:
        return Tensor(device, dtype or default, shape, trail, requires_grad=grad, zero_dim=None)

    return make


def make_parts(
    call: Call, module: ModuleObject, makes: tuple[Made, ...], arguments: dict[str, Value]
) -> None:
    """Registers the parameters and buffers that the arguments ask for."""
    make = factory(call, arguments)
    for made in makes:
        table = module.buffers if made.buffer else module.parameters
        if any(_is_off(arguments.get(name)) for name in words(made.when)):
            call.write(table, made.name, NONE)
            continue
        given = arguments.get(made.given)
        if given is not None and not is_none(given):
            call.write(table, made.name, _parameter_of(call, given, arguments.get("_freeze")))
            continue
        tensor = make(part_shape(made.shape, arguments), made.dtype, not made.buffer)
        value = tensor if made.buffer else Parameter(tensor, call.site.node)
        call.write(table, made.name, value)


def _parameter_of(call: Call, data: Value, freeze: Value) -> Value:
    """A parameter on the very memory of `data`."""
    name = "torch.nn.Parameter"
    model = registry.function(name)
    assert model is not None
    grad = Const(constant(freeze, False) is False)
    return model(Call(name, None, (data, grad), {}, call.site, call.services))


def _is_off(value: Value) -> bool:
    return type(value) is Const and not value.value


def operands_of(
    args: tuple[Value, ...], kwargs: dict[str, Value], attributes: dict[str, str]
) -> list[Placed]:
    """The tensors among the arguments and the module's attributes, with their places."""
    found: list[Placed] = []
    for position, value in enumerate(args):
        tensor = tensor_of(value)
        if tensor is not None:
            found.append((tensor, value, position))
    for name, value in kwargs.items():
        tensor = tensor_of(value)
        if tensor is not None:
            attribute = attributes.get(name)
            found.append((tensor, value, f"self.{attribute}" if attribute else name))
    return found


def agreeing(
    call: Call, name: str, operands: list[Placed], shape: Shape = None, dtype: str | None = None
) -> Tensor:
    """A new tensor where all the operands are."""
    if not operands:
        return Tensor(UNKNOWN_DEVICE, dtype, shape, requires_grad=None, leaf=None)
    device = common_device(call.services, name, operands, False)
    first = operands[0][0]
    result = dtype or first.dtype
    grad, leaf = gradient.of_result(call.services, [operand[0] for operand in operands], result)
    return Tensor(device, result, shape, first.trail, requires_grad=grad, leaf=leaf)


def first_parameter(module: ModuleObject) -> Placed | None:
    """A parameter to compare inputs with, and how the module's code names it."""
    for part in all_parts(module):
        tensor = tensor_in(part.value)
        if part.kind == "parameter" and tensor is not None:
            name = part.name.replace(REST, "parameters()") if part.key == "" else part.name
            return tensor, part.value, f"self.{name}"
    return None


def inputs(call: Call, names: str, without: Container[str] = ()) -> list[Placed]:
    """The tensors among the arguments of these names, in order; those left out count as places."""
    found: list[Placed] = []
    for position, name in enumerate(words(names)):
        value = None if name in without else call.get(position, name)
        tensor = tensor_of(value)
        if tensor is not None:
            found.append((tensor, value, call.place(position, name)))
    return found


def agreeing_module(call: Call, name: str, names: str, without: Container[str] = ()) -> Tensor:
    """A tensor where the module's inputs, but for those left out, and its first parameter are."""
    operands = inputs(call, names, without)
    weight = first_parameter(call.receiver)
    if weight is not None:
        operands.insert(1, weight)
    return agreeing(call, name, operands)
