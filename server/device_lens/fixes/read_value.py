"""`total += loss` → `total += loss.detach()`; `total += loss.item()` → the same, and one read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from device_lens.fixes.bindings import parameters_of
from device_lens.fixes.blocks import insert_below
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.move_operand import appended
from device_lens.fixes.names import loads, stores
from device_lens.fixes.place import Place, grouped
from device_lens.syntax.names import last_name, names_in


def drop_graph(subject: Place, mixed: bool = False) -> Fix | None:
    """Keeps the value without its graph, on the device. A number has no graph to drop: `mixed` is
    seen to be one in some case, and where it is what a function is given, another caller may give
    one."""
    edit = appended(subject, ".detach()")
    if edit is None:
        return None
    safety = Safety.UNSAFE if mixed or _is_given(subject) else Safety.SAFE
    new_text = f"{grouped(subject)}.detach()"
    if safety is Safety.UNSAFE and _stands_alone(subject):
        new_text = f'{new_text} if hasattr({subject.text}, "detach") else {subject.text}'
        edit = subject.replace(new_text)
    elif mixed:
        return None
    return Fix(f"Keep the value only: {new_text}", safety, (edit,))


def drop_graphs(subjects: Sequence[Place]) -> Fix | None:
    """The same for some items of a list, tuple or dict."""
    fixes = list(map(drop_graph, subjects))
    found = [fix for fix in fixes if fix is not None]
    if not found or len(found) < len(fixes):
        return None
    texts = ", ".join(f"{grouped(subject)}.detach()" for subject in subjects)
    safety = Safety.SAFE if all(fix.safe for fix in found) else Safety.UNSAFE
    edits = tuple(edit for fix in found for edit in fix.edits)
    return Fix(f"Keep the values only: {texts}", safety, edits)


_UNREPEATABLE = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def _stands_alone(subject: Place) -> bool:
    """Whether a name, attribute or item, or what is calculated of such, is all of an argument or of
    what a statement adds."""
    if any(isinstance(each, _UNREPEATABLE) for each in ast.walk(subject.node)):
        return False
    return isinstance(subject.parent, ast.Call | ast.AugAssign | ast.Assign)


def _is_given(subject: Place) -> bool:
    """Whether a value is made of nothing but what the function is given."""
    return _is_made_of(subject.node, _given_names(subject.function))


def _is_made_of(value: ast.AST, given: set[str]) -> bool:
    """Whether a value is made of nothing but such names, their attributes and items, and
    constants. What has a slice is no number."""
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return False
        if isinstance(node, ast.BinOp):
            pending += [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            pending.append(node.operand)
        elif isinstance(node, ast.Attribute | ast.Subscript):
            pending.append(node.value)
        elif isinstance(node, ast.Name):
            if node.id not in given:
                return False
        elif not isinstance(node, ast.Constant):
            return False
    return True


def _given_names(function: ast.AST | None) -> set[str]:
    """The parameters of a function, what its loops find in them: `for i, v in enumerate(values)`,
    `for k, v in kwargs.items()`, and what it makes of these alone: `m = self.momentum`."""
    given = set(parameters_of(function))
    if function is None:
        return given
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.comprehension) and given & names_in(node.iter):
            given |= names_in(node.target)
    for target, value in _assignments(function):
        if isinstance(target, ast.Name) and _is_made_of(value, given):
            fixed = names_in(value).isdisjoint(given)  # a start, which what comes later replaces
            if not fixed or len(list(stores(function, target.id))) == 1:
                given.add(target.id)
    return given


def _assignments(function: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The plain assignments of a function, as they are written."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    for node in sorted(found, key=lambda each: (each.lineno, each.col_offset)):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value


def as_number(subject: Place, mixed: bool = False) -> Fix | None:
    """Keeps a Python number, which waits for the device. `mixed` is a number in some case."""
    if mixed:
        new_text = f"float({subject.text})"
        title = f"Keep a Python number: {new_text}"
        return Fix(title, Safety.UNSAFE, (subject.replace(new_text),), preferred=False)
    edit = appended(subject, ".item()")
    if edit is None:
        return None
    title = f"Keep a Python number: {grouped(subject)}.item()"
    return Fix(title, Safety.UNSAFE, (edit,), preferred=False)


def accumulate_on_device(
    read: Place, loop: Place, dtype: str | None, has_graph: bool
) -> Fix | None:
    """`total += loss.item()` → `total += loss.detach()`, and below the loop `total = float(total)`:
    one read in place of one in each iteration. `dtype` is that of what is read; one with fewer
    digits than a Python number does not add up. None where the loop reads the total itself, where
    it is not seen to begin as a number, or whether it ends as an integer is not known."""
    node, statement = read.node, read.statement.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr != "item" or not _is_term(read) or not isinstance(statement, ast.AugAssign):
        return None
    target = statement.target
    if not isinstance(target, ast.Name) or not isinstance(loop.node, ast.For | ast.While):
        return None
    kind = _number(read, target.id, dtype)
    if kind is None or loads(loop.node, target.id) or _is_read_meanwhile(loop, target.id):
        return None
    text = (
        grouped(read.at(node.func.value))
        + (".detach()" if has_graph else "")
        + _widened(dtype, loop)
    )
    below = f"{target.id} = {kind}({target.id})"
    edits = (read.replace(text), insert_below(loop, below))
    title = f"Accumulate on the device and read the total once: {below}"
    return Fix(title, Safety.UNSAFE, edits)


def _is_term(read: Place) -> bool:
    """Whether an augmented assignment adds what is read, or a multiple of it."""
    child: ast.AST = read.node
    for node in read.ancestors():
        if isinstance(node, ast.AugAssign):
            return isinstance(node.op, ast.Add)
        divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, _SCALING):
            return False
        if divides and node.right is child:
            return False
        child = node
    return False


_SCALING = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def _is_read_meanwhile(loop: Place, name: str) -> bool:
    """Whether a function within the one around a loop reads a name, or what handles an exception
    there: either finds it before the loop is over."""
    around = loop.top_level if loop.function is None else [loop.function]
    functions = (
        node
        for root in around
        for node in ast.walk(root)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        and node is not loop.function
    )
    handlers = (
        part
        for node in loop.ancestors()
        if isinstance(node, ast.Try)
        for part in (*node.handlers, *node.finalbody)
    )
    return any(loads(each, name) for each in (*functions, *handlers))


def _widened(dtype: str | None, loop: Place) -> str:
    """What lets a tensor of few digits add up as its values do in Python."""
    if dtype is not None and dtype.startswith(_INTEGERS):
        return "" if dtype == "int64" else ".long()"
    names = (each for each in ast.walk(loop.node) if isinstance(each, ast.Name | ast.Attribute))
    casts = dtype in ("float16", "bfloat16") or any(last_name(e) == "autocast" for e in names)
    return ".float()" if casts else ""


_INTEGERS = ("int", "uint", "bool")


def _stays_integer(read: Place) -> bool | None:
    """Whether what is added to the total is an integer if what is read is one; None: unknown."""
    child: ast.AST = read.node
    for node in read.ancestors():
        if not isinstance(node, ast.BinOp):
            return True
        if isinstance(node.op, ast.Div):
            return False
        other = node.right if node.left is child else node.left
        if isinstance(other, ast.Constant) and isinstance(other.value, float):
            return False
        if not _is_integer(other):
            return None
        child = node
    return True


def _is_integer(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int()) | ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Call(func=ast.Attribute(attr="size"), args=[_]):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
    return False


def _number(read: Place, name: str, dtype: str | None) -> str | None:
    """`int` or `float`, as a total begins and what is added to it; None where it is not known."""
    values = [each for each in _given_to(read, name) if isinstance(each, ast.Constant)]
    if not values or not all(type(each.value) in (int, float) for each in values):
        return None
    if any(type(each.value) is float for each in values):
        return "float"
    if dtype is None:
        return None
    if not dtype.startswith(_INTEGERS):
        return "float"
    stays = _stays_integer(read)
    return None if stays is None else "int" if stays else "float"


def _given_to(read: Place, name: str) -> Iterator[ast.expr]:
    """What plain assignments of the function, or of the top level, bind a name to."""
    function = read.function
    roots: list[ast.AST] = [function] if function is not None else []
    if function is None:
        roots += read.top_level
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    yield from _matched(target, node.value, name)


def _matched(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    """What an assignment binds a name to, also in `a, b = 0, 0`."""
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for left, right in zip(target.elts, value.elts, strict=False):
            yield from _matched(left, right, name)
