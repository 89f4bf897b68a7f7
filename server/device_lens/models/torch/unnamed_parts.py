"""Parts of an `nn.Module` under names that are not known, as `getattr(net, f"block{i}")` has them.

Such a part may be any that the name allows, or one that the module does not list. What is given out
for it remembers them: where it is moved by itself, each of them may have moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, is_unknown, same_everywhere
from device_lens.domain.guard import leaves
from device_lens.domain.heap import Instance, ModuleObject, Parameter, Table
from device_lens.domain.join import join_blind
from device_lens.domain.kinds import gathered
from device_lens.domain.perhaps_none import either
from device_lens.domain.similarity import similar
from device_lens.domain.values import NONE, WHOLE, Const, Unknown
from device_lens.domain.wholes import each_once
from device_lens.models.call import Call, Services, Value, constant, tensor_of
from device_lens.models.numbers import start_of
from device_lens.models.open_names import open_to
from device_lens.models.torch.module import hold
from device_lens.models.torch.parts import REST, devices_of, is_opaque, own_device, walk

_START = "<start of {}>"
"""The entry of a module's own table that tells how the name of a part begins that is listed without
its name."""


class _Place(NamedTuple):
    """Where a registry has a part that may be meant."""

    table: Table
    key: str
    value: Value


def some_attribute(holder: Value, name: Value, label: str, dotted: bool = False) -> Unknown:
    """What an attribute of a module, or of another object that has some, is whose name is not
    known: where it is `dotted`, that of a part in it. What a class does for names that it lacks
    may give anything of the object."""
    wholes: list[Value] = []
    for leaf in leaves(holder):
        if not isinstance(leaf, Instance):
            continue
        start = start_of(name).split(".")[0]
        if _has_own_getter(leaf):
            wholes += _held(leaf, MOST_DEEP)
        elif type(leaf) is not ModuleObject:
            wholes += _held(leaf, MOST_DEEP if dotted else 1, start)
        else:
            wholes += _held(leaf, 1, start)[1:]
            owners = [leaf]
            one = some_part_within(leaf, name, label) if dotted else _any_of(owners, start, label)
            wholes += _wholes(one)
    found = _with_wholes(wholes, label)
    found.parts()[ASKED] = (
        name,
        tuple(leaf for leaf in leaves(holder) if isinstance(leaf, Instance)),
    )
    return found


ASKED = "<asked>"
"""Under this what an attribute is whose name is not known has that name, and whose it is."""


def has_some(module: ModuleObject, name: Value) -> bool:
    """Whether a module is seen to have parts that a name may mean."""
    return any(True for _ in _places(module, start_of(name)))


def layer_meant(asked: Unknown) -> Value | None:
    """The part that an attribute of a module is of whose name the beginning is known, one value for
    any of them; None where it may be anything else. A loop over numbers makes such ones."""
    known = None if asked.fields is None else asked.fields.get(ASKED)
    if known is None:
        return None
    name, holders = known
    start = start_of(name)
    if not start or len(holders) != 1 or type(holders[0]) is not ModuleObject:
        return None
    module = holders[0]
    plain = [*module.fields]
    if type(module.cls) is ClassValue:
        plain += [each for cls in module.cls.mro for each in cls.fields]
    if _has_own_getter(module) or any(each.startswith(start) for each in plain):
        return None
    if any(_fits(module, each, start) for each in (*module.parameters, *module.buffers)):
        return None
    found = [value for key, value in module.modules.items() if _fits(module, key, start)]
    return gathered(found, None)


def held_modules(holder: Instance) -> list[Value]:
    """The modules that an object is or has."""
    return _held(holder, MOST_DEEP)


def _held(holder: Instance, deep: int, start: str = "") -> list[Value]:
    """The modules that an object is or has as attributes whose names begin so, and those of the
    objects among these."""
    found: list[Value] = [holder] if type(holder) is ModuleObject else []
    for name, value in holder.fields.items() if deep else ():
        if str(name).startswith(start):
            found += _wholes(value)
            for leaf in leaves(value):
                found += _held(leaf, deep - 1) if type(leaf) is Instance else ()
    return found


MOST_DEEP = 3
"""Objects in objects that are looked through for modules."""


def _has_own_getter(holder: Instance) -> bool:
    cls = holder.cls
    return type(cls) is ClassValue and any(
        type(cls.lookup(each)) is Function for each in ("__getattr__", "__getattribute__")
    )


def some_part_within(module: ModuleObject, path: Value, label: str) -> Unknown:
    """The same of a path, `stages.block` with some number behind: only its last word is open, or
    what follows a word that is."""
    *known, start = start_of(path).split(".")
    owners: list[ModuleObject] = [module]
    for word in known:
        found = [leaf for owner in owners for leaf in leaves(owner.modules.get(word))]
        unlisted = [owner for owner in owners if is_opaque(owner)]
        owners = [*(leaf for leaf in found if isinstance(leaf, ModuleObject)), *unlisted]
    if not known and not start:
        return _with_wholes([module], label)
    return _any_of(owners, start, label)


def _any_of(owners: list[ModuleObject], start: str, label: str) -> Unknown:
    wholes: list[Value] = [owner for owner in owners if is_opaque(owner)]
    for owner in owners:
        for place in _places(owner, start):
            for leaf in leaves(place.value):
                if isinstance(leaf, ModuleObject):
                    wholes += _to_be_moved(leaf)
                elif type(leaf) is Parameter:
                    wholes.append(leaf)
                elif type(leaf) is Unknown and leaf.fields is not None:
                    wholes.append(leaf.fields.get(WHOLE))
    return _with_wholes(wholes, label)


def _wholes(value: Value) -> list[Value]:
    """The modules that a value may be, or be a part of."""
    found: list[Value] = []
    for leaf in leaves(value):
        if isinstance(leaf, ModuleObject):
            found.append(leaf)
        elif type(leaf) is Unknown and leaf.fields is not None:
            found.append(leaf.fields.get(WHOLE))
    return found


def _with_wholes(wholes: list[Value], label: str) -> Unknown:
    found, known = Unknown(label), each_once([each for each in wholes if each is not None])
    if known:
        found.parts()[WHOLE] = known
    return found


def _to_be_moved(module: ModuleObject) -> list[Value]:
    """The module, with those in it where it has parts that are not listed: of such a one only these
    count as moved where something in it may have moved."""
    parts = [part for _, part in walk(module)]
    return [*parts] if any(map(is_opaque, parts)) else [module]


def _places(module: ModuleObject, start: str) -> Iterator[_Place]:
    """Where the registries have what a name may be that begins so."""
    for table in (module.parameters, module.buffers, module.modules):
        for key, value in list(table.items()):
            if _fits(module, key, start):
                yield _Place(table, key, value)


def _fits(module: ModuleObject, key: str, start: str) -> bool:
    """Whether a name may be that of an entry that begins so."""
    if key[:1] != REST:
        return key.startswith(start)
    begun = str(constant(module.own.get(_START.format(key)), ""))
    return begun.startswith(start) or start.startswith(begun)


def set_part(services: Services, module: ModuleObject, name: Value, value: Value) -> None:
    """The module gets a part under a name that is not known: perhaps in the place of one that it
    has, perhaps one that it does not list."""
    if not _is_part(value):
        _set_plain(services, module, name, value)
        return
    if type(value) is ModuleObject and start_of(name):
        key = list_unnamed(services, module, module.modules, name, value)
        services.journal.write(module.modules, key, value)
        return
    replace_some(services, module, name, value)
    for leaf in leaves(value):
        if isinstance(leaf, ModuleObject):
            _belong(services, leaf, module)
    home = devices_of(module)
    for device in map(_place, leaves(value)):
        if device is None:
            continue
        if home is None or not same_everywhere(home, device):
            have_unlisted(services, module, device if home is None else UNKNOWN_DEVICE)
            home = UNKNOWN_DEVICE


def _set_plain(services: Services, module: ModuleObject, name: Value, value: Value) -> None:
    """The same of what is no part by itself: None may take the place of each, a tensor that of a
    buffer."""
    if value != NONE and tensor_of(value) is None:
        return
    for table, key, old in _places(module, start_of(name)):
        if value == NONE or table is module.buffers:
            services.journal.write(table, key, either(old, value))


def set_member(call: Call, module: ModuleObject, members: list[Value], value: Value) -> None:
    """`container[key] = value` for a key that is not known. Which of the members it takes the place
    of counts where these are apart."""
    first, *others = [_place(leaf) for each in (value, *members) for leaf in leaves(each)]
    if first is not None and all(place and same_everywhere(place, first) for place in others):
        return
    set_part(call.services, module, call.get(0, "idx", NONE), value)


def _place(part: Value) -> DeviceTree | None:
    """Where a part is; None where it is nowhere, or no part."""
    if isinstance(part, ModuleObject):
        return devices_of(part)
    if type(part) is Parameter:
        return part.tensor.device
    return part.device if type(part) is Unknown else None


def hold_unknown(services: Services, module: ModuleObject, value: Value) -> None:
    """A part of a module that may be any of some moves those where the module moves."""
    for leaf in leaves(value):
        if type(leaf) is Unknown:
            hold(services, module, leaf)


def _belong(services: Services, part: ModuleObject, module: ModuleObject) -> None:
    """Where the part moves by itself, so does what the module does not list."""
    if part is module or "parent" in part.own:
        return
    if is_opaque(part):
        services.journal.write(part.own, "device", own_device(part))
    services.journal.write(part.own, "parent", module)


def replace_some(services: Services, module: ModuleObject, name: Value, value: Value) -> None:
    """Each part that the name may mean is itself from now on, or what is given. Two that one line
    makes alike are parts of their own: a loop gives each another name."""
    kinds = {type(leaf) for leaf in leaves(value)}
    for table, key, old in _places(module, start_of(name)):
        if table is module.modules and not kinds & {ModuleObject, Unknown}:
            continue
        if table is not module.modules and ModuleObject in kinds:
            continue
        if any(similar(leaf, value) for leaf in leaves(old)):
            continue
        if table is module.modules:
            met: Value = _with_wholes([*_wholes(old), *_wholes(value)], key)
        else:
            met = join_blind(old, value)
        services.journal.write(table, key, met)
        if any(type(leaf) is Unknown for leaf in leaves(met)):
            hold_unknown(services, module, met)
            have_unlisted(services, module, UNKNOWN_DEVICE)


def lose_parts(services: Services, module: ModuleObject) -> None:
    """The module has other registries from now on, and nobody knows what is in them."""
    for table in (module.parameters, module.buffers, module.modules):
        for key in list(table):
            services.journal.delete(table, key)
    have_unlisted(services, module, UNKNOWN_DEVICE)


def delete_some(services: Services, module: ModuleObject, name: Value) -> None:
    """A part goes whose name is not known: each that it may mean may be gone."""
    for table, key, old in _places(module, start_of(name)):
        gone = Unknown(key)
        if isinstance(old, ModuleObject | Parameter):
            gone.parts()[WHOLE] = (old,)
        services.journal.write(table, key, gone)
        have_unlisted(services, module, UNKNOWN_DEVICE)


def list_unnamed(
    services: Services, module: ModuleObject, table: Table, name: Value, value: Value
) -> str:
    """The key under which a registry lists a part whose name is not known."""
    replace_some(services, module, name, value)
    open_to(services.journal, module.fields, name)
    for leaf in leaves(value):
        if type(leaf) is Unknown and table is module.modules:
            have_unlisted(services, module, UNKNOWN_DEVICE)
    for known, old in table.items():
        begun = constant(module.own.get(_START.format(known)))
        if begun == start_of(name) and similar(old, value):
            return str(known)  # one stands for all that a line makes alike
    key = f"{REST}{len(table)}"
    services.journal.write(module.own, _START.format(key), Const(start_of(name)))
    return key


def have_unlisted(services: Services, module: ModuleObject, device: DeviceTree) -> None:
    """The module has parts that it does not list, at a place."""
    services.journal.write(module.own, "opaque", True)
    services.journal.write(module.own, "device", device)


def _is_part(value: Value) -> bool:
    """Whether a value may be a part of a module: an unknown one that it was, or that was moved."""
    return any(
        type(leaf) in (ModuleObject, Parameter) or (type(leaf) is Unknown and _is_of_module(leaf))
        for leaf in leaves(value)
    )


def _is_of_module(value: Unknown) -> bool:
    held = value.fields is not None and WHOLE in value.fields
    return held or not is_unknown(value.device)
