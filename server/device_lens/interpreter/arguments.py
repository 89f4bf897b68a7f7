"""The arguments of a call: positional, by keyword, and out of sequences and mappings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import MISSING, DictObject, Instance, ListObject
from device_lens.domain.join import join
from device_lens.domain.lengths import any_such
from device_lens.domain.objects import any_picked
from device_lens.domain.presence import either, presence
from device_lens.domain.values import (
    NONE,
    Const,
    DeviceValue,
    External,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter.frames import Frame
from device_lens.models.python import dict_classes

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

Arguments = tuple[tuple[Any, ...], dict[str, Any], bool]
"""Positional values, keyword values, and whether these are all."""

MAX_CASES = 3
"""Conditions for each of which a call runs with the keywords and without them."""


class Keywords(dict[str, Any]):
    """Keywords of which some are given under a condition only. Where it does not hold these are
    Python's None here, which is what nearly all parameters of libraries have as default. `rest` is
    what any further one is whose name is not known, and `further` what any further positional
    argument is where nobody knows how many there are; None where that is not known either."""

    __slots__ = ("further", "given", "rest")

    def __init__(self, known: dict[str, Any] | None = None) -> None:
        super().__init__(known or {})
        self.given: dict[str, tuple[Any, Any]] = {}
        """By name, the condition under which a keyword is given and its value then."""
        self.rest: Any = None
        self.further: Any = None

    def put(self, name: str, condition: Any, value: Any) -> None:
        self[name] = join(condition, value, NONE)
        self.given[name] = condition, value

    def under(self, condition: Any, holds: bool) -> dict[str, Any]:
        """The same where a condition is decided."""
        found = Keywords()
        for name, value in self.items():
            when, given = self.given.get(name, (True, value))
            if when is True:
                found[name] = value
            elif when != condition:
                found.put(name, when, given)
            elif holds:
                found[name] = given
        found.rest, found.further = self.rest, self.further
        return found if found.given or any(each is not None for each in unseen(self)) else {**found}


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def named_as_documented(function: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keywords as PyTorch's documentation names them: it takes numpy's `axis` and `keepdims` for
    its own (`torch/csrc/utils/python_arg_parser.cpp: numpy_compatibility_arg_names`)."""
    if _NUMPY_NAMES.keys().isdisjoint(kwargs) or function[:6] != "torch.":
        return kwargs
    if "per_channel" in function:
        return kwargs  # `axis` is what these call it themselves
    return {_NUMPY_NAMES.get(name, name): value for name, value in kwargs.items()}


def by_case(
    machine: Machine,
    function: Any,
    kwargs: dict[str, Any],
    frame: Frame,
    run: Callable[[dict[str, Any]], Any],
    cases: int = MAX_CASES,
) -> Any:
    """A call with keywords of which some are given under a condition only: with and without them,
    since a function of the program has defaults of its own."""
    if type(kwargs) is not Keywords or not kwargs.given or type(function) is External:
        return run(kwargs)
    if not cases:
        lost = {name: Unknown(name) for name in kwargs.given}
        return run({**kwargs, **lost})
    condition = next(iter(kwargs.given.values()))[0]
    yes, no = (
        partial(by_case, machine, function, kwargs.under(condition, holds), frame, run, cases - 1)
        for holds in (True, False)
    )
    return machine.choose(condition, frame, yes, no)


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
                if complete and item is node.args[-1] and _holds_no_object(rest):
                    kwargs = Keywords()
                    kwargs.further = any_such(rest)
                complete = False
                args.append(any_picked(value, rest))
        else:
            value = machine.evaluate(item, frame)
            args.append(value if complete else Unknown())
    for keyword in node.keywords:
        value = machine.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        mapping = dict_classes.content(value)
        kwargs, all_known = _merged(machine, kwargs, mapping)
        if complete and not all_known and type(mapping) is DictObject:
            kwargs = kwargs if type(kwargs) is Keywords else Keywords(kwargs)
            kwargs.rest = mapping.rest
        elif not all_known and type(kwargs) is Keywords:
            kwargs.rest = kwargs.further = None
        complete = complete and all_known
    return tuple(args), kwargs, complete


def _holds_no_object(value: Any) -> bool:
    """Whether nothing that is done to one argument can be done to another one that is such."""
    if type(value) is TupleValue:
        return all(map(_holds_no_object, value.items))
    return type(value) in (Tensor, HostArray, Const, DeviceValue)


def unseen(kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """What the arguments of a call are that are not told one by one."""
    return (kwargs.rest, kwargs.further) if type(kwargs) is Keywords else ()


def of_any_name(kwargs: dict[str, Any], name: str) -> Any:
    """What a parameter is that has to be given, where the names of some keywords are not known."""
    rest = kwargs.rest if type(kwargs) is Keywords else None
    return Unknown(name) if rest is None else rest


def of_any_place(kwargs: dict[str, Any], name: str, needed: bool) -> Any:
    """What a parameter is that may be any of the arguments that are not told one by one, which one
    that is `needed` is."""
    if not needed:
        return Unknown(name)
    further = kwargs.further if type(kwargs) is Keywords else None
    return of_any_name(kwargs, name) if further is None else further


def any_further(kwargs: dict[str, Any]) -> Any:
    """What any further positional argument is."""
    further = kwargs.further if type(kwargs) is Keywords else None
    return Unknown() if further is None else further


def unpacked_choice(machine: Machine, node: ast.Call, frame: Frame) -> Guarded | None:
    """What `f(*given)` unpacks where a condition decides how many arguments there are."""
    for item in node.args:
        if type(item) is ast.Starred and isinstance(item.value, ast.Name):
            given = machine.evaluate(item.value, frame)
            return given if type(given) is Guarded and _differ(given.yes, given.no) else None
    return None


def _differ(yes: Any, no: Any) -> bool:
    known = all(type(each) is TupleValue or _is_told_one_by_one(each) for each in (yes, no))
    return known and len(yes.items) != len(no.items)


def _is_told_one_by_one(value: Any) -> bool:
    return type(value) is ListObject and value.kind == "list" and value.rest is None


def _merged(machine: Machine, kwargs: dict[str, Any], value: Any) -> tuple[dict[str, Any], bool]:
    """`f(**d)`, `f(**(a if c else b))`: a key that only some paths or sides have is a keyword on
    these. Also whether these keywords are all."""
    sides = list(leaves(value))
    if not all(type(side) is DictObject for side in sides):
        return kwargs, False
    for name in dict.fromkeys(k for side in sides for k in side.entries if isinstance(k, str)):
        given, item = _keyword(value, name)
        condition = machine.decide(given)
        if condition is True:
            kwargs[name] = item
        elif condition is not False:
            if type(kwargs) is not Keywords:
                kwargs = Keywords(kwargs)
            kwargs.put(name, condition, item)
    return kwargs, all(side.rest is None for side in sides)


def _keyword(value: Any, name: str) -> tuple[Any, Any]:
    """The condition under which the dicts of a tree have a key, and what it has then."""
    if type(value) is DictObject:
        return presence(value.entries, name), value.entries.get(name, MISSING)
    first = Guarded(value.atom, True, False)
    (there, yes), (here, no) = _keyword(value.yes, name), _keyword(value.no, name)
    return either(first, there, here), join(first, yes, no)


def own_receiver(name: str, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The object that a library's method is called for on its class, as in `Subset.__len__(self)`,
    and the arguments after it; else None, and all of them."""
    owner, _, method = name.rpartition(".")
    if not args or type(args[0]) is not Instance or method[:1].isupper():
        return None, args
    of_class = owner.rpartition(".")[2][:1].isupper()
    return (args[0], args[1:]) if of_class else (None, args)
