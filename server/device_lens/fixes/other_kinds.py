"""Whether what a name stands for at a place may be no tensor in another call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.place import FUNCTIONS, Place
from device_lens.syntax.names import last_name, root_name
from device_lens.syntax.walking import walk

_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_ASKING = ("isinstance", "is_tensor", "hasattr", "callable")
_TAKING_DATA = ("tensor", "as_tensor", "asarray", "from_numpy", "FloatTensor", "LongTensor")
_ARRAYS = ("np", "numpy")


def may_be_no_tensor(place: Place, name: str) -> bool:
    """Whether a name may stand for something that has no device where a place runs: its function
    asks what it is, or makes a tensor of it, or it is a parameter to which a call in the file gives
    a number, None, a list or an array."""
    function = place.function
    if not name.isidentifier() or not isinstance(function, FUNCTIONS):
        return False
    if any(_asks(node, name) for node in walk(function)):
        return True
    given = _given(place, function, name)
    return any(isinstance(each, (ast.Constant, *_DISPLAYS)) or _is_array(each) for each in given)


def _asks(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=func, args=[ast.Name(id=given), *_]) if given == name:
            return last_name(func) in (*_ASKING, *_TAKING_DATA)
        case ast.Compare(left=ast.Name(id=given), ops=[ast.Is() | ast.IsNot()]):
            return given == name
    return False


def _given(place: Place, function: ast.AST, name: str) -> Iterator[ast.expr]:
    """What calls in the file give a parameter of a function."""
    arguments = getattr(function, "args", None)
    if arguments is None or isinstance(function, ast.Lambda):
        return
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    is_method = place.owner is not None and names[:1] in (["self"], ["cls"])
    position = names.index(name) - is_method if name in names else None
    called = {getattr(function, "name", "")}
    if "forward" in called or "__call__" in called:
        called |= _instances(place)
    if "__init__" in called and place.owner is not None:
        called = {place.owner.name}
    for statement in place.top_level:
        for node in walk(statement):
            if isinstance(node, ast.Call) and last_name(node.func) in called:
                if position is not None and 0 <= position < len(node.args):
                    yield node.args[position]
                yield from (each.value for each in node.keywords if each.arg == name)


def _instances(place: Place) -> set[str]:
    """The names that the file gives to objects of the class around a place, as it is written."""
    owner = place.owner.name if place.owner is not None else ""
    return {
        target.id
        for statement in place.top_level
        for node in walk(statement)
        if isinstance(node, ast.Assign) and owner and owner in _called(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _called(value: ast.expr) -> set[str]:
    return {last_name(each.func) for each in walk(value) if isinstance(each, ast.Call)}


def _is_array(node: ast.expr) -> bool:
    """Whether an expression is a call of NumPy, or a number that is worked out."""
    if not isinstance(node, ast.Call):
        return False
    return root_name(node.func) in _ARRAYS or last_name(node.func) in ("float", "int", "len")
