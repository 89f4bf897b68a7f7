"""What the text of a function or loop says without running it. Answers are kept per node."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from device_lens.syntax.names import named_by_text
from device_lens.syntax.twins import twin
from device_lens.syntax.walking import children, walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_NO_GRAD = frozenset({"no_grad", "inference_mode"})
_WORDS = ("yield", "global", "nonlocal")
_NO_NAMES: frozenset[str] = frozenset()
_INFO = "_function_info"
_OWN_ITEMS = "_replaces_own_items"
_LOOP_INFO = "_loop_info"
_NAMES = "_names_within"
_COMPARED = "_attributes_compared"
"""The entries of a node under which answers are kept, for as long as the node lives."""


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """`outer`: names declared global or nonlocal. `no_grad`: a decorator turns autograd off."""

    generates: bool
    outer: frozenset[str]
    no_grad: bool


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """What the body of a loop or function may change: names assigned (with a loop's own target),
    texts of attributes and subscripts assigned (`self.x`), names on which an in-place method is
    called or an item is stored."""

    names: frozenset[str]
    places: frozenset[str]
    mutated: frozenset[str]


_OUTER = "_names_bound_outside"
_GLOBAL = "_names_of_the_module"


def function_info(node: Any, text: str) -> FunctionInfo:
    """What is to be known before a function runs; `text` is that of the statement around it,
    which tells at once that most functions have nothing of the kind."""
    known: FunctionInfo | None = node.__dict__.get(_INFO)
    if known is None:
        found = _read(node) if any(word in text for word in _WORDS) else (False, _NO_NAMES)
        known = FunctionInfo(*found, _turns_grad_off(node))
        node.__dict__[_INFO] = known
    return known


def globals_of(node: Any) -> frozenset[str]:
    """The names of the module, or of a function around, that a function binds."""
    if isinstance(node, ast.Lambda):
        return _NO_NAMES
    known: frozenset[str] | None = node.__dict__.get(_OUTER)
    if known is None:
        known = node.__dict__[_OUTER] = _read(node)[1]
    return known


def global_names(node: Any) -> frozenset[str]:
    """Those of them that are the module's, whatever a function around has."""
    if isinstance(node, ast.Lambda):
        return _NO_NAMES
    known: frozenset[str] | None = node.__dict__.get(_GLOBAL)
    if known is None:
        declared = (each for each in own_nodes(node.body) if isinstance(each, ast.Global))
        known = frozenset(name for each in declared for name in each.names)
        node.__dict__[_GLOBAL] = known
    return known


def _read(node: Any) -> tuple[bool, frozenset[str]]:
    generates = False
    outer: set[str] = set()
    for inner in own_nodes(node.body):
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            generates = True
        elif isinstance(inner, ast.Global | ast.Nonlocal):
            outer.update(inner.names)
    return generates, frozenset(outer)


def _turns_grad_off(node: Any) -> bool:
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in _NO_GRAD:
            return True
    return False


def own_nodes(body: Sequence[Any]) -> Iterator[Any]:
    """Every node of a body, nested functions and classes left out."""
    pending: list[Any] = list(body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        pending += children(node)


def loop_info(node: Any) -> LoopInfo:
    """What the body of a loop, or of a function, may change."""
    known: LoopInfo | None = node.__dict__.get(_LOOP_INFO)
    if known is None:
        known = node.__dict__[_LOOP_INFO] = _loop_info(node)
    return known


def changed_besides(node: Any, call: Any) -> LoopInfo:
    """What the body of a loop may change, but for what the name of one call's method says."""
    return _loop_info(node, call)


def changed_by(parts: Sequence[Any], left_out: Any = None) -> LoopInfo:
    """What the targets and expressions of a comprehension may change."""
    return _changes(parts, left_out)


def _loop_info(node: Any, left_out: Any = None) -> LoopInfo:
    if isinstance(node, ast.While):
        roots = [node]
    else:
        body = node.body if isinstance(node.body, list) else [node.body]
        roots = [*([node.target] if hasattr(node, "target") else []), *body]
    return _changes(roots, left_out)


def _changes(roots: Sequence[Any], left_out: Any) -> LoopInfo:
    names: set[str] = set()
    places: set[str] = set()
    mutated: set[str] = set()
    for inner in own_nodes(roots):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store | ast.Del):
            names.add(inner.id)
        elif isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store | ast.Del):
            places.add(ast.unparse(inner))
        elif isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store | ast.Del):
            mutated.add(ast.unparse(inner.value))
        elif isinstance(inner, ast.AugAssign):
            mutated.add(ast.unparse(inner.target))
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            method = inner.func.attr
            if _mutates(method) and inner is not left_out:
                mutated.add(ast.unparse(inner.func.value))
        elif isinstance(inner, ast.Call):
            _add_set_by_call(inner, places, mutated)
    return LoopInfo(frozenset(names), frozenset(places), frozenset(mutated))


def _add_set_by_call(node: ast.Call, places: set[str], mutated: set[str]) -> None:
    """What `setattr` or `delattr` changes: all of an object where no text names the attribute."""
    function = getattr(node.func, "id", "")
    if function in ("setattr", "delattr") and node.args:
        named = named_by_text(node, function, 3 if function == "setattr" else 2)
        if named is None:
            mutated.add(ast.unparse(node.args[0]))
        else:
            places.add(f"{ast.unparse(named[0])}.{named[1]}")


MUTATORS = frozenset(
    "append appendleft extend extendleft insert pop popleft popitem remove clear update setdefault "
    "sort reverse rotate add discard step load_state_dict".split()
)
"""Methods that change what they are called of."""


def _mutates(method: str) -> bool:
    return method in MUTATORS or (method.endswith("_") and not method.endswith("__"))


def replaces_own_items(node: ast.For | ast.AsyncFor) -> bool:
    """Whether the text of a loop puts something in place of the item that it is at
    (`for i, x in enumerate(xs): xs[i] = …`), which it does not see again, and changes what it goes
    through in no other way."""
    known: bool | None = node.__dict__.get(_OWN_ITEMS)
    if known is None:
        names = names_read(node.target)
        sources = {
            ast.unparse(each)
            for each in walk(node.iter)
            if isinstance(each, ast.Name | ast.Attribute)
        }
        changes = [
            own for each in own_nodes(node.body) for own in _item_changes(each, names, sources)
        ]
        known = node.__dict__[_OWN_ITEMS] = bool(changes) and all(changes)
    return known


def _item_changes(node: Any, names: set[str], sources: set[str]) -> Iterator[bool]:
    """For a change of what a loop goes through, whether it is one of the present item."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        own = isinstance(node.slice, ast.Name) and node.slice.id in names
        if own or ast.unparse(node.value) in sources:
            yield own
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if _mutates(node.func.attr) and ast.unparse(node.func.value) in sources:
            yield False
    elif isinstance(node, ast.AugAssign) and ast.unparse(node.target) in sources:
        yield False


def bare_name(parameter: ast.arg) -> ast.Name:
    """A parameter's name without its annotation, as an expression at the same place."""

    def named() -> ast.Name:
        name = ast.copy_location(ast.Name(parameter.arg, ast.Store()), parameter)
        name.end_lineno = parameter.lineno
        name.end_col_offset = parameter.col_offset + len(parameter.arg.encode())
        return name

    return twin(parameter, named)


def names_bound(target: ast.expr) -> Iterator[str]:
    """The names that an assignment to a target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Starred):
        yield from names_bound(target.value)
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from names_bound(part)


def names_read(node: ast.AST) -> set[str]:
    return {n.id for n in walk(node) if isinstance(n, ast.Name)}


def attributes_compared(node: ast.For | ast.AsyncFor) -> frozenset[str]:
    """The attributes that comparisons in a loop's body read."""
    known: frozenset[str] | None = node.__dict__.get(_COMPARED)
    if known is None:
        compared = (
            each for part in node.body for each in walk(part) if isinstance(each, ast.Compare)
        )
        known = node.__dict__[_COMPARED] = frozenset(
            part.attr for each in compared for part in walk(each) if isinstance(part, ast.Attribute)
        )
    return known


def names_within(node: Any) -> frozenset[str]:
    """The names in a function, kept with it."""
    known: frozenset[str] | None = node.__dict__.get(_NAMES)
    if known is None:
        known = node.__dict__[_NAMES] = frozenset(names_read(node))
    return known


def never_returns(function: ast.FunctionDef) -> bool:
    """Whether no way through a function's text comes to a `return` or to its end, if what it calls
    last does not return."""
    returns = any(isinstance(node, ast.Return) for node in own_nodes(function.body))
    return not returns and _ends_path(function.body)


def _ends_path(body: Sequence[ast.stmt]) -> bool:
    match body[-1]:
        case ast.Raise() | ast.Expr(value=ast.Call()):
            return True
        case ast.If(body=yes, orelse=[_, *_] as no):
            return _ends_path(yes) and _ends_path(no)
        case ast.With(body=within):
            return _ends_path(within)
        case ast.Try(body=tried, handlers=handlers):
            return _ends_path(tried) and all(_ends_path(each.body) for each in handlers)
    return False


def has_call(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Call | ast.Await | ast.Yield) for n in walk(node))
