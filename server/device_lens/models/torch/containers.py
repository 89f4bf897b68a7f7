"""`Sequential`, `ModuleList`, `ModuleDict`, `ParameterList`, `ParameterDict`."""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE, DeviceTree, is_unknown
from device_lens.domain.guard import combine, leaves
from device_lens.domain.heap import (
    COUNT,
    ListObject,
    ModuleObject,
    Parameter,
    Table,
)
from device_lens.domain.kinds import kinds, opened
from device_lens.domain.objects import as_part
from device_lens.domain.values import (
    NONE,
    Const,
    External,
    SliceValue,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models.call import Call, Model, Value, constant, is_none, tensor_of
from device_lens.models.python.picked import members
from device_lens.models.registry import BASES, FUNCTIONS, MODULES
from device_lens.models.torch import picked_parts, unnamed_parts
from device_lens.models.torch.keyed_members import is_mapping, members_by_key
from device_lens.models.torch.member_counts import count
from device_lens.models.torch.members import choose, picked
from device_lens.models.torch.module import note_replaced
from device_lens.models.torch.module_parts import named, names_at
from device_lens.models.torch.parts import HAS_HOME, HOLDS_SOME, MEMBERS, PART, REST, of_many

MODULE = "torch.nn.Module"


class Container:
    """A container of modules or parameters. `holds` names the registry of its members, `keyed`
    tells that they have keys rather than positions."""

    def __init__(self, name: str, holds: str, keyed: bool = False) -> None:
        self.name = name
        self.holds = holds
        self.keyed = keyed

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Takes the members from an iterable, or from a mapping."""
        call.write(module.fields, COUNT, Const(0))
        given = call.get(0, "modules")
        if given is None:
            given = next(iter(call.kwargs.values()), None)
        if is_none(given):
            return
        if self.keyed or is_mapping(given):
            self.update(call, module, given)
        else:
            self.extend(call, module, given)

    def forward(self, call: Call) -> Value:
        """Containers but `Sequential` cannot be called."""
        return call.unknown()

    def table(self, module: ModuleObject) -> Table:
        """Where the members are."""
        found: Table = getattr(module, self.holds)
        return found

    def members(self, module: ModuleObject) -> list[Value]:
        """The members that are known one by one, in order."""
        found = [value for key, value in self.table(module).items() if key != REST]
        return [picked_parts.read(module, value) for value in found]

    def put(self, call: Call, module: ModuleObject, key: str, value: Value) -> None:
        """Registers one member. Where any number of further ones are no modules that are known, the
        module has parts that are not listed: somewhere unknown, or where all are of which they are
        some."""
        value = as_part(value)
        if self.holds == "parameters":
            value = as_parameter(call, value)
        elif key == REST and not all(isinstance(each, ModuleObject) for each in leaves(value)):
            home = picked_parts.take(call.services, module, value)
            call.write(module.own, "opaque", True)
            call.write(module.own, "device", home)
        unnamed_parts.hold_unknown(call.services, module, value)
        if key == REST and type(value) is ModuleObject and value.cls == External(PART):
            call.write(value.own, MEMBERS, True)
        if key not in self.table(module):
            count(call, module, 1)
        call.write(self.table(module), key, value)
        for one in of_many(module) if key == REST else ():
            if HAS_HOME in one.own:
                call.write(module.own, HOLDS_SOME, True)
            call.write(one.own, HAS_HOME, True)

    def append(self, call: Call, module: ModuleObject, value: Value) -> None:
        """Adds a member at the end, under a name that is no position where that is not known."""
        after = REST if REST in self.table(module) else ""
        self.put(call, module, f"{after}{len(self.members(module))}", value)

    def extend(self, call: Call, module: ModuleObject, iterable: Value) -> None:
        """Adds what `iterable` yields; what it yields beyond that is one member for all."""
        items, rest = call.services.iterate(iterable)
        for item in items:
            self.append(call, module, item)
        rest, others = members(iterable, items, rest)
        if rest is not None:
            self.put(call, module, REST, rest)
        for other in others:
            self.append(call, module, other)

    def update(self, call: Call, module: ModuleObject, mapping: Value) -> None:
        """Takes the members of a mapping, or of an iterable of pairs."""
        for key, value in members_by_key(call, mapping, self.holds):
            self.put(call, module, key, value)


class Sequence(Container):
    """`nn.Sequential`."""

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Takes its members as arguments, or from one ordered mapping."""
        call.write(module.fields, COUNT, Const(0))
        if len(call.args) == 1 and is_mapping(call.args[0]):
            self.update(call, module, call.args[0])
            return
        for value in call.args if call.complete else call.args[:-1]:
            self.append(call, module, value)
        if not call.complete:
            self.put(call, module, REST, call.args[-1] if call.args else Unknown("module"))

    def forward(self, call: Call) -> Value:
        """Hands the input through the members. Where one of them finds the input elsewhere than its
        parameters, nothing is known of what the next ones would make of it."""
        module = call.receiver
        value = call.get(0, "input", NONE)
        lost: DeviceTree | None = None
        for member in self.members(module):
            known = _is_known(value)
            value = call.services.invoke(member, (value,), {})
            if lost is None and known and not _is_known(value):
                tensor = tensor_of(value)
                lost = UNKNOWN_DEVICE if tensor is None else tensor.device
        rest = module.modules.get(REST)
        if rest is not None:
            value = self._through(call, rest, value)
        tensor = None if lost is None else tensor_of(value)
        return value if tensor is None else tensor.with_(device=combine(_kept, tensor.device, lost))

    def _through(self, call: Call, rest: Value, value: Value) -> Value:
        """Through any number of members of one kind, which leave a tensor where it is."""
        if kinds(rest) is not None:
            value = call.services.invoke(opened(rest), (value,), {})
        tensor = tensor_of(value)
        return value if tensor is None else tensor.with_(shape=None, dtype=None, zero_dim=None)


def _kept(device: DeviceTree, before: DeviceTree) -> DeviceTree:
    """A device, where it was known before."""
    return UNKNOWN_DEVICE if is_unknown(before) else device


def _is_known(value: Value) -> bool:
    tensor = tensor_of(value)
    return tensor is not None and not any(map(is_unknown, leaves(tensor.device)))


def as_parameter(call: Call, value: Value) -> Value:
    """What `ParameterList` makes of a tensor: a parameter."""
    if type(value) is Tensor:
        return Parameter(value.with_(requires_grad=True, leaf=True), call.site.node)
    return value


def _container(call: Call) -> Container:
    """The model of the receiver's class, which may be a subclass of the program's own."""
    name = call.name.rpartition(".")[0]
    found = MODULES.get(name)
    return found if isinstance(found, Container) else LIST


def _getitem(call: Call) -> Value:
    module, index = call.receiver, call.get(0, "idx")
    kind = _container(call)
    table = kind.table(module)
    key = constant(index)
    if isinstance(key, str):
        return table.get(key, table.get(REST, call.unknown()))
    members = kind.members(module)
    if type(index) is SliceValue:
        return _slice(call, kind, members, index)
    rest = picked_parts.read(call.receiver, table.get(REST))
    is_position = isinstance(key, int) and not isinstance(key, bool)
    if is_position and rest is not None and key >= 0:
        later = [table[name] for name in table if name != REST and name.startswith(REST)]
        return table.get(str(key)) or (choose([rest, *later]) if later else opened(rest))
    if is_position and rest is None:
        if -len(members) <= key < len(members):
            return members[key]
        # The program raises here, or a loop put more members in than were followed.
        return choose(members) if members else call.unknown()
    return picked(call, members if rest is None else [*members, rest])


def _slice(call: Call, kind: Container, members: list[Value], index: SliceValue) -> Value:
    bounds = [index.start, index.stop, index.step]
    made = ModuleObject(External(kind.name), call.site.node)
    made.fields.update(call.receiver.fields)
    rest = kind.table(call.receiver).get(REST)
    known = rest is None and all(is_none(bound) or type(bound) is Const for bound in bounds)
    if known:
        members = members[slice(*(constant(bound) for bound in bounds))]
    for member in members:
        kind.append(call, made, member)
    if rest is not None:
        kind.put(call, made, REST, rest)
    return made


def _setitem(call: Call) -> Value:
    kind, key, value = _container(call), constant(call.get(0, "idx")), call.get(1, "module", NONE)
    if isinstance(key, int) and key >= 0 and REST in kind.table(call.receiver):
        kind.put(call, call.receiver, str(key), value)
    elif isinstance(key, int):
        names = [name for name in kind.table(call.receiver) if name != REST]
        if -len(names) <= key < len(names):
            note_replaced(call.services, kind.table(call.receiver)[names[key]], value, call.site)
            kind.put(call, call.receiver, names[key], value)
    elif isinstance(key, str):
        if (former := kind.table(call.receiver).get(key)) is not None:
            note_replaced(call.services, former, value, call.site)
        kind.put(call, call.receiver, key, value)
    else:
        unnamed_parts.set_member(call, call.receiver, kind.members(call.receiver), value)
        kind.put(call, call.receiver, REST, value)
    return NONE


def _iter(call: Call) -> Value:
    return _keys(call) if _container(call).keyed else _values(call)


def _values(call: Call) -> Value:
    kind = _container(call)
    rest = picked_parts.read(call.receiver, kind.table(call.receiver).get(REST))
    return ListObject(tuple(kind.members(call.receiver)), rest, "iterator", call.site.node)


def _keys(call: Call) -> Value:
    table = _container(call).table(call.receiver)
    keys = tuple(Const(key) for key in table if key != REST)
    return ListObject(keys, Unknown("key") if REST in table else None, "iterator", call.site.node)


def _items(call: Call) -> Value:
    table = _container(call).table(call.receiver)
    pairs = tuple(named(str(key), value) for key, value in table.items() if key != REST)
    rest = None
    if REST in table:
        rest = TupleValue((Unknown("key"), picked_parts.read(call.receiver, table[REST])))
    return ListObject(pairs, rest, "iterator", call.site.node)


def _len(call: Call) -> Value:
    table = _container(call).table(call.receiver)
    if REST in table:
        return call.unknown()
    counted = call.receiver.fields.get(COUNT, NONE)
    return Const(len(table)) if type(counted) is Const or is_none(counted) else counted


def _append(call: Call) -> Value:
    _container(call).append(call, call.receiver, call.get(0, "module", NONE))
    return call.receiver


def _extend(call: Call) -> Value:
    _container(call).extend(call, call.receiver, call.get(0, "modules", NONE))
    return call.receiver


def _added(call: Call) -> Value:
    """`layers + others`: a new container of the members of both."""
    kind = _container(call)
    made = ModuleObject(External(kind.name), call.site.node)
    for each in (call.receiver, call.get(0, "other", NONE)):
        kind.extend(call, made, each)
    return made


def _insert(call: Call) -> Value:
    kind, module = _container(call), call.receiver
    members = kind.members(module)
    index = constant(call.get(0, "index"), len(members))
    members.insert(index, call.get(1, "module", NONE))
    for position, member in enumerate(members):
        kind.put(call, module, str(position), member)
    return NONE


def _pop(call: Call) -> Value:
    """Also `del layers[2:]`. Those behind what is gone are counted anew."""
    kind, module, index = _container(call), call.receiver, call.get(0, "key")
    table = kind.table(module)
    names = [name for name in table if name != REST]
    gone = names_at(index, names)
    found = table.get(gone[0], call.unknown()) if len(gone) == 1 else call.unknown()
    for name in gone:
        call.services.journal.delete(table, name)
    before = module.fields.get(COUNT, NONE)
    count(call, module, -len(gone))
    if not kind.keyed and gone != names[len(names) - len(gone) :] and REST not in table:
        left = kind.members(module)
        for name in list(table):
            call.services.journal.delete(table, name)
        for member in left:
            kind.append(call, module, member)
        call.write(module.fields, COUNT, before)
        count(call, module, -len(gone))
    return found


def _update(call: Call) -> Value:
    _container(call).update(call, call.receiver, call.get(0, "modules", NONE))
    return NONE


def _contains(call: Call) -> Value:
    table, key = _container(call).table(call.receiver), constant(call.get(0, "key"))
    return call.unknown() if key is None or REST in table else Const(key in table)


def _clear(call: Call) -> Value:
    table = _container(call).table(call.receiver)
    for key in list(table):
        call.services.journal.delete(table, key)
    call.write(call.receiver.fields, COUNT, Const(0))
    return NONE


SEQUENTIAL = Sequence("torch.nn.Sequential", "modules")
LIST = Container("torch.nn.ModuleList", "modules")
CONTAINERS = (
    SEQUENTIAL,
    LIST,
    Container("torch.nn.ModuleDict", "modules", keyed=True),
    Container("torch.nn.ParameterList", "parameters"),
    Container("torch.nn.ParameterDict", "parameters", keyed=True),
    Container("torch.nn.Container", "modules", keyed=True),
)
COMMON: dict[str, Model] = {
    "__getitem__": _getitem,
    "__setitem__": _setitem,
    "__delitem__": _pop,
    "__iter__": _iter,
    "__len__": _len,
    "__contains__": _contains,
    "pop": _pop,
    "clear": _clear,
}
ORDERED: dict[str, Model] = {
    "append": _append,
    "extend": _extend,
    "insert": _insert,
    "__iadd__": _extend,
}
KEYED: dict[str, Model] = {
    "keys": _keys,
    "values": _values,
    "items": _items,
    "update": _update,
    "get": _getitem,
}


def register_all() -> None:
    """Fills the registry with the containers and their methods."""
    for kind in CONTAINERS:
        MODULES[kind.name] = kind
        BASES[kind.name] = (MODULE,)
        for name, model in {**COMMON, **(KEYED if kind.keyed else ORDERED)}.items():
            FUNCTIONS[f"{kind.name}.{name}"] = model
        if kind.holds == "modules" and not kind.keyed:
            FUNCTIONS[f"{kind.name}.__add__"] = _added
