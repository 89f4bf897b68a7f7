"""Parts that a module has under names that the program makes of what is not known: `conv*` of
`setattr(self, f"conv{i}", …)`. One entry of a registry stands for all of them."""

from __future__ import annotations

from collections.abc import Iterator

from device_lens.domain.code import ClassValue
from device_lens.domain.guard import leaves
from device_lens.domain.heap import MISSING, ModuleObject, Parameter, Table
from device_lens.domain.join import join_blind
from device_lens.domain.journal import Journal
from device_lens.domain.similarity import similar
from device_lens.domain.values import Tensor
from device_lens.models import patterns
from device_lens.models.call import Services, Value
from device_lens.models.torch.every_module import OF_EVERY_MODULE
from device_lens.models.torch.members import MANY, choose
from device_lens.models.torch.parts import HAS_HOME, HOLDS_SOME, is_many, is_opaque


def put(services: Services, module: ModuleObject, table: Table, name: str, value: Value) -> None:
    """Registers a part under a pattern. It may be one more, or take the place of one that fits."""
    for key in [name, *(key for key in table if not is_many(key) and patterns.fits(name, key))]:
        old = table.get(key, MISSING)
        new = value if old is MISSING else _either(old, value)
        if new is not old:
            services.journal.write(table, key, new)
    has_home(services.journal, module, value)


def has_home(journal: Journal, module: ModuleObject, value: Value) -> None:
    """Takes note that a module holds some of those for which one member of it stands, where these
    are held elsewhere too."""
    for one in leaves(value):
        if not isinstance(one, ModuleObject) or one.many is None:
            continue
        if HAS_HOME in one.own:
            journal.write(module.own, HOLDS_SOME, True)
        journal.write(one.own, HAS_HOME, True)


def pattern_of(name: Value) -> str | None:
    """The pattern under which a part is registered: of a name whose first letters are known."""
    found = patterns.pattern_of(name)
    return None if found is None or found[:1] in ("", patterns.DIGITS) else found


def _either(old: Value, new: Value) -> Value:
    """What is there now. Of objects that are alike a few are kept apart: what is done to one of
    them by another name is not done to the others."""
    found = list(leaves(old))
    if not all(type(leaf) is ModuleObject for leaf in (*found, *leaves(new))):
        return old if similar(old, new) else join_blind(old, new)
    more = [leaf for leaf in leaves(new) if not any(leaf is each for each in found)]
    if len(found) >= MANY:
        more = [leaf for leaf in more if not any(similar(leaf, each) for each in found)]
    return choose([*found, *more]) if more else old


def store(services: Services, module: Value, name: Value, value: Value) -> bool:
    """`setattr(module, f"conv{i}", value)`; answers whether that is a part, and not a plain
    attribute, or something that the class sees to."""
    pattern = pattern_of(name)
    if type(module) is not ModuleObject or pattern is None or _of_class(module, pattern):
        return False
    kinds = {type(leaf) for leaf in leaves(value)}
    if kinds not in ({ModuleObject}, {Parameter}):
        return False
    table = module.modules if kinds == {ModuleObject} else module.parameters
    put(services, module, table, pattern, value)
    return True


def read(module: Value, name: Value) -> Value | None:
    """The part under one of the names of a pattern, where the module is known to have nothing but
    parts of one sort there; None where nothing is known."""
    pattern = pattern_of(name)
    if type(module) is not ModuleObject or pattern is None:
        return None
    if is_opaque(module) or _of_class(module, pattern):
        return None
    found = [value for table in _tables(module) for value in _under(table, pattern)]
    kinds = {type(leaf) for value in found for leaf in leaves(value)}
    if kinds == {ModuleObject}:
        return choose(_kept([leaf for value in found for leaf in leaves(value)]))
    return choose(found) if kinds and kinds <= {Parameter, Tensor} else None


def under(module: ModuleObject, name: str) -> Value | None:
    """What a module has under a name that a pattern fits; None where no pattern does."""
    tables = (module.modules, module.parameters, module.buffers)
    found = [
        value
        for table in tables
        for key, value in table.items()
        if is_many(key) and patterns.fits(key, name)
    ]
    return choose(_kept([leaf for each in found for leaf in leaves(each)])) if found else None


def may_have(module: ModuleObject, name: str) -> bool:
    """Whether a part of a module, of whose name not all is known, may be one of a name."""
    return any(
        patterns.fits(key, name) if is_many(key) else key[:1] == patterns.DIGITS
        for table in (module.modules, module.parameters, module.buffers)
        for key in table
        if patterns.DIGITS in key
    )


def _kept(found: list[Value]) -> list[Value]:
    """The parts that are told apart: one that stands for many stands for those like it."""
    kept: list[Value] = []
    for leaf in found:
        if not any(_stands_for(each, leaf) for each in kept):
            kept.append(leaf)
    return kept


def _stands_for(one: Value, other: Value) -> bool:
    return one is other or (
        type(one) is ModuleObject and one.many is not None and similar(one, other)
    )


def _tables(module: ModuleObject) -> tuple[Table, ...]:
    return module.modules, module.parameters, module.buffers, module.fields


def _under(table: Table, name: str) -> Iterator[Value]:
    """What a table has under names that a pattern may have."""
    for key, value in table.items():
        if not isinstance(key, str):
            continue
        if patterns.may_meet(key, name) if is_many(key) else patterns.fits(name, key):
            yield value


def _of_class(module: ModuleObject, name: str) -> bool:
    """Whether the class of a module may define what a pattern is about."""
    if type(module.cls) is not ClassValue or module.cls.lookup("__getattr__") is not None:
        return True
    if any(patterns.fits(name, each) for each in OF_EVERY_MODULE):
        return True
    return any(patterns.fits(name, each) for cls in module.cls.mro for each in cls.fields)
