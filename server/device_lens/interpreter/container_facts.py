"""Facts about `.to()` on what has no such method: containers, iterators, loaders, optimizers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import Instance, ListObject, ModuleObject, contents
from device_lens.domain.values import Const, External, TupleValue, Unknown
from device_lens.interpreter import places
from device_lens.interpreter.described import container_name
from device_lens.interpreter.rarer_facts import ContainerTransfer
from device_lens.interpreter.settable import takes_value
from device_lens.models.call import tensor_of
from device_lens.models.numbers import is_text
from device_lens.models.operation import ResultNames
from device_lens.models.torch import data, optim

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_METHODS = ("to", "cuda", "cpu")
_TEXT = "text"
_UNKNOWN = Unknown()


def moved(machine: Machine, node: ast.Call, receiver: Any, frame: Frame) -> None:
    """A call that would be a transfer, of what is neither a tensor nor a module."""
    assert isinstance(node.func, ast.Attribute)
    method = node.func.attr
    if method not in _METHODS:
        return
    kind = container_name(receiver) or _library_kind(receiver, method)
    if type(receiver) is TupleValue and receiver.names:
        kind = _named_kind(receiver, method)
    if is_text(receiver) and _parameter(node.func.value, frame) is None:
        kind = _TEXT
    if kind is None or _only_annotated(machine, node.func, frame):
        return
    if isinstance(receiver, Instance) and _may_be_told_apart(machine, node.func.value, frame):
        return
    inner, items = _innermost(contents(receiver))
    tensors = any(tensor_of(item) is not None for item in items)
    modules = bool(items) and all(type(item) is ModuleObject for item in items)
    # A test of its key leaves texts out as a rule, where they are one of the items of a batch.
    undecided = frame.branch_depth or places.undecided(machine)
    plain = not undecided and (kind == _TEXT or _holds_values(receiver))
    if not (tensors or modules or isinstance(receiver, Instance) or plain):
        return
    site, subject = machine.site(node, frame), machine.site(node.func.value, frame)
    single = tensors and not inner and _has_one_item(receiver)
    mixed = tensors and any(map(_may_be_no_tensor, items))
    settable = takes_value(machine, node.func.value, frame)
    fact = ContainerTransfer(
        site, subject, kind, method, tensors, modules, single, inner, mixed, settable
    )
    machine.findings.add(fact)


_MOST_NESTED = 2
"""Containers within the container that a fix goes through."""


def _innermost(items: list[Any]) -> tuple[tuple[str, ...], list[Any]]:
    """What is in the innermost containers, and what those on the way are called: as long as all
    are of one kind."""
    inner: list[str] = []
    while len(inner) < _MOST_NESTED and items:
        kinds = set(map(container_name, items))
        kind = kinds.pop()
        if kinds or kind is None or kind == "iterator":
            break
        inner.append(kind)
        items = [part for item in items for part in contents(item)]
    return tuple(inner), items


def _may_be_no_tensor(value: Any) -> bool:
    """What nobody knows counts: it may be the number of an item, as `"image_id": index`."""
    return tensor_of(value) is None and type(value) is not ModuleObject


def _has_one_item(receiver: Any) -> bool:
    """Whether a list or tuple is of one item."""
    if type(receiver) is ListObject and receiver.kind != "iterator":
        return len(receiver.items) == 1 and receiver.rest is None
    return type(receiver) is TupleValue and len(receiver.items) == 1


def _named_kind(receiver: TupleValue, method: str) -> str | None:
    """A named tuple, of whose class the program tells no such method; what PyTorch returns is a
    tuple of its own."""
    if method in (receiver.names or ()) or isinstance(receiver.names, ResultNames):
        return None
    owner = getattr(receiver.names, "owner", None)
    return "named tuple" if owner is None or owner.lookup(method) is None else None


def _library_kind(receiver: Any, method: str) -> str | None:
    """What an object of a library is called that moves nothing, its own classes included."""
    if not isinstance(receiver, Instance):
        return None
    cls = receiver.cls
    if type(cls) is External:
        return _CALLED.get(cls.name)
    if type(cls) is not ClassValue or not cls.foreign:
        return None
    own = any(cls.lookup(name) is not None for name in (method, "__getattr__"))
    if own or type(receiver.fields.get(method, _UNKNOWN)) is not Unknown:
        return None  # reading what is missing leaves an unknown there
    found = {_CALLED.get(name) for name in cls.foreign if name != "builtins.object"}
    return found.pop() if len(found) == 1 else None


def _holds_values(receiver: Any) -> bool:
    """Whether there are only numbers and texts, or only containers."""
    items = contents(receiver)
    if not items:
        return False
    if all(type(item) is Const or is_text(item) for item in items):
        return True
    return all(container_name(item) for item in items)


def _only_annotated(machine: Machine, function: ast.expr, frame: Frame) -> bool:
    """Whether nothing but its annotation says that a parameter is a container: what the program
    does with it tells better than that."""
    if not machine.symbolic or not isinstance(function, ast.Attribute):
        return False
    given = _parameter(function.value, frame)
    return given is not None and given.annotation is not None


def _may_be_told_apart(machine: Machine, receiver: ast.expr, frame: Frame) -> bool:
    """Whether a function got the object from a caller, under conditions that nobody can decide:
    they may ask what it is."""
    return _parameter(receiver, frame) is not None and places.undecided(machine)


def _parameter(node: ast.expr, frame: Frame) -> ast.arg | None:
    """The parameter that an expression names."""
    if frame.function is None or not isinstance(node, ast.Name):
        return None
    parameters = frame.function.node.args
    every = (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
    return next((each for each in every if each.arg == node.id), None)


def _called() -> dict[str, str]:
    names = {data.LOADER: "loader", data.DATASET: "dataset", optim.BASE: "optimizer"}
    names |= {f"{data.NAMESPACE}.{name}": "dataset" for name in (*data.DATASETS, "IterableDataset")}
    return names | {f"torch.optim.{name}": "optimizer" for name in optim.CLASSES}


_CALLED = _called()
"""Classes of PyTorch that have no `to`, by what they are."""
