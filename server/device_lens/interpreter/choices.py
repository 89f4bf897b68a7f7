"""What a dict holds under a key that nobody knows: one of its values, each followed on its own.

A program that is told by name which model, dataset or optimizer to take keeps them in a dict, or in
a module. The key that it is asked for decides as a chain of `if key == …` would.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function, Namespace
from device_lens.domain.guard import choose, leaves, undecided
from device_lens.domain.heap import OF_MODULE, DictObject, ListObject, ModuleObject
from device_lens.domain.similarity import similar
from device_lens.domain.values import (
    NONE,
    TRUE,
    BoundExternal,
    External,
    Partial,
    TupleValue,
    Unknown,
)
from device_lens.interpreter.conditions import opaque
from device_lens.interpreter.frames import Frame
from device_lens.models import registry
from device_lens.models.numbers import texts_meant
from device_lens.models.torch import unnamed_parts
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

MAX_CHOICES = 8
"""Values that are told apart; whatever is done with the choice is done with each."""
MOST_ENTRIES = 64
"""Values that are looked at for those whose code is alike."""
_CODE = (Function, BoundMethod, ClassValue, Namespace, Partial, BoundExternal)

Decision = Callable[[tuple[Any, ...]], Any]
"""The condition under which the key is one of these."""


def choice(machine: Machine, table: DictObject, index: Any) -> Any:
    """`table[index]` for an index that is not known, where the dict holds code or modules that
    differ; None where it holds anything else, or too many."""
    entries = table.entries
    if table.rest is not None or len(entries) < 2:
        return None
    groups: Choices = []
    for key, value in entries.items():
        if not _is_told_apart(value):
            return None
        same = next((keys for each, keys in groups if each == value), None)
        if same is not None:
            same.append(key)
        elif len(groups) == MOST_ENTRIES:
            return None
        else:
            groups.append((value, [key]))
    if all(similar(groups[0][0], value) for value, _ in groups[1:]):
        return None
    few = _few(machine, groups)
    return None if few is None else tree(few, _decision(machine, index))


def names_of_module(names: Mapping[str, Any], rest: Any, site: Any) -> DictObject:
    """What a module defines, as a dict; `rest` is what else may be there."""
    table = DictObject(dict(names), rest, site)
    table.fields[OF_MODULE] = TRUE
    return table


def called(
    machine: Machine, names: Mapping[str, Any], index: Unknown, node: Any, frame: Frame
) -> Any:
    """What a module defines under a name that is not known, where it is called at once: one of the
    functions and classes of the program that take what it is given. None where there are none, or
    too many."""
    # The body of a lambda is no statement.
    around = frame.statement or (frame.function and frame.function.node)
    calls = (each for each in walk(around) if type(each) is ast.Call) if around else ()
    call = next((each for each in calls if each.func is node), None)
    if call is None:
        return None
    keywords = {each.arg for each in call.keywords if each.arg is not None}
    given = Given(len(call.args), keywords, _is_spread(call))
    others = (value for _, value in _code_of(names, index) if type(value) not in _MADE)
    if any(_takes(value, given) for value in others):
        return None  # a layer may be meant too: it is asked again where it is called
    return _taking(machine, names, index, given)


_MADE = (Function, ClassValue)
"""Code that the program makes."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a call gives: how many arguments by position, which by keyword, and whether some of
    them are not told one by one."""

    count: int
    keywords: set[str]
    is_open: bool


def _is_spread(call: ast.Call) -> bool:
    starred = any(type(each) is ast.Starred for each in call.args)
    return starred or any(each.arg is None for each in call.keywords)


def _taking(machine: Machine, names: Mapping[str, Any], index: Unknown, given: Given) -> Any:
    """One of the functions, classes and layers that take what a call gives; None as for
    `called`."""
    found = [(value, [name]) for name, value in _code_of(names, index) if _takes(value, given)]
    few = _few(machine, found) if found else None
    return None if few is None else tree(few, _decision(machine, index))


def _code_of(names: Mapping[str, Any], index: Unknown) -> list[tuple[str, Any]]:
    """The functions, classes and layers of the program that others may ask a module for, and the
    functions of PyTorch that it has imported."""
    meant = texts_meant(index)
    if meant is not None:
        return [(name, names[name]) for name in meant if name in names and _may_take(names[name])]
    return [item for item in names.items() if item[0][:1] != "_" and _may_take(item[1])]


def _may_take(value: Any) -> bool:
    if type(value) is External:
        return value.name.startswith("torch.") and registry.function(value.name) is not None
    return type(value) is ModuleObject or type(value) in _MADE


def kept_apart(value: Any, names: Mapping[str, Any], index: Unknown) -> Any:
    """What a module defines under a name that is not known, where it is not called at once: as
    `value`, unless that may be something to be called; it remembers what it may be then."""
    code = _code_of(names, index)
    if not code or all(map(_may_take, leaves(value))):
        return value
    found = Unknown(value.label, value.device) if type(value) is Unknown else Unknown()
    found.parts()[_NAMES] = dict(code), index
    return found


_READ = "<read as a name>"
"""Under this and the name of a method an unknown has what its attribute of that name is, where that
is no method."""
_NAMES = "<one of these names>"
"""Under this what a module defines under a name that is not known has the functions, classes and
layers of the module, and the name."""


def meant(
    machine: Machine, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any
) -> Any:
    """What an unknown may be that is called, though nothing else is known of it; None where it may
    be anything, and for other values."""
    if type(function) is not Unknown:
        return None
    known = None if function.fields is None else function.fields.get(_NAMES)
    if known is not None:
        names, index = known
        is_open = type(node) is ast.Call and _is_spread(node)
        return _taking(machine, names, index, Given(len(args), {*kwargs}, is_open))
    return unnamed_parts.layer_meant(function) if args else None


@contextmanager
def guessing(machine: Machine, function: Unknown) -> Iterator[None]:
    """Around a call of what `function` is meant to be. Of the names of a module any may be meant
    that takes what it is given, though not every one of them is: no conflict is told there."""
    before = machine.pick
    if function.fields is not None and _NAMES in function.fields:
        machine.pick = replace(before, is_doubtful=True)
    try:
        yield
    finally:
        machine.pick = before


def unknown_name(value: Any) -> Unknown | None:
    """A name that nothing tells: a flag without a default, which is None where it is left out. None
    for a name that is known in some case."""
    names = [_as_read(leaf) for leaf in leaves(value) if leaf != NONE]
    return names[0] if len(names) == 1 and type(names[0]) is Unknown else None


def _as_read(name: Any) -> Any:
    """`config.type` where nothing is known of `config`: what is asked for by that is no method."""
    if type(name) is not BoundExternal or type(name.receiver) is not Unknown:
        return name
    part = name.receiver.parts().get((_READ, name.name))
    return part or name.receiver.derive((_READ, name.name), Unknown())


def _takes(value: Any, call: Given) -> bool:
    """Whether a function, class or layer can be called as it is."""
    creator: Any = value
    if type(value) is ClassValue:
        creator = value.lookup("__init__")
    elif type(value) is ModuleObject and type(value.cls) is ClassValue:
        creator = value.cls.lookup("forward")
    elif type(value) in (External, ModuleObject):
        return call.is_open or call.count > 0
    if not isinstance(creator, Function):
        return isinstance(value, ClassValue) and not call.count and not call.keywords
    if call.is_open:
        return True
    parameters = creator.node.args
    positional = [each.arg for each in (*parameters.posonlyargs, *parameters.args)]
    needed = set(positional[: len(positional) - len(parameters.defaults)])
    needed |= {
        each.arg
        for each, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
        if default is None
    }
    count = call.count + (creator is not value)
    given = {*positional[:count], *call.keywords}
    known = {*positional, *(each.arg for each in parameters.kwonlyargs)}
    fits = parameters.vararg is not None or count <= len(positional)
    return fits and needed <= given and (parameters.kwarg is not None or given <= known)


def _decision(machine: Machine, index: Any) -> Decision:
    is_asked_again = type(index) is Unknown and not in_loop(machine)
    return _asked_of(index) if is_asked_again else _asked_anew


def in_loop(machine: Machine) -> bool:
    """Whether one name may stand for another key, or number, the next time."""
    return any(frame.loops for frame in machine.stack)


def among(modules: dict[str, Any], name: Unknown) -> Any:
    """The module of a name, of those that there are; None where there are none."""
    groups = [(module, [key]) for key, module in modules.items()]
    return tree(groups, _asked_of(name)) if groups else None


def _is_told_apart(value: Any) -> bool:
    """Whether what is done with a value may be something else than with its neighbours: code, a
    module, or a row of a table that holds one."""
    kind = type(value)
    if kind is TupleValue or (kind is ListObject and value.rest is None):
        return any(map(_is_told_apart, value.items))
    if kind is External:
        return registry.names_code(value.name)
    return kind is ModuleObject or kind in _CODE


Choices = list[tuple[Any, list[Any]]]
"""Values, each with the keys that it is under."""


def _few(machine: Machine, found: Choices) -> Choices | None:
    """The values that are told apart, not more than can be; None where there are more. Of many,
    two stand for all whose code is the same but for constants: `resnet8` and `resnet110` put their
    parts where the others between them do, and what the two do not share is left open."""
    if len(found) <= MAX_CHOICES:
        return found
    kinds: dict[Any, Choices] = {}
    for value, keys in found:
        machine.unit.consulted.update(_functions_of(value))
        kinds.setdefault(_text_of(value), []).append((value, keys))
    several = [each for each in kinds.values() if len(each) > 1]
    room = MAX_CHOICES - len(kinds)
    if room < 0:
        return None
    few: Choices = []
    for kind in kinds.values():
        first, *others = kind
        if others and room >= len(several):
            *between, last = others
            few.append((first[0], [*first[1], *(key for _, keys in between for key in keys)]))
            few.append(last)
        else:
            few.append((first[0], [key for _, keys in kind for key in keys]))
    return few


def _functions_of(value: Any) -> tuple[ast.AST, ...]:
    """The functions whose text is asked for."""
    if type(value) not in (Function, ClassValue):
        return ()
    known: tuple[ast.AST, ...] | None = value.node.__dict__.get(_FUNCTIONS)
    if known is None:
        known = value.node.__dict__[_FUNCTIONS] = tuple(
            node
            for node in walk(value.node)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
    return known


def _text_of(value: Any) -> Any:
    """What code says, less its own name and its constants: the value itself where that is none, or
    where it speaks of devices."""
    if type(value) not in (Function, ClassValue) or type(value.node) is ast.Lambda:
        return value
    node = value.node
    plain: str | None = node.__dict__.get(_PLAIN)
    if plain is None:
        text = ast.dump(node)
        is_placing = _OF_DEVICES.search(text) is not None
        named = text.replace(f"'{value.name}'", "''")
        plain = node.__dict__[_PLAIN] = "" if is_placing else _CONSTANT.sub("Constant()", named)
    if not plain:
        return value
    bases = value.bases if type(value) is ClassValue else ()
    return value.namespace.path, bases, plain


_FUNCTIONS = "_functions_within"
_PLAIN = "_text_without_constants"
"""The entries of a node under which answers are kept, for as long as the node lives."""
_CONSTANT = re.compile(r"""Constant\(value=(?:[-+.\deEj]+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\)""")
_OF_DEVICES = re.compile("cuda|cpu|gpu|device|host", re.IGNORECASE)


def _asked_of(index: Unknown) -> Decision:
    """As `==` decides it, so that a test of the key agrees with the choice."""

    def decision(keys: tuple[Any, ...]) -> Any:
        return opaque(index, ("==", keys[0]) if len(keys) == 1 else ("among", keys))

    return decision


def _asked_anew(keys: tuple[Any, ...]) -> Any:
    return undecided()


def tree(groups: Choices, decision: Decision) -> Any:
    """A tree as flat as can be: conditions are told apart to a depth."""
    if len(groups) == 1:
        return groups[0][0]
    half = len(groups) // 2
    left, right = groups[:half], groups[half:]
    condition = decision(tuple(key for _, keys in left for key in keys))
    yes, no = tree(left, decision), tree(right, decision)
    return choose(condition, yes, no)
