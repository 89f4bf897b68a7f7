"""`torch.utils.data`: datasets, and loaders that collate their items into batches.

A loader moves nothing: batches are where the items are, page-locked if it is asked to pin them.
"""

from __future__ import annotations

from collections.abc import Callable

from device_lens.domain.code import BoundMethod
from device_lens.domain.device import CPU, is_unknown
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import Instance, ListObject, Table, moment
from device_lens.domain.join import join_all
from device_lens.domain.values import (
    FALSE,
    NONE,
    Const,
    DeviceValue,
    External,
    TupleValue,
    Unknown,
)
from device_lens.models import registry
from device_lens.models.call import Call, Model, Services, Value, constant, is_none
from device_lens.models.methods import find_method
from device_lens.models.numbers import is_plain, number
from device_lens.models.registry import ALIASES, BASES, FUNCTIONS
from device_lens.models.reports import generator_conflict
from device_lens.models.torch.collation import collate, convert, given_out, map_tensors, pin
from device_lens.models.torch.copying import mark_fresh
from device_lens.models.torch.many import stand_for
from device_lens.models.torch.moving_code import OF_MOVING_CODE, is_run_by, names_device
from device_lens.models.torch.objects import class_model, instance, nothing, register_names
from device_lens.models.torch.random import GENERATOR
from device_lens.models.words import words

NAMESPACE = "torch.utils.data"
DATASET = f"{NAMESPACE}.Dataset"
LOADER = f"{NAMESPACE}.DataLoader"
LOADER_PARAMETERS = words(
    "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last "
    "timeout worker_init_fn multiprocessing_context generator"
)
SAMPLERS = words(
    "Sampler RandomSampler SequentialSampler SubsetRandomSampler WeightedRandomSampler BatchSampler"
)


def item_of(services: Services, dataset: Value) -> Value:
    """What `dataset[i]` is, for any `i`."""
    if type(dataset) is Guarded:
        return combine(lambda leaf: item_of(services, leaf), dataset)
    if is_run_by(dataset):
        return Unknown(OF_MOVING_CODE)
    method = find_method(dataset, "__getitem__")
    if method is not None:
        item = services.invoke(method, (number("an index"),), {})
        moves = type(method) is BoundMethod and names_device(method.function.node)
        return map_tensors(item, _unsure) if moves else item
    items, rest = services.iterate(dataset)
    found = [*items, *([rest] if rest is not None else [])]
    return join_all(found) if found else Unknown("an item")


def _unsure(part: Value) -> Value:
    unknown = type(part) is Unknown and is_unknown(part.device) and not is_plain(part)
    return Unknown(OF_MOVING_CODE) if unknown else part


def _loader(call: Call) -> Value:
    made = Instance(External(LOADER), call.site.node)
    _fill_loader(call, made)
    return made


def _initialise_loader(call: Call) -> Value:
    if isinstance(call.receiver, Instance):
        _fill_loader(call, call.receiver)
    return NONE


def _fill_loader(call: Call, made: Instance) -> None:
    for position, name in enumerate(LOADER_PARAMETERS):
        default = Const(1) if name == "batch_size" else NONE
        call.write(made.fields, name, call.get(position, name, default))
    shuffles = call.complete and constant(call.get(2, "shuffle", FALSE)) is True
    _check_generator(call, "DataLoader", shuffles)


def _check_generator(call: Call, consumer: str, draws: bool) -> None:
    """Indices are drawn on the default device, wherever what is loaded is; by a generator on the
    CPU where none is given and any are drawn."""
    generator = call.kwargs.get("generator")
    if generator is None and draws:
        generator = Instance(External(GENERATOR))
        generator.fields["device"] = DeviceValue(CPU)
    if isinstance(generator, Instance):
        needed = call.services.default_device()
        generator_conflict(call.services, consumer, generator, "generator", needed)


def _batches(call: Call) -> Value:
    """Iterating over a loader: any number of batches of one kind."""
    batch = mark_fresh(batch_of(call, call.receiver))
    return ListObject((), batch, "iterator", call.site.node)


def batch_of(call: Call, loader: Instance) -> Value:
    """What a loader yields."""
    services, fields = call.services, loader.fields
    own_sampler = all(is_none(fields.get(name)) for name in ("sampler", "batch_sampler"))
    length = find_method(fields.get("dataset", NONE), "__len__") if own_sampler else None
    if length is not None:
        services.invoke(length, (), {})
    for name in ("sampler", "batch_sampler"):
        sampler = fields.get(name, NONE)
        if find_method(sampler, "__iter__") is not None:
            services.iterate(sampler)  # what it computes indices with is the program's own code
    since = moment()
    item = given_out(item_of(services, fields.get("dataset", NONE)))
    size = constant(fields.get("batch_size", Const(1)))
    function = fields.get("collate_fn")
    if not is_none(function) and function is not None:
        if fields.get("batch_size") == NONE:
            batch = services.invoke(function, (item,), {})
        else:
            items = _taken_together(call, item, fields, since)
            batch = services.invoke(function, (items,), {})
    elif size is None and fields.get("batch_size") == NONE:
        batch = convert(call, item)
    else:
        known = size if isinstance(size, int) and is_none(fields.get("batch_sampler")) else None
        batch = collate(call, item, known)
    pinned = services.truth(fields.get("pin_memory", FALSE)) is not False
    return pin(batch) if pinned and fields.get("pin_memory") != NONE else batch


def _taken_together(call: Call, item: Value, fields: Table, since: int) -> ListObject:
    """The list of items that a program's own function makes a batch of. Of those which a dataset
    has made anew since a moment, one stands for as many."""
    size = constant(fields.get("batch_size", Const(1)))
    if size == 1 and is_none(fields.get("batch_sampler")):
        return ListObject((item,), None, "list", call.site.node)
    stand_for(item, (None, size if isinstance(size, int) else None), since)
    return ListObject((), item, "list", call.site.node)


def _length(call: Call) -> Value:
    return number("the number of batches")


def _tensor_dataset(call: Call) -> Value:
    return instance(call, f"{NAMESPACE}.TensorDataset", tensors=TupleValue(call.args))


def _tensor_item(call: Call) -> Value:
    """The row of every tensor at an index."""
    index = call.get(0, "index", number("an index"))
    tensors = call.receiver.fields.get("tensors")
    rows = []
    for value in tensors.items if type(tensors) is TupleValue else ():
        row = registry.function("torch.Tensor.__getitem__")
        inner = Call("torch.Tensor.__getitem__", value, (index,), {}, call.site, call.services)
        rows.append(call.unknown() if row is None else row(inner))
    return TupleValue(tuple(rows))


def _subset(call: Call) -> Value:
    return _subset_of(call, call.get(0, "dataset", NONE))


def _subset_of(call: Call, dataset: Value) -> Value:
    return instance(call, f"{NAMESPACE}.Subset", dataset=dataset, indices=call.unknown())


def _wrapped_item(call: Call) -> Value:
    return item_of(call.services, call.receiver.fields.get("dataset", NONE))


def _random_split(call: Call) -> Value:
    """One subset per length."""
    _check_generator(call, "random_split", call.complete and len(call.args) < 3)
    dataset = call.get(0, "dataset", NONE)
    lengths = call.get(1, "lengths", NONE)
    items, rest = call.services.iterate(lengths)
    if rest is not None:
        return ListObject((), _subset_of(call, dataset), "list", call.site.node)
    parts = tuple(_subset_of(call, dataset) for _ in items)
    return ListObject(parts, None, "list", call.site.node)


def _concatenation(call: Call) -> Value:
    return instance(call, f"{NAMESPACE}.ConcatDataset", datasets=call.get(0, "datasets", NONE))


def _sum(call: Call) -> Value:
    both = ListObject((call.receiver, call.get(0, "other", NONE)), None, "list", call.site.node)
    return instance(call, f"{NAMESPACE}.ConcatDataset", datasets=both)


def _any_item(call: Call) -> Value:
    """An item of any of several datasets."""
    items, rest = call.services.iterate(call.receiver.fields.get("datasets", NONE))
    found = [item_of(call.services, item) for item in (*items, rest) if item is not None]
    return join_all(found) if found else call.unknown()


def _stacked(call: Call) -> Value:
    return instance(call, f"{NAMESPACE}.StackDataset", datasets=TupleValue(call.args))


def _stacked_item(call: Call) -> Value:
    items, _ = call.services.iterate(call.receiver.fields.get("datasets", NONE))
    return TupleValue(tuple(item_of(call.services, item) for item in items))


def _collate(call: Call) -> Value:
    """`default_collate(items)`."""
    items, rest = call.services.iterate(call.get(0, "batch", NONE))
    found = [*items, *([rest] if rest is not None else [])]
    if not found:
        return call.unknown()
    return collate(call, join_all(found), len(items) if rest is None else None)


def _convert(call: Call) -> Value:
    return convert(call, call.get(0, "data", NONE))


DATASETS: dict[str, tuple[Model, Callable[[Call], Value]]] = {
    "TensorDataset": (_tensor_dataset, _tensor_item),
    "Subset": (_subset, _wrapped_item),
    "ConcatDataset": (_concatenation, _any_item),
    "ChainDataset": (_concatenation, _any_item),
    "StackDataset": (_stacked, _stacked_item),
}
"""Constructors, and what an item is."""


def register_all() -> None:
    for name, (constructor, item) in DATASETS.items():
        qualified = f"{NAMESPACE}.{name}"
        FUNCTIONS[qualified] = constructor
        FUNCTIONS[f"{qualified}.__getitem__"] = item
        BASES[qualified] = (DATASET,)
    FUNCTIONS[f"{DATASET}.__init__"] = FUNCTIONS[f"{DATASET}.__len__"] = nothing
    FUNCTIONS[f"{DATASET}.__len__"] = _length
    FUNCTIONS[f"{DATASET}.__add__"] = _sum
    BASES[f"{NAMESPACE}.IterableDataset"] = (DATASET,)
    FUNCTIONS[f"{NAMESPACE}.random_split"] = _random_split
    FUNCTIONS[LOADER] = _loader
    FUNCTIONS[f"{LOADER}.__init__"] = _initialise_loader
    FUNCTIONS[f"{LOADER}.__iter__"] = _batches
    FUNCTIONS[f"{LOADER}.__len__"] = _length
    for name in ("default_collate", "dataloader.default_collate", "_utils.collate.default_collate"):
        FUNCTIONS[f"{NAMESPACE}.{name}"] = _collate
    FUNCTIONS[f"{NAMESPACE}.default_convert"] = _convert
    FUNCTIONS[f"{NAMESPACE}.get_worker_info"] = lambda call: Unknown("the worker")
    for name in SAMPLERS:
        FUNCTIONS[f"{NAMESPACE}.{name}"] = class_model(f"{NAMESPACE}.{name}")
        ALIASES[f"{NAMESPACE}.sampler.{name}"] = f"{NAMESPACE}.{name}"
    distributed = f"{NAMESPACE}.distributed.DistributedSampler"
    FUNCTIONS[distributed] = class_model(distributed)
    ALIASES[f"{NAMESPACE}.DistributedSampler"] = distributed
    register_names(distributed, "set_epoch", nothing)
    for name in ("DataLoader", "default_collate"):
        ALIASES.setdefault(f"{NAMESPACE}.dataloader.{name}", f"{NAMESPACE}.{name}")
    for name in ("Dataset", "IterableDataset", *DATASETS, "random_split"):
        ALIASES[f"{NAMESPACE}.dataset.{name}"] = f"{NAMESPACE}.{name}"
