"""What an observed value is: its kind, and the device that is shown for it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue
from device_lens.domain.denied import is_empty
from device_lens.domain.device import UNKNOWN_DEVICE, SymbolicDevice, is_unknown, same_everywhere
from device_lens.domain.guard import Guarded, combine, leaves, node
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, Parameter
from device_lens.domain.values import (
    METHOD,
    WITHIN,
    DeviceValue,
    External,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter.facts import Kind
from device_lens.models.numbers import is_number, is_text
from device_lens.models.operation import ResultNames
from device_lens.models.torch.module import BUFFER
from device_lens.models.torch.parts import walk
from device_lens.models.torch.picked_parts import home_of
from device_lens.syntax.names import last_name

if TYPE_CHECKING:
    from device_lens.interpreter.recording import Recorder


def _tensor(_: Recorder, value: Tensor) -> tuple[Kind, Any]:
    return Kind.TENSOR, value.device


def _parameter(_: Recorder, value: Parameter) -> tuple[Kind, Any]:
    return Kind.TENSOR, value.tensor.device


def _module(recorder: Recorder, value: ModuleObject) -> tuple[Kind, Any]:
    device = recorder.module_device(value)
    if device is None and any(_holds_unknown(each) for _, each in walk(value)):
        return Kind.MODULE, UNKNOWN_DEVICE
    return Kind.MODULE, device


def _holds_unknown(module: ModuleObject) -> bool:
    """Whether an attribute is not known, which may be a part."""
    held = (leaf for value in module.fields.values() for leaf in leaves(value))
    return any(type(each) is Unknown and not is_number(each) for each in held)


def _device(_: Recorder, value: DeviceValue) -> tuple[Kind, Any]:
    return Kind.DEVICE, value.device


def is_nowhere(value: Unknown) -> bool:
    """Whether no device is shown for an unknown: none is known, or nothing tells that it is where
    a tensor would be."""
    if value.fields is not None and WITHIN in value.fields:
        return is_unknown(home_of(value))
    return is_unknown(value.device) or (
        isinstance(value.device, SymbolicDevice) and not value.tensor_evidence
    )


def _unknown(_: Recorder, value: Unknown) -> tuple[Kind, Any] | None:
    if is_nowhere(value) or _is_no_tensor(value):
        return None
    if value.fields is not None and WITHIN in value.fields:
        return Kind.MODULE, home_of(value)
    return Kind.TENSOR, value.device


def _is_no_tensor(value: Unknown) -> bool:
    """Whether an unknown is on no device, though what it comes from is on one."""
    return is_text(value) or (value.fields is not None and METHOD in value.fields)


def _tuple(recorder: Recorder, value: TupleValue) -> tuple[Kind, Any] | None:
    return _items(recorder, value.items)


def _list(recorder: Recorder, value: ListObject) -> tuple[Kind, Any] | None:
    rest = () if value.rest is None else (value.rest,)
    return _items(recorder, (*value.items[:8], *rest))


def _dict(recorder: Recorder, value: DictObject) -> tuple[Kind, Any] | None:
    rest = () if value.rest is None else (value.rest,)
    return _items(recorder, (*list(value.entries.values())[:8], *rest))


def _items(recorder: Recorder, items: tuple[Any, ...]) -> tuple[Kind, Any] | None:
    device: Any = None
    for item in items:
        if type(item) in (ListObject, DictObject, TupleValue, Instance):
            return Kind.CONTAINER, UNKNOWN_DEVICE
        describe = DESCRIBE.get(type(item))
        found = describe(recorder, item) if describe else None
        if found is None or found[0] not in (Kind.TENSOR, Kind.MODULE):
            continue
        if device is not None and not same_everywhere(device, found[1] or UNKNOWN_DEVICE):
            return Kind.CONTAINER, UNKNOWN_DEVICE
        device = found[1] or UNKNOWN_DEVICE
    return None if device is None else (Kind.CONTAINER, device)


def _instance(_: Recorder, value: Instance) -> tuple[Kind, Any] | None:
    """Optimizers and loaders are nowhere: they say nothing against a module that goes by the same
    name."""
    if type(value.cls) is not External:
        return None
    name = value.cls.name
    if name == BUFFER:
        tensor = value.fields.get("tensor")
        return (Kind.TENSOR, tensor.device) if type(tensor) is Tensor else None
    if name.startswith("torch.optim."):
        return Kind.OPTIMIZER, None
    if name == "torch.utils.data.DataLoader":
        return Kind.DATALOADER, None
    return None


def _may_show(value: Any) -> bool:
    """Whether a leaf may be on a device."""
    if type(value) is Guarded:
        return _may_show(value.yes) or _may_show(value.no)
    if type(value) is Unknown:
        return not is_unknown(value.device) and not _is_no_tensor(value)
    return type(value) in DESCRIBE


_SINGLE = (Tensor, Parameter, ModuleObject, DeviceValue)
"""What is on one device."""


def _guarded(recorder: Recorder, value: Guarded) -> tuple[Kind, Any] | None:
    if not _may_show(value):
        return None
    kind = of_unknown = None
    alone = not any(type(leaf) in _SINGLE for leaf in leaves(value))

    def device(leaf: Any) -> Any:
        nonlocal kind, of_unknown
        describe = DESCRIBE.get(type(leaf))
        found = describe(recorder, leaf) if describe else None
        if type(leaf) is Unknown:
            if is_empty(leaf):
                return None
            if found is None:
                return UNKNOWN_DEVICE
            of_unknown = found[0]
        elif found is None or not (alone or type(leaf) in _SINGLE):
            return None  # a list is what is not made a tensor
        else:
            kind = found[0] if kind in (None, found[0]) else Kind.CONTAINER
        return found[1]

    tree = combine(device, value)
    kind = kind or of_unknown  # what is not known is taken to be of the kind of the others
    return None if kind is None else (kind, without(tree, None))


DESCRIBE: dict[type, Callable[[Recorder, Any], tuple[Kind, Any] | None]] = {
    Tensor: _tensor,
    Parameter: _parameter,
    ModuleObject: _module,
    DeviceValue: _device,
    Unknown: _unknown,
    TupleValue: _tuple,
    ListObject: _list,
    DictObject: _dict,
    Instance: _instance,
    Guarded: _guarded,
}


def without(tree: Any, nothing: Any) -> Any:
    """The tree with the sides left out that say `nothing` of where a tensor is: it is no tensor
    there (None, a number), or the expression is never evaluated."""
    if type(tree) is not Guarded:
        return tree
    yes, no = without(tree.yes, nothing), without(tree.no, nothing)
    if yes is nothing:
        return no
    if no is nothing:
        return yes
    return tree if yes is tree.yes and no is tree.no else node(tree.atom, yes, no)


OWN = "own"
"""What a container is called that no display makes: an `OrderedDict`, a deque, one of the program's
own classes."""
TENSOR = "tensor"
"""What a tensor is called that is gone through row by row."""


def is_of_own_class(value: Any) -> bool:
    """Whether no display makes such a container."""
    if type(value) is DictObject:
        ordered = isinstance(value.site, ast.Call) and last_name(value.site.func) == "OrderedDict"
        return ordered or "default" in value.fields
    if type(value) is ListObject:
        return value.kind == "deque"
    return type(value) is Instance and type(value.cls) is ClassValue


def container_name(value: Any) -> str | None:
    """What a container is called: `list`, `tuple`, `dict`, `iterator`, or `named tuple`."""
    if type(value) is TupleValue:
        own = value.names and not isinstance(value.names, ResultNames)
        return "named tuple" if own else "tuple"
    if type(value) is ListObject and value.kind in ("list", "tuple", "iterator"):
        return value.kind
    return "dict" if type(value) is DictObject and value.kind == "dict" else None
