"""Values that stand for the program's own code: modules, classes, functions, bound methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from device_lens.domain.heap import HeapObject, LocalNames, ModuleNames, Table, moment

METACLASS = "<metaclass>"
"""The class attribute that holds what `metaclass=` says."""


class Scope:
    """Names of one activation, module or class body. `parent` is the scope that encloses it in
    the text (class scopes are skipped, as Python does). `born` is when it was made."""

    __slots__ = ("born", "globals", "names", "outer", "parent")

    def __init__(self, parent: Scope | None, globals: Table | None = None) -> None:
        self.born = moment()
        self.names: LocalNames | ModuleNames = ModuleNames() if globals is None else LocalNames()
        self.parent = parent
        self.globals: Table = self.names if globals is None else globals
        self.outer: frozenset[str] = frozenset()


class Namespace:
    """A module of the workspace. `names` is its global scope."""

    __slots__ = ("file", "name", "path", "scope")

    def __init__(self, path: str, name: str, file: Any) -> None:
        self.path = path
        self.name = name
        self.file = file
        self.scope = Scope(None)


class Deferred:
    """A name that a module imports for the eyes of type checkers alone (`if TYPE_CHECKING:`): what
    it stands for is looked up when the name is first used. `path` is the module to take it from,
    `module` that one's name."""

    __slots__ = ("attribute", "module", "path")

    def __init__(self, path: str, module: str, attribute: str) -> None:
        self.path = path
        self.module = module
        self.attribute = attribute


class Waiting(Deferred):
    """A name that a module has, and that stands for its value when it is first used: `settle` gives
    that, the same each time."""

    __slots__ = ("settle",)

    def __init__(self, path: str, module: str, attribute: str, settle: Callable[[], Any]) -> None:
        super().__init__(path, module, attribute)
        self.settle = settle


class Function:
    """A function or lambda of the program with the scope that it closes over.

    `defaults` and `kw_defaults` are values taken where it was defined. `kind` is `function`,
    `static`, `class`, `property`, `cached_property` or `lambda`. `owner` is the class whose body
    defines it, for `super()`. `manages` tells that it makes context managers, `kept` are the
    answers that it gives again, by arguments; None of one that runs each time. `sets` is the setter
    of a property that `property(get, set)` made. `within` are context managers that decorate it,
    the outermost first: each call is a block of theirs.
    """

    __slots__ = (
        "chunk",
        "defaults",
        "kept",
        "kind",
        "kw_defaults",
        "manages",
        "name",
        "namespace",
        "node",
        "owner",
        "scope",
        "sets",
        "within",
    )

    def __init__(
        self, node: Any, chunk: Any, namespace: Namespace, scope: Scope, name: str
    ) -> None:
        self.node = node
        self.chunk = chunk
        self.namespace = namespace
        self.scope = scope
        self.name = name
        self.kind = "function"
        self.within: tuple[Any, ...] = ()
        self.manages = False
        self.kept: Table | None = None
        self.sets: Function | None = None
        self.owner: ClassValue | None = None
        self.defaults: tuple[Any, ...] = ()
        self.kw_defaults: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"Function({self.name})"


def is_one_text(left: Function, right: Function) -> bool:
    """Whether two functions were defined by one node in one run of what is around it: they differ
    in nothing but their defaults."""
    same_scope = left.scope is right.scope or left.scope.names is right.scope.names
    return (
        left.node is right.node
        and same_scope
        and left.kind == right.kind
        and left.owner is right.owner
        and left.kept is right.kept
    )


class BoundMethod:
    """A function of the program with its first argument."""

    __slots__ = ("function", "receiver")

    def __init__(self, receiver: Any, function: Function) -> None:
        self.receiver = receiver
        self.function = function


class ClassValue(HeapObject):
    """A class of the program. `fields` is its namespace; `bases` are classes or `External`s;
    `foreign` are the qualified names of every base outside the workspace, transitively."""

    __slots__ = (
        "bases",
        "chunk",
        "data_fields",
        "foreign",
        "is_module",
        "mro",
        "name",
        "namespace",
        "node",
    )

    def __init__(
        self, name: str, node: Any, chunk: Any, namespace: Namespace, bases: tuple[Any, ...]
    ) -> None:
        super().__init__(node)
        self.name = name
        self.node = node
        self.chunk = chunk
        self.namespace = namespace
        self.bases = bases
        self.mro: tuple[ClassValue, ...] = (self,)
        self.foreign: tuple[str, ...] = ()
        self.is_module = False
        self.data_fields: tuple[tuple[str, Any], ...] | None = None

    def lookup(self, name: str) -> Any:
        """The attribute as the class and its bases in the workspace define it, or None."""
        for cls in self.mro:
            if name in cls.fields:
                return cls.fields[name]
        return None

    def __repr__(self) -> str:
        return f"Class({self.name})"
