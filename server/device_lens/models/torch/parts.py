"""What an `nn.Module` of the abstract heap consists of: a walk over its parts, where they are, and
how large they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import le
from typing import Any, NamedTuple

from device_lens.domain.device import (
    CPU,
    MAX_UNNAMED,
    UNKNOWN_DEVICE,
    Device,
    DeviceTree,
    SymbolicDevice,
    same_everywhere,
    widen_device,
)
from device_lens.domain.guard import Guarded, combine, leaves, node
from device_lens.domain.heap import MISSING, ModuleObject, Parameter, Table
from device_lens.domain.journal import Journal
from device_lens.domain.trail import Trail
from device_lens.domain.values import External, Tensor, Unknown

REST = "*"
"""The name of a container's member that stands for any number of further ones."""

STANDS_FOR = "stands for"
"""The entry of a module's own table that tells how many real ones it is."""

HAS_HOME = "has a home"
"""The entry of one that stands for all members of a container."""

HOLDS_SOME = "holds some"
"""The entry of a container that may hold some of those for which a member of it stands."""

PART = "torch.nn.<part>"
"""The class of a module inside an opaque one."""

MEMBERS = "members"
"""The entry of such a module that a program has put into a container as any number of members."""

REPARAMETRISED = "reparametrised"
"""What a module's `own` holds where it may have parameters beside those that are listed."""
WITH_WHOLE = SymbolicDevice("the module that it is a part of")
"""Where a part of an opaque module is for as long as it does not move by itself."""

ITEM_BYTES = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "float32": 4,
    "int64": 8,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
}


class Part(NamedTuple):
    """A parameter or buffer. `value` is a `Parameter`, a `Tensor` or an `Unknown`, never a tree:
    a part that depends on a guard is listed once per case. `table[key]` holds it."""

    name: str
    kind: str
    value: Any
    table: Table
    key: str


class OpaqueFields(dict[Any, Any]):
    """The fields of the one `Parameter` that stands for all those of an opaque module: its tensor
    is wherever the module is now, until something writes to it."""

    def __init__(self, module: ModuleObject) -> None:
        super().__init__()
        self.module = module

    def __missing__(self, key: Any) -> Any:
        if key != "tensor":
            raise KeyError(key)
        return opaque_tensor(self.module)


def own_device(module: ModuleObject) -> DeviceTree:
    """Where the parts of an opaque module are that are not listed one by one."""
    found = module.own.get("device", MISSING)
    if found is MISSING or WITH_WHOLE in leaves(found):
        parent = module.own.get("parent")
        whole = own_device(parent) if type(parent) is ModuleObject else CPU
        if found is MISSING:
            return whole
        found = combine(lambda leaf: whole if leaf is WITH_WHOLE else leaf, found)
    if type(found) in (Device, SymbolicDevice, Guarded):
        return found  # type: ignore[no-any-return]
    return UNKNOWN_DEVICE


def own_dtype(module: ModuleObject) -> str | None:
    """The dtype of an opaque module's parameters."""
    found = module.own.get("dtype")
    return found if isinstance(found, str) else None


def own_trail(module: ModuleObject) -> Trail | None:
    """How the module got where it is."""
    for key in ("moved", "trail"):
        for found in leaves(module.own.get(key)):
            if type(found) is Trail:
                return found
    return None


def is_opaque(module: ModuleObject) -> bool:
    """Whether the module has parts that are not listed."""
    return bool(module.own.get("opaque"))


def opaque_tensor(module: ModuleObject) -> Tensor:
    """Any parameter of an opaque module."""
    frozen = module.own.get("frozen")
    return Tensor(
        own_device(module),
        own_dtype(module),
        trail=own_trail(module),
        requires_grad=None if frozen is None else not frozen,
        zero_dim=False,
    )


def opaque_parameter(module: ModuleObject) -> Parameter:
    """The parameter that stands for all those of an opaque module. It has no state of its own, so
    that it need not be written through the journal."""
    found = module.own.get("representative")
    if type(found) is not Parameter:
        found = Parameter(opaque_tensor(module), module.site)
        found.fields = OpaqueFields(module)
        module.own["representative"] = found
    return found


def lose_unlisted(journal: Journal, module: ModuleObject) -> None:
    """The parts of an opaque module that are not listed are somewhere unknown from now on."""
    journal.write(module.own, "device", UNKNOWN_DEVICE)
    fields = opaque_parameter(module).fields
    if "tensor" in fields:
        journal.write(fields, "tensor", fields["tensor"].with_(device=UNKNOWN_DEVICE))


def opaque_part(module: ModuleObject, name: str) -> ModuleObject:
    """A submodule of an opaque module, which moves along."""
    child = module.modules.get(name)
    if not isinstance(child, ModuleObject):
        child = ModuleObject(External(PART), module.site)
        child.own.update(opaque=True, parent=module, device=WITH_WHOLE, name=name)
        module.modules[name], child.standing.attached = child, True
    return child


def walk(
    module: ModuleObject, ends: Callable[[ModuleObject], bool] = lambda _: False
) -> Iterator[tuple[str, ModuleObject]]:
    """The module and every module in it, each once, with qualified names: parents first, and
    nothing below one that `ends` the walk. Modules may be nested deeper than calls can be."""
    seen: set[int] = set()
    stack = [("", module)]
    while stack:
        prefix, owner = stack.pop()
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        yield prefix, owner
        if ends(owner):
            continue
        for name, child in reversed(children(owner)):
            stack.append((f"{prefix}.{name}" if prefix else name, child))


def of_many(module: ModuleObject) -> list[ModuleObject]:
    """The direct submodules that stand for any number of them, each once."""
    found = {id(leaf): leaf for leaf in leaves(module.modules.get(REST))}
    return [
        leaf for leaf in found.values() if isinstance(leaf, ModuleObject) and leaf.many is not None
    ]


def children(module: ModuleObject) -> list[tuple[str, ModuleObject]]:
    """The module's direct submodules."""
    found = []
    for name, value in list(module.modules.items()):
        for leaf in leaves(value):
            if isinstance(leaf, ModuleObject):
                found.append((str(name), leaf))
    return found


def is_many(name: str) -> bool:
    """Whether a qualified name is that of a part which stands for any number of them."""
    return REST in name and any(word.startswith(REST) for word in name.split("."))


def all_parts(module: ModuleObject, recurse: bool = True) -> Iterator[Part]:
    """Every parameter and buffer with its qualified name, shared ones once."""
    seen: set[int] = set()
    for prefix, owner in walk(module) if recurse else [("", module)]:
        lead = f"{prefix}." if prefix else ""
        for kind, table in (("parameter", owner.parameters), ("buffer", owner.buffers)):
            for key, value in list(table.items()):
                for leaf in leaves(value):
                    if type(leaf) in (Parameter, Tensor, Unknown) and id(leaf) not in seen:
                        seen.add(id(leaf))
                        yield Part(f"{lead}{key}", kind, leaf, table, key)
        if is_opaque(owner):
            yield Part(f"{lead}{REST}", "parameter", opaque_parameter(owner), owner.own, "")


def tensor_in(value: Any) -> Tensor | None:
    """The tensor that a part is at present."""
    if type(value) is Parameter:
        return value.tensor
    return value if type(value) is Tensor else None


def is_without_storage(value: Any) -> bool:
    """Whether a module may have a part on `meta`, to which nothing can be copied."""
    if not isinstance(value, ModuleObject):
        return False
    tensors = (tensor_in(part.value) for part in all_parts(value))
    devices = (each for tensor in tensors if tensor is not None for each in leaves(tensor.device))
    return any(type(each) is Device and each.type == "meta" for each in devices)


def without_attribute(value: Any) -> Any:
    """What is registered moves along, whatever plain attribute it came out of."""
    if type(value) is not Tensor or value.trail is None or value.trail.kind != "attribute":
        return value
    return value.with_(trail=value.trail.previous)


def devices_of(module: ModuleObject) -> DeviceTree | None:
    """Where all the module's parameters and buffers are: unknown where they are in several places
    or one of them is not known, None where there are none."""
    found: DeviceTree | None = None
    for part in all_parts(module):
        tensor = tensor_in(part.value)
        device = part.value.device if tensor is None else tensor.device
        if found is None:
            found = device
        elif found is not device and not same_everywhere(found, device):
            return UNKNOWN_DEVICE
    return found


def device_remembered(module: ModuleObject, moves: int) -> DeviceTree | None:
    """`devices_of`, remembered by module for as long as `Journal.moves` stays the same; parts that
    came since are looked at alone."""
    standing = module.standing
    sizes = (len(module.own), len(module.parameters), len(module.buffers), len(module.modules))
    known = standing.known
    found: DeviceTree | None = None
    first = _NO_SIZES
    if known is not None and known[0] == moves:
        before = known[1]
        if before == sizes:
            return known[2]  # type: ignore[no-any-return]
        if before[0] == sizes[0] and all(map(le, before, sizes)):
            first, found = before, known[2]
    standing.known = (moves, sizes, UNKNOWN_DEVICE)
    for device in _devices_from(module, first, moves):
        if device is None or device is found:
            continue
        found = _together(found, device)
        if found is UNKNOWN_DEVICE:
            break
    found = _filled(found)
    standing.known = (moves, sizes, found)
    return found


_NO_SIZES = (0, 0, 0, 0)


def _devices_from(
    module: ModuleObject, first: tuple[int, int, int, int], moves: int
) -> Iterator[DeviceTree | None]:
    """Where the module's own parts are and its children, less the `first` ones of each table."""
    _, parameters, buffers, modules = first
    own = (*list(module.parameters.values())[parameters:], *list(module.buffers.values())[buffers:])
    for value in own:
        yield combine(_device_of_part, value)
    if first is _NO_SIZES and is_opaque(module):
        yield opaque_parameter(module).tensor.device

    def device_of_child(child: Any) -> DeviceTree | None:
        if not isinstance(child, ModuleObject) or child is module:
            return None
        return device_remembered(child, moves)

    for value in list(module.modules.values())[modules:]:
        yield combine(device_of_child, value)


def _device_of_part(part: Any) -> DeviceTree | None:
    if type(part) is Parameter:
        found: DeviceTree = part.tensor.device
        return found
    return part.device if type(part) in (Tensor, Unknown) else None


def _together(left: DeviceTree | None, right: DeviceTree | None) -> DeviceTree | None:
    """Where two parts are: unknown in the cases in which they are apart, and where the other is in
    those in which there is one alone. Of many cases those in which there is none go first."""
    if left is None or right is None:
        return right if left is None else left
    if type(left) is Guarded or type(right) is Guarded:
        if left == right:
            return left
        found: DeviceTree | None = combine(_together, left, right)
        deep = type(found) is Guarded and found.depth > MAX_UNNAMED
        return widen_device(_filled(found)) if deep else found  # type: ignore[arg-type]
    return left if same_everywhere(left, right) else UNKNOWN_DEVICE


def _filled(tree: DeviceTree | None) -> DeviceTree | None:
    """The tree without the cases in which there is no part."""
    if type(tree) is not Guarded:
        return tree
    yes, no = _filled(tree.yes), _filled(tree.no)
    if yes is None or no is None:
        return no if yes is None else yes
    if yes is tree.yes and no is tree.no:
        return tree
    found: DeviceTree = node(tree.atom, yes, no)
    return found


def home_device(module: ModuleObject) -> DeviceTree | None:
    """Like `devices_of`, but of the parameters alone: where inputs are expected."""
    for part in all_parts(module):
        tensor = tensor_in(part.value)
        if part.kind == "parameter" and tensor is not None:
            return tensor.device
    return devices_of(module)


def bytes_and_count(module: ModuleObject) -> tuple[int | None, int | None]:
    """Bytes of all parameters and buffers, and the number of elements of the parameters; None
    where a shape or dtype is not known, or of how many parts one stands."""
    size: int | None = 0
    count: int | None = 0
    times = _multiplicities(module)
    for part in all_parts(module):
        tensor = tensor_in(part.value)
        elements = None if tensor is None else element_count(tensor)
        elements = _product(elements, times.get(part.name.rpartition(".")[0]))
        width = ITEM_BYTES.get(tensor.dtype or "") if tensor is not None else None
        size = _sum(size, _product(elements, width))
        if part.kind == "parameter":
            count = _sum(count, elements)
    return size, count


def _multiplicities(module: ModuleObject) -> dict[str, int | None]:
    """How many modules each one stands for, by qualified names; None where that is not known."""
    found: dict[str, int | None] = {"": 1}
    for name, part in walk(module):
        if name:
            around, _, own = name.rpartition(".")
            times = part.own.get(STANDS_FOR) if own == REST else 1
            found[name] = _product(found.get(around), times)
    return found


def _product(left: Any, right: Any) -> int | None:
    return left * right if type(left) is int and type(right) is int else None


def _sum(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


def element_count(tensor: Tensor) -> int | None:
    """The number of elements, where the whole shape is known."""
    if tensor.shape is None:
        return None
    product = 1
    for dim in tensor.shape:
        if not isinstance(dim, int):
            return None
        product *= dim
    return product
