"""`xs.to(d)` on a list, tuple or dict → the same container with each tensor moved."""

from __future__ import annotations

import ast
import builtins

from device_lens.fixes.comprehension import means_builtin, name_at, sees
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import assignable, fresh_letter, loads_behind, words
from device_lens.fixes.place import Place, grouped
from device_lens.syntax.names import names_in
from device_lens.syntax.walking import walk

PATTERNS = {
    "list": "[{move} for {items}]",
    "tuple": "tuple({move} for {items})",
    "named tuple": "type({container})(*({move} for {items}))",
    "dict": "{{{key}: {move} for {items}}}",
}
"""The same container of moved items, by what it is; `items` are `item in container`."""
_NAMES = {"tuple": "tuple", "named tuple": "type"}
"""What of Python's own a pattern calls."""


def can_write(place: Place, kind: str) -> bool:
    """Whether a container of a kind can be written so at a place: the names are Python's there."""
    return kind in PATTERNS and (kind not in _NAMES or means_builtin(place, _NAMES[kind]))


def map_container(
    call: Place, kinds: tuple[str, ...], mixed: bool = False, settable: bool = True
) -> Fix | None:
    """The comprehension in place of the call and of what is called on its result, as in
    `xs.cpu().detach()`; assigned where the result was thrown away. `kinds` has what the container
    is, and what those in it are; `mixed` tells that not all in the innermost are tensors,
    `settable` that nothing speaks against an assignment. None where something else is done with the
    result that only a tensor can do."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    subject = call.at(node.func.value)
    whole = _chain(call)
    if isinstance(whole.parent, ast.Attribute | ast.BinOp | ast.UnaryOp):
        return None
    if whole.range.start != call.range.start:
        return None  # parentheses stand between them
    suffix = f".{whole.text[len(_head(call, node.func)) :]}"
    torch = name_at(call, "torch") if mixed else None
    if mixed and torch is None:
        return None
    new_text = mapped(subject, kinds, suffix, torch)
    if new_text is None:
        return None
    if isinstance(whole.parent, ast.Expr):
        if not (settable and assignable(subject)):
            return None
        new_text = f"{subject.text} = {new_text}"
    if isinstance(whole.parent, ast.FormattedValue) and new_text.startswith("{"):
        new_text = f"({new_text})"  # two braces are one that is written
    title = f"Move each tensor: {' '.join(new_text.split())}"
    return Fix(title, Safety.SAFE, (whole.replace(new_text),))


_OF_EACH = frozenset(
    "to cuda cpu detach clone contiguous float double half bfloat16 long numpy tolist".split()
)
"""Methods of a tensor that give the same tensor in another form."""


def _chain(call: Place) -> Place:
    """The call with those of its result: `xs.cpu().detach()` of `xs.cpu()`."""
    node: ast.AST = call.node
    ancestors = list(call.ancestors())
    for attribute, outer in zip(ancestors[::2], ancestors[1::2], strict=False):
        if not isinstance(attribute, ast.Attribute) or attribute.attr not in _OF_EACH:
            break
        if not isinstance(outer, ast.Call) or outer.func is not attribute:
            break
        node = outer
    return call.at(node)


def take_item(call: Place) -> Fix | None:
    """`x = xs.to(d)` on a list of one tensor → `x = xs[0].to(d)`, where something is done with
    `x` further down that only a tensor can do, and nothing that a list can."""
    node, statement = call.node, call.statement.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(target, ast.Name) or call.parent is not statement:
        return None
    reads = list(loads_behind(call.statement, target.id))
    if any(map(_is_of_list, reads)) or not any(map(_is_of_tensor, reads)):
        return None
    subject = call.at(node.func.value)
    text = f"{grouped(subject)}[0].{call.text[len(_head(call, node.func)) :]}"
    return Fix(f"Move the tensor in it: {text}", Safety.SAFE, (call.replace(text),))


_OF_LISTS = frozenset("append extend insert pop copy count index remove reverse sort clear".split())


def _is_of_list(read: Place) -> bool:
    """Whether a name is read as that of a list is: by index, item by item, as a whole."""
    parent = read.parent
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in vars(builtins)
    return not _is_of_tensor(read)


def _is_of_tensor(read: Place) -> bool:
    parent = read.parent
    if isinstance(parent, ast.Attribute):
        return parent.attr not in _OF_LISTS
    return isinstance(parent, ast.BinOp | ast.UnaryOp)


def move_owner(call: Place) -> Fix | None:
    """`model.parameters().to(d)` as a statement → `model.to(d)`."""
    node = call.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    parameters = node.func.value
    if not isinstance(call.parent, ast.Expr) or not isinstance(parameters, ast.Call):
        return None
    owner = parameters.func
    if not isinstance(owner, ast.Attribute) or owner.attr != "parameters":
        return None
    text = call.at(owner.value).text + f".{call.text[len(_head(call, node.func)) :]}"
    return Fix(f"Move the module: {text}", Safety.SAFE, (call.replace(text),))


def mapped(
    subject: Place, kinds: tuple[str, ...], suffix: str, torch: str | None = None
) -> str | None:
    """The container with `suffix`, such as `.cpu()`, applied to each item; to those of the
    containers in it where `kinds` has more than one. With what the file calls `torch`, only
    tensors are touched."""
    if not all(can_write(subject, kind) for kind in kinds):
        return None
    if kinds[0] == "named tuple" and any(map(is_computed, walk(subject.node))):
        return None  # it is written twice
    if any(isinstance(each, ast.NamedExpr) for each in walk(subject.node)):
        return None  # no comprehension goes through one
    if not sees(subject, words(suffix)):
        return None
    taken = names_in(subject.node) | words(suffix)
    levels: list[tuple[str, str, str]] = []
    for kind in kinds:
        item = fresh_letter(taken, "v" if kind == "dict" else "t")
        key = fresh_letter(taken | {item}, "k") if kind == "dict" else ""
        levels.append((kind, item, key))
        taken |= {item, key}
    innermost = levels[-1][1]
    move = f"{innermost}{suffix}"
    if torch is not None:
        move = f"{move} if {torch}.is_tensor({innermost}) else {innermost}"
    owners = [grouped(subject), *(item for _, item, _ in levels)]
    for (kind, item, key), container in reversed(list(zip(levels, owners, strict=False))):
        items = f"{key}, {item} in {container}.items()" if key else f"{item} in {container}"
        move = PATTERNS[kind].format(move=move, key=key, container=container, items=items)
    return move


def is_computed(node: ast.AST) -> bool:
    """Whether a node gives something else when it is evaluated twice, perhaps."""
    return isinstance(node, ast.Call | ast.Await | ast.NamedExpr | ast.Yield | ast.YieldFrom)


def _head(call: Place, func: ast.Attribute) -> str:
    """The text of a method call up to the method's name."""
    lines = call.source.lines
    start = lines.offset(call.range.start)
    end = lines.offset(call.at(func).range.end) - len(func.attr)
    return lines.text[start:end]
