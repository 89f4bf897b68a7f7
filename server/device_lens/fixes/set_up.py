"""Whether an `nn.Module` is set up where one of its statements runs."""

from __future__ import annotations

import ast

from device_lens.fixes.place import Place
from device_lens.syntax.names import is_own_attribute, last_name


def ready(assignment: Place) -> bool:
    """Whether `super().__init__()` has run where the assignment stands: below that call, or in
    another method that `__init__` does not call above it."""
    function = assignment.function
    if not isinstance(function, ast.FunctionDef):
        return function is not None
    if function.name != "__init__":
        return function.name not in _called_before_set_up(assignment)
    call = _set_up(function)
    return call is not None and assignment.at(call).range.start < assignment.range.start


def _set_up(init: ast.FunctionDef) -> ast.Call | None:
    """The call of `super().__init__()`."""
    calls = (node for node in ast.walk(init) if isinstance(node, ast.Call))
    return next((each for each in calls if last_name(each.func) == "__init__"), None)


def _called_before_set_up(assignment: Place) -> set[str]:
    """The methods that `__init__` calls above `super().__init__()`, and those that these call."""
    body = getattr(assignment.owner, "body", ())
    methods = {each.name: each for each in body if isinstance(each, ast.FunctionDef)}
    init = methods.get("__init__")
    call = None if init is None else _set_up(init)
    if init is None or call is None:
        return set()
    start = assignment.at(call).range.start
    above = (each for each in init.body if assignment.at(each).range.start <= start)
    waiting = [name for each in above for name in _own_names(each)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in methods and name not in found:
            found.add(name)
            waiting += _own_names(methods[name])
    return found


def _own_names(node: ast.AST) -> list[str]:
    """The attributes of `self` that a node mentions."""
    attributes = (each for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return [each.attr for each in attributes if is_own_attribute(each)]
