"""Which of the functions that no one calls have to run for what can be found in them.

Those whose text shows something of devices (`evidence.py`) do, all methods of a class together. So
do those that name what gives a tensor or a device of its own, which is known once that has run:
from there on it goes from what is used to what uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function, Namespace
from device_lens.domain.device import CPU, Device, parse_device
from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ModuleObject, Parameter, contents
from device_lens.domain.values import Const, DeviceValue, External, HostArray, Tensor, Unknown
from device_lens.interpreter.evidence import Names, shows
from device_lens.interpreter.relevance import TENSOR_LIBRARIES, text_of

if TYPE_CHECKING:
    from device_lens.interpreter.program import Program

_DEPTH = 4
"""How far into what a value holds it is looked for tensors."""
_FOREIGN = TENSOR_LIBRARIES - {"torch"}
_GIVING = ("torch.distributions", "torch.utils.data", "torch.hub", "torch.jit", "torch.quasirandom")
"""Parts of PyTorch that give tensors although no maker is named."""
_INNER_IMPORT = re.compile(r"^[ \t]+(?:from|import)\b([^\n]*(?:\([^)]*\))?)", re.MULTILINE)
_IMPLICIT = re.compile(r"__|forward\Z|reset_parameters\Z|init_weights\Z")
"""Methods that are called by themselves, or of parts of many kinds."""
_PLACES = re.compile(r"\.(?:cuda|cpu|xpu)\(|\bset_device\(|\.to\((?!\w*\.?dtype|torch\.)")
"""What puts something where a parameter may say."""
_NEVER = re.compile(r"(?!)")
_WORD = re.compile(r"\w+")


def is_somewhere(value: Any, depth: int = _DEPTH) -> bool:
    """Whether a value is, or holds, a tensor or a device that its function has not been given.
    Modules on the host do not count: what else is there needs to be placed to meet them."""
    return any(_is_somewhere(each, depth) for each in leaves(value))


def _is_somewhere(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind is Parameter:
        value = value.tensor
        kind = type(value)
    if kind is Tensor or kind is DeviceValue:
        return any(type(each) is Device for each in leaves(value.device))
    if kind is Const:
        return type(value.value) is str and parse_device(value.value) is not None
    if kind is HostArray:
        return True
    if kind is Unknown or depth == 0:
        return False
    if kind is BoundMethod:
        return is_somewhere(value.receiver, depth - 1)
    if isinstance(value, ModuleObject):
        return _module(value, depth)
    if isinstance(value, Instance):
        return any(is_somewhere(each, depth - 1) for each in value.fields.values())
    return any(is_somewhere(each, depth - 1) for each in contents(value))


def _module(module: ModuleObject, depth: int) -> bool:
    """Whether a module is on an accelerator, or keeps tensors where moves of it miss them."""
    if any(is_somewhere(each, depth - 1) for each in module.fields.values()):
        return True
    tensors = [each.tensor for each in module.parameters.values() if type(each) is Parameter]
    placed = [module.device, *(each.device for each in tensors if type(each) is Tensor)]
    found = [leaf for each in placed for leaf in leaves(each)]
    return any(type(leaf) is Device and leaf is not CPU for leaf in found)


class Demand:
    """The answers for one analysis."""

    def __init__(self, program: Program, reached: Iterable[Any]) -> None:
        """`reached` are the functions that scripts have run: who else calls those that show
        something may tell that it does not always hold."""
        self._program = program
        self._shows = program.shows
        self._torch: dict[str, Names] = {}
        self._giving: set[Any] = set()
        """The nodes of functions and classes that give what is somewhere."""
        self._given: set[str] = set()
        """Their names."""
        self._deciding: dict[str, re.Pattern[str]] = {}
        self._wanted: dict[Any, tuple[int, bool]] = {}
        """By definition: the answer, and how many gave something when it was given."""
        self._names: dict[str, tuple[int, re.Pattern[str] | None]] = {}
        self._calls = _called(self._shown_methods())
        """How methods that show something are called by others: where only a constructor does,
        they run before anybody can move the module."""
        for node in reached:
            function = program.defined.get(node)
            if function is not None and self._is_shown(_outermost(function)):
                self._give(_outermost(function))

    def wants(self, function: Function) -> bool:
        """Whether a function has to run, as far as is known by now."""
        owner = _outermost(function)
        known = self._wanted.get(owner.node)
        if known is None or not (known[1] or known[0] == len(self._giving)):
            known = self._wanted[owner.node] = len(self._giving), self._wants(owner)
        return known[1]

    def _wants(self, owner: Any) -> bool:
        if self._is_shown(owner):
            return True
        text = text_of(owner.chunk, owner.node)
        pattern = self._giving_names(owner.namespace)
        if pattern is not None and pattern.search(text) is not None:
            return True
        if self._makes_with(owner) or self._decides(owner.namespace, text):
            return True
        return any(self._may_give(each[1]) for each in _INNER_IMPORT.finditer(text))

    def learn(self, function: Function, gives: bool) -> None:
        """Takes note of what a function that has run gives, and how its class keeps it."""
        owner = _outermost(function)
        if owner.node in self._giving:
            return
        made = self._program.instances.get(owner) if isinstance(owner, ClassValue) else None
        if gives or (made is not None and is_somewhere(made.instance)):
            self._give(owner)

    def _decides(self, namespace: Namespace, text: str) -> bool:
        """Whether a text calls a function that places something with constants, which may decide
        where: `train(0, ...)` for the first GPU."""
        known = self._deciding.get(namespace.path)
        if known is None:
            words = sorted(
                name
                for name, value in namespace.scope.names.items()
                if type(value) is Function and value.owner is None and self._places(value)
            )
            pattern = rf"\b(?:{'|'.join(words)})\([^()]*\b(?:\d+|True|False)\b"
            known = self._deciding[namespace.path] = re.compile(pattern) if words else _NEVER
        return known.search(text) is not None

    def _places(self, function: Function) -> bool:
        return (
            self._shown(function)
            and _PLACES.search(text_of(function.chunk, function.node)) is not None
        )

    def _makes_with(self, owner: Any) -> bool:
        """Whether a class calls a method that shows something where it makes its parts."""
        maker = owner.fields.get("__init__") if isinstance(owner, ClassValue) else None
        if self._calls is None or type(maker) is not Function:
            return False
        return self._calls.search(text_of(maker.chunk, maker.node)) is not None

    def _shown_methods(self) -> Iterator[str]:
        for cls in self._program.classes.values():
            if isinstance(cls, ClassValue) and cls.is_module and self._shown(cls):
                for name, method in cls.fields.items():
                    is_called = type(method) is Function and not _IMPLICIT.match(name)
                    if is_called and self._shown(method):
                        yield name

    def _give(self, definition: Function | ClassValue) -> None:
        self._giving.add(definition.node)
        self._given.add(definition.name)

    def _is_shown(self, definition: Function | ClassValue) -> bool:
        if isinstance(definition, ClassValue):
            return any(self._shown(each) for each in definition.mro)
        return self._shown(definition)

    def _shown(self, definition: Function | ClassValue) -> bool:
        known = self._shows.get(definition.node)
        if known is None:
            owner = _outermost(definition)
            in_module = isinstance(owner, ClassValue) and owner.is_module
            text = text_of(definition.chunk, definition.node)
            names = self._torch_names(definition.namespace)
            known = self._shows[definition.node] = shows(text, definition.node, in_module, names)
        return known

    def _torch_names(self, namespace: Namespace) -> Names:
        """What the names of a module stand for in PyTorch."""
        known = self._torch.get(namespace.path)
        if known is None:
            found = namespace.scope.names.items()
            parts = ((name, leaf) for name, value in found for leaf in leaves(value))
            known = self._torch[namespace.path] = Names(
                {
                    name: leaf.name
                    for name, leaf in parts
                    if type(leaf) is External and leaf.name.partition(".")[0] == "torch"
                }
            )
        return known

    def _may_give(self, names: str) -> bool:
        """Whether one of the names that a function imports for itself may give anything."""
        words = set(_WORD.findall(names))
        return not words.isdisjoint(_FOREIGN) or not words.isdisjoint(self._given)

    def _giving_names(self, namespace: Namespace) -> re.Pattern[str] | None:
        """The names of a module that stand for what gives something that is somewhere."""
        known = self._names.get(namespace.path)
        if known is None or known[0] != len(self._giving):
            words = sorted(set(self._words(namespace)))
            pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b") if words else None
            known = self._names[namespace.path] = len(self._giving), pattern
        return known[1]

    def _words(self, namespace: Namespace) -> Iterator[str]:
        for name, value in namespace.scope.names.items():
            for leaf in leaves(value):
                if type(leaf) is Namespace:
                    yield from self._given  # `package.module.name`, wherever that is
                    yield from self._given_by(leaf.scope.names.items())
                elif self._gives(leaf):
                    yield name

    def _given_by(self, names: Iterable[tuple[str, Any]]) -> Iterator[str]:
        for name, value in names:
            if any(self._gives(leaf) for leaf in leaves(value)):
                yield name

    def _gives(self, value: Any, depth: int = 2) -> bool:
        kind = type(value)
        if kind is Function or kind is ClassValue:
            return _outermost(value).node in self._giving
        if kind is External:
            root = value.name.partition(".")[0]
            return root in _FOREIGN or value.name.startswith(_GIVING)
        if kind is Instance and value.cls is not None and self._gives(value.cls):
            return True
        if depth and any(self._gives(each, depth - 1) for each in contents(value)):
            return True
        return is_somewhere(value, depth)


def _called(names: Iterable[str]) -> re.Pattern[str] | None:
    words = sorted(set(names))
    return re.compile(rf"(?<!\bself)\.(?:{'|'.join(map(re.escape, words))})\(") if words else None


def _outermost(definition: Function | ClassValue) -> Any:
    """The class of a method, else the function itself."""
    if isinstance(definition, Function) and definition.owner is not None:
        return definition.owner
    return definition
