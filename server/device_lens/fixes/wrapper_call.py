"""Calls on a `DistributedDataParallel`: through the wrapper, or past it where it has no such
attribute."""

from __future__ import annotations

import ast
from itertools import takewhile

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place

_HANDING_ON = (ast.Call, ast.keyword, ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Await)


def call_wrapper(call: Place, wrapper: Place | None) -> Fix | None:
    """`ddp.module(x)` → `ddp(x)`; `raw(x)` → `ddp(x)` where the wrapper has a name."""
    node = call.node
    if not isinstance(node, ast.Call):
        return None
    func = call.at(node.func)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "module":
        name: str | None = call.at(node.func.value).text
    else:
        name = assigned_name(wrapper) if wrapper is not None else None
    if name is None or name == func.text:
        return None
    return Fix(f"Call the wrapper: {name}(…)", Safety.UNSAFE, (func.replace(name),))


def reach_through(access: Place) -> Fix | None:
    """`ddp.set_grid` → `ddp.module.set_grid`."""
    node = access.node
    attribute = node.func if isinstance(node, ast.Call) else node
    if not isinstance(attribute, ast.Attribute):
        return None
    value = access.at(attribute.value)
    title = f"Reach the wrapped module: {value.text}.module.{attribute.attr}"
    return Fix(title, Safety.UNSAFE, (value.insert_behind(".module"),))


def assigned_name(creation: Place) -> str | None:
    """The name or attribute that a statement gives to what it makes: not to what that is put into,
    nor to a function that makes it."""
    statement = creation.statement.node
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    within = takewhile(lambda each: each is not statement, creation.ancestors())
    if not all(isinstance(each, _HANDING_ON) for each in within):
        return None
    target = statement.targets[0]
    return ast.unparse(target) if isinstance(target, ast.Name | ast.Attribute) else None
