"""functools, copy, itertools, collections, dataclasses, typing: what passes tensors on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, combinations_with_replacement, islice, permutations

from device_lens.domain.code import BoundMethod, Function
from device_lens.domain.guard import combine
from device_lens.domain.heap import ORDERED, DictObject, Instance, ListObject
from device_lens.domain.join import join_all
from device_lens.domain.objects import keep_any, may_hold
from device_lens.domain.presence import carry, copied_dict
from device_lens.domain.values import (
    NONE,
    Const,
    External,
    Partial,
    PartialMethod,
    TupleValue,
    Unknown,
)
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.methods import find_method
from device_lens.models.python.builtins import IDENTITY, first_argument, listing
from device_lens.models.python.picked import copied_list, keep_held, keep_put_together, mix, some_of
from device_lens.models.torch.copying import copied_by_own
from device_lens.models.torch.objects import class_model, unknown

_CLOSING = "contextlib.closing"


def _partial_of(kind: type[Partial]) -> Model:
    """`functools.partial(f, …)`, `partialmethod(f, …)`."""

    def model(call: Call) -> Value:
        if not call.args:
            return Unknown()
        return kind(call.args[0], call.args[1:], dict(call.kwargs))

    return model


def _method(call: Call) -> Value:
    """`types.MethodType(function, obj)`."""
    if len(call.args) != 2:
        return Unknown()
    function, receiver = call.args
    if type(function) is Function:
        return BoundMethod(receiver, function)
    return Partial(function, (receiver,), {})


def _reduce(call: Call) -> Value:
    if len(call.args) < 2:
        return Unknown()
    items, rest = call.services.iterate(call.args[1])
    values = [*call.args[2:3], *items]
    if len(values) > MOST_REDUCED:
        rest = join_all([*values[MOST_REDUCED:], *([] if rest is None else [rest])])
        values = values[:MOST_REDUCED]
    total = values[0] if values else rest
    if total is None:
        return Unknown()
    for value in values[1:]:
        total = call.services.invoke(call.args[0], (total, value), {})
    if rest is None:
        return total
    once = call.services.invoke(call.args[0], (total, rest), {})
    twice = call.services.invoke(call.args[0], (once, rest), {})
    return join_all([total, once, twice])


MOST_REDUCED = 32
"""Items that `reduce` takes one by one."""


def _decorator(call: Call) -> Value:
    """Used bare it gives back the function; with arguments, a decorator that does."""
    if call.args and type(call.args[0]) not in (Const, Unknown) and not call.kwargs:
        return call.args[0]
    return IDENTITY


def _always_decorator(call: Call) -> Value:
    return IDENTITY


def _shallow_copy(call: Call) -> Value:
    copied: Value = combine(partial(_copied, call), first_argument(call))
    return copied


def _copied(call: Call, value: Value) -> Value:
    if type(value) is ListObject:
        return copied_list(value, call.site.node)
    if type(value) is DictObject:
        return copied_dict(value, call.site.node)
    if type(value) is Instance:
        own = copied_by_own(call.services, value, "__copy__", lambda state: state)
        if own is not None:
            return own
        new = Instance(value.cls, call.site.node)
        new.fields.update(value.fields)
        carry(value.fields, new.fields)
        return new
    return value


def _chain(call: Call) -> Value:
    made = _chained(call)
    return keep_put_together(made, [*call.args]) if call.complete else made


def _chained(call: Call) -> ListObject:
    items: list[Value] = []
    rest: Value = None
    for number, source in enumerate(call.args, 1):
        known, more = call.services.iterate(source)
        many = number == len(call.args) and not call.complete
        if rest is None and not many:
            items.extend(known)
            rest = more
        else:
            found = [each for each in (rest, *known, more) if each is not None]
            rest = join_all(found) if found else None
    return listing(call, tuple(items), rest)


def _chain_from_iterable(call: Call) -> Value:
    outer, more = call.services.iterate(first_argument(call))
    found: list[Value] = []
    for source in (*outer, *([] if more is None else [more])):
        known, rest = call.services.iterate(source)
        found.extend(known)
        if rest is not None:
            found.append(rest)
    return listing(call, (), join_all(found) if found else Unknown())


def _same_elements(call: Call) -> Value:
    source = first_argument(call)
    items, rest = call.services.iterate(source)
    found = [*items, *([] if rest is None else [rest])]
    made = listing(call, (), join_all(found) if found else Unknown(), "iter")
    return keep_any(made, may_hold(source, items, rest), picked=True)


def _some_of(place: int) -> Model:
    """Some of the elements of one argument, as a test, a mask or a number tells."""

    def model(call: Call) -> Value:
        return some_of(call, call.args[place], "iter") if len(call.args) > place else Unknown()

    return model


def _repeat(call: Call) -> Value:
    return listing(call, (), first_argument(call), "iter")


MOST_ARRANGED = 16
"""Rows of items that are known one by one, and items of a row."""


def _arranged(rows: Callable[..., Iterator[tuple[Value, ...]]]) -> Model:
    """`itertools.permutations(items, r)` and its kin: each row where there are a few, else any."""

    def model(call: Call) -> Value:
        items, rest = call.services.iterate(first_argument(call))
        count = constant(call.get(1, "r", Const(len(items))))
        few = isinstance(count, int) and 0 <= count <= MOST_ARRANGED
        if rest is None and few:
            found = tuple(islice(rows(items, count), MOST_ARRANGED + 1))
            if len(found) <= MOST_ARRANGED:
                return listing(call, tuple(map(TupleValue, found)), None, "iter")
        known = [*items, *([] if rest is None else [rest])]
        each = join_all(known) if known else Unknown()
        if not few:
            return listing(call, (), ListObject((), each, "tuple", call.site.node), "iter")
        return listing(call, (), TupleValue((each,) * count), "iter")

    return model


def _zip_longest(call: Call) -> Value:
    """Where sources may end at different times, their items or what fills up for them."""
    fill = call.kwargs.get("fillvalue", NONE)
    if not call.complete:
        return listing(call, (), Unknown())
    columns = [call.services.iterate(source) for source in call.args]
    if all(rest is None for _, rest in columns):
        count = max((len(items) for items, _ in columns), default=0)
        rows = tuple(
            TupleValue(tuple(items[i] if i < len(items) else fill for items, _ in columns))
            for i in range(count)
        )
        return listing(call, rows, None, "iter")
    mixed = [join_all([*items, *([] if rest is None else [rest]), fill]) for items, rest in columns]
    return listing(call, (), TupleValue(tuple(mixed)), "iter")


def _default_dict(call: Call) -> Value:
    found = DictObject(site=call.site.node)
    if call.args and call.args[0] != NONE:
        found.fields["default"] = call.args[0]
    for source in call.args[1:]:
        if type(source) is DictObject:
            found.entries.update(source.entries)
            carry(source.entries, found.entries)
            found.fields["rest"] = source.rest
        else:
            found.fields["rest"] = Unknown()
    found.entries.update(call.kwargs)
    return found


def _ordered_dict(call: Call) -> Value:
    model = registry.function("builtins.dict")
    found = model(call) if model else Unknown()
    if type(found) is DictObject:
        found.fields[ORDERED] = True
    return found


def _deque(call: Call) -> Value:
    items, rest = call.services.iterate(call.args[0]) if call.args else ((), None)
    found = keep_held(first_argument(call), listing(call, items, rest, "deque"))
    bound = call.get(1, "maxlen")
    if bound is not None and bound != NONE:
        found.fields["bound"] = constant(bound, "unknown")
        if rest is not None or len(items) > (constant(bound, 0) or 0):
            mix(call, found, lost=True)
    return found


def _cast(call: Call) -> Value:
    return call.args[1] if len(call.args) > 1 else Unknown()


def _first(call: Call) -> Value:
    return first_argument(call)


def _nothing(call: Call) -> Value:
    return NONE


def _null_context(call: Call) -> Value:
    return call.get(0, "enter_result", NONE)


def _closing(call: Call) -> Value:
    found = Instance(External(_CLOSING), call.site.node)
    found.fields["thing"] = call.get(0, "thing", NONE)
    return found


def _thing(call: Call) -> Value:
    return call.receiver.fields["thing"] if isinstance(call.receiver, Instance) else call.unknown()


def _close(call: Call) -> Value:
    """The end of the block: the thing's `close()`."""
    method = find_method(_thing(call), "close")
    return NONE if method is None else call.services.invoke(method, (), {})


def _forget_answers(call: Call) -> Value:
    """`function.cache_clear()`."""
    function = call.args[0] if call.args else None
    kept = function.kept if type(function) is Function else None
    if kept is not None:
        for key in list(kept):
            call.services.journal.delete(kept, key)
    return NONE


def register() -> None:
    models: dict[str, Model] = {
        "types.MethodType": _method,
        "functools.partial": _partial_of(Partial),
        "functools.partialmethod": _partial_of(PartialMethod),
        "functools.reduce": _reduce,
        "functools.lru_cache": _decorator,
        "functools.cache": _decorator,
        "functools.wraps": _always_decorator,
        "functools.singledispatch": _decorator,
        "functools.total_ordering": _decorator,
        "contextlib.contextmanager": _decorator,
        "contextlib.asynccontextmanager": _decorator,
        "contextlib.nullcontext": _null_context,
        _CLOSING: _closing,
        f"{_CLOSING}.__enter__": _thing,
        f"{_CLOSING}.__exit__": _close,
        "contextlib.ExitStack": class_model("contextlib.ExitStack"),
        "contextlib.ExitStack.enter_context": unknown,
        "contextlib.ExitStack.callback": unknown,
        "contextlib.ExitStack.pop_all": unknown,
        "contextlib.ExitStack.close": unknown,
        "contextlib.AsyncExitStack.pop_all": unknown,
        "contextlib.AsyncExitStack.aclose": unknown,
        "contextlib.AsyncExitStack": class_model("contextlib.AsyncExitStack"),
        "contextlib.AsyncExitStack.enter_context": unknown,
        "contextlib.AsyncExitStack.callback": unknown,
        "abc.abstractmethod": _decorator,
        "abc.ABCMeta.__init__": _nothing,
        "builtins.type.__init__": _nothing,
        "typing.overload": _decorator,
        "typing.no_type_check": _decorator,
        "typing.final": _decorator,
        "typing.cast": _cast,
        "copy.copy": _shallow_copy,
        "itertools.chain": _chain,
        "itertools.chain.from_iterable": _chain_from_iterable,
        "itertools.islice": _some_of(0),
        "itertools.compress": _some_of(0),
        "itertools.takewhile": _some_of(1),
        "itertools.dropwhile": _some_of(1),
        "itertools.filterfalse": _some_of(1),
        "itertools.cycle": _same_elements,
        "itertools.repeat": _repeat,
        "itertools.zip_longest": _zip_longest,
        "itertools.permutations": _arranged(permutations),
        "itertools.combinations": _arranged(combinations),
        "itertools.combinations_with_replacement": _arranged(combinations_with_replacement),
        "collections.defaultdict": _default_dict,
        "functools.<cache_clear>": _forget_answers,
        "collections.OrderedDict": _ordered_dict,
        "collections.deque": _deque,
        "tqdm.tqdm": _first,
        "tqdm.auto.tqdm": _first,
        "tqdm.notebook.tqdm": _first,
        "tqdm.tqdm_notebook": _first,
        "tqdm.trange": registry.FUNCTIONS["builtins.range"],
        "rich.progress.track": _first,
        "weakref.WeakKeyDictionary": registry.FUNCTIONS["builtins.dict"],
        "atexit.register": _decorator,
    }
    registry.FUNCTIONS.update(models)
