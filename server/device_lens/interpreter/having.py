"""Whether a value has an attribute: what `hasattr` and `getattr` with a default ask."""

from __future__ import annotations

from typing import Any

from device_lens.domain import denied
from device_lens.domain.code import ClassValue, Namespace
from device_lens.domain.denied import is_empty
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, Parameter
from device_lens.domain.presence import presence
from device_lens.domain.values import NONE, Const, HostArray, Tensor, TupleValue, Unknown
from device_lens.interpreter import imports
from device_lens.interpreter.conditions import opaque
from device_lens.models import registry
from device_lens.models.open_names import open_name
from device_lens.models.torch.every_module import OF_EVERY_MODULE
from device_lens.models.torch.parts import REPARAMETRISED

_PLAIN_BASES = frozenset({"torch.nn.Module", "builtins.object", "abc.ABC", "typing.Generic"})
"""Bases outside of the program that give a class no attributes but those that are known."""
_GETTERS = ("__getattr__", "__getattribute__")
_MOST_OPEN = 6
"""Kinds of one value that are asked for an attribute which each of them may have."""


def has(value: Any, name: str) -> Any:
    """Whether a value has an attribute of that name: a tree of constants, or unknown."""
    if name[:2] == "__" != name[-2:]:
        return Unknown()  # private to a class, it has another name for those who ask by a text
    found = {id(leaf): _has(leaf, name) for leaf in leaves(value)}
    if sum(type(each) is Guarded for each in found.values()) > _MOST_OPEN:
        return Unknown()  # each is open by itself: together they are all ways to answer
    return combine(lambda leaf: found[id(leaf)], value)


def fits(value: Any, protocol: ClassValue) -> bool | None:
    """Whether a value has all that a protocol names; None where that is not known."""
    names = [name for cls in protocol.mro for name in cls.fields if name[:1] != "_"]
    answers = [has(value, name) for name in names]
    if any(answer == Const(False) for answer in answers):
        return False
    return True if answers and all(answer == Const(True) for answer in answers) else None


def _has(value: Any, name: str) -> Any:
    if surely_lacks(value, name):
        return Const(False)
    there = present(value, name)
    if there is not True:
        return combine(Const, there)
    if type(value) is ModuleObject and (_has_registered(value, name) or name in OF_EVERY_MODULE):
        return Const(True)
    if isinstance(value, Instance) and type(value.cls) is ClassValue:
        return _of_own_class(value, value.cls, name)
    if type(value) is TupleValue and value.names:
        return Const(name == "_fields" or name in value.names)
    if type(value) is Parameter and name in value.fields:
        return Const(True)
    if type(value) in (Tensor, Parameter):
        qualified = "torch.Tensor." + name
        known = registry.attribute(qualified) or registry.function(qualified)
        return Const(known is not None)
    if type(value) is Const and type(value.value) in (bool, int, float, str):
        return Const(hasattr(value.value, name))
    if type(value) is Unknown:
        return combine(Const, opaque(value, ("hasattr", name)))
    return Unknown()


def _of_own_class(value: Instance, cls: ClassValue, name: str) -> Any:
    if name in value.fields or cls.lookup(name) is not None:
        return Const(True)
    if name == "__dict__" or hasattr(object, name):
        return Const(True)
    if name == "__dataclass_fields__" and not cls.foreign:
        return Const(cls.data_fields is not None)
    return Unknown()


def present(value: Any, name: str) -> Any:
    """The condition under which an object has an attribute that it has on some path."""
    if type(value) is Parameter and name in value.fields:
        return presence(value.fields, name)
    if not isinstance(value, Instance):
        return True
    if name not in value.fields:
        return _perhaps_given(value, name)
    if type(value.cls) is ClassValue and value.cls.lookup(name) is not None:
        return True
    return presence(value.fields, name)


def _perhaps_given(value: Instance, name: str) -> Any:
    """The same of one that it is not seen to have: it may have been given it under a name that was
    not known."""
    given = open_name(value.fields, name)
    if given is None or hasattr(object, name):
        return True
    if type(value) is ModuleObject and (_has_registered(value, name) or name in OF_EVERY_MODULE):
        return True
    if type(value.cls) is ClassValue and value.cls.lookup(name) is not None:
        return True
    return opaque(given, ("hasattr", name))


def surely_lacks(value: Any, name: str) -> bool:
    """Whether a value has no such attribute, on any path."""
    if isinstance(value, Instance) and open_name(value.fields, name) is not None:
        return False
    if isinstance(value, Instance) and type(value.cls) is ClassValue:
        return _own_class_lacks(value, value.cls, name)
    if type(value) is ModuleObject:
        if name.startswith("weight_"):  # what programs put beside a layer's own weight
            whole = _is_layer(value) and REPARAMETRISED not in value.own
            return whole and not _has_registered(value, name)
        return name in ("weight", "bias") and _is_without_parameters(value)
    python = _python_class(value)
    return bool(value == NONE) or (python is not None and not hasattr(python, name))


def lacks(value: Any, name: str) -> bool:
    """Whether a module has no such attribute, as far as that is seen: other code may well have set
    a private one."""
    return type(value) is ModuleObject and name[:1] != "_" and surely_lacks(value, name)


def may_lack(tree: Guarded, name: str) -> bool:
    """Whether one of the values that a tree decides between may have no such attribute."""
    return any(lacks(leaf, name) or present(leaf, name) is not True for leaf in leaves(tree))


def is_without(value: Any, name: str) -> bool:
    """Whether reading the attribute raises, whatever a tree decides."""
    if type(value) is Guarded:
        return is_without(value.yes, name) and is_without(value.no, name)
    if type(value) is Namespace:
        return imports.lacks(value, name)
    if type(value) is HostArray:
        return name in _MOVES
    if type(value) is ListObject and name in _MOVES:
        return surely_lacks(value, name)
    if is_empty(value):
        return denied.lacks(name)
    return value == NONE or lacks(value, name)


_MOVES = ("to", "cuda", "cpu")
"""What tensors have, and no array or list."""


def _own_class_lacks(value: Instance, cls: ClassValue, name: str) -> bool:
    if name[:2] == "__" or name in value.fields:
        return False
    if any(cls.lookup(each) is not None for each in (name, *_GETTERS)):
        return False
    if isinstance(value, ModuleObject):
        known = _PLAIN_BASES.issuperset(cls.foreign) and not value.own.get("opaque")
        return known and name not in OF_EVERY_MODULE and not _has_registered(value, name)
    return not cls.foreign


def _has_registered(module: ModuleObject, name: str) -> bool:
    tables = (module.modules, module.parameters, module.buffers, module.fields)
    return any(name in table for table in tables)


def _is_without_parameters(module: ModuleObject) -> bool:
    """Whether a layer of PyTorch's is of a kind that has no weights: losses and normalisations may
    have them as None."""
    name = module.cls.name
    if not _is_layer(module) or module.parameters or module.buffers:
        return False
    return not name.endswith("Loss") and "Norm" not in name


def _is_layer(module: ModuleObject) -> bool:
    """Whether a module is a layer of PyTorch's whose parts are listed."""
    return module.cls.name.startswith("torch.nn.") and not module.own.get("opaque")


def _python_class(value: Any) -> type | None:
    """The built-in class of a container that surely is of that class and of no subclass."""
    if type(value) is TupleValue:
        return None if value.names else tuple
    if type(value) is ListObject:
        return {"list": list, "tuple": tuple, "set": set}.get(value.kind)
    return dict if type(value) is DictObject and value.kind == "dict" else None
