"""What iterating over a value gives."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain import perhaps_none
from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.guard import Guarded, combine, leaves
from device_lens.domain.heap import (
    MADE_UNDER,
    DictObject,
    Instance,
    ListObject,
    ModuleObject,
    Parameter,
    contents,
)
from device_lens.domain.join import join, join_all, join_blind
from device_lens.domain.lengths import surely_held
from device_lens.domain.objects import any_of_these, holds_all
from device_lens.domain.optional_items import as_placed
from device_lens.domain.similarity import similar
from device_lens.domain.torch_keys import value_of
from device_lens.domain.unknowns import device_of_items
from device_lens.domain.values import (
    NONE,
    BoundExternal,
    Const,
    External,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import enumerations, lazily, passes
from device_lens.interpreter.alike import mark_of
from device_lens.models import registry
from device_lens.models.numbers import number
from device_lens.models.python import dict_classes
from device_lens.models.python.all_gpus import are_those
from device_lens.models.torch.parts import REST, is_opaque, opaque_part
from device_lens.syntax.names import last_name

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

Items = tuple[tuple[Any, ...], Any]
MAX_STRING = 16
MAX_KEYS = 32
"""Keys of a dict that a loop or comprehension takes one by one."""
MAX_ROWS = 16
"""Rows of a list that begin with a word: `("conv", 3), ("relu", 0), ("conv", 5)`."""
MAX_OBJECTS = 16
"""Objects of as many classes that a loop goes through one by one."""
MAX_KINDS = 12
"""Kinds of modules that a loop goes through one by one."""


def iterate(machine: Machine, value: Any) -> Items:
    """The items that are known one by one, and what any further item is (None: no more)."""
    kind = type(value)
    if kind is TupleValue:
        return value.items, None
    if kind is ListObject:
        is_lazy = value.kind == "generator" or MADE_UNDER in value.fields
        if is_lazy and lazily.is_read_elsewhere(machine, value):
            return (), Unknown()
        return value.items, value.rest
    if kind is DictObject:
        return _keys(value)
    if kind in (Tensor, Parameter):
        return (), _row(machine, value)
    if kind is HostArray:
        return (), HostArray(value.dtype, value.shape[1:] if value.shape else None)
    if kind is Const:
        return _of_constant(value.value)
    if kind is Guarded:
        return _of_tree(machine, value)
    if isinstance(value, Instance):
        return _of_object(machine, value)
    if kind is Unknown:
        return (), _element(value)
    if kind is ClassValue and enumerations.is_enumeration(value):
        return enumerations.members(value), None
    return (), Unknown()


def _keys(value: DictObject) -> Items:
    rest = None
    if value.rest is not None:
        rest = value.fields.get("rest_key") or Unknown("a key")
    return tuple(value_of(key) for key in value.entries), rest


def _of_constant(value: Any) -> Items:
    if isinstance(value, str):
        if len(value) <= MAX_STRING:
            return tuple(Const(letter) for letter in value), None
        return (), Unknown("a character")
    return (), Unknown()


def _row(machine: Machine, value: Any) -> Any:
    """Iterating over a tensor gives its rows, on the same device."""
    from device_lens.interpreter import calls

    tensor = value.tensor if type(value) is Parameter else value
    node, frame = machine.active_place()
    model = registry.function("torch.Tensor.__getitem__")
    if model is None:
        return tensor.with_(shape=None, zero_dim=None)
    index = number("an index")
    return calls.run_model(
        machine, model, "torch.Tensor.__getitem__", tensor, (index,), {}, node, frame
    )


def _element(value: Unknown) -> Unknown:
    """An element of an unknown: the same unknown each time, wherever the whole would be."""
    parts = value.parts()
    element = parts.get("<element>")
    if not isinstance(element, Unknown):
        label = f"an element of {value.label}" if value.label else ""
        element = value.derive("<element>", Unknown(label, device_of_items(value)))
    return element


def _of_tree(machine: Machine, tree: Guarded) -> Items:
    if NONE in (tree.yes, tree.no):
        return iterate(machine, tree.no if tree.yes == NONE else tree.yes)
    sides = (tree.yes, tree.no)
    (yes, more_yes), (no, more_no) = (as_placed(s, *iterate(machine, s)) for s in sides)
    condition = Guarded(tree.atom, True, False)
    count = len(yes) if more_yes is None and more_no is None and len(yes) == len(no) else 0
    if _are_modules((*yes, *no)):
        if type(tree.yes) is Unknown:
            yes = (more_yes,) * len(no)  # as many as there are where they are known
        elif type(tree.no) is Unknown:
            no = (more_no,) * len(yes)
        count = min(len(yes), len(no))
    items = tuple(join(condition, a, b) for a, b in zip(yes[:count], no[:count], strict=True))
    left, right = any_of(yes[count:], more_yes), any_of(no[count:], more_no)
    if left is None or right is None:
        return items, left if right is None else right
    return items, join(condition, left, right)


def _of_object(machine: Machine, value: Instance) -> Items:
    """`__iter__`, or `__getitem__` with growing indices, of the program's own class or of a
    library's."""
    cls = value.cls
    if type(cls) is ClassValue:
        iterates = _iterable_model(cls.foreign) is not None
        for name in ("__iter__", "__next__") if iterates else _ITERATING:
            found = cls.lookup(name)
            if isinstance(found, Function):
                return _through_method(machine, value, name, found)
        items = dict_classes.held(value)
        if items is not None:
            return _keys(items)
        names: tuple[str, ...] = cls.foreign
    else:
        names = (cls.name, *registry.bases(cls.name))
    model_name = _iterable_model(names)
    if type(value) is ModuleObject and model_name is None:
        if is_opaque(value):
            known = (part for name, part in value.modules.items() if name != REST)
            return tuple(known), opaque_part(value, REST)
        if value.modules:
            return tuple(value.modules.values()), None
    if model_name is None:
        return (), Unknown()
    produced = machine.invoke(BoundExternal(value, model_name), (), {})
    if produced is value or type(produced) is Unknown:
        return (), produced if produced is not value else Unknown()
    return iterate(machine, produced)


def _are_modules(items: tuple[Any, ...]) -> bool:
    """Whether items are modules, which a loop goes through by their kinds; of parameters one stands
    for all of a case."""
    kinds = {type(leaf) for item in items for leaf in leaves(item)}
    return kinds == {ModuleObject}


_MANY = 10
"""Turns of a comprehension that are more than a handful."""
_LOADER = "torch.utils.data.DataLoader"
_ITERATING = ("__iter__", "__next__", "__getitem__")
"""The methods that a class iterates by, the last one where there is no other way."""


def _iterable_model(names: tuple[str, ...]) -> str | None:
    for name in names:
        if registry.function(name + ".__iter__") is not None:
            return name + ".__iter__"
    return None


def _through_method(machine: Machine, value: Instance, name: str, found: Function) -> Items:
    arguments = (Unknown("an index"),) if name == "__getitem__" else ()
    produced = machine.invoke(BoundMethod(value, found), arguments, {})
    if name != "__iter__":
        return (), produced
    if produced is value:
        following = value.cls.lookup("__next__")
        if isinstance(following, Function):
            return (), _any_next(machine, BoundMethod(value, following))
        return (), Unknown()
    if type(produced) is Unknown:
        return (), _element(produced)
    return iterate(machine, produced)


def _any_next(machine: Machine, following: BoundMethod) -> Any:
    """What `__next__` gives each time: where it writes down how far it is, a later item may be
    elsewhere than the first, so that it is asked again with a count that is not known."""
    outside, mark = machine.journal.outside, machine.journal.mark()
    first = machine.invoke(following, (), {})
    if machine.journal.outside == outside:
        return first
    changes = list(machine.journal.value_at(mark).values())
    passes.stop_counting(machine, changes)
    passes.let_vary(machine, changes)
    second = machine.invoke(following, (), {})
    return first if similar(first, second) else join_blind(first, second)


def first_of(machine: Machine, value: Any) -> Any:
    """What `next(iter(value))` gives."""
    items, rest = iterate(machine, value)
    if items:
        return items[0]
    return rest if rest is not None else Unknown()


def most_keys(items: tuple[Any, ...]) -> int:
    """How many items are taken one by one if they are strings, or pairs with one: what a loop does
    to a container under each of them is kept apart. 0 for anything else."""
    firsts = [i.items[0] if type(i) is TupleValue and i.items else i for i in items]
    if not all(type(first) is Const and isinstance(first.value, str) for first in firsts):
        return 0
    return MAX_KEYS if len({first.value for first in firsts}) == len(firsts) else MAX_ROWS


def most_objects(items: tuple[Any, ...]) -> int:
    """How many items are taken one by one if each is an object of another class of the program, as
    the callbacks of a trainer are: what one of them does none of the others does. 0 for anything
    else."""
    classes = {item.cls for item in items if type(item) is Instance}
    own = all(type(cls) is ClassValue for cls in classes)
    return MAX_OBJECTS if own and len(classes) == len(items) else 0


def kinds_of(
    machine: Machine, items: tuple[Any, ...], compared: frozenset[str] = frozenset()
) -> list[Any] | None:
    """One module for each kind among some, of the same class and settings and in the same place; a
    module may come with its name. None for anything else, and where there is but one kind of a
    class of the program: of a library's layers the sizes alone may differ then. Those that are
    `compared` tell kinds apart as well."""
    found: dict[Any, Any] = {}
    for item in items:
        named = type(item) is TupleValue and len(item.items) == 2
        module = item.items[1] if named else item
        if any(type(leaf) is not ModuleObject for leaf in leaves(module)):
            return None
        kind: Any = combine(partial(_kind, machine, compared), module)
        if kind not in found:
            found[kind] = TupleValue((Unknown("name"), module)) if named else module
            if len(found) > MAX_KINDS:
                return kinds_of(machine, items) if compared else None
    several = len(found) > 1 or any(type(leaf[0]) is External for leaf in map(_first, found))
    return list(found.values()) if several else None


def _kind(machine: Machine, compared: frozenset[str], module: ModuleObject) -> tuple[Any, ...]:
    mark: tuple[Any, ...] = mark_of(machine, module, 1)
    return (*mark, *[_setting(module, name) for name in sorted(compared)])


def _first(kind: Any) -> Any:
    """The kind of what one item is in its first case."""
    return next(iter(leaves(kind)))


def _setting(module: ModuleObject, name: str) -> Any:
    """What a comparison finds in a module under a name: a constant, or whether it has a part."""
    found = module.fields.get(name)
    return found if type(found) is Const else type(module.parameters.get(name))


def any_of(items: tuple[Any, ...], rest: Any) -> Any:
    """One value for any item; Python's None where there is none."""
    found = items if rest is None else (rest, *items)
    return perhaps_none.any_of([*found], join_all) if found else None


def that_is_filled(tree: Guarded) -> Any:
    """The only case of a tree of sequences that has any items; the tree where there are more."""
    found = [
        leaf
        for leaf in leaves(tree)
        if type(leaf) not in (ListObject, TupleValue) or contents(leaf)
    ]
    return found[0] if len(found) == 1 else tree


def surely_runs_over(iterable: Any, items: tuple[Any, ...]) -> bool:
    """Whether a loop over it runs at least once: known items, a data loader, a range, a tensor's
    known rows; objects of which one stands for all, since without a run there are none."""
    if items:
        return True
    if type(iterable) is Guarded and type(iterable.yes) is ListObject:
        return iterable.yes.kind == "range" or are_those(iterable)  # the GPUs that there are
    if type(iterable) is ListObject and getattr(iterable.rest, "many", None) is not None:
        return True
    if type(iterable) is Tensor and iterable.shape:
        return isinstance(iterable.shape[0], int) and iterable.shape[0] > 0
    if isinstance(iterable, Instance):
        return type(iterable.cls) is External
    return bool(getattr(iterable, "kind", "") in ("range", "enumerate", "zip", "loader"))


def how_many_surely(iterable: Any, items: tuple[Any, ...]) -> int:
    """How many of the known items of a container are surely there; of containers between which a
    condition decides, of those that may have any."""
    if type(iterable) is Guarded:
        filled = filter(contents, leaves(iterable))
        return min((surely_held(leaf, items) for leaf in filled), default=len(items))
    return surely_held(iterable, items)


def trip_count(items: tuple[Any, ...], rest: Any, iterable: Any) -> int | None:
    """How often a loop over it runs; None where that is not known."""
    fields = getattr(iterable, "fields", None)
    if holds_all(iterable):
        return len(any_of_these(iterable))
    if rest is None:
        return None if how_many_surely(iterable, items) < len(items) else len(items)
    count = fields.get("length") if isinstance(fields, dict) else None
    return count if isinstance(count, int) else None


def is_hot(node: ast.expr, iterable: Any, rest: Any) -> bool:
    """Whether a loop runs per batch or per step: over data, or over a range that is computed, if
    not one of the devices of a machine."""
    if isinstance(node, ast.Call) and any(
        isinstance(given, ast.Call) and last_name(given.func) == "device_count"
        for given in node.args
    ):
        return False
    if rest is None:
        computed = isinstance(node, ast.Call) and not all(
            isinstance(argument, ast.Constant) for argument in node.args
        )
        return computed and getattr(iterable, "kind", "") == "range"
    if type(iterable) is Guarded:
        # What is known in one case tells what the loop is about in those in which it is not.
        known = [leaf for leaf in leaves(iterable) if type(leaf) is not Unknown and leaf != NONE]
        return not known or not all(map(_is_counted, known))
    return not isinstance(iterable, TupleValue | Const)


def runs_often(iterable: Any, count: int | None) -> bool:
    """Whether a comprehension goes over numbers, the rows of a tensor or batches, and over more
    than a handful of them. A list has what was computed before."""
    if count is not None and count < _MANY:
        return False
    if type(iterable) is Instance:
        return type(iterable.cls) is External and iterable.cls.name == _LOADER
    return type(iterable) is Tensor or getattr(iterable, "kind", "") == "range"


def _is_counted(value: Any) -> bool:
    """Whether this is a list or dict of items that are all known."""
    return isinstance(value, ListObject | DictObject) and value.rest is None
