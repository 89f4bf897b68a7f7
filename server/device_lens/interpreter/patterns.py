"""`match` patterns: when they match, and what they bind."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import ClassValue
from device_lens.domain.condition import conjunction, disjunction, settled
from device_lens.domain.guard import Guarded, combine, undecided
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, Parameter
from device_lens.domain.presence import carry, presence
from device_lens.domain.values import (
    Const,
    DeviceValue,
    DtypeValue,
    External,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import attributes
from device_lens.interpreter.assignment import assign_name, unpack
from device_lens.interpreter.comparisons import compare
from device_lens.interpreter.conditions import truth
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.intrinsics import instance_condition

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_SINGLE = (Tensor, Parameter, HostArray, ModuleObject, DeviceValue, DtypeValue)
"""Values that are neither sequences nor mappings to a pattern."""


def matches(machine: Machine, pattern: ast.pattern, subject: Any, frame: Frame) -> Any:
    """The condition under which `pattern` matches `subject`."""
    if isinstance(pattern, ast.MatchValue):
        value = machine.evaluate(pattern.value, frame)
        return truth(compare(machine, pattern, ast.Eq(), subject, value, frame))
    if isinstance(pattern, ast.MatchSingleton):
        return truth(compare(machine, pattern, ast.Is(), subject, Const(pattern.value), frame))
    if isinstance(pattern, ast.MatchAs):
        return (
            True if pattern.pattern is None else matches(machine, pattern.pattern, subject, frame)
        )
    if isinstance(pattern, ast.MatchOr):
        condition: Any = False
        for option in pattern.patterns:
            condition = settled(disjunction(condition, matches(machine, option, subject, frame)))
        return condition
    if type(subject) is Guarded:
        return settled(combine(lambda leaf: matches(machine, pattern, leaf, frame), subject))
    if isinstance(pattern, ast.MatchClass):
        return _class(machine, pattern, subject, frame)
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(machine, pattern, subject, frame)
    if isinstance(pattern, ast.MatchMapping):
        return _mapping(machine, pattern, subject, frame)
    return undecided()


def _class(machine: Machine, pattern: ast.MatchClass, subject: Any, frame: Frame) -> Any:
    cls = machine.evaluate(pattern.cls, frame)
    if not isinstance(cls, ClassValue | External):
        return undecided()
    condition = instance_condition(machine, subject, cls)
    if condition is False:
        return False
    for name, part in _attributes_of(pattern, cls):
        value = attributes.read(machine, subject, name, pattern, frame)
        condition = settled(conjunction(condition, matches(machine, part, value, frame)))
    unread = len(pattern.patterns) > len(_positions(cls)) and not _binds_whole(pattern)
    return conjunction(condition, undecided()) if unread else condition


def _attributes_of(
    pattern: ast.MatchClass, cls: ClassValue | External
) -> list[tuple[str, ast.pattern]]:
    """The patterns inside a class pattern with the attributes that they are about."""
    named = list(zip(_positions(cls), pattern.patterns, strict=False))
    return named + list(zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True))


def _positions(cls: ClassValue | External) -> tuple[str, ...]:
    """`__match_args__` of a dataclass of the program."""
    if type(cls) is ClassValue:
        for owner in cls.mro:
            if owner.data_fields is not None:
                return tuple(name for name, _ in owner.data_fields)
    return ()


def _binds_whole(pattern: ast.MatchClass) -> bool:
    """`int(x)`, `str(name)`: the one pattern is about the subject itself."""
    return isinstance(pattern.cls, ast.Name) and len(pattern.patterns) == 1


def _sequence(machine: Machine, pattern: ast.MatchSequence, subject: Any, frame: Frame) -> Any:
    if isinstance(subject, (*_SINGLE, Const, DictObject)):
        return False
    star = next((i for i, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)), None)
    count = len(pattern.patterns)
    if type(subject) is TupleValue or (type(subject) is ListObject and subject.rest is None):
        items = subject.items
    else:
        return undecided()
    if (len(items) != count) if star is None else (len(items) < count - 1):
        return False
    parts = list(pattern.patterns)
    if star is not None:
        after = count - star - 1
        items = (*items[:star], *items[len(items) - after :])
        del parts[star]
    condition: Any = True
    for part, item in zip(parts, items, strict=True):
        condition = settled(conjunction(condition, matches(machine, part, item, frame)))
    return condition


def _mapping(machine: Machine, pattern: ast.MatchMapping, subject: Any, frame: Frame) -> Any:
    if isinstance(subject, (*_SINGLE, Const, TupleValue, ListObject)):
        return False
    if type(subject) is not DictObject:
        return undecided()
    condition: Any = True
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        name = machine.evaluate(key, frame)
        if type(name) is not Const or name.value not in subject.entries:
            if type(name) is Const and subject.rest is None:
                return False
            return undecided()
        found = matches(machine, part, subject.entries[name.value], frame)
        there = presence(subject.entries, name.value)
        condition = settled(conjunction(condition, conjunction(there, found)))
    return condition


def bind(machine: Machine, pattern: ast.pattern, subject: Any, frame: Frame) -> None:
    """Binds the names of a pattern that matched."""
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            bind(machine, pattern.pattern, subject, frame)
        if pattern.name is not None:
            assign_name(machine, pattern.name, subject, frame)
    elif isinstance(pattern, ast.MatchOr):
        for option in pattern.patterns:
            bind(machine, option, subject, frame)
    elif isinstance(pattern, ast.MatchSequence):
        _bind_sequence(machine, pattern, subject, frame)
    elif isinstance(pattern, ast.MatchMapping):
        _bind_mapping(machine, pattern, subject, frame)
    elif isinstance(pattern, ast.MatchClass):
        _bind_class(machine, pattern, subject, frame)


def _bind_class(machine: Machine, pattern: ast.MatchClass, subject: Any, frame: Frame) -> None:
    cls = machine.evaluate(pattern.cls, frame)
    found = _attributes_of(pattern, cls) if isinstance(cls, ClassValue | External) else []
    for name, part in found:
        bind(machine, part, attributes.read(machine, subject, name, pattern, frame), frame)
    for part in pattern.patterns[len(found) - len(pattern.kwd_attrs) :]:
        whole = _binds_whole(pattern) and not isinstance(subject, Instance)
        bind(machine, part, subject if whole else Unknown(), frame)


def _bind_sequence(
    machine: Machine, pattern: ast.MatchSequence, subject: Any, frame: Frame
) -> None:
    targets: list[ast.expr] = []
    nested: list[tuple[str, ast.pattern]] = []
    for index, part in enumerate(pattern.patterns):
        name = f"<part {index}>"
        if isinstance(part, ast.MatchStar):
            targets.append(ast.Starred(ast.Name(part.name or name, ast.Store()), ast.Store()))
        else:
            targets.append(ast.Name(name, ast.Store()))
            nested.append((name, part))
    unpack(machine, targets, subject, frame, None)
    for name, part in nested:
        bind(machine, part, frame.scope.names.get(name, Unknown()), frame)
        machine.journal.delete(frame.scope.names, name)


def _bind_mapping(machine: Machine, pattern: ast.MatchMapping, subject: Any, frame: Frame) -> None:
    taken = set()
    for key, part in zip(pattern.keys, pattern.patterns, strict=True):
        name = machine.evaluate(key, frame)
        value: Any = Unknown()
        if type(subject) is DictObject and type(name) is Const:
            value = subject.entries.get(name.value, subject.rest or Unknown())
            taken.add(name.value)
        bind(machine, part, value, frame)
    if pattern.rest is not None:
        left: Any = Unknown()
        if type(subject) is DictObject:
            entries = {key: item for key, item in subject.entries.items() if key not in taken}
            left = DictObject(entries, subject.rest, pattern)
            carry(subject.entries, left.entries)
        assign_name(machine, pattern.rest, left, frame)
