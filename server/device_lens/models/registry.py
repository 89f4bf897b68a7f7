"""Finds the model of a library symbol by its qualified name.

Tables register themselves on first need: importing this module costs nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from device_lens.domain.heap import ModuleObject
    from device_lens.models.call import Call, Model, Value


class ModuleModel(Protocol):
    """A library's `nn.Module` class."""

    @property
    def name(self) -> str:
        """The class's qualified name."""

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """What `__init__` does: registers parameters, buffers and submodules."""

    def forward(self, call: Call) -> Value:
        """A call of the module; `call.receiver` is the `ModuleObject`."""


FUNCTIONS: dict[str, Model] = {}
"""Functions, methods (`torch.Tensor.add`) and constructors of classes that are no modules."""
MODULES: dict[str, ModuleModel] = {}
ATTRIBUTES: dict[str, Model] = {}
"""Attributes that are read, not called: `torch.Tensor.device`, `torch.Tensor.T`, `torch.float32`;
`call.receiver` is the object."""
ANY_ATTRIBUTE: dict[str, Model] = {}
"""By classes whose attributes may have any name, what those are that nothing else tells."""
CLASS_METHODS: set[str] = set()
"""Qualified names of methods that get the class which they are called on, as `call.receiver`."""
ALIASES: dict[str, str] = {}
"""Other public names of the same symbol: `torch.nn.functional.relu_` …"""
BASES: dict[str, tuple[str, ...]] = {}
"""Base classes of library classes, nearest first, by qualified name."""
PACKAGES: dict[str, Callable[[str], Model | None]] = {}
"""For packages whose functions are too many to list: the model of a qualified name, by the
package's name. Asked only for names that have no model of their own."""


MODULE_PACKAGES: dict[str, Callable[[str], ModuleModel | None]] = {}
"""Like `PACKAGES`, of module classes."""


PACKAGE_BASES: dict[str, Callable[[str], tuple[str, ...]]] = {}
"""Like `PACKAGES`, of the bases of classes."""


def canonical(name: str) -> str:
    """The name under which a symbol's model is registered."""
    load()
    return ALIASES.get(name, name)


def function(name: str) -> Model | None:
    load()
    known = ALIASES.get(name, name)
    found = FUNCTIONS.get(known)
    if found is None and PACKAGES and not known.endswith("__"):
        package = PACKAGES.get(known.partition(".")[0])
        return None if package is None else package(known)
    return found


def is_listed(name: str) -> bool:
    """Whether a function or attribute has a model of its own, and is no name that a whole package
    answers to."""
    load()
    known = ALIASES.get(name, name)
    return known in FUNCTIONS or known in ATTRIBUTES


def is_module_class(name: str) -> bool:
    """Whether this is `torch.nn.Module` or a class of PyTorch's that derives from it."""
    return name == "torch.nn.Module" or module(name) is not None


def module(name: str) -> ModuleModel | None:
    load()
    known = ALIASES.get(name, name)
    found = MODULES.get(known)
    if found is None and MODULE_PACKAGES:
        package = MODULE_PACKAGES.get(known.partition(".")[0])
        return None if package is None else package(known)
    return found


def attribute(name: str) -> Model | None:
    load()
    return ATTRIBUTES.get(ALIASES.get(name, name))


def any_attribute(cls: str) -> Model | None:
    """What an attribute of a library class is that may have any name."""
    return ANY_ATTRIBUTE.get(cls)


def bases(name: str) -> tuple[str, ...]:
    """Qualified names of a library class's bases, transitively."""
    load()
    known = ALIASES.get(name, name)
    found = BASES.get(known)
    if found is None:
        package = PACKAGE_BASES.get(known.partition(".")[0])
        return () if package is None else package(known)
    return found


def names_code(name: str) -> bool:
    """Whether a library's name is that of a package, class or function: any other may hold any
    value, as `sys.argv` or a setting in a module that is not at hand."""
    package, _, last = name.rpartition(".")
    return (
        not package
        or (last[:1].isupper() and not last.isupper())
        or package in ("builtins", "typing")
        or function(name) is not None
        or module(name) is not None
    )


_EXCEPTIONS = frozenset(
    f"builtins.{name}"
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)


def names_exception(name: str) -> bool:
    """Whether a name is that of an exception of Python."""
    return name in _EXCEPTIONS


_loaded = False


def load() -> None:
    """Fills the tables, once; every question does so first."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    from device_lens.models import tables

    tables.register_all()
