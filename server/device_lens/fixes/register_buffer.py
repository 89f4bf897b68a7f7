"""`self.mean = torch.tensor(...)` → `self.register_buffer("mean", torch.tensor(...))`, or to a
parameter where it is trained."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place, in_quotes
from device_lens.syntax.names import is_own_attribute, last_name


def register_buffer(
    assignment: Place, attribute: str, safety: Safety, fits: Callable[[ast.expr], bool]
) -> tuple[Fix, ...]:
    """A buffer that moves with the module: one that stays out of the state dict, as the plain
    attribute did, and one that is saved. None where the module is not set up yet at that line or
    has the attribute already. Of several assignments the one in `__init__` that is first, where
    `fits` tells of all of them that a buffer may hold their value: they set the buffer then."""
    if assigned_elsewhere(assignment, attribute):
        first, safety = _first(assignment, attribute, fits), Safety.UNSAFE
        if first is None:
            return ()
        assignment = first
    value = _value(assignment)
    if value is None or not ready(assignment) or _is_class_attribute(assignment, attribute):
        return ()
    head = f"self.register_buffer({in_quotes(assignment, attribute)}, {value.text}"
    quiet = assignment.replace(f"{head}, persistent=False)")
    saved = assignment.replace(f"{head})")
    return (
        Fix(
            f'Register it: self.register_buffer("{attribute}", …, persistent=False)',
            safety,
            (quiet,),
        ),
        Fix(
            f'Register and save it: self.register_buffer("{attribute}", …)',
            Safety.UNSAFE,
            (saved,),
            preferred=False,
        ),
    )


def register_named(statement: Place, fits: Callable[[ast.expr], bool]) -> Fix | None:
    """`setattr(self, name, value)` → `self.register_buffer(name, value)` where an object is set up,
    and `fits` tells that a buffer may hold each of the values."""
    match statement.node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="setattr"),
                args=[ast.Name(id="self"), name, value],
                keywords=[],
            )
        ) if not isinstance(name, ast.Starred):
            pass
        case _:
            return None
    function = statement.function
    if getattr(function, "name", None) != "__init__" or not (ready(statement) and fits(value)):
        return None
    given = f"{statement.at(name).text}, {statement.at(value).text}"
    new_text = f"self.register_buffer({given}, persistent=False)"
    return Fix(f"Register it: {new_text}", Safety.UNSAFE, (statement.replace(new_text),))


def make_parameter(assignment: Place, attribute: str) -> Fix | None:
    """`self.scale = torch.ones(3, requires_grad=True)` → `self.scale = nn.Parameter(…)`: it moves
    with the module and stays a leaf. None where it is set elsewhere too, and where the value does
    not ask for gradients itself: what is computed from parameters is none."""
    nn, value = name_at(assignment, "torch.nn"), _value(assignment)
    if nn is None or value is None or assigned_elsewhere(assignment, attribute):
        return None
    if not ready(assignment) or _is_class_attribute(assignment, attribute):
        return None
    if not any(map(_asks_for_gradients, ast.walk(value.node))):
        return None
    edit = value.replace(f"{nn}.Parameter({value.text})")
    return Fix(f"Make it a parameter: {nn}.Parameter(…)", Safety.UNSAFE, (edit,))


def _asks_for_gradients(node: ast.AST) -> bool:
    """`requires_grad=True`, `.requires_grad_()`."""
    if isinstance(node, ast.keyword):
        return node.arg == "requires_grad"
    return isinstance(node, ast.Attribute) and node.attr == "requires_grad_"


def _value(assignment: Place) -> Place | None:
    """The value in `self.name = value`."""
    node = assignment.node
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target: ast.expr = node.targets[0]
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target = node.target
    else:
        return None
    if not is_own_attribute(target) or node.value is None:
        return None
    return assignment.at(node.value)


def _first(assignment: Place, attribute: str, fits: Callable[[ast.expr], bool]) -> Place | None:
    """The assignment that surely runs before all others of the class: in the body of `__init__`, or
    of a method that it calls there."""
    owner = assignment.owner
    methods = [each for each in getattr(owner, "body", ()) if isinstance(each, ast.FunctionDef)]
    setting = [each for each in methods if _stores(each, attribute)]
    if sum(len(_stores(each, attribute)) for each in setting) < _count(owner, attribute):
        return None
    if not all(fits(value) for each in setting for value in _values(each, attribute)):
        return None
    init = next((each for each in methods if each.name == "__init__"), None)
    for statement in () if init is None else init.body:
        if _stores(statement, attribute):
            return assignment.at(statement)
        called = [each for each in setting if each is not init and each.name in _named(statement)]
        if called:
            at = assignment.at(statement)
            alone = len(called) == 1 and isinstance(statement, ast.Expr) and ready(at)
            return _first_of(called[0], setting, attribute, at) if alone else None
    return None


def _first_of(
    method: ast.FunctionDef, setting: list[ast.FunctionDef], attribute: str, call: Place
) -> Place | None:
    """The assignment in the body of a method that `__init__` calls, where nothing before it ends
    the method or sets the attribute."""
    if not isinstance(call.node, ast.Expr) or not isinstance(call.node.value, ast.Call):
        return None
    func = call.node.value.func
    if not is_own_attribute(func) or method.decorator_list:
        return None
    others = {each.name for each in setting}
    for statement in method.body:
        if _stores(statement, attribute):
            return call.at(statement)
        if others & _named(statement):
            return None
        if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            return None
    return None


def _named(statement: ast.stmt) -> set[str]:
    """The attributes that a statement mentions, methods among them."""
    return {each.attr for each in ast.walk(statement) if isinstance(each, ast.Attribute)}


def _values(function: ast.AST, attribute: str) -> Iterator[ast.expr]:
    """What the function assigns to the attribute: the target itself where that is not written."""
    targets = _stores(function, attribute)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and node.targets[0] in targets:
            targets.remove(node.targets[0])
            yield node.value
        elif isinstance(node, ast.AnnAssign) and node.target in targets:
            targets.remove(node.target)
            yield node.value or node.target
    yield from targets


def _is_class_attribute(assignment: Place, attribute: str) -> bool:
    """Whether the class's own body binds the name, which a buffer cannot have then."""
    return any(
        isinstance(each, ast.Name) and each.id == attribute and isinstance(each.ctx, ast.Store)
        for statement in getattr(assignment.owner, "body", ())
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and (not isinstance(statement, ast.AnnAssign) or statement.value is not None)
        for each in ast.walk(statement)
    )


def ready(assignment: Place) -> bool:
    """Whether `super().__init__()` has run where the assignment stands: outside `__init__`, or
    below that call."""
    function = assignment.function
    if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
        return function is not None
    start = assignment.range.start
    for node in ast.walk(function):
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr == "__init__":
            return assignment.at(node).range.start < start
    return False


def assigned_elsewhere(assignment: Place, attribute: str) -> bool:
    """Whether another line of the class sets `self.<attribute>`, a class that derives from it does,
    or somebody sets the attribute of an object."""
    owner = assignment.owner
    if owner is None or _count(owner, attribute) > 1:
        return True
    own = set(ast.walk(owner))
    return any(
        _sets_for(node, owner.name, attribute)
        for chunk in assignment.source.chunks
        if attribute in chunk.text
        for statement in chunk.body
        for node in ast.walk(statement)
        if node not in own
    )


def _sets_for(node: ast.AST, owner: str, attribute: str) -> bool:
    """Whether a node is a class that derives from another one and sets its attribute, or sets the
    attribute of an object from outside."""
    if isinstance(node, ast.ClassDef):
        return owner in map(last_name, node.bases) and _count(node, attribute) > 0
    if not isinstance(node, ast.Attribute) or node.attr != attribute:
        return False
    return isinstance(node.ctx, ast.Store) and not is_own_attribute(node)


def _count(owner: ast.AST | None, attribute: str) -> int:
    return 0 if owner is None else len(_stores(owner, attribute))


def _stores(node: ast.AST, attribute: str) -> list[ast.expr]:
    """The places that bind `self.<attribute>`; `+=` changes its tensor in place."""
    nodes = list(ast.walk(node))
    in_place = {id(each.target) for each in nodes if isinstance(each, ast.AugAssign)}
    return [
        each
        for each in nodes
        if isinstance(each, ast.Attribute)
        and each.attr == attribute
        and id(each) not in in_place
        and isinstance(each.ctx, ast.Store)
        and is_own_attribute(each)
    ]
