"""Functions over many tensors at once: `torch._foreach_add_(left, right)`, `tree_map(f, batch)`."""

from __future__ import annotations

from device_lens.domain.guard import Guarded
from device_lens.domain.heap import DictObject, Instance, ListObject, contents
from device_lens.domain.lengths import at_least
from device_lens.domain.presence import all_present
from device_lens.domain.values import NONE, Const, Tensor, TupleValue, Unknown
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Model, Value, constant, tensor_of
from device_lens.models.operands import item_of
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.collation import map_tensors
from device_lens.models.torch.objects import instance
from device_lens.models.words import words

_OPERATIONS = words(
    "abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min clone cos cosh div erf erfc "
    "exp expm1 floor frac lerp lgamma log log10 log1p log2 maximum minimum mul neg norm pow "
    "reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc"
)
_SHAPE = "<tree>"
"""The field of a tree's description with its containers."""
_DEEPEST = 8
"""Levels of containers in containers of which the leaves are gone through."""


def _foreach(in_place: bool) -> Model:
    """What is done with the first of each list, the second of each, and so on. Those that are added
    and the like have to be on one device, pair by pair."""

    def model(call: Call) -> Value:
        columns = [_items(call, position) for position in range(len(call.args))]
        if not columns or columns[0] is None:
            return NONE if in_place else call.unknown()
        found: list[Value] = []
        for number, value in enumerate(columns[0]):
            row: list[Placed] = []
            for position, column in enumerate(columns):
                item = column[number] if column and number < len(column) else None
                tensor = tensor_of(item)
                if tensor is not None:
                    row.append((tensor, item, item_of(position, number)))
            if not row:
                return NONE if in_place else call.unknown()
            device = common_device(call.services, call.name, row, True)
            tensor = tensor_of(value)
            found.append(call.unknown() if tensor is None else tensor.with_(device=device))
        return NONE if in_place else ListObject(tuple(found), None, "list", call.site.node)

    return model


def _items(call: Call, position: int) -> tuple[Value, ...] | None:
    """The tensors of a list; Python's None of a number, and where not all are known."""
    value = call.args[position]
    if type(value) not in (ListObject, TupleValue):
        return None
    items, rest = call.services.iterate(value)
    return None if rest is not None else items


def _map(call: Call) -> Value:
    """`tree_map(f, tree)`: the same containers with what `f` makes of each leaf."""
    function, tree = call.get(0, "func", NONE), call.get(1, "tree", NONE)
    return map_tensors(tree, lambda leaf: call.services.invoke(function, (leaf,), {}), _DEEPEST)


def _map_tensors(call: Call) -> Value:
    """`tree_map_only(torch.Tensor, f, tree)`."""
    function, tree = call.get(1, "func", NONE), call.get(2, "tree", NONE)

    def leaf(value: Value) -> Value:
        return call.services.invoke(function, (value,), {}) if type(value) is Tensor else value

    return map_tensors(tree, leaf, _DEEPEST)


def _flatten(call: Call) -> Value:
    """`leaves, spec = tree_flatten(tree)`."""
    tree, leaves = call.get(0, "tree", NONE), list[Value]()
    if not _is_whole(tree, _DEEPEST):
        return Unknown()

    def taken(leaf: Value) -> Value:
        leaves.append(leaf)
        return NONE

    shape = map_tensors(tree, taken)
    listed = ListObject(tuple(leaves), None, "list", call.site.node)
    if call.name.endswith("leaves"):
        return listed
    spec = instance(call, "torch.utils._pytree.TreeSpec")
    spec.fields.update({_SHAPE: shape, "num_leaves": Const(len(leaves))})
    return TupleValue((listed, spec))


def _is_whole(tree: Value, deepest: int) -> bool:
    """Whether all leaves of containers are known, in their order."""
    if type(tree) is Guarded or not deepest:
        return False
    parts = () if type(tree) not in (TupleValue, ListObject, DictObject) else contents(tree)
    if type(tree) is ListObject:
        known = tree.rest is None and at_least(tree) == len(tree.items) and tree.kind == "list"
    else:
        known = type(tree) is not DictObject or (tree.rest is None and all_present(tree.entries))
    return known and all(_is_whole(part, deepest - 1) for part in parts)


def _unflatten(call: Call) -> Value:
    """`tree_unflatten(leaves, spec)`: the containers of a tree with other leaves."""
    items, rest = call.services.iterate(call.get(0, "leaves", NONE))
    spec = call.get(1, "treespec")
    shape = spec.fields.get(_SHAPE) if isinstance(spec, Instance) else None
    if shape is None or rest is not None or len(items) != constant(spec.fields["num_leaves"]):
        return Unknown()
    left = iter(items)
    return map_tensors(shape, lambda _: next(left))


def register_all() -> None:
    for name in ("flatten", "leaves"):
        FUNCTIONS[f"torch.utils._pytree.tree_{name}"] = _flatten
    FUNCTIONS["torch.utils._pytree.tree_unflatten"] = _unflatten
    for name in _OPERATIONS:
        FUNCTIONS[f"torch._foreach_{name}"] = _foreach(False)
        FUNCTIONS[f"torch._foreach_{name}_"] = _foreach(True)
    FUNCTIONS["torch.utils._pytree.tree_map"] = _map
    FUNCTIONS["torch.utils._pytree.tree_map_only"] = _map_tensors
    for name in ("optree.tree_map", "tree.map_structure", "torch.utils.pytree.tree_map"):
        ALIASES[name] = "torch.utils._pytree.tree_map"
