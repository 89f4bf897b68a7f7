"""Which abstract classes of Python's own the values of its built-in types are instances of."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import numbers
from types import GeneratorType

_GENERIC = {"List": list, "Dict": dict, "Tuple": tuple, "Set": set, "FrozenSet": frozenset}
_OF_KIND: dict[str, type] = {
    "list": list,
    "set": set,
    "range": range,
    **dict.fromkeys(("iter", "iterator", "enumerate", "zip", "map", "filter"), zip),
    "generator": GeneratorType,
}
"""Kinds of lists of the analysis, with a type that has the methods of each."""
_MODULES = {
    "builtins": builtins,
    "collections": collections,
    "collections.abc": collections.abc,
    "numbers": numbers,
}


def is_standard(value_type: type, name: str) -> bool:
    """Whether the values of a built-in type are instances of the class that `name` names:
    `collections.abc.Mapping`, `typing.Dict`, `types.GeneratorType` or `collections.Mapping` (the
    name up to Python 3.9)."""
    if name == "types.GeneratorType":
        return value_type is GeneratorType
    module, _, last = name.rpartition(".")
    if module not in ("collections.abc", "collections", "typing"):
        return False
    cls = _GENERIC.get(last) if module == "typing" else None
    cls = cls or getattr(collections.abc, last, None)
    return isinstance(cls, type) and issubclass(value_type, cls)


def derives_standard(name: str, base: str) -> bool:
    """Whether a class of Python's own derives from another one, by their names."""
    cls, other = _standard(name), _standard(base)
    return cls is not None and other is not None and issubclass(cls, other)


def _standard(name: str) -> type | None:
    module, _, last = name.rpartition(".")
    found = getattr(_MODULES.get(module), last, None)
    return found if isinstance(found, type) else None


def type_of_kind(kind: str) -> type:
    """A built-in type for a kind of lists of the analysis; `object` where there is none."""
    return _OF_KIND.get(kind, object)
