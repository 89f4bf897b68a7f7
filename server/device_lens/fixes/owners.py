"""Whether something else may have the very list or dict that a fix makes anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.bindings import parameters_of
from device_lens.fixes.bound_value import bound_value
from device_lens.fixes.container_uses import GOING_THROUGH, OF_TENSORS
from device_lens.fixes.names import is_local, loads
from device_lens.fixes.place import LOOPS, Place
from device_lens.syntax.names import is_own_attribute, last_name, names_in

_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp, ast.BinOp)
_MAKING = frozenset("list tuple dict sorted deepcopy copy next split chunk unbind load".split())
"""Calls that give a list or dict which nothing else has."""


def may_be_shared(container: Place) -> bool:
    """Whether the container that is read at a place is not surely its alone: it was not made for
    the name, or has been handed on. What a function is given counts as its own, and what a loop
    around goes through: whom it is from keeps what there was."""
    if not _is_given(container):
        value = bound_value(container)
        if value is None or not _is_new(value.node):
            return True
    return is_handed_on(container)


def _is_given(container: Place) -> bool:
    node = container.node
    if not isinstance(node, ast.Name):
        return False
    loops = (each for each in container.ancestors() if isinstance(each, ast.For))
    looped = any(node.id in names_in(each.target) for each in loops)
    return looped or node.id in parameters_of(container.function)


def _is_new(value: ast.AST) -> bool:
    if isinstance(value, ast.Call):
        return last_name(value.func) in _MAKING
    return isinstance(value, _DISPLAYS)


def is_handed_on(container: Place, functions_keep: bool = True) -> bool:
    """Whether the program gives the container to something that may keep it, by the time that the
    place is reached: to a function, too, with `functions_keep`."""
    end = container.range.start
    around = [n for n in container.ancestors() if isinstance(n, LOOPS) and _is_in(n, container)]
    for use in _uses(container):
        again = any(each in around for each in use.ancestors())
        if (again or use.range.start < end) and not _is_only_read(use, functions_keep):
            return True
    return False


def _is_in(loop: ast.AST, container: Place) -> bool:
    """Whether a loop goes through something else, and finds the container in its body."""
    return not any(each is container.node for each in ast.walk(getattr(loop, "iter", ast.Pass())))


def _uses(container: Place) -> Iterator[Place]:
    """Where the file reads the same name, or the class the same attribute of itself. A function
    that reads a name of the file's finds there what it is bound to by then."""
    node, function = container.node, container.function
    if is_own_attribute(node) and container.owner is not None:
        wanted = ast.unparse(node)
        places = (container.at(each) for each in ast.walk(container.owner))
        yield from (each for each in places if _reads(each.node) and each.text == wanted)
    elif isinstance(node, ast.Name) and function is not None and is_local(function, node.id):
        yield from (container.at(each) for each in loads(function, node.id))
    elif isinstance(node, ast.Name):
        for chunk in container.source.chunks:
            for statement in chunk.body if node.id in chunk.text else ():
                places = (Place(container.source, chunk, n) for n in loads(statement, node.id))
                yield from (each for each in places if each.function is None)


def _reads(node: ast.AST) -> bool:
    return is_own_attribute(node) and isinstance(getattr(node, "ctx", None), ast.Load)


def _is_only_read(use: Place, functions_keep: bool) -> bool:
    """Whether what is around a use goes through the container, or takes something out of it."""
    match use.parent:
        case ast.Call(func=ast.Name(id=name)) if name[:1].islower() and not functions_keep:
            return True
        case ast.Call(func=called):
            return last_name(called) in GOING_THROUGH or last_name(called) in OF_TENSORS
        case ast.IfExp(test=test):
            return test is use.node
        case ast.For() | ast.AsyncFor() | ast.comprehension() | ast.Starred() | ast.Subscript():
            return True
        case ast.Attribute() | ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.FormattedValue():
            return True
        case ast.If() | ast.While() | ast.Assert() | ast.Expr():
            return True
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            return True  # its items get names
    return False
