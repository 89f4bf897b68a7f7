"""Built-in functions that give the names of scopes as tables, import by a text, or run one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Namespace
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import DictObject, Instance
from device_lens.domain.values import Const, Unknown
from device_lens.interpreter import attributes, imports
from device_lens.interpreter.choices import called, names_of_module, unknown_name
from device_lens.interpreter.dispatch import INTRINSICS
from device_lens.interpreter.frames import Frame
from device_lens.models.call import constant
from device_lens.models.numbers import start_of
from device_lens.models.open_names import as_dict
from device_lens.models.python.held_in_texts import literal
from device_lens.models.torch.parts import is_many
from device_lens.syntax.import_statements import within

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def local_names(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`locals()`: the names of the present scope."""
    if frame.function is None and frame.scope is frame.namespace.scope:
        return global_names(machine, args, kwargs, node, frame)
    table = DictObject(dict(frame.scope.names), None, node)
    if frame.function is None and frame.owner is not None:
        table.entries = frame.scope.names  # the body of a class: its very names
    return table


def global_names(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`globals()`: the very names of the module."""
    table = names_of_module({}, None, node)
    table.entries = imports.all_names(machine, frame.namespace)
    return table


def names_of(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`vars(x)`: the attributes of an object or module; `vars()` is `locals()`."""
    if not args:
        return local_names(machine, args, kwargs, node, frame)
    if type(args[0]) is Guarded:
        return combine(lambda leaf: names_of(machine, (leaf,), kwargs, node, frame), args[0])
    if isinstance(args[0], Instance):
        return as_dict(args[0], None, node)
    if type(args[0]) is Namespace:
        return attributes.read(machine, args[0], "__dict__", node, frame)
    return DictObject({}, Unknown(), node)


def import_module(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`importlib.import_module(name)`. A name that ends with a dot lacks what a flag has to give:
    so any may be given."""
    known: dict[str, Any] = {}
    package = constant(args[1] if len(args) > 1 else kwargs.get("package"))

    def load(name: Any) -> Any:
        text = name.value if type(name) is Const else start_of(name)
        if not isinstance(text, str):
            return Unknown("a module")
        text = within(package, text) if isinstance(package, str) else text
        if type(name) is Const and not text.endswith("."):
            return imports.named(machine, text, frame)
        if text not in known:
            known[text] = imports.any_of(machine, text, Unknown("a name"), frame)
        return known[text]

    name = args[0] if args else kwargs.get("name")
    return Unknown() if name is None else combine(load, name)


def imported(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`__import__(name)`: of `a.b` it gives `a`, unless it is asked for names of it."""
    asked = len(args) > 3 or "fromlist" in kwargs
    if not args or asked:
        return import_module(machine, args, kwargs, node, frame)
    import_module(machine, args, kwargs, node, frame)
    top = combine(_top_of, args[0])
    return import_module(machine, (top,), kwargs, node, frame)


def _top_of(name: Any) -> Any:
    if type(name) is Const and isinstance(name.value, str):
        return Const(name.value.partition(".")[0])
    return name


def evaluated(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`exec`, which is not followed: what a text of the program's binds at the top level is bound
    to what it says, if that is a literal."""
    machine.skip_at(node, frame, "code made at run time is not followed")
    at_top = frame.function is None and frame.scope is frame.namespace.scope
    if at_top and len(args) == 1 and _is_text(args[0]):
        for name, value in _bound_in(args[0].value, node):
            machine.journal.write(frame.scope.names, name, value)
    return Unknown()


def _bound_in(text: str, node: Any) -> Iterator[tuple[str, Any]]:
    """The names that a text of code binds, each with the literal that it is given last, else an
    unknown."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    given: dict[str, Any] = {}
    for each in ast.walk(tree):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            given[each.id] = Unknown(each.id)
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                held = literal(ast.unparse(value), node)
                given[name] = Unknown(name) if held is None else held
    yield from given.items()


def value_of_text(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    """`eval(text)` of a literal, of a name, or of names with dots between them; no other text is
    followed."""

    def read(text: Any) -> Any:
        held = literal(text.value, node) if _is_text(text) else None
        if held is not None:
            return held
        names = text.value.split(".") if _is_text(text) else [""]
        table = _table_of(names[0], frame)
        if table is None or not all(name.isidentifier() for name in names):
            return evaluated(machine, args, kwargs, node, frame)
        around = frame.namespace.scope.names
        value = imports.settled(machine, table[names[0]], around, names[0])
        for name in names[1:]:
            value = attributes.read(machine, value, name, node, frame)
        return value

    if len(args) != 1 or kwargs:
        return evaluated(machine, args, kwargs, node, frame)
    name = unknown_name(args[0])
    if name is not None:
        found = called(machine, imports.all_names(machine, frame.namespace), name, node, frame)
        if found is not None:
            return found
    return combine(read, args[0])


def _table_of(name: str, frame: Frame) -> Any:
    """The present scope or the module, whichever `eval` finds a name in; None where neither, or
    where it is a name of a function around the present one: that is seen if the present one has a
    use of it."""
    own, around = frame.scope, frame.namespace.scope.names
    if name in own.names:
        return own.names
    while own.parent is not None:
        own = own.parent
        if name in own.names and own.names is not around:
            return None
    return around if name in around else None


def _is_text(value: Any) -> bool:
    return type(value) is Const and isinstance(value.value, str) and not is_many(value.value)


INTRINSICS.update(
    {
        "builtins.locals": local_names,
        "builtins.globals": global_names,
        "builtins.vars": names_of,
        "importlib.import_module": import_module,
        "builtins.__import__": imported,
        "builtins.eval": value_of_text,
        "builtins.exec": evaluated,
    }
)
