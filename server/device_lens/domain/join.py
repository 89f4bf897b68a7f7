"""The join of two values: what is known after paths meet."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from device_lens.domain.bound_code import any_code, differ_in_objects
from device_lens.domain.code import Function, is_one_text
from device_lens.domain.condition import conjunction
from device_lens.domain.denied import beside_tensor
from device_lens.domain.device import (
    UNKNOWN_DEVICE,
    flatten_device,
    join_devices,
    shared,
    widen_device,
)
from device_lens.domain.followed import is_of_few
from device_lens.domain.guard import (
    MOST_CASES,
    Guarded,
    choose,
    combine,
    depth,
    leaves,
    node,
    primary,
    side,
    undecided,
)
from device_lens.domain.heap import MISSING, DictObject, Instance, ModuleObject, Parameter
from device_lens.domain.objects import (
    OBJECTS,
    ONE_OF_TWO,
    any_of_many,
    any_picked_of,
    is_one_of_many,
    one_dict,
    within_container,
)
from device_lens.domain.parameters import either
from device_lens.domain.perhaps_tensors import common_case, somewhere
from device_lens.domain.plain import any_number
from device_lens.domain.shallow import shallow
from device_lens.domain.similarity import TENSORS, similar, value_of
from device_lens.domain.trail import Trail
from device_lens.domain.unknowns import have_code, join_unknowns
from device_lens.domain.values import (
    NONE,
    WHOLE,
    Const,
    DeviceValue,
    DtypeValue,
    HostArray,
    Tensor,
    TupleValue,
    Unknown,
)

MAX_VALUE_DEPTH = 4
"""Conditions that a tree of values may hang on; each leaf is followed on its own."""
MAX_USUAL_DEPTH = 12
"""The same where only the usual case of each is told apart from the others: there is one leaf more
than there are conditions."""

_OF_PARAMETERS = frozenset({Parameter, Guarded})
"""Kinds of values that may be nothing but parameters."""


def join(condition: Any, left: Any, right: Any) -> Any:
    """`left` where `condition` holds, else `right`."""
    if left is right or right is MISSING:
        return left
    if left is MISSING:
        return right
    kind = type(left)
    if kind is type(right):
        if kind is Tensor:
            return join_tensors(condition, left, right)
        if kind is Const and left == right:
            return left
        if kind is DeviceValue:
            placed = left.placed if left.placed is right.placed else None
            return DeviceValue(join_devices(condition, left.device, right.device), placed)
        if kind is DtypeValue:
            return left if left == right else DtypeValue(None)
        if kind is TupleValue and len(left.items) == len(right.items):
            return _join_tuples(condition, left, right)
        if kind is tuple and len(left) == len(right):
            return tuple(join(condition, a, b) for a, b in zip(left, right, strict=True))
        if kind is HostArray:
            return _join_arrays(left, right)
        if kind is Trail:
            return _told(condition, left, right)
        if kind is Unknown:
            return join_unknowns(left, right, join_devices(condition, left.device, right.device))
    if kind is tuple or type(right) is tuple:
        return _join_items(condition, left, right)
    if left is None or right is None:
        return right if left is None else left
    return _usual(beside_tensor(choose(condition, left, right), left, right), 0)


def _join_arrays(left: HostArray, right: HostArray) -> HostArray:
    """What two arrays have in common."""
    dtype = left.dtype if left.dtype == right.dtype else None
    zero_dim = left.zero_dim if left.zero_dim == right.zero_dim else None
    shape = join_shapes(left.shape, right.shape)
    same = (shape, dtype, zero_dim) == (left.shape, left.dtype, left.zero_dim)
    return left if same else HostArray(dtype, shape, left.trail, zero_dim)


def _usual(tree: Any, above: int) -> Any:
    """The tree, less of what conditions tell apart where it is too deep: the primary case is kept
    for as long as there is one, and the others are one case at each condition."""
    if type(tree) is not Guarded or depth(tree) <= MAX_VALUE_DEPTH - above:
        return tree
    if tree.depth + above <= MAX_USUAL_DEPTH and is_of_few(tree, above):
        return tree
    default = tree.atom.default
    if default is None or above >= MAX_USUAL_DEPTH:
        return flatten(tree)
    kept = _usual(tree.yes if default else tree.no, above + 1)
    other = flatten(tree.no if default else tree.yes)
    return node(tree.atom, kept, other) if default else node(tree.atom, other, kept)


def bounded(tree: Any) -> Any:
    """The tree, less of what conditions tell apart where it has too many cases."""
    return _usual(tree, 0) if type(tree) is Guarded and tree.size > MOST_CASES else tree


def join_tensors(condition: Any, left: Tensor, right: Tensor) -> Tensor:
    joined = Tensor(
        join_devices(condition, left.device, right.device),
        left.dtype if left.dtype == right.dtype else None,
        join_shapes(left.shape, right.shape),
        _told(condition, left.trail, right.trail),
        requires_grad=left.requires_grad if left.requires_grad == right.requires_grad else None,
        leaf=left.leaf if left.leaf == right.leaf else None,
        pinned=left.pinned and right.pinned,
        default_made=left.default_made and right.default_made,
        zero_dim=left.zero_dim if left.zero_dim == right.zero_dim else None,
    )
    joined.grad_apart = left.grad_apart or right.grad_apart
    return joined


def _told(condition: Any, left: Trail | None, right: Trail | None) -> Trail | None:
    """One history, that of the primary case: a reader follows no more. The other is kept for where
    something happens in its case."""
    if left is None or right is None or left is right:
        return left or right
    if type(condition) is Guarded and condition.atom.is_counted and not left.tells_the_same(right):
        left = left.behind(left.previous)  # either way is the primary case in its time
        left.case = conjunction(condition, left.case)
    return right.or_else(left) if primary(condition) is False else left.or_else(right)


def join_shapes(left: Any, right: Any) -> Any:
    if left == right:
        return left
    if left is None or right is None or len(left) != len(right):
        return None
    return tuple(a if a == b else None for a, b in zip(left, right, strict=True))


def with_common_sizes(before: Any, after: Any) -> Any:
    """The later value of a place with the sizes alone that its former value has too."""
    placed = (Tensor, HostArray, Guarded)
    if type(before) in placed and type(after) in placed:
        return combine(_resized, before, after)
    return after


def _resized(before: Any, after: Any) -> Any:
    if type(before) is not type(after) or type(after) not in (Tensor, HostArray):
        return after
    if before.shape == after.shape:
        return after
    shape = join_shapes(before.shape, after.shape)
    if type(after) is Tensor:
        return after.with_(shape=shape)
    return HostArray(after.dtype, shape, after.trail, after.zero_dim)


def _join_tuples(condition: Any, left: TupleValue, right: TupleValue) -> TupleValue:
    pairs = zip(left.items, right.items, strict=True)
    items = tuple(join(condition, a, b) for a, b in pairs)
    if all(a is b for a, b in zip(items, left.items, strict=True)):
        return left
    return TupleValue(items, left.names)


def _join_items(condition: Any, left: Any, right: Any) -> Any:
    """Item tuples of lists whose lengths differ: the longer one, joined where both have items."""
    if not isinstance(left, tuple) or not isinstance(right, tuple):
        return left if isinstance(left, tuple) else right
    if len(left) < len(right):
        return tuple(
            join(condition, left[i], r) if i < len(left) else r for i, r in enumerate(right)
        )
    return tuple(
        join(condition, item, right[i]) if i < len(right) else item for i, item in enumerate(left)
    )


def join_all(values: list[Any]) -> Any:
    """One value for any of several, without a condition to tell them apart."""
    kinds = set(map(type, values))
    if kinds == {Parameter}:
        return _any_parameter(values)
    if kinds == {TupleValue} and len({len(each.items) for each in values}) == 1:
        columns = zip(*(each.items for each in values), strict=True)
        return TupleValue(tuple(join_all([*each]) for each in columns), values[0].names)
    result, parts = values[0], {ModuleObject, Unknown}
    for index, value in enumerate(values):
        if type(result) is Unknown and ModuleObject in kinds <= parts:
            return any_changeable([result, *values[index:]])
        result = join_blind(result, value)
    return result


def join_blind(left: Any, right: Any) -> Any:
    """Either of two values, with no condition that decides."""
    if left is right:
        return left
    if type(left) is Tensor and type(right) is Tensor:
        return left if _is_alike(left, right) else join_tensors_blindly(left, right)
    if type(left) in _OF_PARAMETERS and type(right) in _OF_PARAMETERS:
        parameters = [*_parameters(left), *_parameters(right)]
        if None not in parameters:
            return _any_parameter(parameters)
    if type(left) is type(right) is TupleValue and len(left.items) == len(right.items):
        return _join_tuples_blindly(left, right)
    if type(left) is DictObject and type(right) is DictObject:
        return one_dict(left, right) or flatten(join(undecided(), left, right))
    if type(left) is Function and type(right) is Function and is_one_text(left, right):
        return _join_functions(left, right)
    if type(left) is Unknown and type(right) is Unknown and have_code(left, right):
        return join_unknowns(left, right, left.device)
    if similar(left, right):
        return left
    if Unknown in (type(left), type(right)) and (type(left) in TENSORS or type(right) in TENSORS):
        return somewhere((left, right))  # as `flatten` has it
    if type(left) is Unknown and type(right) is Unknown:
        return join_unknowns(left, right, widen_device(combine(shared, left.device, right.device)))
    if type(left) in TENSORS and type(right) in TENSORS:
        return join_tensors_blindly(value_of(left), value_of(right))
    elif type(left) is type(right) and type(left) in ONE_OF_TWO:
        return ONE_OF_TWO[type(left)](left, right) or flatten(join(undecided(), left, right))
    tensors = [found for found in (_whole(left), _whole(right)) if found is not None]
    if len(tensors) == 2:
        return join_tensors_blindly(*tensors)
    if tensors and NONE in (left, right):
        return tensors[0]
    atom = common_case(left, right)
    if atom is not None:
        sides = ((side(left, atom, way), side(right, atom, way)) for way in (True, False))
        return node(atom, *(join_blind(*each) for each in sides))
    return flatten(join(undecided(), left, right))


def _join_functions(left: Function, right: Function) -> Any:
    """Either of two functions of one text, by what they were given as defaults."""
    if differ_in_objects(left, right):
        return any_code((left, right)) or Unknown()
    defaults = tuple(map(join_blind, left.defaults, right.defaults))
    kw_defaults = tuple(map(join_blind, left.kw_defaults, right.kw_defaults))
    if defaults == left.defaults and kw_defaults == left.kw_defaults:
        return left
    found = shallow(left)
    found.defaults, found.kw_defaults = defaults, kw_defaults
    return found


def join_blind_with(value: Any) -> Callable[[Any], Any]:
    """Joins many with one value: the tensor of one that is any of many parameters is put together
    once."""
    if type(value) is not Parameter or not value.among:
        return lambda other: join_blind(other, value)
    tensor = value.tensor
    return lambda other: join_blind(other, tensor if type(other) is Tensor else value)


def _join_tuples_blindly(left: TupleValue, right: TupleValue) -> TupleValue:
    pairs = zip(left.items, right.items, strict=True)
    items = tuple(join_blind(a, b) for a, b in pairs)
    if all(a is b for a, b in zip(items, left.items, strict=True)):
        return left
    return TupleValue(items, left.names)


def _parameters(value: Any) -> list[Parameter | None]:
    """The parameters that a value may be, None for whatever else it may be."""
    return [leaf if type(leaf) is Parameter else None for leaf in leaves(value)]


def _any_parameter(values: list[Any]) -> Any:
    """What may be any of some parameters. Of very many nobody can tell where they will be."""
    found = either(values)
    if found is not None:
        return found
    tensor = reduce(join_tensors_blindly, [each.tensor for each in values])
    return tensor.with_(device=UNKNOWN_DEVICE)


def _is_alike(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors are in the same place and of the same kind."""
    same = left.shape == right.shape and left.dtype == right.dtype
    return same and similar(left, right)


def _whole(value: Any) -> Tensor | None:
    """One tensor for a tree of them, on the tree of their devices: sides that are None are left
    out. None for anything else."""
    if type(value) in TENSORS:
        return value_of(value)
    if type(value) is not Guarded:
        return None
    left, right = _whole(value.yes), _whole(value.no)
    if left is None or right is None:
        other = value.no if right is None else value.yes
        return (left or right) if other == NONE else None
    return join_tensors(Guarded(value.atom, True, False), left, right)


def join_tensors_blindly(left: Tensor, right: Tensor) -> Tensor:
    """Where both are in the same place case by case, so is the result."""
    device = combine(shared, left.device, right.device)
    return join_tensors(True, left, right).with_(device=widen_device(device))


def flatten(value: Any) -> Any:
    """`value` without its guards. Tensors among the leaves (parameters as their tensors) become one
    whose device is known only in the cases where all agree; constants and containers are dropped
    beside one (an operation on them is no business of ours), an array is not (it may be read as it
    is); otherwise leaves that differ give an unknown."""
    if type(value) is TupleValue:
        items = tuple(flatten(item) for item in value.items)
        same = all(a is b for a, b in zip(items, value.items, strict=True))
        return value if same else TupleValue(items, value.names)
    if type(value) is Tensor:
        flat = flatten_device(value.device)
        return value if flat is value.device else value.with_(device=flat)
    if type(value) is not Guarded:
        return value
    found = list(leaves(value))
    if all(type(leaf) is Parameter for leaf in found):
        return _any_parameter(found)
    if (picked := any_picked_of(value)) is not None:
        return picked
    if all(similar(found[0], leaf) for leaf in found[1:]):
        return reduce(join_blind, found) if type(found[0]) is Tensor else found[0]
    tensors = [
        leaf.tensor if type(leaf) is Parameter else leaf
        for leaf in found
        if type(leaf) in (Tensor, Parameter)
    ]
    if tensors:
        if any(type(leaf) in _NO_TENSORS or isinstance(leaf, Instance) for leaf in found):
            return somewhere(found)
        return reduce(join_tensors_blindly, tensors)
    rest = [leaf for leaf in found if leaf != NONE and leaf is not MISSING]
    if not rest:
        return NONE
    if any(type(leaf) is ModuleObject for leaf in rest):  # a number holds the place of one
        rest = [leaf for leaf in rest if type(leaf) is not Const]
    if all(similar(rest[0], leaf) for leaf in rest[1:]):
        return rest[0]
    if all(type(leaf) is DeviceValue for leaf in rest):
        joined = _join_list(rest)
        return DeviceValue(flatten_device(joined.device), joined.placed)
    return any_number(rest) or any_code(rest) or any_changeable(rest)


def any_changeable(found: list[Any]) -> Unknown:
    """What may be any of some values: it remembers the modules and other objects among them, since
    where it is moved or changed each of these may have been."""
    objects: list[Any] = []
    for leaf in found:
        if isinstance(leaf, OBJECTS):
            objects.append(leaf)
        elif type(leaf) is Unknown and leaf.fields is not None and WHOLE in leaf.fields:
            objects.append(leaf.fields[WHOLE])
    if not objects:
        return Unknown()
    return within_container(any_of_many(objects, all(map(is_one_of_many, found))), found)


_NO_TENSORS = (Unknown, HostArray)
"""What may answer otherwise than a tensor where a tensor is expected."""


def _join_list(values: list[Any]) -> Any:
    return reduce(lambda left, right: join(undecided(), left, right), values)
