"""`x.to(d)` → `x = x.to(d)`; `x.cuda` → `x = x.cuda()`; `return x.cuda` → `return x.cuda()`; of a
parameter `p.data = p.data.to(d)`."""

from __future__ import annotations

import ast

from device_lens.fixes.blocks import insert_below
from device_lens.fixes.bound_value import bound_value
from device_lens.fixes.comprehension import can_hold
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.names import assignable, loads_behind
from device_lens.fixes.place import LOOPS, Place, shown_below_cell
from device_lens.fixes.rebuild_container import loop_fix
from device_lens.fixes.refill import Known, Refill, refilled

CONVERSIONS = frozenset(
    "to cuda cpu xpu half float double bfloat16 int long short bool contiguous type type_as "
    "pin_memory".split()
)


def assign_result(
    call: Place, called: bool, known: Known, of_parameter: bool = False
) -> Fix | None:
    """Keeps the result of a transfer. `call` is the call, or the attribute where its parentheses
    are missing. A parameter stays the one that its module and an optimizer know: what moves is its
    data."""
    if not called and getattr(call.node, "attr", "") == "to":
        return None  # where to is not said
    if not called and not isinstance(call.parent, ast.Expr):
        edit = call.insert_behind("()")
        return Fix(f"Call it: {call.text}()", Safety.SAFE, (edit,))
    if isinstance(call.parent, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return _keep_comprehension(call, known)
    if isinstance(call.parent, ast.DictComp):
        return _keep_dict(call)
    if isinstance(call.parent, ast.Lambda):
        return _keep_mapped(call, known)
    if isinstance(call.parent, ast.Tuple) and called:
        return _keep_several(call)
    receiver = _receiver(call, called)
    call = _choice(call, receiver)
    if receiver is None or not isinstance(call.parent, ast.Expr):
        return None
    text = call.text if called else f"{call.text}()"
    if of_parameter and assignable(receiver) and text.startswith(receiver.text):
        data = f"{receiver.text}.data"
        new_text = f"{data} = {data}{text[len(receiver.text) :]}"
        return Fix(f"Move its data: {new_text}", _unless_shown(call), (call.replace(new_text),))
    loop = _loop_of(receiver, call)
    if loop is not None:
        return loop_fix(loop, receiver.text, text, known)
    if not assignable(receiver):
        return None
    got = _attribute_of(receiver, call)
    if got is not None:
        owner, name = (call.at(each).text for each in got.args[:2])
        new_text = f"setattr({owner}, {name}, {text})"
        return Fix(f"Store the result: {new_text}", Safety.UNSAFE, (call.replace(new_text),))
    return _assigned_to(receiver.text, text, call)


def names_result(call: Place) -> str:
    """What an assignment calls the result of a transfer; empty where there is none."""
    whole = call.parent
    return ast.unparse(whole.targets[0]) if isinstance(whole, ast.Assign) else ""


def rename_result(call: Place) -> Fix | None:
    """`_ = x.to(d)` → `x = x.to(d)`."""
    receiver, whole = _receiver(call, called=True), call.parent
    if receiver is None or not isinstance(whole, ast.Assign) or not assignable(receiver):
        return None
    if names_result(call) == receiver.text or _loop_of(receiver, call) is not None:
        return None
    text = f"{receiver.text} = {call.text}"
    edit = call.at(whole.targets[0]).replace(receiver.text)
    return Fix(f"Assign the result: {text}", Safety.SAFE, (edit,))


def assign_copies(call: Place, subjects: list[Place], known: Known) -> Fix | None:
    """`move(batch, d)` as a statement → `batch = move(batch, d)`."""
    if not isinstance(call.parent, ast.Expr) or not all(map(assignable, subjects)):
        return None
    if len(subjects) == 1:
        loop = _loop_of(subjects[0], call)
        if loop is not None:
            return loop_fix(loop, subjects[0].text, call.text, known)
    elif any(_loop_of(each, call) is not None for each in subjects):
        return None
    return _assigned_to(", ".join(each.text for each in subjects), call.text, call)


def _assigned_to(target: str, value: str, whole: Place) -> Fix:
    """An assignment in place of an expression that is a statement. What a notebook shows below its
    cell it shows still."""
    new_text = f"{target} = {value}"
    shown = (insert_below(whole.statement, target),) if shown_below_cell(whole) else ()
    return Fix(f"Assign the result: {new_text}", Safety.SAFE, (whole.replace(new_text), *shown))


def _unless_shown(whole: Place) -> Safety:
    """A notebook shows the value of what ends its cell, which an assignment has none of."""
    return Safety.UNSAFE if shown_below_cell(whole) else Safety.SAFE


def replace_field(call: Place, known: Known) -> Fix | None:
    """`batch.x.to(d)` → `batch = batch._replace(x=batch.x.to(d))`, of a named tuple."""
    receiver = _receiver(call, called=True)
    if receiver is None or not isinstance(call.parent, ast.Expr):
        return None
    if not isinstance(receiver.node, ast.Attribute):
        return None
    owner = call.at(receiver.node.value)
    if known.kind_of(owner) != "named tuple" or not assignable(owner):
        return None
    if _loop_of(owner, call) is not None:
        return None
    new_text = f"{owner.text} = {owner.text}._replace({receiver.node.attr}={call.text})"
    return Fix(f"Replace the field: {new_text}", _unless_shown(call), (call.replace(new_text),))


def _attribute_of(receiver: Place, call: Place) -> ast.Call | None:
    """The `getattr(x, name)` that a name has its value from, where nothing reads the name below the
    call: an assignment to it would be lost."""
    if not isinstance(receiver.node, ast.Name) or any(loads_behind(call, receiver.node.id)):
        return None
    value = bound_value(receiver)
    match value.node if value is not None else None:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, _, *_]) as got:
            return got
    return None


def _keep_several(call: Place) -> Fix | None:
    """`x.cpu(), y.cpu()` as a statement → `x, y = x.cpu(), y.cpu()`."""
    whole = call.at(call.parent) if call.parent is not None else call
    if not isinstance(whole.node, ast.Tuple) or not isinstance(whole.parent, ast.Expr):
        return None
    targets = [_receiver(call.at(each), called=True) for each in whole.node.elts]
    kept = [each for each in targets if each is not None and assignable(each)]
    if len(kept) != len(targets) or any(_loop_of(each, whole) is not None for each in kept):
        return None
    return _assigned_to(", ".join(each.text for each in kept), whole.text, whole)


def _choice(call: Place, receiver: Place | None) -> Place:
    """`x.to(d) if … else x` around `x.to(d)`, where it is a statement; else the call itself."""
    choice = call.parent
    if receiver is None or not isinstance(choice, ast.IfExp):
        return call
    other = choice.orelse if choice.body is call.node else choice.body
    whole = call.at(choice)
    return whole if call.at(other).text == receiver.text else call


def _receiver(call: Place, called: bool) -> Place | None:
    """What a chain of conversions begins with."""
    node: ast.AST | None = call.node
    if not called:
        return call.at(node.value) if isinstance(node, ast.Attribute) else None
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in CONVERSIONS:
            return None
        node = node.func.value
    return call.at(node) if node is not None else None


def _loop_of(receiver: Place, call: Place) -> Place | None:
    """The loop whose variable the receiver of a call is, where the assignment would still be lost:
    nothing reads the variable further down in the body."""
    if not isinstance(receiver.node, ast.Name):
        return None
    name, end = receiver.node.id, call.range.end
    for node in receiver.ancestors():
        if not isinstance(node, LOOPS) or isinstance(node, ast.While):
            continue
        bound = [n for n in ast.walk(node.target) if isinstance(n, ast.Name) and n.id == name]
        if not bound:
            continue
        later = (
            each
            for statement in node.body
            for each in ast.walk(statement)
            if isinstance(each, ast.Name) and each.id == name
        )
        read = any(receiver.at(each).range.start >= end for each in later)
        return None if read else receiver.at(node)
    return None


def _keep_comprehension(call: Place, known: Known) -> Fix | None:
    """`[t.to(d) for t in xs]` as a statement → `xs = [t.to(d) for t in xs]`."""
    comprehension = call.parent
    if not isinstance(comprehension, ast.ListComp | ast.GeneratorExp):
        return None
    if len(comprehension.generators) != 1:
        return None
    whole = call.at(comprehension)
    generator = comprehension.generators[0]
    if not isinstance(whole.parent, ast.Expr) or generator.ifs or generator.is_async:
        return None
    if not isinstance(generator.target, ast.Name):
        return None
    iterable = call.at(generator.iter)
    return _assigned(whole, refilled(iterable, generator.target.id, None, call.text, known))


def _assigned(whole: Place, new: Refill | None) -> Fix | None:
    """A statement in place of an expression that is one."""
    if new is None:
        return None
    safety = _unless_shown(whole) if new.safe else Safety.UNSAFE
    return Fix(f"Assign the result: {new.text}", safety, (whole.replace(new.text),))


def _keep_dict(call: Place) -> Fix | None:
    """`{k: t.to(d) for k, t in xs.items()}` as a statement → `xs.update(…)` around it: whoever else
    has the dict sees the moved tensors, and a class of its own stays what it is."""
    comprehension = call.parent
    if not isinstance(comprehension, ast.DictComp) or len(comprehension.generators) != 1:
        return None
    whole = call.at(comprehension)
    if not isinstance(whole.parent, ast.Expr):
        return None
    match comprehension.generators[0], comprehension.key:
        case (
            ast.comprehension(
                target=ast.Tuple(elts=[ast.Name(id=bound), ast.Name()]),
                iter=ast.Call(func=ast.Attribute(value=container, attr="items")),
                is_async=0,
            ),
            ast.Name(id=key),
        ) if bound == key and assignable(call.at(container)):
            new_text = f"{call.at(container).text}.update({whole.text})"
            edit = whole.replace(new_text)
            return Fix(f"Store the results: {new_text}", _unless_shown(whole), (edit,))
    return None


def _keep_mapped(call: Place, known: Known) -> Fix | None:
    """`list(map(lambda t: t.to(d), xs))` as a statement → `xs = [t.to(d) for t in xs]`; `map` alone
    too."""
    function = call.parent
    mapping = call.at(function).parent if function is not None else None
    if not isinstance(function, ast.Lambda) or not isinstance(mapping, ast.Call):
        return None
    whole = call.at(mapping)
    if not isinstance(whole.parent, ast.Expr):
        whole = call.at(whole.parent or mapping)
    if not isinstance(whole.parent, ast.Expr) or len(mapping.args) != 2:
        return None
    parameters = function.args
    if len(parameters.args) != 1 or parameters.defaults or parameters.vararg or parameters.kwarg:
        return None
    if not can_hold(call, [call.node], {parameters.args[0].arg}):
        return None
    iterable = call.at(mapping.args[1])
    return _assigned(whole, refilled(iterable, parameters.args[0].arg, None, call.text, known))
