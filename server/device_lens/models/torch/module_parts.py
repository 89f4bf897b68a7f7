"""What an `nn.Module` lists of its parts: parameters, buffers, submodules, its state."""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import ANY_OF, ListObject, ModuleObject, Parameter
from device_lens.domain.join import join_all
from device_lens.domain.kinds import gathered
from device_lens.domain.values import TRUE, Const, SliceValue, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value, constant, is_none
from device_lens.models.torch.moved_along import HELD
from device_lens.models.torch.parts import (
    REST,
    Part,
    all_parts,
    children,
    home_device,
    is_many,
    is_opaque,
    opaque_part,
    walk,
)

MOST_KINDS = 16
"""Modules that are told apart among those beyond the known ones: a loop looks at each by itself."""


def receiver(call: Call) -> ModuleObject | None:
    """The module that a method is called on."""
    return call.receiver if isinstance(call.receiver, ModuleObject) else None


def listing(call: Call, items: list[Value], rest: Value = None) -> ListObject:
    """An iterator over `items`."""
    return ListObject(tuple(items), rest, "iterator", call.site.node)


def named(name: str, value: Value) -> TupleValue:
    """A part with its qualified name."""
    return TupleValue((Const(name), value))


def _parts(kind: str, with_names: bool) -> Model:
    def model(call: Call) -> Value:
        module = receiver(call)
        if module is None:
            return call.unknown()
        recurse = constant(call.get(1 if with_names else 0, "recurse", TRUE), True)
        parts = [part for part in all_parts(module, bool(recurse)) if part.kind == kind]
        known = _by_case([part for part in parts if not _opaque(part)])
        sure = _sure(module, known)
        opaque = [part.value for part in parts if _opaque(part)][:1]
        many = (part.value for part in known[:sure] if is_many(part.name))
        more = [*many, *(part.value for part in known[sure:]), *opaque]
        rest = join_all(more) if more else None
        if rest is not None and with_names:
            rest = TupleValue((Unknown("name"), rest))
        found = listing(call, [_entry(part, with_names) for part in known[:sure]], rest)
        if known[sure:]:
            found.fields[ANY_OF] = TupleValue(tuple(part.value for part in known[sure:]))
        return found

    return model


def _by_case(found: list[Part]) -> list[Part]:
    """The parts, where of one that is a parameter in each case there is one for all of them, with
    the tree of these as its value."""
    whole: dict[tuple[int, str], Part] = {}
    kept: list[Part] = []
    for part in found:
        held = part.table.get(part.key)
        if type(held) is not Guarded or any(type(leaf) is not Parameter for leaf in leaves(held)):
            kept.append(part)
        elif (id(part.table), part.key) not in whole:
            one = Part(part.name, part.kind, held, part.table, part.key)
            whole[id(part.table), part.key] = one
            kept.append(one)
    return kept


def _sure(module: ModuleObject, found: list[Part]) -> int:
    """How many of the parts come first whatever the case: of a part that a condition decides, one
    is listed for each case. What a module does not list may come before what it does."""
    either: set[int] = set()
    for _, owner in walk(module):
        if _has_some_unlisted(owner):
            return 0
        for held in owner.modules.values():
            for leaf in leaves(held) if type(held) is Guarded else ():
                if isinstance(leaf, ModuleObject):
                    tables = ((each.parameters, each.buffers) for _, each in walk(leaf))
                    either.update(id(table) for pair in tables for table in pair)
    for number, part in enumerate(found):
        decided = type(part.table.get(part.key)) is Guarded and type(part.value) is not Guarded
        if id(part.table) in either or decided:
            return number
    return len(found)


def _has_some_unlisted(owner: ModuleObject) -> bool:
    """Whether the program itself gave a module parts that are not listed."""
    if is_opaque(owner) and HELD in owner.own:
        return True
    return any(type(held) is Unknown for held in owner.modules.values())


def _opaque(part: Part) -> bool:
    return part.key == ""


def _entry(part: Part, with_names: bool) -> Value:
    return named(part.name, part.value) if with_names else part.value


def _modules(with_names: bool) -> Model:
    def model(call: Call) -> Value:
        module = receiver(call)
        if module is None:
            return call.unknown()
        pairs = list(walk(module))
        further: list[Value] = [opaque_part(each, REST) for _, each in pairs if is_opaque(each)]
        many = [found for name, found in pairs if is_many(name)]
        further += many if len(many) <= MOST_KINDS else _one_of_each(many)
        rest = gathered(further, None, MOST_KINDS)
        if rest is not None and with_names:
            rest = TupleValue((Unknown("name"), rest))
        items = [named(name, found) if with_names else found for name, found in pairs]
        return listing(call, items, rest)

    return model


def _one_of_each(many: list[ModuleObject]) -> list[Value]:
    """One module for each class and place among those that stand for many. All of them are items
    that are known one by one as well, so that what is done to each kind reaches the others."""
    found: list[tuple[Value, Value, ModuleObject]] = []
    for module in many:
        where = home_device(module)
        if not any(cls == module.cls and place == where for cls, place, _ in found):
            found.append((module.cls, where, module))
    return [module for _, _, module in found]


def _children(with_names: bool) -> Model:
    def model(call: Call) -> Value:
        module = receiver(call)
        if module is None:
            return call.unknown()
        rest = opaque_part(module, REST) if is_opaque(module) else module.modules.get(REST)
        if rest is not None and with_names:
            rest = TupleValue((Unknown(), rest))
        pairs = [pair for pair in children(module) if pair[0] != REST]
        return listing(call, [named(*pair) if with_names else pair[1] for pair in pairs], rest)

    return model


PARTS: dict[str, Callable[[Call], Value]] = {
    "parameters": _parts("parameter", False),
    "named_parameters": _parts("parameter", True),
    "buffers": _parts("buffer", False),
    "named_buffers": _parts("buffer", True),
    "modules": _modules(False),
    "named_modules": _modules(True),
    "children": _children(False),
    "named_children": _children(True),
}
"""Models of methods by name."""


def names_at(index: Value, names: list[str]) -> list[str]:
    """The members that a key, a position or a range of them is about; none where that is not
    known."""
    if type(index) is SliceValue:
        bounds = [index.start, index.stop, index.step]
        if not all(is_none(bound) or type(bound) is Const for bound in bounds):
            return []
        return names[slice(*(constant(bound) for bound in bounds))]
    key = constant(index)
    if isinstance(key, int):
        return [names[key]] if -len(names) <= key < len(names) else []
    return [key] if key in names else []
