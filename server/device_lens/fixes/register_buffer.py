"""`self.mean = torch.tensor(...)` → `self.register_buffer("mean", torch.tensor(...))`, or to a
parameter where it is trained."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.place import Place, in_quotes
from device_lens.syntax.names import is_own_attribute, last_name
from device_lens.syntax.position import Range
from device_lens.syntax.source import SourceFile


def register_buffer(
    assignment: Place,
    attribute: str,
    safety: Safety,
    fits: Callable[[ast.expr], bool],
    sources: Sequence[SourceFile] = (),
) -> tuple[Fix, ...]:
    """A buffer that moves with the module: one that stays out of the state dict, as the plain
    attribute did, and one that is saved. None where the module is not set up yet at that line. Of
    several assignments the one in `__init__` that is first, where `fits` tells of all of them that
    a buffer may hold their value: they set the buffer then. `sources` are the files of the
    program."""
    if assigned_elsewhere(assignment, attribute, sources):
        first, safety = _first(assignment, attribute, fits), Safety.UNSAFE
        if first is None:
            return ()
        assignment = first
    value = _value(assignment)
    if value is None or not ready(assignment) or _has_of_base(assignment, attribute, sources):
        return ()
    quiet = _registered(assignment, value, attribute, ", persistent=False")
    saved = _registered(assignment, value, attribute, "")
    if not quiet:
        return ()
    return (
        Fix(
            f'Register it: self.register_buffer("{attribute}", …, persistent=False)',
            safety,
            quiet,
        ),
        Fix(
            f'Register and save it: self.register_buffer("{attribute}", …)',
            Safety.UNSAFE,
            saved,
            preferred=False,
        ),
    )


def _registered(assignment: Place, value: Place, attribute: str, behind: str) -> tuple[Edit, ...]:
    """The call around the value, comments within its parentheses included."""
    whole, kept = assignment.range, value.range
    head, tail = Range(whole.start, kept.start), Range(kept.end, whole.end)
    if any("#" in assignment.source.text_of(each) for each in (head, tail)):
        kept = _with_parentheses(assignment)
        head, tail = Range(whole.start, kept.start), Range(kept.end, whole.end)
    call = f"self.register_buffer({in_quotes(assignment, attribute)}, "
    return assignment.edit(head, call), assignment.edit(tail, f"{behind})")


def _with_parentheses(assignment: Place) -> Range:
    """What stands behind the sign of an assignment."""
    lines, whole = assignment.source.lines, assignment.range
    sign = _SIGN.match(lines.text, lines.offset(whole.start))
    start = whole.start if sign is None else lines.position(sign.end())
    return Range(start, whole.end)


_SIGN = re.compile(r"[^=]*=[\s\\]*")


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


def make_parameter(assignment: Place, attribute: str, sources: Sequence[SourceFile]) -> Fix | None:
    """`self.scale = torch.ones(3, requires_grad=True)` → `self.scale = nn.Parameter(…)`: it moves
    with the module and stays a leaf. None where one of the program's files, `sources`, sets it
    elsewhere too, and where the value does not ask for gradients itself: what is computed from
    parameters is none."""
    nn, value = name_at(assignment, "torch.nn"), _value(assignment)
    if nn is None or value is None or assigned_elsewhere(assignment, attribute, sources):
        return None
    if not ready(assignment):
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
    if not all(
        fits(value) for each in setting for value in _values(each, _stores(each, attribute))
    ):
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


def _values(function: ast.AST, targets: list[ast.expr]) -> Iterator[ast.expr]:
    """What the function assigns to each target: the target itself where that is not written."""
    targets = list(targets)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and node.targets[0] in targets:
            targets.remove(node.targets[0])
            yield node.value
        elif isinstance(node, ast.AnnAssign) and node.target in targets:
            targets.remove(node.target)
            yield node.value or node.target
    yield from targets


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


def assigned_elsewhere(
    assignment: Place, attribute: str, sources: Sequence[SourceFile] = ()
) -> bool:
    """Whether another line of the class sets `self.<attribute>`, a class that derives from it does,
    or somebody sets the attribute of an object."""
    if assignment.owner is None or _count(assignment.owner, attribute) > 1:
        return True
    return any(True for _ in set_outside(assignment, attribute, sources))


def set_outside(
    assignment: Place, attribute: str, sources: Sequence[SourceFile]
) -> Iterator[ast.expr]:
    """What classes that derive from the assignment's set the attribute to, and what others set it
    to from outside; the target itself where that is not written."""
    owner, files = assignment.owner, sources or [assignment.source]
    if owner is None:
        return
    derived = _derived(owner.name, files)
    own = set(ast.walk(owner))
    for statement in _mentioning(files, attribute):
        outside: list[ast.expr] = []
        for node in ast.walk(statement):
            if isinstance(node, ast.ClassDef) and node.name in derived and node is not owner:
                yield from _values(node, _stores(node, attribute))
            elif isinstance(node, ast.Attribute) and node.attr == attribute and node not in own:
                is_set = isinstance(node.ctx, ast.Store) and not is_own_attribute(node)
                outside += [node] if is_set else []
        yield from _values(statement, outside)


def _has_of_base(assignment: Place, attribute: str, sources: Sequence[SourceFile]) -> bool:
    """Whether a class that the assignment's derives from sets the attribute: the name is taken."""
    waiting: list[ast.AST] = [assignment.owner or ast.Pass()]
    seen: set[str] = set()
    while waiting:
        for name in map(last_name, getattr(waiting.pop(), "bases", ())):
            if name in seen:
                continue
            seen.add(name)
            files = sources or [assignment.source]
            bases = [each for each in _classes(files, name) if each.name == name]
            if any(_count(each, attribute) for each in bases):
                return True
            waiting += bases
    return False


def _classes(files: Sequence[SourceFile], word: str) -> Iterator[ast.ClassDef]:
    """The classes in whose text, or around them, a word stands."""
    for statement in _mentioning(files, word):
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.ClassDef))


def _mentioning(files: Sequence[SourceFile], word: str) -> Iterator[ast.stmt]:
    """The statements at the top level of some files whose text has a word."""
    for source in files:
        for chunk in source.chunks:
            if word in chunk.text:
                yield from chunk.body


def _derived(name: str, files: Sequence[SourceFile]) -> set[str]:
    """The names of the classes that derive from one of a name, by way of others too."""
    found: set[str] = set()
    waiting = {name}
    while waiting:
        base = waiting.pop()
        classes = (each for each in _classes(files, base) if base in map(last_name, each.bases))
        waiting |= {each.name for each in classes} - found
        found |= waiting
    return found


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
