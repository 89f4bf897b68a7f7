"""torchmetrics: modules that sum up what they are given, on the device on which they are.

A sum on the host takes nothing that is on an accelerator; the other way round sums that are numbers
take what is on the host. Metrics that keep a list of what they are given take it from anywhere.
"""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import CPU, UNKNOWN_DEVICE
from device_lens.domain.guard import assume_all
from device_lens.domain.heap import DictObject, ListObject, ModuleObject
from device_lens.domain.values import NONE, DeviceValue, External, Tensor
from device_lens.models import wording
from device_lens.models.agreement import common_device
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.registry import (
    ATTRIBUTES,
    BASES,
    FUNCTIONS,
    MODULE_PACKAGES,
    MODULES,
    PACKAGES,
    ModuleModel,
)
from device_lens.models.relayed import Operand, with_conflicts
from device_lens.models.torch.copying import deep_copy
from device_lens.models.torch.nn_layer import operands_of
from device_lens.models.torch.objects import nothing
from device_lens.models.torch.parts import all_parts, children, tensor_in
from device_lens.models.words import words

METRIC = "torchmetrics.Metric"
SUMS = "torchmetrics.SummingMetric"
LISTS = "torchmetrics.ListingMetric"
COLLECTION = "torchmetrics.MetricCollection"
_STATE = "state"
_TITLE = "title"
"""Where a metric keeps the name of its class."""
_TASKS = ("Binary", "Multiclass", "Multilabel")
_COUNTS = words(
    "Accuracy Precision Recall F1Score FBetaScore Specificity ConfusionMatrix JaccardIndex "
    "CohenKappa MatthewsCorrCoef StatScores HammingDistance"
)
_SUMS = words(
    "MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError PearsonCorrCoef "
    "MeanMetric SumMetric PeakSignalNoiseRatio StructuralSimilarityIndexMeasure Perplexity"
)
_LISTING = frozenset(words("multidim_average reduction dim"))
"""Arguments with which a metric may keep a list in place of a sum."""


class Metric:
    """A class of the program that derives from `torchmetrics.Metric`: a call updates the states
    and computes what they amount to now."""

    name = METRIC

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """States are added one by one, by `add_state`."""

    def forward(self, call: Call) -> Value:
        """The program's own `update` and `compute`."""
        services = call.services
        services.invoke(services.attribute(call.receiver, "update"), call.args, call.kwargs)
        return services.invoke(services.attribute(call.receiver, "compute"), (), {})


class Sums:
    """A metric whose states are sums of what it is given."""

    name = SUMS

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """States on the default device, which move with the module."""
        device = call.services.default_device()
        trail = call.trail("created", wording.created(call.name, device))
        call.write(module.buffers, _STATE, Tensor(device, "float32", trail=trail))
        call.write(module.own, _TITLE, call.name)

    def forward(self, call: Call) -> Value:
        """What the batch amounts to, where the sums are."""
        return _result(call, _summed(call))


class Lists:
    """A metric that keeps what it is given, or of which nothing is known."""

    name = LISTS

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Nothing to move."""

    def forward(self, call: Call) -> Value:
        """Somewhere beside what it was given."""
        return call.unknown()


class Collection:
    """`MetricCollection([…])`: gives each of its metrics what it is given."""

    name = COLLECTION

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """The metrics are its submodules."""
        for number, metric in enumerate(_given(call)):
            call.write(module.modules, f"{number}", metric)

    def forward(self, call: Call) -> Value:
        """Results by the metrics' names."""
        _for_each(call)
        return call.unknown()


def _given(call: Call) -> list[ModuleObject]:
    """The metrics in a list, a dict or one by one."""
    found: list[ModuleObject] = []
    for argument in call.args:
        items: Any = (argument,)
        if type(argument) is DictObject:
            items = argument.entries.values()
        elif type(argument) is ListObject:
            items = call.services.iterate(argument)[0]
        found += [item for item in items if type(item) is ModuleObject]
    return found


def _for_each(call: Call) -> None:
    for _, metric in children(call.receiver):
        if type(metric) is ModuleObject and metric.cls == External(SUMS):
            args = call.name, metric, call.args, call.kwargs, call.site, call.services
            _summed(Call(*args))


def _summed(call: Call) -> bool:
    """Reports what is elsewhere than the sums; whether nothing is."""
    module = call.receiver
    state = _state(module)
    if state is None:
        return False
    where = state.device

    def told(what: str, left: Operand, right: Operand, literals: Any, wants_cpu: bool) -> None:
        # Sums on an accelerator may take what is on the host.
        if assume_all(where, literals) is CPU:
            call.services.conflict(what, left, right, literals, wants_cpu)

    services = with_conflicts(call.services, told)
    together, title = True, module.own.get(_TITLE, call.name)
    for operand in operands_of(call.args, call.kwargs, {}):
        own = (state, module.buffers.get(_STATE), f"self.{_STATE}")
        found = common_device(services, title, [operand, own], False)
        together = together and found == state.device
    return together


def _state(module: Value) -> Tensor | None:
    return tensor_in(module.buffers.get(_STATE)) if type(module) is ModuleObject else None


def _result(call: Call, together: bool = True) -> Value:
    """A tensor where the sums are; unknown after what raises there."""
    state = _state(call.receiver)
    if state is None:
        return call.unknown()
    device = state.device if together else UNKNOWN_DEVICE
    return Tensor(device, None, None, state.trail)


def _updated(call: Call) -> Value:
    if type(call.receiver) is ModuleObject and call.receiver.cls == External(COLLECTION):
        _for_each(call)
    else:
        _summed(call)
    return NONE


def _add_state(call: Call) -> Value:
    """`self.add_state("hits", default=torch.tensor(0))`: it moves with the metric as a buffer does;
    a list is a plain attribute."""
    module, name = call.receiver, constant(call.get(0, "name"))
    default = call.get(1, "default", NONE)
    if type(module) is ModuleObject and isinstance(name, str):
        is_tensor = type(default) is Tensor
        kept = default.with_(shape=None) if is_tensor else default  # it is no buffer to ask for
        call.write(module.buffers if is_tensor else module.fields, name, kept)
    return NONE


def _clone(call: Call) -> Value:
    return deep_copy(call.receiver, {}) if call.receiver is not None else call.unknown()


def _device(call: Call) -> Value:
    """`metric.device`, which is where its states are."""
    parts = all_parts(call.receiver) if type(call.receiver) is ModuleObject else ()
    found = next((t for part in parts if (t := tensor_in(part.value)) is not None), None)
    return call.unknown() if found is None else DeviceValue(found.device)


def _class(name: str) -> str | None:
    """What kind of metric a class is, by its name."""
    package, *between, last = name.split(".")
    if package != "torchmetrics" or "functional" in between or not last[:1].isupper():
        return None
    if last in ("Metric", "MetricCollection"):
        return f"torchmetrics.{last}"
    for task in _TASKS:
        if last.startswith(task) and last[len(task) :] in _COUNTS:
            return SUMS
    return SUMS if last in _COUNTS or last in _SUMS else LISTS


def _package(name: str) -> Model | None:
    found = _class(name)
    return None if found in (None, METRIC) else _made


def _made(call: Call) -> Value:
    kind = _class(call.name) or LISTS
    if kind == SUMS and not (call.complete and _LISTING.isdisjoint(call.kwargs)):
        kind = LISTS
    module = ModuleObject(External(kind), call.site.node)
    MODULES[kind].initialise(call, module)
    return module


def _module_class(name: str) -> ModuleModel | None:
    found = _class(name)
    return None if found is None else MODULES.get(found)


def register_all() -> None:
    models: tuple[ModuleModel, ...] = (Metric(), Sums(), Lists(), Collection())
    for model in models:
        MODULES[model.name] = model
        BASES[model.name] = ("torch.nn.Module",)
        ATTRIBUTES[f"{model.name}.device"] = _device
        FUNCTIONS[f"{model.name}.reset"] = nothing
        FUNCTIONS[f"{model.name}.clone"] = _clone
        FUNCTIONS[f"{model.name}.add_state"] = _add_state
    FUNCTIONS[f"{SUMS}.update"] = FUNCTIONS[f"{COLLECTION}.update"] = _updated
    FUNCTIONS[f"{LISTS}.update"] = nothing
    FUNCTIONS[f"{SUMS}.compute"] = _result
    PACKAGES["torchmetrics"] = _package
    MODULE_PACKAGES["torchmetrics"] = _module_class
