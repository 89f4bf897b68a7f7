"""random, math, time, heapq, asyncio: modules that make numbers or pass on what they are given."""

from __future__ import annotations

import math

from device_lens.domain.guard import leaves
from device_lens.domain.heap import ListObject
from device_lens.domain.join import join_all
from device_lens.domain.objects import may_hold
from device_lens.domain.values import NONE, Const, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value, constant, treated_as_tensor
from device_lens.models.numbers import DRAWN, number, share
from device_lens.models.python import list_classes
from device_lens.models.python.builtins import first_argument, listing
from device_lens.models.python.picked import hold, mix, one_of, one_of_these, some_of
from device_lens.models.registry import ATTRIBUTES, FUNCTIONS, PACKAGES
from device_lens.models.torch.objects import returns
from device_lens.models.words import words

_RANDOM_NUMBERS = words(
    """random uniform randint randrange gauss normalvariate betavariate expovariate triangular
    getrandbits lognormvariate gammavariate"""
)
_CLOCKS = words("time perf_counter monotonic process_time time_ns perf_counter_ns")
_SEQUENCES = words("math.frexp math.modf")


def _number(call: Call) -> Value:
    return number("a number")


def _draw(call: Call) -> Value:
    return share() if call.name == "random.random" else number(DRAWN)


def _arithmetic(call: Call) -> Value:
    """A function of `math`: it asks a tensor for its number."""
    for position, value in enumerate(call.args):
        if treated_as_tensor(value):
            call.services.synchronize(f"{call.name}()", value, position)
    return number("a number")


def _whole(call: Call) -> Value:
    """`math.ceil(x)`, `math.floor(x)`: a number that is known has a whole one that is known."""
    known = constant(call.args[0]) if len(call.args) == 1 else None
    if isinstance(known, int | float) and math.isfinite(known):
        return Const(getattr(math, call.name.rpartition(".")[2])(known))
    return _arithmetic(call)


def _nothing(call: Call) -> Value:
    return NONE


def _choice(call: Call) -> Value:
    return one_of(call, first_argument(call))


def _choices(call: Call) -> Value:
    """`random.sample(population, k)`, `heapq.nlargest(n, iterable)`: any of the items."""
    position = 1 if call.name.startswith("heapq.") else 0
    source = call.args[position] if len(call.args) > position else NONE
    return some_of(call, source, picked=not _takes_all(call, source, position))


def _takes_all(call: Call, source: Value, position: int) -> bool:
    """Whether as many different items are taken as there are."""
    items, rest = call.services.iterate(source)
    taken = constant(call.get(1 - position, "n" if position else "k"))
    return rest is None and taken == len(items) and not call.name.endswith("choices")


def disorder(call: Call) -> Value:
    """`random.shuffle(items)`, `heapq.heapify(heap)`: the same items in another order."""
    for leaf in leaves(first_argument(call)):
        target = list_classes.sequence(leaf)
        if type(target) is ListObject:
            mix(call, target)
    return NONE


def _push(call: Call) -> Value:
    """`heapq.heappush(heap, item)`: where the item ends up is not known."""
    target = list_classes.sequence(first_argument(call))
    if type(target) is ListObject and len(call.args) > 1:
        held = (*may_hold(target, target.items, target.rest), call.args[1])
        joined = join_all([v for v in (*target.items, target.rest, call.args[1]) if v is not None])
        hold(call.services.journal, target, held, joined)
        return one_of_these(call, [*held])
    return Unknown()


def _run(call: Call) -> Value:
    """`asyncio.run(main())`: a coroutine stands for what it returns."""
    return first_argument(call)


def _gather(call: Call) -> Value:
    if call.complete:
        return listing(call, call.args, None)
    return listing(call, (), join_all(list(call.args)) if call.args else Unknown())


def _pairs(call: Call) -> Value:
    return TupleValue((number("a number"), number("a number")))


def _package(model: Model) -> object:
    """The functions of a package; its classes are not known."""

    def find(name: str) -> Model | None:
        return None if name.rpartition(".")[2][:1].isupper() else model

    return find


def register_all() -> None:
    """Fills the registry."""
    PACKAGES["math"] = _package(_arithmetic)  # type: ignore[assignment]
    for name in words("pi e tau inf nan"):
        ATTRIBUTES[f"math.{name}"] = returns(Const(getattr(math, name)))
    for name in words("pi e inf nan"):
        ATTRIBUTES[f"torch.{name}"] = returns(Const(getattr(math, name)))
    for name in words("ceil floor trunc"):
        FUNCTIONS[f"math.{name}"] = _whole
    for name in _SEQUENCES:
        FUNCTIONS[name] = _pairs
    for name in _CLOCKS:
        FUNCTIONS[f"time.{name}"] = _number
    FUNCTIONS["time.sleep"] = FUNCTIONS["asyncio.sleep"] = _nothing
    for name in _RANDOM_NUMBERS:
        FUNCTIONS[f"random.{name}"] = _draw
    FUNCTIONS["random.seed"] = _nothing
    FUNCTIONS["random.choice"] = _choice
    FUNCTIONS["random.shuffle"] = FUNCTIONS["heapq.heapify"] = disorder
    for name in words("random.sample random.choices heapq.nlargest heapq.nsmallest"):
        FUNCTIONS[name] = _choices
    FUNCTIONS["heapq.heappush"] = FUNCTIONS["heapq.heappushpop"] = _push
    FUNCTIONS["heapq.heapreplace"] = _push
    FUNCTIONS["heapq.heappop"] = _choice
    FUNCTIONS["asyncio.run"] = FUNCTIONS["asyncio.wait_for"] = _run
    FUNCTIONS["asyncio.create_task"] = FUNCTIONS["asyncio.ensure_future"] = _run
    FUNCTIONS["asyncio.gather"] = _gather
    FUNCTIONS["itertools.count"] = lambda call: listing(call, (), number("a number"), "range")
