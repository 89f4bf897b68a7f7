"""Facts about moved tensors: leaves that stop being leaves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from device_lens.domain.device import (
    CPU,
    UNKNOWN_DEVICE,
    Device,
    is_accelerator,
    same_everywhere,
)
from device_lens.domain.guard import leaves
from device_lens.domain.heap import MEMBERS, DictObject, Instance, ListObject, Parameter
from device_lens.domain.values import Tensor, TupleValue
from device_lens.interpreter import places
from device_lens.interpreter.facts import Transfer
from device_lens.interpreter.rarer_facts import NonLeafTransfer
from device_lens.models.torch.optim import CLASSES
from device_lens.syntax.pairing import target_of
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

_LEAF_AGAIN = tuple(f"torch.Tensor.{name}" for name in "detach_ requires_grad_ retain_grad".split())

_ADDING = ("append", "extend", "add", "update", "insert")


def transferred(machine: Machine, seen: Any, fact: Transfer, value: Any, frame: Frame) -> None:
    """A leaf that requires grad, moved where it is made: what comes back is no leaf. It is
    remembered until the run is over, since what is made of it may be a leaf again."""
    if not fact.moves or machine.globals["grad"] is not True:
        return
    tensor = seen.tensor
    if tensor.requires_grad is not True or tensor.leaf is not True:
        return
    if same_everywhere(fact.source, fact.target) or _may_stay(fact):
        return
    literals, _ = places.accelerator_case(machine, fact.target) or ((), None)
    found = NonLeafTransfer(
        fact.site,
        _form(seen, fact),
        fact.subject,
        device_argument=fact.device_argument,
        condition=places.condition_text(machine, literals),
        of_parameter=type(seen.receiver) is Parameter,
    )
    found.kept = not _is_lost(seen, found.form, frame) or _is_held(machine, tensor, frame)
    machine.watched.moved_leaves.put(value, found)


def _form(seen: Any, fact: Transfer) -> str:
    if not isinstance(seen.node.func.value, ast.Call):
        return "name"
    if type(seen.receiver) is Parameter:
        return "parameter"
    return "factory" if fact.created_here else "name"


def _is_lost(seen: Any, form: str, frame: Frame) -> bool:
    """Whether nothing holds the leaf any more, though somebody may ask for its gradient."""
    if form == "factory" and _is_operand(frame.statement, seen.node):
        return False
    if form == "name":
        rebound = type(seen.receiver) is Tensor and _rebound(frame.statement, seen.node)
        if not rebound or not _read_in_file(frame):
            return False
    return _may_matter(frame)


def _is_held(machine: Machine, leaf: Tensor, frame: Frame) -> bool:
    """Whether somebody has the leaf besides the name that is bound anew, as who calls a function
    that moves what it is given, or a list of what is to be trained: its gradient is there."""
    if leaf.trail is None:
        return False
    targets = frame.statement.targets if isinstance(frame.statement, ast.Assign) else ()
    stored = [node for each in targets for node in walk(each)]
    bound = {each.id for each in stored if isinstance(each, ast.Name)}
    attributes = {each.attr for each in stored if isinstance(each, ast.Attribute)}
    return any(
        _holds(value, leaf, attributes, 2)
        for each in machine.stack
        for name, value in each.scope.names.items()
        if each is not frame or name not in bound
    )


def _holds(value: Any, leaf: Tensor, except_for: set[str], deepest: int) -> bool:
    """Whether a value is a leaf, or has it in it but as one of some attributes."""
    if type(value) is Tensor:
        return value.trail is leaf.trail and value.leaf is True
    if not deepest:
        return False
    if type(value) is Instance:
        held = [each for name, each in value.fields.items() if name not in except_for]
    elif type(value) in (TupleValue, ListObject):
        held = list(value.items)
    else:
        held = list(value.entries.values()) if type(value) is DictObject else []
    return any(_holds(each, leaf, except_for, deepest - 1) for each in held[:MOST_HELD])


MOST_HELD = 64
"""Items of one list, dict or object that are looked through for a leaf."""


def _may_stay(fact: Transfer) -> bool:
    """Whether nothing is seen to come from elsewhere: what is there already stays the leaf that it
    is. So may what nobody knows where it is, where it goes to the device of something else."""
    sources, targets = tuple(leaves(fact.source)), tuple(leaves(fact.target))
    if all(leaf is UNKNOWN_DEVICE for leaf in sources):
        return not all(isinstance(leaf, Device) for leaf in targets)
    return all(leaf is CPU for leaf in targets) and not any(map(is_accelerator, sources))


def _rebound(statement: Any, transfer: ast.Call) -> bool:
    """Whether the statement is `x = x.to(d)`, for other names too perhaps: the leaf is lost."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    function = transfer.func
    target = target_of(statement, transfer)
    if target is None or not isinstance(function, ast.Attribute):
        return False
    return ast.unparse(target) == ast.unparse(function.value)


def _is_operand(statement: Any, transfer: ast.Call) -> bool:
    """Whether the moved tensor is computed with at once: it has no name to ask for a gradient by,
    and what is made of it would be no leaf without the move either."""
    return any(
        isinstance(node, ast.BinOp) and transfer in (node.left, node.right)
        for node in walk(statement)
    )


def _may_matter(frame: Frame) -> bool:
    """Whether anyone may ask for the gradient: not of a local variable that its function neither
    keeps nor gives back nor reads a gradient of, not of a script's variable that the script, which
    computes gradients, neither keeps nor asks for its own, and not of an attribute by which the
    file differentiates."""
    statement = frame.statement
    if not isinstance(statement, ast.Assign):
        return True
    target = statement.targets[0]
    if len(statement.targets) == 1 and isinstance(target, ast.Attribute):
        return not any(_differentiates_by(node, target.attr) for node in _of_file(frame))
    if len(statement.targets) != 1 or not isinstance(target, ast.Name):
        return True
    if frame.function is not None:
        nodes = list(walk(frame.function.node))
        asked = any(map(_reads_gradient, nodes))
    else:
        nodes = list(_of_file(frame))
        asked = any(_reads_gradient(node, target.id) for node in nodes)
        asked = asked or not any(map(_differentiates, nodes))
    if asked:
        return True
    if any(_adds_up(node, target.id) for node in nodes):
        return False
    return any(_names(kept, target.id) for node in nodes for kept in _kept(node))


def _adds_up(node: ast.AST, name: str) -> bool:
    """Whether a statement adds something to a variable: a leaf that requires grad cannot be written
    into, and what is made of one is none, so that nobody wants the variable to be it."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id == name
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp):
        return False
    sides = (node.value.left, node.value.right)
    return any(isinstance(each, ast.Name) and each.id == name for each in node.targets) and any(
        isinstance(each, ast.Name) and each.id == name for each in sides
    )


def _read_in_file(frame: Frame) -> bool:
    """Whether a file reads gradients at all: a name of its top level that is rebound to its moved
    self asks for one there or nowhere."""
    if frame.function is not None:
        return True
    return any(map(reads_gradients, _of_file(frame)))


def _of_file(frame: Frame) -> Iterator[ast.AST]:
    for chunk in frame.namespace.file.chunks:
        for part in chunk.body:
            yield from walk(part)


def _differentiates(node: ast.AST) -> bool:
    """Whether a node runs a backward pass, or `torch.autograd.grad`."""
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in ("backward", "grad")


def _differentiates_by(node: ast.AST, attribute: str) -> bool:
    """Whether a node is `torch.autograd.grad(loss, inputs)` with the attribute of some object among
    the inputs, which need not be leaves."""
    if not isinstance(node, ast.Call) or not _differentiates(node):
        return False
    inputs = (*node.args[1:], *(keyword.value for keyword in node.keywords))
    parts = (part for each in inputs for part in walk(each))
    return any(isinstance(part, ast.Attribute) and part.attr == attribute for part in parts)


def reads_gradients(node: ast.AST) -> bool:
    """Whether a node asks for gradients."""
    return _reads_gradient(node) or _optimizes(node)


def _reads_gradient(node: ast.AST, name: str | None = None) -> bool:
    """Whether a node reads a gradient, of a variable if one is given."""
    if not isinstance(node, ast.Attribute) or node.attr not in ("grad", "retain_grad"):
        return False
    return name is None or (isinstance(node.value, ast.Name) and node.value.id == name)


def _optimizes(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and _names_optimizer(node.func)


def _names_optimizer(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        if "optim" in node.attr.lower():
            return True
        node = node.value
    if isinstance(node, ast.Name):
        return "optim" in node.id.lower()
    return any("optim" in text.lower() for inner in walk(node) for text in _texts(inner))


def _texts(node: ast.AST) -> Iterator[str]:
    """What a node itself has of names and texts: to write the expression anew takes ten times as
    long, and is done for each call that is typed."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, str):
            yield value
        elif isinstance(value, bytes):
            yield value.decode("latin-1")


def _kept(node: ast.AST) -> Iterator[ast.AST | None]:
    """What the node keeps beyond the statement."""
    if isinstance(node, ast.Assign):
        if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            yield node.value
    elif isinstance(node, ast.Return | ast.Yield):
        yield node.value
    elif isinstance(node, ast.List | ast.Set | ast.Tuple):
        yield from node.elts
    elif isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield node
    elif isinstance(node, ast.Call) and (_adds(node.func) or _optimizes(node)):
        yield from node.args
        yield from (keyword.value for keyword in node.keywords)


def _adds(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in _ADDING


def _names(node: ast.AST | None, name: str) -> bool:
    """Whether the variable itself is read, in some case; what is made of it is another tensor."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return name in node.names
    if isinstance(node, ast.IfExp):
        return _names(node.body, name) or _names(node.orelse, name)
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def kept_as(machine: Machine, tensor: Tensor, kept: Tensor) -> None:
    """A tensor, with another history: it is the same one."""
    found = machine.watched.moved_leaves.get(tensor)
    if found is not None:
        machine.watched.moved_leaves.put(kept, found)


def begins_anew(machine: Machine, tensor: Any) -> None:
    """The moved tensor, by whatever history it is known, is a leaf again or has a gradient."""
    moved = machine.watched.moved_leaves
    found = moved.get(tensor)
    for value, note in moved.items() if found is not None else ():
        if note is found:
            moved.drop(value)


def leaf_again(machine: Machine, seen: LibraryCall) -> None:
    """`.detach_()` begins anew, `.requires_grad_()` and `.retain_grad()` keep the gradient."""
    begins_anew(machine, seen.receiver)


def parameter_made(machine: Machine, seen: LibraryCall) -> None:
    """`nn.Parameter(moved)` begins anew on the memory of the moved tensor."""
    begins_anew(machine, seen.get(0, "data"))


def cut(machine: Machine, seen: LibraryCall) -> None:
    """`.detach()` and `.data` may be what the program begins anew with."""
    found = machine.watched.moved_leaves.get(seen.receiver)
    if found is not None:
        found.cut = True


def gradient_read(machine: Machine, seen: LibraryCall) -> None:
    """`.grad` is read of the moved tensor itself."""
    found = machine.watched.moved_leaves.get(seen.receiver)
    if found is not None:
        found.gradient_read = True


def put_for_parameter(machine: Machine, value: Any, node: Any, frame: Frame) -> None:
    """A module that has a parameter of that name takes no other tensor for it, and raises."""
    found = machine.watched.moved_leaves.get(value)
    if found is not None and found.put_for_parameter is None:
        found.put_for_parameter = machine.site(node, frame)


def registered(machine: Machine, seen: LibraryCall) -> None:
    """`module.register_parameter("gain", moved)`."""
    put_for_parameter(machine, seen.get(1, "param"), seen.node, seen.frame)


def differentiated(machine: Machine, seen: LibraryCall) -> None:
    """`torch.autograd.grad(loss, [x])` gives gradients of what is no leaf, too."""
    for value in _inside(machine, seen.get(1, "inputs")):
        begins_anew(machine, value)


def optimized(machine: Machine, seen: LibraryCall) -> None:
    """An optimizer takes the moved tensor, of whatever it was given, and raises."""
    if not isinstance(seen.value, Instance) or not machine.watched.moved_leaves:
        return
    for value in seen.value.fields.get(MEMBERS, ()):
        found = machine.watched.moved_leaves.get(value)
        if found is not None and found.given_to_optimizer is None:
            found.given_to_optimizer = machine.site(seen.node, seen.frame)


def _inside(machine: Machine, value: Any) -> list[Any]:
    """The tensors that an argument is or lists."""
    if value is None:
        return []
    if type(value) in (Tensor, Parameter):
        return [value]
    return [
        item
        for leaf in leaves(value)
        for items, rest in (machine.iterate(leaf),)
        for item in (*items, rest)
    ]


def conclude(machine: Machine) -> None:
    """Tells of the moved tensors that stayed what they are."""
    for _, found in machine.watched.moved_leaves.items():
        used = found.gradient_read or found.given_to_optimizer is not None
        used = used or found.put_for_parameter is not None
        if used or not (found.cut or found.kept):
            machine.findings.add(found)


WATCHERS = {
    **dict.fromkeys(_LEAF_AGAIN, leaf_again),
    "torch.nn.Parameter": parameter_made,
    "torch.Tensor.detach": cut,
    "torch.Tensor.data": cut,
    "torch.Tensor.grad": gradient_read,
    **{f"torch.optim.{name}": optimized for name in CLASSES},
    "torch.autograd.grad": differentiated,
    "torch.nn.Module.register_parameter": registered,
}
