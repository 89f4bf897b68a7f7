"""Which of the functions that no one calls have to run for what can be found in them.

Those whose text shows something of devices (`evidence.py`) do, all methods of a class together. So
do those that name what gives a tensor or a device of its own, which is known once that has run:
from there on it goes from what is used to what uses it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue, Function, Namespace
from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, contents
from device_lens.domain.libraries import TENSOR_LIBRARIES
from device_lens.domain.values import External
from device_lens.interpreter.evidence import Names, shows
from device_lens.interpreter.method_demand import Methods
from device_lens.interpreter.plain_names import PlainText
from device_lens.interpreter.relevance import text_of, words_in
from device_lens.interpreter.somewhere import is_somewhere
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.program import Program

_FOREIGN = TENSOR_LIBRARIES - {"torch"}
_GIVING = ("torch.distributions", "torch.utils.data", "torch.hub", "torch.jit", "torch.quasirandom")
"""Parts of PyTorch that give tensors although no maker is named."""
_GIVING_NOTHING = (
    r"(?:Iterable|Map)?Dataset|\w*Sampler|get_worker_info|get_dir|set_dir|download_url_to_file|Final"
    r"|ignore|unused|export|interface|is_scripting|is_tracing|annotate|script_if_tracing|List|Dict"
    r"|Tuple|Optional|Union|Any|BroadcastingList\d"
)
"""What is in these and gives none."""
_NO_GIVER = re.compile(rf".*\.(?:{_GIVING_NOTHING})\Z")
_INNER_IMPORT = re.compile(
    r"^[ \t]+(?:from|import)[ \t]+([.\w]+)([^\n]*(?:\([^)]*\))?)", re.MULTILINE
)
_IMPLICIT = re.compile(r"__|forward\Z|reset_parameters\Z|init_weights\Z")
"""Methods that are called by themselves, or of parts of many kinds."""
_PLACES = re.compile(r"\.(?:cuda|cpu|xpu)\(|set_device\(|\.to\((?!\w*\.?dtype|torch\.)")
"""What puts something where a parameter may say."""


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
        self._kept: set[Any] = set()
        """Those of classes of which an object keeps it from the start."""
        self._given: set[str] = set()
        """Their names."""
        self._texts: dict[Any, tuple[str, frozenset[str]]] = {}
        self._deciding: dict[str, tuple[frozenset[str], re.Pattern[str]]] = {}
        self._wanted: dict[Any, tuple[int, bool]] = {}
        """By definition: the answer, and how many gave something when it was given."""
        self._plain_texts: dict[Any, PlainText] = {}
        """By class: what is plain in its methods."""
        self._methods: dict[Any, Methods] = {}
        """By class in which something shows."""
        self._functions: dict[str, list[Function]] = {}
        self._plain: dict[str, bool] = {}
        self._names: dict[str, tuple[int, tuple[frozenset[str], re.Pattern[str] | None]]] = {}
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
        if isinstance(owner, ClassValue) and self._matters(owner, function):
            return True
        known = self._wanted.get(owner.node)
        if known is None or not (known[1] or known[0] == len(self._giving)):
            known = self._wanted[owner.node] = len(self._giving), self._wants(owner)
        return known[1]

    def _matters(self, cls: ClassValue, method: Function) -> bool:
        """Whether something shows in a class for which a method of it has to run."""
        if not self._is_shown(cls):
            return False
        found = self._methods.get(cls.node)
        if found is None:
            found = self._methods[cls.node] = Methods(cls, self._shows_at, self._text_at)
        return found.matters(method.name)

    def _wants(self, owner: Any) -> bool:
        text, words = self._text(owner)
        if isinstance(owner, ClassValue):
            if owner.node in self._kept:
                return True
            words -= {owner.name}
        elif self._is_shown(owner):
            return True
        names, pattern = self._giving_names(owner.namespace)
        if not names.isdisjoint(words) or (pattern is not None and pattern.search(text)):
            return True
        if self._makes_with(owner) or self._decides(owner.namespace, text, words):
            return True
        if "import" not in words:
            return False
        path = owner.namespace.path
        return any(self._may_give(path, each[1], each[2]) for each in _INNER_IMPORT.finditer(text))

    def _text(self, definition: Function | ClassValue) -> tuple[str, frozenset[str]]:
        """The text of a definition, and its words."""
        return self._text_at(definition.node, definition)

    def _text_at(self, part: ast.AST, around: Function | ClassValue) -> tuple[str, frozenset[str]]:
        """The same of a part of a definition."""
        known = self._texts.get(part)
        if known is None:
            text = text_of(around.chunk, part)
            known = self._texts[part] = text, words_in(text)
        return known

    def learn(self, function: Function, gives: bool) -> None:
        """Takes note of what a function that has run gives, and how its class keeps it."""
        owner = _outermost(function)
        if owner.node in self._kept or (owner is function and owner.node in self._giving):
            return
        made = self._program.instances.get(owner) if isinstance(owner, ClassValue) else None
        if made is not None and is_somewhere(made.instance):
            self._kept.add(owner.node)
            gives = True
        elif gives and owner.node in self._methods:
            self._methods[owner.node].give(function.name)
        if gives and owner.node not in self._giving:
            self._give(owner)

    def _decides(self, namespace: Namespace, text: str, words: frozenset[str]) -> bool:
        """Whether a text calls a function that places something with constants, which may decide
        where: `train(0, ...)` for the first GPU."""
        known = self._deciding.get(namespace.path)
        if known is None:
            names = frozenset(
                name
                for name, value in namespace.scope.names.items()
                if type(value) is Function and value.owner is None and self._places(value)
            )
            pattern = rf"\b(?:{'|'.join(sorted(names))})\([^()]*\b(?:\d+|True|False)\b"
            known = self._deciding[namespace.path] = names, re.compile(pattern)
        return not known[0].isdisjoint(words) and known[1].search(text) is not None

    def _places(self, function: Function) -> bool:
        return self._shown(function) and _PLACES.search(self._text(function)[0]) is not None

    def _makes_with(self, owner: Any) -> bool:
        """Whether a class calls a method that shows something where it makes its parts."""
        maker = owner.fields.get("__init__") if isinstance(owner, ClassValue) else None
        if self._calls is None or type(maker) is not Function:
            return False
        names, pattern = self._calls
        text, words = self._text(maker)
        return not names.isdisjoint(words) and pattern.search(text) is not None

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
        owner = _outermost(definition)
        if owner is not definition:
            return self._shows_at(definition.node, owner)
        known = self._shows.get(definition.node)
        if known is None:
            if isinstance(definition, ClassValue):
                node = definition.node
                parts = (*node.decorator_list, *node.keywords, *node.body)
                known = any(self._shows_at(each, definition) for each in parts)
            else:
                text, words = self._text(definition)
                names = self._torch_names(definition.namespace)
                known = shows(text, words, definition.node, False, names, self._gives_plain)
            self._shows[definition.node] = known
        return known

    def _shows_at(self, part: ast.AST, cls: ClassValue) -> bool:
        """Whether something shows in a part of a class: in a method or another statement."""
        known = self._shows.get(part)
        if known is None:
            plain = self._plain_texts.get(cls.node)
            if plain is None:
                plain = self._plain_texts[cls.node] = PlainText(cls.node)
            text, words = self._text_at(part, cls)
            names = self._torch_names(cls.namespace)
            known = self._shows[part] = shows(
                text, words, part, cls.is_module, names, self._gives_plain, plain
            )
        return known

    def _gives_plain(self, name: str) -> bool:
        """Whether all functions and methods of a name give numbers or words only."""
        known = self._plain.get(name)
        if known is None:
            self._plain[name] = False  # as long as it is looked at: it may call itself
            if not self._functions:
                for function in self._program.defined.values():
                    self._functions.setdefault(function.name, []).append(function)
            found = self._functions.get(name, ())
            known = self._plain[name] = bool(found) and all(map(self._is_plain, found))
        return known

    def _is_plain(self, function: Function) -> bool:
        """Whether a function gives numbers or words only, or is of a class that has no tensors."""
        owner = function.owner
        if owner is not None and not owner.is_module and not self._is_shown(owner):
            return True
        plain = PlainText(None if owner is None else owner.node).within(function.node).holds
        return all(
            value is None
            or plain(value)
            or (isinstance(value, ast.Call) and self._gives_plain(last_name(value.func)))
            for value in _given_back(function.node)
        )

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

    def _may_give(self, path: str, module: str, names: str) -> bool:
        """Whether one of the names that a function imports for itself may give anything."""
        if module.partition(".")[0] in _FOREIGN:
            workspace = self._program.machine.workspace
            if workspace.resolve(module, 0, path) is None:
                return True
        return not self._given.isdisjoint(words_in(f"{module} {names}"))

    def _giving_names(self, namespace: Namespace) -> tuple[frozenset[str], re.Pattern[str] | None]:
        """The names of a module that stand for what gives something that is somewhere, and how
        those of libraries read of which a part does."""
        known = self._names.get(namespace.path)
        if known is None or known[0] != len(self._giving):
            parts = [
                rf"{name}\.(?!(?:{_GIVING_NOTHING})\b)\w+"
                for name, value in namespace.scope.names.items()
                for leaf in leaves(value)
                if type(leaf) is External and leaf.name in _GIVING
            ]
            pattern = re.compile(rf"\b(?:{'|'.join(parts)})\b") if parts else None
            answer = frozenset(self._words(namespace)), pattern
            known = self._names[namespace.path] = len(self._giving), answer
        return known[1]

    def _words(self, namespace: Namespace) -> Iterator[str]:
        for name, value in namespace.scope.names.items():
            for leaf in leaves(value):
                if type(leaf) is Namespace:
                    yield from self._given  # `package.module.name`, wherever that is
                    yield from self._given_by(leaf.scope.names.items())
                elif not (type(leaf) is External and leaf.name in _GIVING) and self._gives(leaf):
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
            if root in _FOREIGN:
                return True
            return value.name.startswith(_GIVING) and _NO_GIVER.match(value.name) is None
        if kind is Instance and value.cls is not None and self._gives(value.cls):
            return True
        if depth and any(self._gives(each, depth - 1) for each in contents(value)):
            return True
        return is_somewhere(value, depth)


def _given_back(function: ast.AST) -> Iterator[ast.expr | None]:
    """What a function returns and yields."""
    for node in walk(function):
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            yield node.value


def _called(names: Iterable[str]) -> tuple[frozenset[str], re.Pattern[str]] | None:
    words = frozenset(names)
    pattern = rf"(?<!\bself)\.(?:{'|'.join(map(re.escape, sorted(words)))})\("
    return (words, re.compile(pattern)) if words else None


def _outermost(definition: Function | ClassValue) -> Any:
    """The class of a method, else the function itself."""
    if isinstance(definition, Function) and definition.owner is not None:
        return definition.owner
    return definition
