"""Optimizers and learning-rate schedulers.

An optimizer remembers on which devices its parameters were when it made their state, so that a
step after a move that left the state behind is known for what it is.
"""

from __future__ import annotations

import operator
from typing import Any

from device_lens.domain.condition import conjunction, forced, negation
from device_lens.domain.device import Agreement, DeviceTree, agree
from device_lens.domain.guard import Literals, combine, leaves, primary
from device_lens.domain.heap import MEMBERS, STATE, DictObject, Instance, ListObject, Parameter
from device_lens.domain.path import without_unnamed
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import NONE, Const, External, Tensor, TupleValue
from device_lens.models.call import Call, Model, Value, constant, is_none, tensor_of
from device_lens.models.python.iterators import ITERATORS
from device_lens.models.registry import ALIASES, ATTRIBUTES, BASES, FUNCTIONS
from device_lens.models.reports import optimizer_conflict
from device_lens.models.torch.handles import add, handle
from device_lens.models.torch.module import OPTIMIZERS, REPLACED
from device_lens.models.torch.objects import itself, nothing, unknown
from device_lens.models.torch.optimizer_state import (
    ENTRIES,
    FORM,
    LOADED,
    STATE_OF,
    STATE_SITE,
    TAKEN,
    groups_of,
    kept_at,
    make,
    state_of,
)
from device_lens.models.torch.replaced import GROUP_OF, left_at
from device_lens.models.words import words

BASE = "torch.optim.Optimizer"
CLASSES = words(
    "SGD Adam AdamW Adamax Adadelta Adagrad ASGD LBFGS NAdam RAdam RMSprop Rprop SparseAdam "
    "Adafactor Muon"
)
EAGER = frozenset({"torch.optim.Adagrad"})
"""Optimizers whose constructor makes the state."""
STATELESS = frozenset({"torch.optim.SGD"})
"""Optimizers that keep no state without a momentum."""
SCHEDULERS = words(
    "LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR "
    "CosineAnnealingLR ChainedScheduler SequentialLR ReduceLROnPlateau CyclicLR OneCycleLR "
    "CosineAnnealingWarmRestarts PolynomialLR LRScheduler _LRScheduler"
)
SITE = "<site>"


def _constructor(name: str) -> Model:
    def model(call: Call) -> Value:
        made = Instance(External(name), call.site.node)
        fill(call, made, name)
        return made

    return model


def _initialise(call: Call) -> Value:
    """`super().__init__(params, defaults)` of the program's own optimizer."""
    if isinstance(call.receiver, Instance):
        fill(call, call.receiver, BASE)
    return NONE


def fill(call: Call, made: Instance, name: str) -> None:
    """Gives a new optimizer its groups and its (empty) state."""
    options = {key: value for key, value in call.kwargs.items() if key != "params"}
    if len(call.args) > 1:
        options.setdefault("lr", call.args[1])
    call.write(made.fields, SITE, call.site)
    call.write(made.fields, MEMBERS, ())
    groups = [
        _group(call, made, value, options) for value in _given(call, call.get(0, "params", NONE))
    ]
    call.write(made.fields, "param_groups", ListObject(tuple(groups), None, "list", call.site.node))
    state = DictObject({}, None, call.site.node)
    state.fields["default"] = External("builtins.dict" if name == BASE else STATE_OF)
    call.write(made.fields, ENTRIES, state)
    call.write(made.fields, "defaults", DictObject(dict(options), call.unknown(), call.site.node))
    if name in EAGER:
        make(call, made, "eager-state")


def _given(call: Call, params: Value) -> list[Value]:
    """The groups that a constructor is given: one of all parameters, or dicts."""
    if is_none(params):
        return []
    if type(params) is DictObject:
        return [params]
    items, rest = call.services.iterate(params)
    _use_up(call, params)
    found = [*items, *([rest] if rest is not None else [])]
    if any(type(item) is DictObject for item in found):
        return [item for item in found if type(item) is DictObject]
    return [ListObject(items, rest, "list", call.site.node)]


def _use_up(call: Call, params: Value) -> None:
    """An iterator over parameters has none left for who reads it next."""
    if type(params) is ListObject and params.kind in ITERATORS:
        call.write(params.fields, "items", ())
        call.write(params.fields, "rest", None)


def _group(call: Call, made: Instance, given: Value, options: dict[str, Value]) -> DictObject:
    entries: dict[Any, Value] = dict(options)
    params = given
    if type(given) is DictObject:
        entries.update(given.entries)
        params = given.entries.get("params", NONE)
    items, rest = ((params,), None) if _single(params) else call.services.iterate(params)
    _use_up(call, params)
    entries["params"] = ListObject(items, rest, "list", call.site.node)
    held = [item for item in (*items, rest) if item is not None]
    for item in (leaf for each in held for leaf in leaves(each)):
        if type(item) is Parameter:
            known = item.fields.get(OPTIMIZERS, ())
            call.write(item.fields, OPTIMIZERS, (*known, made))
    call.write(made.fields, MEMBERS, (*made.fields.get(MEMBERS, ()), *held))
    group = DictObject(entries, call.unknown(), call.site.node)
    group.fields[GROUP_OF] = made
    return group


def _single(params: Value) -> bool:
    return type(params) in (Parameter, Tensor)


def _registers(key: str) -> Model:
    """`optimizer.register_step_post_hook(hook)`. A class of the program has a `step` of its own:
    its hooks are followed where they are registered, as what may run."""

    def model(call: Call) -> Value:
        made, hook = call.receiver, call.get(0, "hook", NONE)
        if not isinstance(made, Instance) or is_none(hook):
            return handle(call)
        if type(made.cls) is not External:
            call.services.invoke_beside(hook, _of_step(call, made), {}, False)
            return handle(call)
        return add(call, made.fields, key, hook)

    return model


_BEFORE_STEP, _AFTER_STEP = "<hooks before>", "<hooks after>"
"""The fields of an optimizer with the hooks of its steps."""


def _of_step(call: Call, made: Instance) -> tuple[Value, ...]:
    """What a hook of a step gets: the optimizer, and no arguments."""
    return made, TupleValue(()), DictObject({}, None, call.site.node)


def _step(call: Call) -> Value:
    """Runs the closure, makes the state if there is none, and looks whether it is still beside
    the parameters."""
    made = call.receiver
    closure = call.get(0, "closure")
    loss = NONE if is_none(closure) else call.services.invoke(closure, (), {})
    if not isinstance(made, Instance):
        return loss
    for hook in (*made.fields.get(_BEFORE_STEP, ()), *made.fields.get(_AFTER_STEP, ())):
        call.services.invoke(hook, _of_step(call, made), {})
    replaced = made.fields.get(REPLACED)
    if isinstance(replaced, Site) and _has_kept_its_own(made):
        _report(call, "replaced-parameters", made, replaced)
    left = left_at(made)
    if left is not None and _has_kept_its_own(made):
        _report(call, "replaced-model", made, left)
    state = made.fields.get(STATE)
    if not isinstance(state, tuple):
        if not _is_stateless(made):
            make(call, made, "stepped-state")
        return loss
    for value, device in state:
        now = kept_at(made.fields.get(ENTRIES), value)
        if now is None and made.fields.get(TAKEN):
            continue
        places = (device,) if now is None else (device, now)
        move, where = _left_behind(value, places, call.services.condition())
        if move is not None:
            _report(call, _form(made), made, move.site, forced(where))
            break
    return loss


def _has_kept_its_own(made: Instance) -> bool:
    """Whether the groups still hold the parameters that they were made with: a program may put new
    ones there by hand."""
    groups = made.fields.get("param_groups")
    if type(groups) is not ListObject or groups.rest is not None:
        return False
    held: list[Value] = []
    for group in groups.items:
        params = group.entries.get("params") if type(group) is DictObject else None
        if type(params) is not ListObject:
            return False
        held += [*params.items, *([params.rest] if params.rest is not None else [])]
    known = made.fields.get(MEMBERS, ())
    return len(held) == len(known) and all(map(operator.is_, held, known))


def _form(made: Instance) -> str:
    """How the state was made; where a test that has no default decides, one of the ways."""
    return next(leaf for leaf in leaves(primary(made.fields[FORM])) if isinstance(leaf, str))


def _is_stateless(made: Instance) -> bool:
    if type(made.cls) is not External or made.cls.name not in STATELESS:
        return False
    return all(constant(each.entries.get("momentum", Const(0))) == 0 for each in groups_of(made))


def _left_behind(
    value: Value, places: tuple[DeviceTree, ...], here: Value
) -> tuple[Trail | None, Value]:
    """The move that took a parameter away from its state, from where that was made and where it is
    now, and where it surely did: in some case of those in which the step runs that has a name,
    whatever tests decide that have none."""
    tensor = tensor_of(value)
    if tensor is None or tensor.trail is None or tensor.trail.kind != "moved":
        return None, False
    apart = combine(
        lambda at, *others: all(agree(at, each) is Agreement.DIFFERENT for each in others),
        tensor.device,
        *places,
    )
    surely = conjunction(here, negation(without_unnamed(negation(apart))))
    return (tensor.trail if any(leaves(surely)) else None), surely


def _report(
    call: Call, form: str, made: Instance, move: Site | None, literals: Literals = ()
) -> None:
    site, state = made.fields.get(SITE), made.fields.get(STATE_SITE)
    optimizer_conflict(
        call.services,
        form,
        site if isinstance(site, Site) else None,
        move,
        state if isinstance(state, Site) else None,
        literals,
    )


def _add_param_group(call: Call) -> Value:
    made = call.receiver
    if isinstance(made, Instance):
        group = _group(call, made, call.get(0, "param_group", NONE), {})
        groups = made.fields.get("param_groups")
        if type(groups) is ListObject:
            call.write(groups.fields, "items", (*groups.items, group))
        call.write(made.fields, REPLACED, None)
    return NONE


def _state_dict(call: Call) -> Value:
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    kept = (("state", ENTRIES), ("param_groups", "param_groups"))
    entries: dict[Any, Value] = {name: fields[key] for name, key in kept if key in fields}
    return DictObject(entries, None, call.site.node)


def _load_state_dict(call: Call) -> Value:
    """The state is cast to wherever the parameters are at that moment."""
    if isinstance(call.receiver, Instance):
        make(call, call.receiver, LOADED, call.get(0, "state_dict"))
    return NONE


def _state(call: Call) -> Value:
    if not isinstance(call.receiver, Instance):
        return call.unknown()
    call.write(call.receiver.fields, TAKEN, True)
    return call.receiver.fields.get(ENTRIES, call.unknown())


METHODS: dict[str, Model] = {
    "__init__": _initialise,
    "step": _step,
    "zero_grad": nothing,
    "add_param_group": _add_param_group,
    "state_dict": _state_dict,
    "load_state_dict": _load_state_dict,
    "register_step_pre_hook": _registers(_BEFORE_STEP),
    "register_step_post_hook": _registers(_AFTER_STEP),
    "train": itself,
    "eval": itself,
}


def _scheduler(name: str) -> Model:
    def model(call: Call) -> Value:
        made = Instance(External(name), call.site.node)
        made.fields["optimizer"] = call.get(0, "optimizer", NONE)
        return made

    return model


def register_all() -> None:
    for name in CLASSES:
        FUNCTIONS[f"torch.optim.{name}"] = _constructor(f"torch.optim.{name}")
        BASES[f"torch.optim.{name}"] = (BASE,)
        module = "sparse_adam" if name == "SparseAdam" else name.lower()
        ALIASES[f"torch.optim.{module}.{name}"] = f"torch.optim.{name}"
    FUNCTIONS[BASE] = _constructor(BASE)
    FUNCTIONS[STATE_OF] = state_of
    ALIASES["torch.optim.optimizer.Optimizer"] = BASE
    ATTRIBUTES[f"{BASE}.state"] = _state
    for name, model in METHODS.items():
        FUNCTIONS[f"{BASE}.{name}"] = model
    base = "torch.optim.lr_scheduler.LRScheduler"
    for name in SCHEDULERS:
        qualified = f"torch.optim.lr_scheduler.{name}"
        FUNCTIONS[qualified] = _scheduler(qualified)
        BASES[qualified] = (base,) if qualified != base else ()
    for name in words("step load_state_dict"):
        FUNCTIONS[f"{base}.{name}"] = nothing
    for name in words("get_last_lr get_lr state_dict"):
        FUNCTIONS[f"{base}.{name}"] = unknown
