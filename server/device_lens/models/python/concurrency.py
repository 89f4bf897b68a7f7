"""threading, multiprocessing, concurrent.futures: functions that run beside the program.

What a thread changes may be there or not by the time of any later statement; what a process changes
stays in it.
"""

from __future__ import annotations

from typing import NamedTuple

from device_lens.domain.heap import DictObject, Instance, moment
from device_lens.domain.join import join_all
from device_lens.domain.objects import any_of_these, holds_all, keep_any
from device_lens.domain.trail import Site
from device_lens.domain.values import NONE, External, TupleValue, Unknown
from device_lens.models.call import Call, Value, constant, is_none
from device_lens.models.python.builtins import any_item, listing
from device_lens.models.python.own_contexts import IN_THREAD
from device_lens.models.python.picked import rows_of
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.objects import instance, nothing, register_names
from device_lens.models.words import words

THREAD, TIMER = "threading.Thread", "threading.Timer"
PROCESS = "multiprocessing.Process"
FUTURE = "concurrent.futures.Future"
THREAD_EXECUTOR = "concurrent.futures.ThreadPoolExecutor"
PROCESS_EXECUTOR = "concurrent.futures.ProcessPoolExecutor"
THREAD_POOL, PROCESS_POOL = "multiprocessing.pool.ThreadPool", "multiprocessing.Pool"
_EXECUTORS = (THREAD_EXECUTOR, PROCESS_EXECUTOR)
_POOLS = (THREAD_POOL, PROCESS_POOL)
_PARAMETERS = {
    THREAD: words("group target name args kwargs"),
    PROCESS: words("group target name args kwargs"),
    TIMER: words("interval function args kwargs"),
}
_IN_PROCESSES = (PROCESS, PROCESS_EXECUTOR, PROCESS_POOL)
_SET_UP = "<set up>"
"""The field of a pool that tells whether its threads run something first."""
_CONTEXT = "<context>"
"""The field of a pool that tells whether it is told how its processes are started."""
_FORK = "<fork>"
"""The field of a pool with the `Fork` of its processes."""
FORKED = "forked"
"""The state of a program that has the `Fork` of the process that runs now: one that is told nothing
of the way in which it starts is forked on Linux. None: it is the program's own."""
START_METHOD = "start method"
"""That which tells whether the program has said how its processes are started."""
_MOST_MAPPED = 16
_FORKING = External("multiprocessing")
"""A context that forks, which has what the module has."""


class Fork(NamedTuple):
    """Where and when a process begins with what its parent has by then."""

    site: Site
    at: int
    """The `moment`."""


def _fill(call: Call, made: Instance, names: list[str]) -> None:
    """Keeps what is to run, and what it is given."""
    for position, name in enumerate(names):
        value = call.get(position, name)
        if value is not None:
            call.write(made.fields, f"<{name}>", value)


def _made(call: Call) -> Value:
    made = instance(call, call.name)
    _fill(call, made, _PARAMETERS[call.name])
    return made


def _initialise(call: Call) -> Value:
    if isinstance(call.receiver, Instance):
        _fill(call, call.receiver, _PARAMETERS[call.name.removesuffix(".__init__")])
    return NONE


def _start(call: Call) -> Value:
    """Runs the target, or the `run` of a class of the program."""
    made = call.receiver
    if not isinstance(made, Instance):
        return NONE
    target = made.fields.get("<target>", made.fields.get("<function>"))
    if target is None:
        if type(made.cls) is not External:
            _run(call, call.services.attribute(made, "run"), (), {})
        return NONE
    given, named = made.fields.get("<args>"), made.fields.get("<kwargs>")
    items, rest = ((), None) if given is None else call.services.iterate(given)
    if rest is None and (named is None or type(named) is DictObject):
        keywords = {} if named is None else dict(named.entries)
        _run(call, target, items, {key: keywords[key] for key in keywords if isinstance(key, str)})
    return NONE


def _run(call: Call, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    services, made = call.services, call.receiver
    if call.name.startswith(_IN_PROCESSES):
        given = isinstance(made, Instance) and made.fields.get(_CONTEXT)
        services.set_global(FORKED, None if given else _fork(call))
        value = services.invoke_beside(function, args, kwargs, True)
        services.set_global(FORKED, None)
        return value
    if isinstance(made, Instance) and made.fields.get(_SET_UP):
        services.set_global(IN_THREAD, True)
        found = services.invoke_beside(function, args, kwargs, False)
        services.set_global(IN_THREAD, None)
        return found
    return services.invoke_in_thread(function, args, kwargs)


def _fork(call: Call) -> Fork:
    """When the process of a call was forked: a pool forks all of its own when it is made, an
    executor when it first has something to run."""
    made = call.receiver
    if not call.name.startswith((PROCESS_EXECUTOR, PROCESS_POOL)) or not isinstance(made, Instance):
        return Fork(call.site, moment())
    known = made.fields.get(_FORK)
    if not isinstance(known, Fork):
        known = Fork(call.site, moment())
        call.write(made.fields, _FORK, known)
    return known


def _executor(call: Call) -> Value:
    """A pool of threads or processes. What an `initializer` has set in its threads is there when
    they run something."""
    made = instance(call, call.name)
    set_up = "initializer" in call.kwargs or len(call.args) > 1
    call.write(made.fields, _SET_UP, set_up)
    given = [call.kwargs.get(name) for name in ("mp_context", "context")]
    told = len(call.args) > 1 or not all(map(forks, given))
    call.write(made.fields, _CONTEXT, told)
    if call.name == PROCESS_POOL:
        call.write(made.fields, _FORK, Fork(call.site, moment()))
    return made


def _submit(call: Call) -> Value:
    """`executor.submit(f, …)`, `pool.apply_async(f, (…))`: a future with what the call gives."""
    if not call.args:
        return call.unknown()
    return instance(call, FUTURE, value=_run(call, call.args[0], call.args[1:], call.kwargs))


def _result(call: Call) -> Value:
    made = call.receiver
    return made.fields["value"] if isinstance(made, Instance) else Unknown("result")


def _is_future(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls == External(FUTURE)


def _as_completed(call: Call) -> Value:
    """`as_completed(futures)`: each of them, nobody knows in which order."""
    items, rest = call.services.iterate(call.args[0]) if call.args else ((), Unknown())
    each_of = [*items, *([] if rest is None else [rest])]
    found = [each.fields.get("value") if _is_future(each) else each for each in each_of]
    gives = join_all(found) if found else Unknown()
    any_of = instance(call, FUTURE, value=gives) if call.name.startswith("concurrent") else gives
    return listing(call, (any_of,) * len(items), None if rest is None else any_of, "iter")


def _apply(call: Call) -> Value:
    function, given = call.get(0, "func", NONE), call.get(1, "args", TupleValue(()))
    named = call.get(2, "kwds")
    items, rest = call.services.iterate(given)
    if rest is not None or named is not None:
        return Unknown(call.name)
    return _run(call, function, items, {})


def _apply_async(call: Call) -> Value:
    return instance(call, FUTURE, value=_apply(call))


def _map(call: Call) -> Value:
    """`executor.map(f, xs, …)`, `pool.map(f, xs)`, `pool.starmap(f, tuples)`: what each call
    gives, in order."""
    if len(call.args) < 2:
        return call.unknown()
    function, *columns = call.args
    if call.name.startswith(_POOLS):
        columns = columns[:1]

    def one(values: tuple[Value, ...]) -> Value:
        if call.name.endswith("starmap"):
            items, rest = call.services.iterate(values[0])
            return Unknown(call.name) if rest is not None else _run(call, function, items, {})
        return _run(call, function, values, {})

    if len(columns) == 1 and any_of_these(columns[0]):
        of_each = [one((each,)) for each in any_of_these(columns[0])]
        made = listing(call, (), any_item(tuple(of_each), None), "map")
        return keep_any(made, of_each, picked=True, whole=holds_all(columns[0]))
    rows, further = rows_of(call, columns, _MOST_MAPPED)
    known = tuple(map(one, rows))
    return listing(call, known, None if further is None else one(further), "map")


def _get_context(call: Call) -> Value:
    """What starts processes as the module does by itself, where they are forked. Those of other
    ways begin afresh."""
    method = call.get(0, "method", NONE)
    return _FORKING if is_none(method) or constant(method) == "fork" else call.unknown()


def forks(context: Value | None) -> bool:
    """Whether a loader or pool that is given this as the way to start its processes forks them."""
    if context is None or is_none(context):
        return True
    return bool(context == _FORKING or constant(context) == "fork")


def _set_start_method(call: Call) -> Value:
    call.services.set_global(START_METHOD, True)
    return NONE


def register() -> None:
    for name in (THREAD, TIMER, PROCESS):
        FUNCTIONS[name] = _made
        FUNCTIONS[f"{name}.__init__"] = _initialise
        FUNCTIONS[f"{name}.start"] = _start
        register_names(name, "join cancel setDaemon terminate kill close", nothing)
    for name in (*_EXECUTORS, *_POOLS):
        FUNCTIONS[name] = _executor
        FUNCTIONS[f"{name}.submit"] = _submit
        register_names(name, "map imap imap_unordered starmap", _map)
        register_names(name, "shutdown close join terminate", nothing)
    for name in _POOLS:
        FUNCTIONS[f"{name}.apply"] = _apply
        FUNCTIONS[f"{name}.apply_async"] = _apply_async
    FUNCTIONS["concurrent.futures.as_completed"] = _as_completed
    FUNCTIONS["asyncio.as_completed"] = _as_completed
    FUNCTIONS[f"{FUTURE}.result"] = FUNCTIONS[f"{FUTURE}.get"] = _result
    register_names(FUTURE, "wait", nothing)
    for alias in ("torch.multiprocessing.Process", "torch.multiprocessing.Pool"):
        ALIASES[alias] = alias.removeprefix("torch.")
    for package in ("multiprocessing", "torch.multiprocessing"):
        FUNCTIONS[f"{package}.set_start_method"] = _set_start_method
        FUNCTIONS[f"{package}.get_context"] = _get_context
    ALIASES["multiprocessing.pool.Pool"] = PROCESS_POOL
    ALIASES["multiprocessing.dummy.Pool"] = THREAD_POOL
    ALIASES["concurrent.futures.thread.ThreadPoolExecutor"] = THREAD_EXECUTOR
    ALIASES["concurrent.futures.process.ProcessPoolExecutor"] = PROCESS_EXECUTOR
