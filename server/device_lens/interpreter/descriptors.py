"""Descriptors of the program: objects that a class holds, whose methods answer for an attribute,
and properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.heap import Instance
from device_lens.domain.shallow import shallow
from device_lens.domain.values import Unknown

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def hook(found: Any, method: str) -> BoundMethod | None:
    """`__get__`, `__set__` or `__set_name__` of the class attribute `found`; None where it has
    none."""
    if not isinstance(found, Instance) or type(found.cls) is not ClassValue:
        return None
    function = found.cls.lookup(method)
    return BoundMethod(found, function) if type(function) is Function else None


def setter(receiver: Any, name: str) -> BoundMethod | None:
    """The `__set__` that assigning to `receiver.name` runs."""
    if not isinstance(receiver, Instance) or type(receiver.cls) is not ClassValue:
        return None
    return hook(receiver.cls.lookup(name), "__set__")


def made_property(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`property(get, set)` as a value."""
    given = {**dict(zip(("fget", "fset"), args, strict=False)), **kwargs}
    getter, own_setter = given.get("fget"), given.get("fset")
    if type(getter) is not Function:
        return Unknown("a property")
    made = shallow(getter)
    made.kind = "property"
    made.sets = own_setter if type(own_setter) is Function else None
    return made


def property_setter(cls: ClassValue, name: str) -> Function | None:
    """What assigning to the property of a class runs."""
    found = cls.lookup(name + ".setter")
    if found is None:
        known = cls.lookup(name)
        found = known.sets if type(known) is Function else None
    return found if type(found) is Function else None


def by_hand(found: Function, name: str) -> Function | None:
    """What reads or sets a property where a program calls it by hand: `Class.x.fget(obj)`. None of
    a function that is no property, or other names."""
    if found.kind != "property":
        return None
    taken: Any = found if name in ("fget", "__get__") else None
    if name in ("fset", "__set__"):
        owner = found.owner
        taken = found.sets or (owner and owner.lookup(found.name + ".setter"))
    if type(taken) is not Function:
        return None
    made = shallow(taken)
    made.kind = "function"
    return made


def comes_first(found: Any) -> bool:
    """Whether a class attribute is read rather than what the object itself has by that name."""
    if type(found) is Function:
        return found.kind == "property"
    return hook(found, "__set__") is not None and hook(found, "__get__") is not None
