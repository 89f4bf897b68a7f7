"""The methods of `nn.Module` itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain.device import Device, DeviceTree
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.heap import DictObject, ListObject, ModuleObject, Parameter
from device_lens.domain.join import join_all
from device_lens.domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    DeviceValue,
    DtypeValue,
    TupleValue,
    Unknown,
)
from device_lens.models import wording
from device_lens.models.call import Call, Model, Value, constant, is_none, single_device
from device_lens.models.registry import ATTRIBUTES, BASES, FUNCTIONS
from device_lens.models.torch.conversions import Target, device_argument, to_target, type_target
from device_lens.models.torch.handles import handle
from device_lens.models.torch.module import (
    CONVERT,
    get_attribute,
    move,
    opaque_part,
    set_attribute,
)
from device_lens.models.torch.mover import Mover
from device_lens.models.torch.parts import (
    REST,
    Part,
    all_parts,
    children,
    is_opaque,
    tensor_in,
    walk,
    without_attribute,
)
from device_lens.models.torch.target import CURRENT_CUDA, asked, present, some_cuda

NAME = "torch.nn.Module"


def receiver(call: Call) -> ModuleObject | None:
    """The module that a method is called on."""
    return call.receiver if isinstance(call.receiver, ModuleObject) else None


def moved(call: Call, target: Target, verb: str) -> Value:
    """Moves the receiver in place and answers it."""
    module = receiver(call)
    if module is None:
        return call.receiver
    device = target.device
    trail = None
    if device is not None:
        trail = call.trail("moved", f"{wording.moved(device)} by `{verb}`")
    move(call.services, module, device, target.dtype, trail)
    return module


def _to(call: Call) -> Value:
    return moved(call, to_target(call), ".to()")


def _cuda(call: Call) -> Value:
    device = asked(call.services, some_cuda(call.get(0, "device")), CURRENT_CUDA)
    if device is CURRENT_CUDA:
        device = present(call.services, CURRENT_CUDA)
    return moved(call, Target(device, None), ".cuda()")


def _onto(kind: str) -> Model:
    def model(call: Call) -> Value:
        return moved(call, Target(device_argument(call) or Device(kind), None), f".{kind}()")

    return model


def _as_dtype(name: str) -> Model:
    def model(call: Call) -> Value:
        return moved(call, Target(None, name), f".{name}()")

    return model


def _type(call: Call) -> Value:
    return moved(call, type_target(call), ".type()")


def _to_empty(call: Call) -> Value:
    return moved(call, Target(device_argument(call), None), ".to_empty()")


def _itself(call: Call) -> Value:
    return call.receiver


def _nothing(call: Call) -> Value:
    return NONE


def _training(value: Value | None) -> Model:
    def model(call: Call) -> Value:
        module = receiver(call)
        if module is not None:
            mode = value if value is not None else call.get(0, "mode", TRUE)
            for _, part in walk(module):
                call.write(part.fields, "training", mode)
        return call.receiver

    return model


def _requires_grad(call: Call) -> Value:
    module = receiver(call)
    flag = constant(call.get(0, "requires_grad", TRUE))
    if module is not None:
        for part in all_parts(module):
            if part.kind == "parameter" and type(part.value) is Parameter:
                tensor = part.value.tensor.with_(requires_grad=flag)
                call.write(part.value.fields, "tensor", tensor)
    return call.receiver


def _apply(call: Call) -> Value:
    module = receiver(call)
    function = call.get(0, "fn")
    if module is not None and function is not None:
        for _, part in reversed(list(walk(module))):
            call.services.invoke(function, (part,), {})
    return call.receiver


def _convert(call: Call) -> Value:
    """What a move does to one tensor that a class's own `_apply` gives it."""
    device, dtype = call.kwargs.get("device"), call.kwargs.get("dtype")
    target = device.device if type(device) is DeviceValue else None
    trail = None
    if target is not None:
        trail = call.trail("moved", f"{wording.moved(target)} by `_apply`")
    name = dtype.name if type(dtype) is DtypeValue else None
    mover = Mover(call.services, target, name, trail)
    return combine(mover.moved, call.args[0]) if call.args else call.unknown()


def _registers(kind: str, argument: str) -> Model:
    """A method that registers its second argument under its first; a name that is not known is a
    new one."""

    def model(call: Call) -> Value:
        module, name = receiver(call), constant(call.get(0, "name"))
        if module is not None:
            table = getattr(module, kind)
            if not isinstance(name, str):
                name = f"*{len(table)}"
            call.services.journal.delete(module.fields, name)
            call.write(table, name, without_attribute(call.get(1, argument, NONE)))
        return NONE

    return model


def listing(call: Call, items: list[Value], rest: Value = None) -> ListObject:
    """An iterator over `items`."""
    return ListObject(tuple(items), rest, "iterator", call.site.node)


def named(name: str, value: Value) -> TupleValue:
    return TupleValue((Const(name), value))


def _parts(kind: str, with_names: bool) -> Model:
    def model(call: Call) -> Value:
        module = receiver(call)
        if module is None:
            return call.unknown()
        recurse = constant(call.get(1 if with_names else 0, "recurse", TRUE), True)
        found = [part for part in all_parts(module, bool(recurse)) if part.kind == kind]
        known = [part for part in found if not _opaque(part)]
        sure = _sure(module, known)
        opaque = [part.value for part in found if _opaque(part)][:1]
        more = [*(part.value for part in known[sure:]), *opaque]
        rest = join_all(more) if more else None
        if rest is not None and with_names:
            rest = TupleValue((Unknown("name"), rest))
        return listing(call, [_entry(part, with_names) for part in known[:sure]], rest)

    return model


def _sure(module: ModuleObject, found: list[Part]) -> int:
    """How many of the parts come first whatever the case: of a part that a condition decides, one
    is listed for each case."""
    either: set[int] = set()
    for _, owner in walk(module):
        for held in owner.modules.values():
            for leaf in leaves(held) if type(held) is Guarded else ():
                if isinstance(leaf, ModuleObject):
                    tables = ((each.parameters, each.buffers) for _, each in walk(leaf))
                    either.update(id(table) for pair in tables for table in pair)
    for number, part in enumerate(found):
        if id(part.table) in either or type(part.table.get(part.key)) is Guarded:
            return number
    return len(found)


def _opaque(part: Part) -> bool:
    return part.key == ""


def _entry(part: Part, with_names: bool) -> Value:
    return named(part.name, part.value) if with_names else part.value


def _modules(with_names: bool) -> Model:
    def model(call: Call) -> Value:
        module = receiver(call)
        if module is None:
            return call.unknown()
        pairs = list(walk(module))
        rest: Value = Unknown("module") if any(is_opaque(found) for _, found in pairs) else None
        if rest is not None and with_names:
            rest = TupleValue((Unknown("name"), rest))
        items = [named(name, found) if with_names else found for name, found in pairs]
        return listing(call, items, rest)

    return model


def _children(with_names: bool) -> Model:
    def model(call: Call) -> Value:
        module = receiver(call)
        if module is None:
            return call.unknown()
        rest = opaque_part(module, REST) if is_opaque(module) else module.modules.get(REST)
        if rest is not None and with_names:
            rest = TupleValue((Unknown(), rest))
        pairs = [pair for pair in children(module) if pair[0] != REST]
        return listing(call, [named(*pair) if with_names else pair[1] for pair in pairs], rest)

    return model


def _state_dict(call: Call) -> Value:
    module = receiver(call)
    if module is None:
        return call.unknown()
    entries: dict[Any, Value] = {}
    rest = None
    for part in all_parts(module):
        tensor = tensor_in(part.value)
        value = part.value if tensor is None else tensor.with_(requires_grad=False, leaf=True)
        if _opaque(part):
            rest = value
        else:
            entries[part.name] = value
    return DictObject(entries, rest, call.site.node)


def _load_state_dict(call: Call) -> Value:
    module, state = receiver(call), call.get(0, "state_dict")
    if module is not None and constant(call.get(2, "assign", FALSE)) is True:
        for part in all_parts(module):
            if type(part.value) is Parameter:
                device = _device_in(state, part.name)
                tensor = part.value.tensor.with_(
                    device=device, trail=call.trail("loaded", "is loaded")
                )
                call.write(part.value.fields, "tensor", tensor)
    return Unknown("incompatible keys")


def _device_in(state: Value, name: str) -> DeviceTree:
    if type(state) is DictObject:
        return single_device(state.entries.get(name, state.rest))
    return single_device(state)


def _get_submodule(call: Call) -> Value:
    found: Value = call.receiver
    for name in str(constant(call.get(0, "target"), "?")).split("."):
        if not isinstance(found, ModuleObject) or not name:
            break
        found = get_attribute(call.services, found, name)
    return found if found is not None else call.unknown()


def _hook(key: str) -> Model:
    def model(call: Call) -> Value:
        module, function = receiver(call), call.get(0, "hook")
        if module is not None and not is_none(function):
            hooks = module.own.get(key)
            call.write(
                module.own, key, ((*hooks, function) if isinstance(hooks, tuple) else (function,))
            )
        return handle(call)

    return model


def _setattr(call: Call) -> Value:
    module, name = receiver(call), constant(call.get(0, "name"))
    if module is not None and isinstance(name, str):
        set_attribute(call.services, module, name, call.get(1, "value", NONE), call.site.node)
    return NONE


METHODS: dict[str, Callable[[Call], Value]] = {
    "to": _to,
    "cuda": _cuda,
    "cpu": _onto("cpu"),
    "xpu": _onto("xpu"),
    "ipu": _onto("ipu"),
    "mtia": _onto("mtia"),
    "half": _as_dtype("float16"),
    "float": _as_dtype("float32"),
    "double": _as_dtype("float64"),
    "bfloat16": _as_dtype("bfloat16"),
    "type": _type,
    "to_empty": _to_empty,
    "train": _training(None),
    "eval": _training(FALSE),
    "requires_grad_": _requires_grad,
    "zero_grad": _nothing,
    "apply": _apply,
    "share_memory": _itself,
    "compile": _nothing,
    "register_buffer": _registers("buffers", "tensor"),
    "register_parameter": _registers("parameters", "param"),
    "add_module": _registers("modules", "module"),
    "register_module": _registers("modules", "module"),
    "parameters": _parts("parameter", False),
    "named_parameters": _parts("parameter", True),
    "buffers": _parts("buffer", False),
    "named_buffers": _parts("buffer", True),
    "modules": _modules(False),
    "named_modules": _modules(True),
    "children": _children(False),
    "named_children": _children(True),
    "state_dict": _state_dict,
    "load_state_dict": _load_state_dict,
    "get_submodule": _get_submodule,
    "get_parameter": _get_submodule,
    "get_buffer": _get_submodule,
    "register_forward_hook": _hook("forward_hooks"),
    "register_forward_pre_hook": _hook("forward_pre_hooks"),
    "register_full_backward_hook": _hook("backward_hooks"),
    "register_full_backward_pre_hook": _hook("backward_hooks"),
    "register_backward_hook": _hook("backward_hooks"),
    "register_state_dict_post_hook": _hook("state_dict_hooks"),
    "register_state_dict_pre_hook": _hook("state_dict_hooks"),
    "register_load_state_dict_post_hook": _hook("state_dict_hooks"),
    "register_load_state_dict_pre_hook": _hook("state_dict_hooks"),
    "__setattr__": _setattr,
    "extra_repr": lambda call: Const(""),
    "_get_name": lambda call: Const("Module"),
    "_apply": _itself,
}


def _registry(kind: str) -> Model:
    """`module._parameters` and its like: the very table that the module is made of."""

    def model(call: Call) -> Value:
        module = receiver(call)
        if module is None:
            return call.unknown()
        if is_opaque(module):
            return _opaque_registry(call, module, kind)
        return DictObject(getattr(module, kind), None, call.site.node)

    return model


def _opaque_registry(call: Call, module: ModuleObject, kind: str) -> Value:
    """Of a module whose parts are not known one by one, the submodules that are, and what any
    further one is."""
    if kind != "modules":
        return call.unknown()
    known: dict[Any, Value] = {name: part for name, part in children(module) if name != REST}
    return DictObject(known, opaque_part(module, REST), call.site.node)


def register_all() -> None:
    """Fills the registry with the methods of `nn.Module`."""
    for name, model in METHODS.items():
        FUNCTIONS[f"{NAME}.{name}"] = model
    FUNCTIONS[CONVERT] = _convert
    for kind in ("parameters", "buffers", "modules"):
        ATTRIBUTES[f"{NAME}._{kind}"] = _registry(kind)
    BASES["torch.nn.modules.module.Module"] = (NAME,)
