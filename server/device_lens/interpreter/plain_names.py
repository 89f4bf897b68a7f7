"""Which names and expressions of a function stand for numbers, words and the like, told from its
text alone: what no tensor can be behind, whoever calls it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

_GIVING = frozenset(
    "len range int float str bool round ord chr hash id isinstance issubclass hasattr callable "
    "repr format".split()
)
"""Builtins that give numbers, words or truth, whatever they are given."""
_KEEPING = frozenset("min max abs sum sorted reversed list tuple set dict divmod zip".split())
"""Builtins that give numbers and words where they are given nothing else."""
_COUNTING = frozenset(
    "index count dim ndimension numel nelement element_size size stride is_contiguous endswith "
    "startswith group groups groupdict".split()
)
"""Methods that give numbers or words, whatever has them."""
_GROWING = frozenset("append add extend insert update setdefault appendleft".split())
"""Methods that put into a container what they are given."""
_SIZES = frozenset("shape ndim itemsize nbytes dtype __name__ __class__".split())
_LIBRARIES = frozenset("math os sys re time random logging".split())
"""Modules of the standard library that know nothing of tensors."""
_NAMED = ("items", "named_children", "named_modules", "named_parameters", "named_buffers")
"""Methods that give pairs of a name and something."""
_HOST = frozenset(
    "int float str bool bytes Optional Union Literal List Tuple Dict Set FrozenSet Sequence "
    "Iterable Mapping list tuple dict set frozenset".split()
)
"""Types of numbers, words, and containers."""

Plain = Callable[[ast.expr], bool]
"""Whether an expression is a number, a word, or made of such."""

_OWN = "self."
_AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef

_Bindings = dict[str, list[Any]]
"""What each name is bound to: an expression, True for what is plain, and False for what is not."""


class PlainText:
    """What is plain in a method, or in a function."""

    def __init__(
        self,
        owner: ast.ClassDef | None,
        function: _AnyFunction | None = None,
        is_unknown: bool = False,
    ) -> None:
        """`owner`: the class of the method; without a `function`, what lies outside of any.
        `is_unknown`: nothing is known of what it is given, no more than of a number, unless its
        parameters are annotated; of what a module is given it is known that it is with it."""
        self._owner = owner
        self._function = function
        self._is_unknown = is_unknown
        self._attributes: list[frozenset[str]] = []
        """What is plain of `self`, once somebody has asked for it, for all methods."""
        self._plain: Plain | None = None
        self._plain_of_self: Plain | None = None

    def within(self, function: _AnyFunction, is_unknown: bool = False) -> PlainText:
        """What is plain in a function of the same class."""
        found = PlainText(self._owner, function, is_unknown)
        found._attributes = self._attributes
        return found

    def holds(self, value: ast.expr) -> bool:
        """Whether an expression is plain. What attributes are, which takes a look at the whole
        class, is asked last."""
        if isinstance(value, ast.Constant):
            return True
        if self._plain is None:
            self._plain = self._with(frozenset())
        if self._plain(value):
            return True
        if self._owner is None or not _asks_self(value):
            return False
        if self._plain_of_self is None:
            if not self._attributes:
                self._attributes.append(_plain_attributes(self._owner))
            self._plain_of_self = self._with(self._attributes[0])
        return self._plain_of_self(value)

    def _with(self, attributes: frozenset[str]) -> Plain:
        if self._function is None:
            return lambda value: _is_plain(value, attributes)
        bindings = _bindings(self._function)
        if self._is_unknown:
            for name in self._unknown(self._function.args):
                bindings[name] = [each for each in bindings[name] if each is not False]
        names = _settled(bindings, attributes)
        return lambda value: _is_plain(value, names)

    def _unknown(self, given: ast.arguments) -> Iterator[str]:
        """The parameters of which nothing is known."""
        positional = (*given.posonlyargs, *given.args)
        for each in (*positional[self._owner is not None :], *given.kwonlyargs):
            if each.annotation is None:
                yield each.arg


def gives_counts(name: str) -> bool:
    """Whether what is called by a name gives numbers or words, whatever it is given."""
    return name in _COUNTING or name in _GIVING


def _plain_attributes(cls: ast.ClassDef) -> frozenset[str]:
    """The attributes of `self`, written `self.name`, to which a class gives what is plain only."""
    methods = [_bindings(each) for each in cls.body if isinstance(each, _AnyFunction)]
    found = frozenset(name for each in methods for name in each if name.startswith(_OWN))
    while True:
        settled = [(each, _settled(each, found)) for each in methods]
        kept = frozenset(n for n in found if all(n not in each or n in s for each, s in settled))
        if kept == found:
            return found
        found = kept


def _asks_self(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "self" for node in walk(value))


def _bindings(function: ast.AST) -> _Bindings:
    found: _Bindings = {}
    for node in walk(function):
        for name, value in _bound(node):
            found.setdefault(name, []).append(value)
    return found


def _settled(bindings: _Bindings, attributes: frozenset[str]) -> set[str]:
    """The names that are bound to nothing but what is plain, and those attributes."""
    plain = {name for name in bindings if not name.startswith(_OWN) or name in attributes}
    plain |= attributes
    while True:
        kept = {name for name in plain if _all_plain(bindings.get(name, ()), plain)}
        if kept == plain:
            return kept
        plain = kept


def _all_plain(values: Iterable[Any], plain: set[str]) -> bool:
    return all(each is True or (each is not False and _is_plain(each, plain)) for each in values)


def _bound(node: ast.AST) -> Iterable[tuple[str, Any]]:
    """The names that a node binds, each with what it is bound to."""
    binds = _BINDING.get(type(node))
    return () if binds is None else binds(node)


def _assigned(node: Any) -> Iterator[tuple[str, Any]]:
    for target in node.targets:
        yield from _to(target, node.value)


def _annotated(node: Any) -> Iterable[tuple[str, Any]]:
    return () if node.value is None else _to(node.target, node.value)


def _called(node: Any) -> Iterator[tuple[str, Any]]:
    function = node.func
    if type(function) is ast.Attribute and function.attr in _GROWING:
        for value in node.args:
            yield from _to(function.value, value)


def _entered(node: Any) -> Iterable[tuple[str, Any]]:
    return () if node.optional_vars is None else _to(node.optional_vars, False)


def _imported(node: Any) -> Iterator[tuple[str, Any]]:
    for each in node.names:
        yield each.asname or each.name.partition(".")[0], False


def _not_plain(node: Any) -> Iterator[tuple[str, Any]]:
    if node.name is not None:
        yield node.name, False


def _to(target: ast.expr, value: Any) -> Iterator[tuple[str, Any]]:
    """The names in a target that is bound to a value."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Attribute):
        if isinstance(target.value, ast.Name) and target.value.id == "self":
            yield _OWN + target.attr, value
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _to(target.value, value)
    elif isinstance(target, ast.Tuple | ast.List):
        parts = getattr(value, "elts", None)
        if parts is None or len(parts) != len(target.elts):
            parts = [value] * len(target.elts)
        for inner, part in zip(target.elts, parts, strict=True):
            yield from _to(inner, part)


def _turns(target: ast.expr, over: ast.expr) -> Iterator[tuple[str, Any]]:
    """The names of a loop or comprehension, each with what it is in every turn."""
    pair = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    if isinstance(over, ast.Call):
        name, given = last_name(over.func), over.args
        if name == "zip" and len(pair) == len(given):
            for inner, each in zip(pair, given, strict=True):
                yield from _turns(inner, each)
            return
        if name == "enumerate" and len(pair) == 2 and given:
            yield from _to(pair[0], True)
            yield from _turns(pair[1], given[0])
            return
        if name in _NAMED and len(pair) == 2 and isinstance(over.func, ast.Attribute):
            yield from _to(pair[0], True)
            yield from _to(pair[1], over.func.value if name == "items" else False)
            return
        if name == "keys":
            yield from _to(target, True)
            return
    yield from _to(target, over)


def _parameters(arguments: ast.arguments) -> Iterator[tuple[str, Any]]:
    """Parameters: those with a constant for a default, or the type of a number, are no tensors
    where no caller says."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for parameter, default in (
        *zip(positional, defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        yield parameter.arg, _is_host(parameter.annotation, default)
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            yield rest.arg, False


def _is_host(annotation: ast.expr | None, default: ast.expr | None) -> bool:
    if annotation is not None:
        return _is_host_type(annotation)
    return isinstance(default, ast.Constant) and default.value is not None


def _is_host_type(annotation: ast.expr) -> bool:
    """Whether an annotation is of numbers and words, or of containers of such."""
    match annotation:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _HOST
        case ast.Constant(value=value):
            return value is None or value is ...
        case ast.Subscript(value=whole, slice=parts):
            return _is_host_type(whole) and _is_host_type(parts)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_is_host_type, parts))
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _is_host_type(left) and _is_host_type(right)
    return False


def _is_plain(value: Any, plain: Container[str]) -> bool:
    """Whether an expression is a number, a word, or made of such, where the names `plain` are."""
    match value:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.Name(id=name):
            return name in plain
        case ast.UnaryOp(op=op, operand=operand):
            return isinstance(op, ast.Not) or _is_plain(operand, plain)
        case ast.BinOp(left=left, right=right):
            return _is_plain(left, plain) and _is_plain(right, plain)
        case ast.Compare(left=left, ops=ops, comparators=others):
            asking = all(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops)
            return asking or any(map(_is_word, (left, *others))) or _each((left, *others), plain)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return _each(parts, plain)
        case ast.Set(elts=parts):
            return _each(parts, plain)
        case ast.Dict(values=parts):
            return _each(parts, plain)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_plain(body, plain) and _is_plain(orelse, plain)
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
            return _is_plain(part, plain)
        case ast.DictComp(value=part) | ast.Starred(value=part) | ast.NamedExpr(value=part):
            return _is_plain(part, plain)
        case ast.Subscript(value=whole):
            return _is_plain(whole, plain)
        case ast.Attribute(value=whole, attr=attr):
            if isinstance(whole, ast.Name) and whole.id == "self" and _OWN + attr in plain:
                return True
            return attr in _SIZES or _is_plain(whole, plain) or _is_library(whole)
        case ast.Call():
            return _gives_plain(value, plain)
    return False


def _gives_plain(call: ast.Call, plain: Container[str]) -> bool:
    function = call.func
    given = [*call.args, *(each.value for each in call.keywords)]
    if isinstance(function, ast.Name):
        keeps = function.id in _KEEPING or function.id in plain
        return function.id in _GIVING or (keeps and _each(given, plain))
    if isinstance(function, ast.Attribute):
        if function.attr in _COUNTING or _is_library(function.value):
            return True
        return _is_plain(function.value, plain) and _each(given, plain)
    return False


def _each(parts: Iterable[ast.expr | None], plain: Container[str]) -> bool:
    return all(part is not None and _is_plain(part, plain) for part in parts)


def _is_word(value: ast.expr) -> bool:
    """Whether a value is a word: no tensor is compared with one."""
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_library(value: ast.expr) -> bool:
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name) and value.id in _LIBRARIES


_BINDING: dict[type[ast.AST], Callable[[Any], Iterable[tuple[str, Any]]]] = {
    ast.Assign: _assigned,
    ast.AnnAssign: _annotated,
    ast.AugAssign: lambda node: _to(node.target, node.value),
    ast.NamedExpr: lambda node: _to(node.target, node.value),
    ast.Call: _called,
    ast.For: lambda node: _turns(node.target, node.iter),
    ast.AsyncFor: lambda node: _turns(node.target, node.iter),
    ast.comprehension: lambda node: _turns(node.target, node.iter),
    ast.withitem: _entered,
    ast.arguments: _parameters,
    ast.ExceptHandler: lambda node: () if node.name is None else ((node.name, True),),
    ast.MatchStar: _not_plain,
    ast.MatchAs: _not_plain,
    ast.MatchMapping: lambda node: () if node.rest is None else ((node.rest, False),),
    ast.FunctionDef: _not_plain,
    ast.AsyncFunctionDef: _not_plain,
    ast.ClassDef: _not_plain,
    ast.Import: _imported,
    ast.ImportFrom: _imported,
    ast.Global: lambda node: ((word, False) for word in node.names),
    ast.Nonlocal: lambda node: ((word, False) for word in node.names),
}
"""What binds names, by the type of the node."""
