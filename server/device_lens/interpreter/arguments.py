"""The arguments of a call: positional, by keyword, and out of sequences and mappings."""

from __future__ import annotations

import ast
from typing import Any

from device_lens.domain.guard import Guarded
from device_lens.domain.heap import DictObject, Instance
from device_lens.domain.join import join
from device_lens.domain.values import NONE, TupleValue, Unknown
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.machine import Machine
from device_lens.models.python import dict_classes

Arguments = tuple[tuple[Any, ...], dict[str, Any], bool]
"""Positional values, keyword values, and whether these are all."""


def evaluate_arguments(
    machine: Machine, node: ast.Call, frame: Frame, unpacked: Any = None
) -> Arguments:
    """The values in order, and whether these are all. `unpacked` is what the first sequence is, if
    that is known already."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    complete = True
    for item in node.args:
        if isinstance(item, ast.Starred):
            value = machine.evaluate(item.value, frame) if unpacked is None else unpacked
            unpacked = None
            known, rest = machine.iterate(value)
            args.extend(known)
            if rest is not None:
                complete = False
                args.append(rest)
        else:
            value = machine.evaluate(item, frame)
            args.append(value if complete else Unknown())
    for keyword in node.keywords:
        value = machine.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        value = dict_classes.mapping(value)
        if type(value) is DictObject:
            kwargs.update({k: v for k, v in value.entries.items() if isinstance(k, str)})
            complete = complete and value.rest is None
        elif type(value) is Guarded:
            complete = _merge_guarded_keywords(kwargs, value) and complete
        else:
            complete = False
    return tuple(args), kwargs, complete


def unpacked_choice(machine: Machine, node: ast.Call, frame: Frame) -> Guarded | None:
    """What `f(*given)` unpacks where a condition decides how many arguments there are."""
    for item in node.args:
        if type(item) is ast.Starred and isinstance(item.value, ast.Name):
            given = machine.evaluate(item.value, frame)
            return given if type(given) is Guarded and _differ(given.yes, given.no) else None
    return None


def _differ(yes: Any, no: Any) -> bool:
    tuples = type(yes) is TupleValue and type(no) is TupleValue
    return tuples and len(yes.items) != len(no.items)


def _merge_guarded_keywords(kwargs: dict[str, Any], value: Guarded) -> bool:
    """`f(**(a if c else b))`: each keyword is the join of what both sides give."""
    sides = [leaf for leaf in (value.yes, value.no) if type(leaf) is DictObject]
    if len(sides) != 2:
        return False
    names = {k for side in sides for k in side.entries if isinstance(k, str)}
    for name in names:
        yes = sides[0].entries.get(name, NONE)
        no = sides[1].entries.get(name, NONE)
        kwargs[name] = join(Guarded(value.atom, True, False), yes, no)
    return all(side.rest is None for side in sides)


def own_receiver(name: str, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The object that a library's method is called for on its class, as in `Subset.__len__(self)`,
    and the arguments after it; else None, and all of them."""
    owner, _, method = name.rpartition(".")
    if not args or type(args[0]) is not Instance or method[:1].isupper():
        return None, args
    of_class = owner.rpartition(".")[2][:1].isupper()
    return (args[0], args[1:]) if of_class else (None, args)
