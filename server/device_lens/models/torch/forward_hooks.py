"""Hooks around a module's call: they may replace what it is given and what it gives."""

from __future__ import annotations

from dataclasses import dataclass

from device_lens.domain.heap import DictObject, ModuleObject
from device_lens.domain.values import FALSE, NONE, Tensor, TupleValue, Unknown
from device_lens.models.call import Call, Model, Services, Value, constant, is_none
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch import gradient_hooks
from device_lens.models.torch.everywhere import MODULE, of_all, registers_everywhere
from device_lens.models.torch.handles import add, handle
from device_lens.models.torch.parametrized import compute_weights

BEFORE, AFTER = "forward_pre_hooks", "forward_hooks"
"""The entries of a module with its hooks, in the order in which they run."""

Given = tuple[tuple[Value, ...], dict[str, Value]]
"""What a module is called with."""


@dataclass(frozen=True, slots=True, eq=False)
class WithKeywords:
    """A hook that gets the keyword arguments, too."""

    hook: Value


def registers(key: str) -> Model:
    """`module.register_forward_hook(hook)` and its like."""

    def model(call: Call) -> Value:
        module, hook = call.receiver, call.get(0, "hook")
        if not isinstance(module, ModuleObject) or is_none(hook):
            return handle(call)
        if constant(call.kwargs.get("with_kwargs", FALSE)) is True:
            hook = WithKeywords(hook)
        first = constant(call.kwargs.get("prepend", FALSE)) is True
        return add(call, module.own, key, hook, first)

    return model


def _of(services: Services, module: ModuleObject, key: str) -> tuple[Value, ...]:
    hooks = module.own.get(key)
    return (*of_all(services, key), *(hooks if isinstance(hooks, tuple) else ()))


def run_before(services: Services, module: ModuleObject, given: Given) -> Given:
    """The arguments of a module's call after its hooks, and after what computes its weights."""
    args, kwargs = given
    compute_weights(services, module)
    for hook in _of(services, module, BEFORE):
        if type(hook) is WithKeywords:
            keywords = DictObject(dict(kwargs), None, module.site)
            result = services.invoke(hook.hook, (module, TupleValue(args), keywords), {})
            if type(result) is TupleValue and len(result.items) == 2:
                args, keywords = _positional(result.items[0], args), result.items[1]
            if type(keywords) is DictObject:
                kwargs = {str(name): value for name, value in keywords.entries.items()}
        else:
            args = _positional(services.invoke(hook, (module, TupleValue(args)), {}), args)
    return args, kwargs


def _positional(result: Value, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The positional arguments after a hook that has given `result`: one by itself stands for a
    tuple of it."""
    if type(result) is TupleValue:
        return result.items
    return (result,) if type(result) is Tensor else args


def run_after(services: Services, module: ModuleObject, given: Given, output: Value) -> Value:
    """The output of a module's call after its hooks, and what a backward pass through it does."""
    args, kwargs = given
    for hook in _of(services, module, AFTER):
        if type(hook) is WithKeywords:
            keywords = DictObject(dict(kwargs), None, module.site)
            seen = (module, TupleValue(args), keywords, output)
            result = services.invoke(hook.hook, seen, {})
        else:
            result = services.invoke(hook, (module, TupleValue(args), output), {})
        if result is not None and result != NONE and type(result) is not Unknown:
            output = result
    gradient_hooks.run(services, module, args, output)
    return output


def register_all() -> None:
    """Fills the registry with the functions that give all modules a hook."""
    for name, key in (("forward_hook", AFTER), ("forward_pre_hook", BEFORE)):
        FUNCTIONS[f"{MODULE}.register_module_{name}"] = registers_everywhere(key)
