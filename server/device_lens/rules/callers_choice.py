"""Whether a value is where it is whoever runs the code: what a caller gives, and what a variable
that names the host says, is chosen elsewhere and can be chosen otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.domain.device import CPU, SymbolicDevice
from device_lens.domain.guard import leaves
from device_lens.fixes.bindings import parameters_of
from device_lens.fixes.place import Place
from device_lens.interpreter.facts import Conflict, Transfer
from device_lens.rules.context import Context
from device_lens.rules.wording import telling_step
from device_lens.syntax.names import names_in, root_name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_METHODS = ("cpu", "cuda", "xpu", "mps")
_PASSING_ON = frozenset("list tuple sorted reversed zip enumerate iter next dict set".split())
"""Built-in functions whose result holds what they are given."""


def is_chosen_elsewhere(fact: Transfer, call: Place, context: Context) -> bool:
    """Whether a transfer that moves nothing would move something for another caller, or with
    another value of the variable that names its target."""
    step = telling_step(fact.trail)
    if step is None or not context.knows(step.site):
        return False
    here, there = _function(call), _function(context.place(step.site))
    target, source = _named(call.node), _named(step.site.node)
    subject = _receiver(call.node)
    if _is_its_own(target, subject):
        return False
    on_host = all(leaf is CPU for leaf in leaves(fact.target))
    if target is not None and source is not None and ast.unparse(target) == ast.unparse(source):
        if here is there or root_name(target) not in parameters_of(here):
            return False
    elif on_host and (_varies(target) or _varies(source)):
        return True
    if here is None or (call.path == step.site.path and _is_run(call)):
        return False
    given = parameters_of(here)
    if here is there:
        return (_varies(target) and root_name(target) in given) or root_name(source) in given
    return subject is not None and _is_given(subject, here, given)


def may_come_otherwise(fact: Transfer, call: Place, context: Context) -> bool:
    """Whether a function that is given a tensor, or an object that holds it, might be given another
    one in code that is not seen, or once the object has been moved."""
    here, subject = _function(call), _receiver(call.node)
    if here is None or subject is None or _is_its_own(_named(call.node), subject):
        return False
    step = telling_step(fact.trail)
    if step and context.knows(step.site) and _function(context.place(step.site)) is here:
        return False
    return _is_given(subject, here, parameters_of(here)) or "self" in names_in(subject)


def is_lost_on_the_way(conflict: Conflict, context: Context) -> bool:
    """Whether one operand is somewhere only since a call is not followed, which nobody could have
    told to go elsewhere: the other operand came in beside what the call was given, or the function
    around takes nothing."""
    symbol = conflict.other.device
    if not isinstance(symbol, SymbolicDevice) or not symbol.label.endswith("(…)"):
        return False
    if not context.knows(conflict.site):
        return False
    function = _function(context.place(conflict.site))
    if function is None:
        return False
    given = parameters_of(function)
    stray = conflict.stray.site.node
    beside = isinstance(stray, ast.expr) and _is_given(stray, function, given)
    return beside or not given - {"self", "cls"}


def _function(place: Place) -> ast.AST | None:
    """The innermost function with a name around a place."""
    return next((node for node in place.ancestors() if isinstance(node, _FUNCTIONS)), None)


def _receiver(call: ast.AST) -> ast.expr | None:
    """`x` in `x.to(d)`."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        return call.func.value
    return None


def _is_its_own(target: ast.expr | None, subject: ast.expr | None) -> bool:
    """Whether a tensor is sent to where it is itself: `x.to(x.device)`."""
    follows = isinstance(target, ast.Attribute) and target.attr == "device"
    return follows and root_name(target) == root_name(subject)


def _named(node: ast.AST | None) -> ast.expr | None:
    """The expression in a call that names the device; None where no expression does."""
    if not isinstance(node, ast.Call):
        return None
    named = next((each.value for each in node.keywords if each.arg == "device"), None)
    if named is not None:
        return named
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", *_METHODS) and node.args:
        return node.args[0]
    return None


def _varies(named: ast.expr | None) -> bool:
    """Whether a device is not written out where it is asked for."""
    if named is None or isinstance(named, ast.Constant):
        return False
    if isinstance(named, ast.Call):
        return any(map(_varies, (*named.args, *(each.value for each in named.keywords))))
    return True


def _is_run(place: Place) -> bool:
    """Whether the file is a notebook or does something when it is run, so that its functions are
    most likely called from it alone."""
    if place.source.cell_map is not None:
        return True
    return any(_does_something(node) for chunk in place.source.chunks for node in chunk.body)


def _does_something(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(statement.test))
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call)
    return isinstance(statement, ast.For | ast.While | ast.With)


def _is_given(expression: ast.expr, function: ast.AST, given: set[str]) -> bool:
    """Whether an expression is made of what the function is given: its parameters, the attributes
    of its object. What another function returns is that one's own."""
    pending, seen = [expression], set[str]()
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and node.id not in seen:
            seen.add(node.id)
            if node.id in given:
                return True
            pending += _bound_to(function, node.id)
        elif not isinstance(node, ast.Name):
            pending += _holds(node)
    return False


def _holds(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that its value is made of."""
    if not isinstance(node, ast.Call):
        yield from (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
        yield from (each.iter for each in getattr(node, "generators", ()))
    elif isinstance(node.func, ast.Attribute):
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "self"):
            yield node.func.value
        if isinstance(node.func.value, ast.Name):
            yield from node.args  # of `torch.cat(…)`
    elif isinstance(node.func, ast.Name) and node.func.id in _PASSING_ON:
        yield from node.args


def _bound_to(function: ast.AST, name: str) -> Iterator[ast.expr]:
    """What a function binds a name to."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            targets, value = [node.target], node.iter
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value:
            targets, value = [node.target], node.value
        else:
            continue
        if any(
            isinstance(n, ast.Name) and n.id == name for each in targets for n in ast.walk(each)
        ):
            yield value
