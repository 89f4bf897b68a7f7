"""Layers and parameters that a module keeps in a plain list or dict, found from where they are
made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.blocks import block_of
from device_lens.fixes.names import stores
from device_lens.fixes.place import Place
from device_lens.interpreter.usage import registers_items

_ADDING = ("append", "extend", "insert", "add", "update", "setdefault")


def container_of(created: Place) -> Place | None:
    """The `self.name` that is set to the plain container in which a part is put where it is made:
    `self.layers = [nn.Linear(3, 3)]`, or `self.layers.append(nn.Linear(3, 3))` below
    `self.layers = []`. None where it goes elsewhere, or the class has no bases: it is no module.
    None also where the class makes a module of what the container has, and so registers it."""
    owner = created.owner
    if owner is not None and not owner.bases:
        return None
    found = _put_in(created)
    if found is None or owner is None:
        return found
    return None if registers_items(owner, _own(found.node) or "") else found


def _put_in(created: Place) -> Place | None:
    for node in created.ancestors():
        if isinstance(node, ast.Assign):
            return _assigned(created, node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = node.func.value
            if node.func.attr in _ADDING and _own(target) is not None:
                return _set_up(created, target)
        if isinstance(node, ast.stmt):
            return None
    return None


def is_dict(target: Place) -> bool:
    statement = target.statement.node
    return isinstance(statement, ast.Assign) and isinstance(
        statement.value, ast.Dict | ast.DictComp
    )


def makes_part(created: Place) -> bool:
    """Whether what is made is a layer or for a parameter, rather than a plain tensor."""
    node = created.node
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    is_class = name[:1].isupper() and not name.endswith("Tensor")
    return is_class or makes_parameter(created)


def makes_parameter(created: Place) -> bool:
    """Whether the tensor is made for an `nn.Parameter`."""
    calls = [node for node in (created.node, *created.ancestors()) if isinstance(node, ast.Call)]
    return any(ast.unparse(call.func).endswith("Parameter") for call in calls)


def _assigned(created: Place, statement: ast.Assign) -> Place | None:
    target = statement.targets[0]
    if isinstance(target, ast.Name):
        return _put_in_below(created, target.id)
    if isinstance(target, ast.Subscript) and _own(target.value) is not None:
        return _set_up(created, target.value)
    plain = isinstance(statement.value, ast.List | ast.Dict | ast.ListComp | ast.DictComp)
    return created.at(target) if plain and _own(target) is not None else None


def _put_in_below(created: Place, name: str) -> Place | None:
    """The same where the part has a name first: `w = nn.Parameter(…)`, `self.parts.append(w)`
    further down in the same block."""
    block, first = block_of(created.statement), created.statement.node
    position = next((n for n, each in enumerate(block) if each is first), len(block))
    for statement in block[position + 1 :]:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and any(_is_named(each, name) for each in call.args):
            function = call.func
            if not isinstance(function, ast.Attribute) or function.attr not in _ADDING:
                return None
            return _set_up(created, function.value) if _own(function.value) is not None else None
        if stores(statement, name):
            return None
    return None


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _set_up(created: Place, target: ast.AST) -> Place | None:
    """Where the class sets the attribute to a new plain container."""
    name = _own(target)
    for statement in _assignments(created.owner):
        plain = isinstance(statement.value, ast.List | ast.Dict | ast.ListComp | ast.DictComp)
        if plain and _own(statement.targets[0]) == name:
            return created.at(statement.targets[0])
    return None


def _assignments(owner: ast.ClassDef | None) -> Iterator[ast.Assign]:
    if owner is not None:
        yield from (node for node in ast.walk(owner) if isinstance(node, ast.Assign))


def _own(node: ast.AST) -> str | None:
    """The name in `self.name`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "self" else None
    return None
