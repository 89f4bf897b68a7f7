"""`self.mean = torch.tensor(...)` → `self.register_buffer("mean", torch.tensor(...))`, or to a
parameter where it is trained."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from device_lens.fixes.arguments import is_true
from device_lens.fixes.blocks import replace_by
from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.first_set import first_set, stores_of, values_of
from device_lens.fixes.place import Place, in_quotes
from device_lens.fixes.set_up import ready
from device_lens.syntax.names import is_own_attribute, last_name
from device_lens.syntax.pairing import parts_of
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
    several assignments those in `__init__` that are first, where `fits` tells of all of them that
    a buffer may hold their value: they set the buffer then. `sources` are the files of the
    program."""
    assignments = [assignment]
    if assigned_elsewhere(assignment, attribute, sources):
        assignments, safety = first_set(assignment, attribute, fits), Safety.UNSAFE
    if not assignments or not all(map(ready, assignments)):
        return ()
    if _has_of_base(assignment, attribute, sources) or _reads_entries(assignment):
        return ()
    if any(_HALVING.search(source.text) for source in sources):
        safety = Safety.UNSAFE  # what converts the module converts its buffers
    quiet = _registered(assignments, attribute, ", persistent=False")
    saved = _registered(assignments, attribute, "")
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


_HALVING = re.compile(r"\.(half|bfloat16)\(\)|\.to\((dtype=)?torch\.b?float16\)")


def _reads_entries(assignment: Place) -> bool:
    """Whether the class reads its attributes out of their dict, where a buffer is none."""
    owner = assignment.owner
    return owner is not None and any(
        last_name(node) in ("__dict__", "vars")
        for node in ast.walk(owner)
        if isinstance(node, ast.Name | ast.Attribute)
    )


def _registered(assignments: list[Place], attribute: str, behind: str) -> tuple[Edit, ...]:
    """The calls in place of all assignments; empty where there is one that cannot be written so."""
    found: list[Edit] = []
    for each in assignments:
        value = _value(each)
        edits = (
            _apart(each, attribute, behind)
            if value is None
            else _around(each, value, attribute, behind)
        )
        if not edits:
            return ()
        found += edits
    return tuple(found)


def _around(assignment: Place, value: Place, attribute: str, behind: str) -> tuple[Edit, ...]:
    """The call around the value, comments within its parentheses included."""
    whole, kept = assignment.range, value.range
    head, tail = Range(whole.start, kept.start), Range(kept.end, whole.end)
    if any("#" in assignment.source.text_of(each) for each in (head, tail)):
        kept = _with_parentheses(assignment)
        head, tail = Range(whole.start, kept.start), Range(kept.end, whole.end)
    call = f"self.register_buffer({in_quotes(assignment, attribute)}, "
    return assignment.edit(head, call), assignment.edit(tail, f"{behind})")


def _apart(assignment: Place, attribute: str, behind: str) -> tuple[Edit, ...]:
    """`self.mean, self.std = x, y` → a statement each, of which one is the call. Empty where a
    value reads what one before it is bound to."""
    node = assignment.node
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if not isinstance(node, ast.Assign) or not isinstance(target, ast.Tuple | ast.List):
        return ()
    if "#" in assignment.text:
        return ()
    lines: list[str] = []
    bound: set[str] = set()
    for each, value in zip(target.elts, parts_of(target.elts, node.value), strict=True):
        if value is None or bound & {ast.unparse(part) for part in ast.walk(value)}:
            return ()
        bound.add(ast.unparse(each))
        text = assignment.at(value).text
        if is_own_attribute(each) and last_name(each) == attribute:
            name = in_quotes(assignment, attribute)
            lines.append(f"self.register_buffer({name}, {text}{behind})")
        elif "\n" in text or isinstance(value, ast.NamedExpr):
            return ()
        else:
            lines.append(f"{assignment.at(each).text} = {text}")
    return (replace_by(assignment, lines),)


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
    with the module and stays a leaf, and is trained where it was. None where one of the program's
    files, `sources`, sets it elsewhere too, and where the value does not ask for gradients itself:
    what is computed from parameters is none."""
    nn, value = name_at(assignment, "torch.nn"), _value(assignment)
    if nn is None or value is None or assigned_elsewhere(assignment, attribute, sources):
        return None
    if not ready(assignment):
        return None
    asked = [each for each in _asked(value) if not _is_false(each)]
    if not asked or any(isinstance(part, ast.Call) for each in asked for part in ast.walk(each)):
        return None  # which the call would be made twice for
    flags = {"", *(f", requires_grad={value.at(each).text}" for each in asked if not is_true(each))}
    if len(flags) > 2:
        return None
    edit = value.replace(f"{nn}.Parameter({value.text}{max(flags)})")
    return Fix(f"Make it a parameter: {nn}.Parameter(…)", Safety.UNSAFE, (edit,))


def may_ask_for_gradients(assignment: Place) -> bool:
    """Whether what is assigned says of itself that it requires gradients, perhaps in some cases."""
    value = _value(assignment)
    return value is not None and any(not _is_false(each) for each in _asked(value))


def _asked(value: Place) -> list[ast.expr]:
    """What `requires_grad=…` and `.requires_grad_(…)` are given in a value."""
    found: list[ast.expr] = []
    for node in ast.walk(value.node):
        match node:
            case ast.keyword(arg="requires_grad", value=asked):
                found.append(asked)
            case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=[], keywords=[]):
                found.append(ast.Constant(True))
            case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=[asked]):
                found.append(asked)
    return found


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


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
                yield from values_of(node, stores_of(node, attribute))
            elif isinstance(node, ast.Attribute) and node.attr == attribute and node not in own:
                is_set = isinstance(node.ctx, ast.Store) and not is_own_attribute(node)
                outside += [node] if is_set else []
        yield from values_of(statement, outside)


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
    return 0 if owner is None else len(stores_of(owner, attribute))
