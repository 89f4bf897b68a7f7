"""The methods of `nn.Module` itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain.device import UNKNOWN_DEVICE, Device, DeviceTree
from device_lens.domain.guard import combine, leaves
from device_lens.domain.heap import DictObject, ModuleObject, Parameter
from device_lens.domain.objects import as_part
from device_lens.domain.parameters import set_tensor
from device_lens.domain.trail import Trail
from device_lens.domain.values import (
    NONE,
    TRUE,
    Const,
    DeviceValue,
    DtypeValue,
    External,
    Partial,
    Tensor,
    Unknown,
)
from device_lens.models import wording
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.registry import ATTRIBUTES, BASES, FUNCTIONS
from device_lens.models.torch import forward_hooks, gradient_hooks, training_mode, unnamed_parts
from device_lens.models.torch.conversions import Target, device_argument, to_target, type_target
from device_lens.models.torch.handles import registers
from device_lens.models.torch.module import (
    CONVERT,
    HANDED_ON,
    get_attribute,
    move,
    move_within,
    own_apply,
    set_attribute,
)
from device_lens.models.torch.module_parts import PARTS, receiver
from device_lens.models.torch.module_state import NOT_SAVED, STATE
from device_lens.models.torch.mover import Mover
from device_lens.models.torch.parts import (
    REST,
    Part,
    all_parts,
    children,
    is_opaque,
    opaque_part,
    walk,
    without_attribute,
)
from device_lens.models.torch.target import CURRENT_CUDA, asked, present, some_cuda

NAME = "torch.nn.Module"


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


def _requires_grad(call: Call) -> Value:
    module = receiver(call)
    flag = constant(call.get(0, "requires_grad", TRUE))
    if module is not None:
        for part in all_parts(module):
            if part.kind == "parameter" and type(part.value) is Parameter:
                tensor = part.value.tensor.with_(requires_grad=flag)
                set_tensor(call.services.journal, part.value, tensor)
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
    mover = Mover(call.services, *_conversion(call, call.kwargs))
    return combine(mover.moved, call.args[0]) if call.args else call.unknown()


def _conversion(
    call: Call, target: dict[str, Value]
) -> tuple[DeviceTree | None, str | None, Trail | None]:
    """Device, dtype and history of what a move makes of a tensor."""
    device, dtype = target.get("device"), target.get("dtype")
    where = device.device if type(device) is DeviceValue else None
    trail = None
    if where is not None:
        trail = call.trail("moved", f"{wording.moved(where)} by `_apply`")
    return where, dtype.name if type(dtype) is DtypeValue else None, trail


def _give_on(call: Call) -> Value:
    """`super()._apply(fn)` in a class's own `_apply`, which does what the move would do, and
    `self.teacher._apply(fn)`, which hands it on to a module that its registries do not hold."""
    module, function = receiver(call), call.get(0, "fn")
    if module is not None and type(function) is Partial and function.function == External(CONVERT):
        device, dtype, trail = _conversion(call, function.kwargs)
        if own_apply(module) is not None:
            step = function.kwargs["step"]
            call.write(step.fields, HANDED_ON, TRUE)
            trail = step.fields["trail"]
        move_within(call.services, module, device, dtype, trail)
    elif module is not None and function is not None:
        for part in all_parts(module):
            _convert_part(call, function, part)
    return call.receiver


def _convert_part(call: Call, function: Value, part: Part) -> None:
    """What `module._apply(fn)` does to a parameter or buffer with a function of the program's."""
    old = part.value.tensor if type(part.value) is Parameter else part.value
    new = call.services.invoke(function, (old,), {})
    if type(old) is not Tensor:
        return
    tensor = old.with_(device=UNKNOWN_DEVICE, dtype=None)
    if type(new) is Tensor:
        tensor = old.with_(device=new.device, dtype=new.dtype, trail=new.trail)
    if type(part.value) is Parameter:
        set_tensor(call.services.journal, part.value, tensor)
    elif part.table.get(part.key) is old:
        call.write(part.table, part.key, tensor)
    else:
        call.write(part.table, part.key, Unknown(part.name))


def _registers(kind: str, argument: str) -> Model:
    """A method that registers its second argument under its first; a name that is not known is a
    new one."""

    def model(call: Call) -> Value:
        module, name = receiver(call), constant(call.get(0, "name"))
        if module is not None:
            table = getattr(module, kind)
            if not isinstance(name, str):
                part, asked = call.get(1, argument, NONE), call.get(0, "name", NONE)
                name = unnamed_parts.list_unnamed(call.services, module, table, asked, part)
            call.services.journal.delete(module.fields, name)
            call.write(table, name, without_attribute(as_part(call.get(1, argument, NONE))))
            if kind == "buffers" and constant(call.get(2, "persistent", TRUE)) is False:
                call.write(module.own, NOT_SAVED, (*module.own.get(NOT_SAVED, ()), name))
        return NONE

    return model


def _get_submodule(call: Call) -> Value:
    found, target = call.receiver, call.get(0, "target", NONE)
    if isinstance(found, ModuleObject) and type(target) is Unknown:
        return unnamed_parts.some_part_within(found, target, call.unknown().label)
    found = _part_within(call, str(constant(call.get(0, "target"), "?")).split("."))
    return found if found is not None else call.unknown()


def _part_within(call: Call, path: list[str]) -> Value | None:
    found = call.receiver
    for name in path:
        if not isinstance(found, ModuleObject) or not name:
            break
        found = get_attribute(call.services, found, name)
    return found


def _set_submodule(call: Call) -> Value:
    """`net.set_submodule("stages.0", part)`: under a path that is not known, any part within may
    be replaced."""
    module, path = receiver(call), constant(call.get(0, "target"))
    part = call.get(1, "module", NONE)
    if module is None:
        return NONE
    *words, last = path.split(".") if isinstance(path, str) else [""]
    owners = list(leaves(_part_within(call, words)))
    if len(owners) == 1 and isinstance(owners[0], ModuleObject) and last:
        set_attribute(call.services, owners[0], last, part, call.site)
        return NONE
    for owner in owners:
        for _, each in list(walk(owner)) if isinstance(owner, ModuleObject) else ():
            unnamed_parts.set_part(call.services, each, Unknown("a name"), part)
    return NONE


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
    "train": training_mode.train,
    "eval": training_mode.evaluate,
    "requires_grad_": _requires_grad,
    "zero_grad": _nothing,
    "apply": _apply,
    "share_memory": _itself,
    "compile": _nothing,
    "register_buffer": _registers("buffers", "tensor"),
    "register_parameter": _registers("parameters", "param"),
    "add_module": _registers("modules", "module"),
    "register_module": _registers("modules", "module"),
    **PARTS,
    **STATE,
    "get_submodule": _get_submodule,
    "set_submodule": _set_submodule,
    "get_parameter": _get_submodule,
    "get_buffer": _get_submodule,
    "register_forward_hook": forward_hooks.registers(forward_hooks.AFTER),
    "register_forward_pre_hook": forward_hooks.registers(forward_hooks.BEFORE),
    "register_full_backward_hook": registers(gradient_hooks.BACKWARD),
    "register_full_backward_pre_hook": registers(gradient_hooks.BEFORE),
    "register_backward_hook": registers(gradient_hooks.BACKWARD),
    "__setattr__": _setattr,
    "extra_repr": lambda call: Const(""),
    "_get_name": lambda call: Const("Module"),
    "_apply": _give_on,
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
