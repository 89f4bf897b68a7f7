"""Keeps a value on the device that the program takes to the host and back."""

from __future__ import annotations

import ast

from device_lens.fixes.arguments import keyword
from device_lens.fixes.definitions import definitions_of
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import loads, stores
from device_lens.fixes.place import Place, grouped
from device_lens.syntax.sharing import written

_DOWN = ("cpu", "numpy", "tolist", "item")


def stay_on_device(down: Place, up: Place) -> Fix | None:
    """`n = x.tolist()` … `torch.tensor(n, device=d)` → `n = x` … `n`, where nothing else reads
    the copy on the host; `x.cpu().to(d)` → `x`."""
    source = _before_host(down)
    carried = _carried(up)
    if source is None or carried is None or _asks_for_gradients(up):
        return None
    kept = grouped(source) if _leaves_graph(down) else source.text
    kept += ".detach()" if _leaves_graph(down) else ""
    title = "Stay on the device"
    if any(node is down.node for node in ast.walk(carried.node)):
        if carried.node is not down.node:
            return None
        bare = kept if _leaves_graph(down) else grouped(source)
        return Fix(title, Safety.UNSAFE, (up.replace(f"{bare}{_suffix(up)}"),))
    if not isinstance(carried.node, ast.Name) or not _only_for(down, up, carried.node.id):
        return None
    if _is_changed(source):
        kept = f"{grouped(source) if kept == source.text else kept}.clone()"
    edits = (down.replace(kept), up.replace(f"{carried.text}{_suffix(up)}"))
    return Fix(title, Safety.UNSAFE, edits)


def _asks_for_gradients(up: Place) -> bool:
    """Whether the way back makes a leaf that requires grad, as no tensor with a past is."""
    calls = (each for each in ast.walk(up.node) if isinstance(each, ast.Call))
    return any(keyword(each, "requires_grad") is not None for each in calls)


def _leaves_graph(down: Place) -> bool:
    """Whether the way to the host gives numbers, which have no graph."""
    calls = (each for each in ast.walk(down.node) if isinstance(each, ast.Call))
    named = {each.func.attr for each in calls if isinstance(each.func, ast.Attribute)}
    return not named.isdisjoint(("tolist", "item")) and "detach" not in named


def _is_changed(source: Place) -> bool:
    """Whether the program writes into what goes to the host."""
    roots = [source.function] if source.function is not None else source.top_level
    names = {each.id for each in ast.walk(source.node) if isinstance(each, ast.Name)}
    return not names.isdisjoint(written(roots, definitions_of(source.source)))


def _suffix(up: Place) -> str:
    """What the way back does besides: another dtype, and a copy that the program writes into."""
    call, copies = up.node, _is_written(up)
    calls = [each for each in ast.walk(call) if isinstance(each, ast.Call)]
    dtype = next((found for each in calls if (found := keyword(each, "dtype"))), None)
    to = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "to"
    if dtype is not None:
        return f".to({up.at(dtype.value).text}{', copy=True' if copies else ''})"
    if to and isinstance(call, ast.Call) and len(call.args) > 1:
        return f".to({up.at(call.args[1]).text}{', copy=True' if copies else ''})"
    return ".clone()" if copies else ""


def _is_written(up: Place) -> bool:
    """Whether the program writes into what comes back, by the name that it gives it."""
    statement = up.statement.node
    if not isinstance(statement, ast.Assign):
        return False
    names = {each.id for each in statement.targets if isinstance(each, ast.Name)}
    roots = [up.function] if up.function is not None else up.top_level
    return not names.isdisjoint(written(roots, definitions_of(up.source)))


def _before_host(down: Place) -> Place | None:
    """What a chain such as `x.detach().cpu().numpy()` begins with on the device."""
    node: ast.AST = down.node
    found: ast.AST | None = None
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _DOWN or _is_to_cpu(node):
            found = node.func.value
        elif node.func.attr != "detach" or found is None:
            break
        node = node.func.value
    return down.at(found) if found is not None else None


def _is_to_cpu(node: ast.Call) -> bool:
    argument = node.args[0] if node.args else None
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "to"
        and isinstance(argument, ast.Constant)
        and argument.value == "cpu"
    )


def _carried(up: Place) -> Place | None:
    """What the way back takes: the argument of `torch.tensor(n, …)`, the receiver of `.to(d)`."""
    node = up.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr in ("tensor", "as_tensor", "from_numpy"):
        return up.at(node.args[0]) if node.args else None
    if node.func.attr in ("to", "cuda"):
        inner = up.at(node.func.value)
        return _carried(inner) or inner
    return None


def _only_for(down: Place, up: Place, name: str) -> bool:
    """Whether `name` is bound to the host copy only, and read for the way back only."""
    statement = down.statement.node
    if not isinstance(statement, ast.Assign) or statement.value is not down.node:
        return False
    if [ast.unparse(each) for each in statement.targets] != [name]:
        return False  # what is carried was made of the copy on the host
    function = down.function
    if function is None:
        roots: list[ast.AST] = [*down.top_level]
    else:
        roots = [function]
    read = sum(len(loads(root, name)) for root in roots)
    bound = sum(len(stores(root, name)) for root in roots)
    return read == 1 and bound == 1 and up.statement.node is not statement
