"""What assigning to, reading from and moving an `nn.Module` does to its registries."""

from __future__ import annotations

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.device import CPU, UNKNOWN_DEVICE, DeviceTree, same_everywhere
from device_lens.domain.guard import choose, leaves, undecided
from device_lens.domain.heap import MISSING, Instance, ModuleObject, Parameter, Table
from device_lens.domain.join import join
from device_lens.domain.parameters import set_tensor
from device_lens.domain.presence import presence
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import (
    NONE,
    WHOLE,
    DeviceValue,
    DtypeValue,
    External,
    Partial,
    Tensor,
    Unknown,
)
from device_lens.domain.wholes import members
from device_lens.models.call import Services, Value, tensor_of
from device_lens.models.torch import any_object, moved_along
from device_lens.models.torch.collation import map_tensors
from device_lens.models.torch.moved_along import HELD
from device_lens.models.torch.mover import Mover
from device_lens.models.torch.parts import (
    all_parts,
    devices_of,
    is_opaque,
    lose_unlisted,
    opaque_parameter,
    opaque_part,
    own_device,
    walk,
)
from device_lens.models.words import words

OPAQUE_CHILDREN = frozenset(
    words(
        """features classifier avgpool fc head heads backbone rpn roi_heads conv1 bn1 layer1 layer2
    layer3 layer4 encoder decoder embeddings aux_classifier AuxLogits conv_proj norm patch_embed
    blocks base_model bert roberta transformer lm_head vision_model text_model relu maxpool dropout
    conv2 conv3 bn2 bn3 downsample fc1 fc2 norm1 norm2 attn mlp"""
    )
)
"""Attributes of models out of libraries that are modules in turn."""

BUFFER = "torch.nn.Buffer"
"""The class of the `Instance` that `nn.Buffer(t)` gives, with its `tensor`: it becomes a buffer
where it is assigned to a module."""
CONVERT = "torch.nn.Module.<convert>"
"""The function that a move gives to `_apply`: takes a tensor, and the move's `device` and more."""
STEP = "torch.nn.Module.<step>"
"""The class of what a class's own `_apply` moves by: the move's `trail`, and whether it was handed
on to `nn.Module`."""
HANDED_ON = "handed on"
OPTIMIZERS = "<optimizers>"
"""The field of a `Parameter` that holds the optimizers it was given to, as a tuple."""
MAY_CARRY = "may carry"
"""What a module's `own` holds where a library may have put a wrapper around the module that moves
its inputs: the device that they are moved to."""
REPLACED = "<replaced>"
"""The field of an optimizer that tells where one of its parameters left its module."""


def get_attribute(services: Services, module: ModuleObject, name: str) -> Value | None:
    """What the module's registries and plain attributes hold under `name`; None: nothing. Where a
    condition decides whether it is a plain one, both count."""
    plain = module.fields.get(name, MISSING)
    for table in (module.parameters, module.buffers, module.modules):
        found = table.get(name, MISSING)
        if found is not MISSING:
            there = False if plain is MISSING else presence(module.fields, name)
            return join(there, plain, found) if there is not False else found
    return None if plain is MISSING else plain


def opaque_attribute(module: ModuleObject, name: str) -> Value:
    """An attribute of an opaque module that neither the object nor its class is known to have: a
    submodule or the `weight` of a layer, which move along, or an unknown that is the same each
    time."""
    if name in module.modules:
        return module.modules[name]
    if name in OPAQUE_CHILDREN:
        return opaque_part(module, name)
    if name == "device":
        return DeviceValue(own_device(module))
    if name == "weight":
        return opaque_parameter(module)
    if name == "bias":
        there = module.own.setdefault("has bias", undecided())
        return choose(there, opaque_parameter(module), NONE)
    memory: dict[str, Unknown] = module.own.setdefault("unknowns", {})
    if name not in memory:
        memory[name] = Unknown(name)
    memory[name].parts()[WHOLE] = module
    return memory[name]


def part_moved(services: Services, part: Unknown, device: DeviceTree = UNKNOWN_DEVICE) -> None:
    """What may be a part of an opaque module, or hold one that was given to it, is moved by itself:
    where that module is now is not known."""
    _scatter(services, (part.fields or {}).get(WHOLE), device, set())


def part_set(services: Services, part: Unknown, name: str, value: Value) -> None:
    """What may be a parameter of a module gets other data, or a part of one another part."""
    wholes = None if part.fields is None else part.fields.get(WHOLE)
    any_object.set_attribute(services, wholes, name, value)
    device = _place_set(name, value)
    if device is None:
        return
    for each in members(wholes):
        if type(each) is Parameter and not same_everywhere(each.tensor.device, device):
            set_tensor(services.journal, each, each.tensor.with_(device=UNKNOWN_DEVICE))
    _scatter(services, wholes, device, set())


def _place_set(name: str, value: Value) -> DeviceTree | None:
    """Where a part is that gets what an attribute is set to; None where no part gets it."""
    if type(value) is ModuleObject:
        return devices_of(value)
    tensor = tensor_of(value) if name == "data" or type(value) is Parameter else None
    if tensor is None:
        return UNKNOWN_DEVICE if name == "data" else None
    return tensor.device


def given(args: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[ModuleObject, ...]:
    """The modules among the arguments of a call."""
    values = (*args, *kwargs.values())
    return tuple(each for value in values for each in leaves(value) if type(each) is ModuleObject)


def hold(services: Services, holder: Value, value: Value) -> None:
    """An object of a class that is not seen, or a module under a name that is not known, holds
    the modules of `value` from now on, and may move them."""
    found: list[Value] = []
    for leaf in leaves(value):
        if type(leaf) is ModuleObject:
            found.append(leaf)
        elif type(leaf) is Unknown and leaf.fields is not None:
            found.append(leaf.fields.get(WHOLE, ()))
    if not any(found) or type(holder) not in (Unknown, ModuleObject):
        return
    table, key = (holder.own, HELD) if type(holder) is ModuleObject else (holder.parts(), WHOLE)
    before = table.get(key, ())
    known = before if isinstance(before, tuple) else (before,)
    new = [each for each in found if not any(each is other for other in known)]
    if new:
        services.journal.write(table, key, (*known, *new))


def _scatter(services: Services, wholes: Value, device: DeviceTree, lost: set[int]) -> None:
    """A part of an opaque module is on `device` from now on: the whole, one of `wholes`, is where
    it is not known, unless it is there as well. `lost` are those that are seen to by now: modules
    may hold each other."""
    looked_at: set[int] = set()
    for whole in members(wholes):
        if not isinstance(whole, ModuleObject):
            any_object.lose_held(services, whole)
            continue
        if not is_opaque(whole):
            home = devices_of(whole)
            if home is not None and not same_everywhere(home, device):
                _lose(services, whole, lost)
            continue
        around: Value = whole
        while isinstance(around, ModuleObject) and id(around) not in looked_at:
            looked_at.add(id(around))
            if not same_everywhere(own_device(around), device):
                lose_unlisted(services.journal, around)
            around = around.own.get("parent")


def set_attribute(
    services: Services, module: ModuleObject, name: str, value: Value, site: Site | None
) -> str:
    """`module.name = value` as `nn.Module.__setattr__` does it, at a site that is told of if an
    optimizer loses a parameter by it. Answers where the value went: `parameter`, `module`,
    `buffer` or `plain`."""
    buffer = value.fields.get("tensor") if is_buffer(value) else None
    if buffer is not None:
        return _put(services, module, module.buffers, name, buffer, "buffer", site)
    kinds = {type(leaf) for leaf in leaves(value)}
    holds_module = any(issubclass(kind, ModuleObject) for kind in kinds)
    if Parameter in kinds or (name in module.parameters and not holds_module):
        return _put(services, module, module.parameters, name, value, "parameter", site)
    if holds_module or name in module.modules:
        return _put(services, module, module.modules, name, value, "module", site)
    if name in module.buffers:
        return _put(services, module, module.buffers, name, value, "buffer", site)
    services.journal.write(module.fields, name, value)
    return "plain"


def is_buffer(value: Value) -> bool:
    """Whether the value is a `nn.Buffer`."""
    return type(value) is Instance and value.cls == External(BUFFER)


def _put(
    services: Services,
    module: ModuleObject,
    table: Table,
    name: str,
    value: Value,
    kind: str,
    site: Site | None,
) -> str:
    if site is not None:
        note_replaced(services, table.get(name), value, site)
    for other in (module.parameters, module.buffers, module.modules, module.fields):
        if other is not table:
            services.journal.delete(other, name)
    services.journal.write(table, name, value)
    return kind


def note_replaced(services: Services, old: Value, new: Value, site: Site) -> None:
    """Tells the optimizers that hold parameters of `old` that it is no part of its module now, if
    `new` brings others that are to be trained."""
    if old is None or old is new:
        return
    kept = _parameters(new)
    if not any(found.tensor.requires_grad and OPTIMIZERS not in found.fields for found in kept):
        return
    for parameter in _parameters(old):
        if parameter in kept:
            continue
        for optimizer in parameter.fields.get(OPTIMIZERS, ()):
            services.journal.write(optimizer.fields, REPLACED, site)


def _parameters(value: Value) -> list[Parameter]:
    """The parameters that a value is or has as a module."""
    found: list[Parameter] = []
    for leaf in leaves(value):
        if type(leaf) is Parameter:
            found.append(leaf)
        elif isinstance(leaf, ModuleObject):
            found += [part.value for part in all_parts(leaf) if type(part.value) is Parameter]
    return found


def optimizers_of(value: Value) -> set[Value]:
    """The optimizers that have parameters which a value is or has as a module."""
    return {one for each in _parameters(value) for one in each.fields.get(OPTIMIZERS, ())}


def delete_attribute(services: Services, module: ModuleObject, name: str) -> None:
    """`del module.name`."""
    for table in (module.parameters, module.buffers, module.modules, module.fields):
        services.journal.delete(table, name)


def move(
    services: Services,
    module: ModuleObject,
    device: DeviceTree | None,
    dtype: str | None = None,
    trail: Trail | None = None,
) -> None:
    """Moves every parameter, buffer and submodule in place, as `Module.to` does; plain attributes
    stay. `device` or `dtype` None: unchanged. A dtype reaches floating-point parts only."""
    own = own_apply(module)
    if own is None:
        move_within(services, module, device, dtype, trail)
        return
    step = Instance(External(STEP))
    step.fields["trail"] = trail
    target: dict[str, Value] = {"step": step}
    if device is not None:
        target["device"] = DeviceValue(device)
    if dtype is not None:
        target["dtype"] = DtypeValue(dtype)
    services.invoke(BoundMethod(module, own), (Partial(External(CONVERT), (), target),), {})
    if HANDED_ON not in step.fields:
        _move_all(services, module, _alike(module)[0], UNKNOWN_DEVICE, None, None)


def move_within(
    services: Services,
    module: ModuleObject,
    device: DeviceTree | None,
    dtype: str | None,
    trail: Trail | None,
) -> None:
    """What `Module._apply` does: modules within that have an `_apply` of their own are moved by
    that, and all else in place."""
    owners, apart = _alike(module)
    for each in apart:
        move(services, each, device, dtype, trail)
    _move_all(services, module, owners, device, dtype, trail)


def _alike(module: ModuleObject) -> tuple[list[ModuleObject], list[ModuleObject]]:
    """The module with those within it that move as it does, parents first, and the outermost that
    have an `_apply` of their own."""

    def apart(owner: ModuleObject) -> bool:
        return owner is not module and own_apply(owner) is not None

    found: tuple[list[ModuleObject], list[ModuleObject]] = [], []
    for _, owner in walk(module, apart):
        found[apart(owner)].append(owner)
    return found


def lose(services: Services, module: ModuleObject) -> None:
    """Code that is not followed may have moved the module: it is somewhere unknown."""
    _lose(services, module, set())


def _lose(services: Services, module: ModuleObject, lost: set[int]) -> None:
    if id(module) in lost:
        return
    lost.add(id(module))
    owners = [owner for _, owner in walk(module)]
    _move_all(services, module, owners, UNKNOWN_DEVICE, None, None, lost)
    for owner in owners:
        if own_apply(owner) is None:
            continue
        for name, value in list(owner.fields.items()):
            if type(value) is Tensor:
                services.journal.write(owner.fields, name, value.with_(device=UNKNOWN_DEVICE))


def _move_all(
    services: Services,
    module: ModuleObject,
    owners: list[ModuleObject],
    device: DeviceTree | None,
    dtype: str | None,
    trail: Trail | None,
    lost: set[int] | None = None,
) -> None:
    """Moves what the registries of a module and of others within it hold."""
    mover = Mover(services, device, dtype, trail)
    lost = {id(module)} if lost is None else lost
    if device is not None:
        _scatter(services, module.own.get("parent"), device, lost)
    missed = moved_along.perhaps_missed(services, module, owners) if device is not None else ()
    if device is not None:
        for owner in owners:  # first: another of them may list what one does not
            _scatter(services, moved_along.unlisted(owner), device, lost)
    for owner in owners:
        mover.may_miss = id(owner) in missed
        mover.move_parts(owner)
    mover.settle()
    if device is not None:
        _scatter(services, moved_along.outside(owners), device, lost)


def own_apply(module: ModuleObject) -> Function | None:
    """The `_apply` of a class of the program: it moves what registries do not hold."""
    own = module.cls.lookup("_apply") if type(module.cls) is ClassValue else None
    return own if type(own) is Function else None


def carried(module: ModuleObject, value: Value) -> Value:
    """An input of a module that may move its inputs: where a tensor that is elsewhere will be is
    not known. A container that has none stays itself."""
    home = module.own.get(MAY_CARRY, UNKNOWN_DEVICE)
    strays: list[Value] = []

    def leaf(part: Value) -> Value:
        if type(part) is Tensor and not same_everywhere(part.device, home):
            strays.append(part)
            return part.with_(device=UNKNOWN_DEVICE)
        if type(part) is Unknown and part.device is CPU:
            strays.append(part)
            return Unknown(part.label)
        return part

    moved = map_tensors(value, leaf)
    return moved if strays else value
