"""`torch.distributed`, `DataParallel`, `DistributedDataParallel` and their like."""

from __future__ import annotations

from functools import cache
from typing import Any

from device_lens.domain.by_number import number_of
from device_lens.domain.condition import conjunction, together
from device_lens.domain.device import (
    CONTESTED,
    CPU,
    UNKNOWN_DEVICE,
    Device,
    DeviceTree,
    is_accelerator,
    is_unknown,
    widen_device,
)
from device_lens.domain.guard import Guarded, Literals, cases, choose, combine, leaves, undecided
from device_lens.domain.heap import ListObject, ModuleObject
from device_lens.domain.objects import as_part
from device_lens.domain.values import NONE, TRUE, Tensor, TupleValue, Unknown
from device_lens.models.agreement import Placed, common_device
from device_lens.models.call import Call, Model, Value, device_of, is_none
from device_lens.models.numbers import number
from device_lens.models.python.all_gpus import is_empty
from device_lens.models.registry import ALIASES, BASES, FUNCTIONS, MODULES
from device_lens.models.torch import collectives, process_objects
from device_lens.models.torch.availability import assumed_accelerator, availability, several
from device_lens.models.torch.collation import map_tensors
from device_lens.models.torch.module import hold, move
from device_lens.models.torch.nn_layer import first_parameter
from device_lens.models.torch.objects import class_model, first, nothing, register_names
from device_lens.models.torch.parts import home_device
from device_lens.models.torch.target import present
from device_lens.models.words import words

MODULE = "torch.nn.Module"
_SILENT = "barrier monitored_barrier batch_isend_irecv"
_NUMBERS = words("get_rank get_world_size get_backend new_group get_group_rank get_global_rank")
_ORDINALS = words("get_rank get_world_size")
_QUESTIONS = words(
    "is_initialized is_available is_nccl_available is_gloo_available is_mpi_available "
    "is_torchelastic_launched"
)


@cache
def question(name: str) -> Unknown:
    """An answer of the process group: the same each time it is asked."""
    short = name.rpartition(".")[2]
    return number(f"{name}()") if short in _ORDINALS else Unknown(f"{name}()")


def _asks(name: str) -> Model:
    return lambda call: question(name)


def _are_none(ids: Value) -> bool:
    return is_none(ids) or ids == TupleValue(()) or is_empty(ids)


def _where_any(ids: Value, scatters: bool) -> Value:
    """The numbers of GPUs in the case in which there are some: the others use no wrapper, or one
    that moves nothing."""
    if type(ids) is not Guarded:
        return ids
    for side, other in ((ids.yes, ids.no), (ids.no, ids.yes)):
        if _are_none(side) and not (scatters and is_none(side)):
            return other
    return ids


class Wrapper:
    """A module around another: it hands its inputs on, scattered or not."""

    def __init__(self, name: str, scatters: bool) -> None:
        self.name = name
        self.scatters = scatters

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Takes the module in."""
        inner = as_part(call.get(0, "module", NONE))
        call.write(module.modules, "module", inner)
        if type(inner) is Unknown:
            hold(call.services, module, inner)
        ids = call.get(1, "device_ids", NONE)
        call.write(module.fields, "device_ids", _where_any(ids, self.scatters))
        if not self.scatters:
            moves = combine(lambda leaf: not _are_none(leaf), ids)
            call.write(module.fields, "moves_inputs", moves)
        call.write(module.fields, "output_device", call.get(2, "output_device", NONE))
        call.write(module.fields, "training", TRUE)
        for literals, each in cases(inner) if self.scatters else ():
            if isinstance(each, ModuleObject):
                self._take_over(call, module, each, literals)

    def _take_over(
        self, call: Call, wrapper: ModuleObject, inner: ModuleObject, literals: Literals
    ) -> None:
        """A wrapper for a single GPU moves the module there, one for several leaves it where
        it is. The module is the one that is wrapped where `literals` hold."""
        home, device = home_device(inner), self._scatters_to(call, wrapper)
        if home is None or device is None or all(map(is_accelerator, leaves(home))):
            return
        alone = self._is_alone(call, wrapper)
        if alone is False:
            return
        moved = combine(lambda was, goes: goes if was is CPU else was, home, device)
        present = self._present(call, inner)
        new = choose(present, choose(alone, moved, home), home)
        move(call.services, inner, choose(together(literals), new, home))

    def _is_alone(self, call: Call, wrapper: ModuleObject) -> Any:
        """The condition under which the wrapper is for one GPU. A range of which the end is not
        known is one of all that there are: `range(torch.cuda.device_count())`."""
        given = wrapper.fields.get("device_ids")
        truths = getattr(number_of(given), "truths", None) or {}
        if ("Gt", 1) in truths:
            return Guarded(truths["Gt", 1], False, True)
        if is_none(given) or (type(given) is ListObject and given.kind == "range" and given.rest):
            return Guarded(several("cuda"), False, True)
        items, rest = call.services.iterate(given)
        return len(items) == 1 if rest is None else undecided()

    def forward(self, call: Call) -> Value:
        """Calls the module inside with inputs on the wrapper's first device."""
        wrapper = call.receiver
        inner = wrapper.modules.get("module", NONE)
        device = self._scatters_to(call, wrapper)
        args, kwargs = call.args, call.kwargs
        if device is not None:
            where = self._present(call, inner)
            if not self.scatters:
                where = conjunction(where, wrapper.fields.get("moves_inputs", True))
            goes = self._checked(call, inner, where, device) if self.scatters else device

            def scattered(value: Value) -> Value:
                return self._scattered(call, value, where, goes)

            args = tuple(map(scattered, args))
            kwargs = {key: scattered(value) for key, value in kwargs.items()}
        return call.services.invoke(inner, args, kwargs)

    def _checked(self, call: Call, inner: Value, where: Any, device: DeviceTree) -> DeviceTree:
        """The first device, in the cases in which the module is there: elsewhere the call raises
        before the module runs (`torch/nn/parallel/data_parallel.py`)."""
        own = _parameter_of(inner)
        position = next((n for n, each in enumerate(call.args) if type(each) is Tensor), None)
        if own is None or position is None:
            return device
        there = choose(where, device, UNKNOWN_DEVICE)
        value = self._scattered(call, call.args[position], True, there)
        agreed = common_device(call.services, self.name, [own, (value, value, position)], False)
        found: DeviceTree = combine(
            lambda each, first: CONTESTED if each is CONTESTED else first, agreed, device
        )
        return found

    def _scatters_to(self, call: Call, wrapper: ModuleObject) -> DeviceTree | None:
        given = wrapper.fields.get("device_ids")
        if is_none(given):
            return Device("cuda", 0) if self.scatters else None
        items, rest = call.services.iterate(given)
        if not items:
            return None if rest is None else device_of(rest)
        found = device_of(items[0])
        return None if found is None else present(call.services, found)

    def _present(self, call: Call, inner: Value) -> Any:
        """The condition under which there is a GPU: without one the wrapper just calls the
        module. A module that is on one leaves no doubt."""
        home = home_device(inner) if isinstance(inner, ModuleObject) else None
        if home is not None and is_accelerator(home):
            return True
        return Guarded(availability("cuda", assumed_accelerator(call.services)), True, False)

    def _scattered(self, call: Call, value: Value, where: Any, device: DeviceTree) -> Value:
        """An input on the wrapper's device where there is a GPU."""
        text = f"is moved to its first device by `{self.name.rpartition('.')[2]}`"

        def moved(leaf: Value) -> Value:
            if type(leaf) is Tensor:
                trail = call.trail("moved", text, leaf.trail)
                return leaf.with_(device=choose(where, device, leaf.device), trail=trail)
            if type(leaf) is Unknown and not is_unknown(leaf.device):
                return Unknown(leaf.label)
            return leaf

        return map_tensors(value, moved)


def _parameter_of(module: Value) -> Placed | None:
    """A parameter of a module, or of one of several, where that one's is in each case."""
    if isinstance(module, ModuleObject):
        return first_parameter(module)
    modules = [each for each in leaves(module) if isinstance(each, ModuleObject)]
    found = {id(each): first_parameter(each) for each in modules}
    first = next((each for each in found.values() if each is not None), None)
    if first is None:
        return None

    def device(leaf: Value) -> DeviceTree:
        placed = found.get(id(leaf))
        return UNKNOWN_DEVICE if placed is None else placed[0].device

    tensor, value, name = first
    return tensor.with_(device=widen_device(combine(device, module))), value, name


class Sharded:
    """`FullyShardedDataParallel`: moves the module to `device_id`, and its inputs with it."""

    name = "torch.distributed.fsdp.FullyShardedDataParallel"

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Takes the module in."""
        inner, where = call.get(0, "module", NONE), call.kwargs.get("device_id", NONE)
        call.write(module.modules, "module", inner)
        call.write(module.fields, "training", TRUE)
        if isinstance(inner, ModuleObject) and not is_none(where):
            trail = call.trail("moved", "is moved by `FullyShardedDataParallel`")
            move(call.services, inner, device_of(where), None, trail)

    def forward(self, call: Call) -> Value:
        """Calls the module inside."""
        return call.services.invoke(
            call.receiver.modules.get("module", NONE), call.args, call.kwargs
        )


WRAPPERS = (
    Wrapper("torch.nn.DataParallel", scatters=True),
    Wrapper("torch.nn.parallel.DistributedDataParallel", scatters=False),
)


def _gathered(call: Call) -> Value:
    """`torch.nn.parallel.data_parallel(module, inputs)`."""
    inputs = call.get(1, "inputs", NONE)
    args = inputs.items if type(inputs) is TupleValue else (inputs,)
    return call.services.invoke(call.get(0, "module", NONE), args, {})


def _spawn(call: Call) -> Value:
    """`mp.spawn(f, args=…)` calls `f(rank, *args)` in every process."""
    function, args = call.get(0, "fn", NONE), call.get(1, "args", TupleValue(()))
    given = args.items if type(args) is TupleValue else ()
    call.services.invoke_in_process(function, (number("rank"), *given), {})
    return NONE


def register_all() -> None:
    for wrapper in (*WRAPPERS, Sharded()):
        MODULES[wrapper.name] = wrapper
        BASES[wrapper.name] = (MODULE,)
    distributed_wrapper = WRAPPERS[1].name
    ALIASES["torch.nn.parallel.DataParallel"] = "torch.nn.DataParallel"
    ALIASES["torch.nn.parallel.distributed.DistributedDataParallel"] = distributed_wrapper
    ALIASES["torch.distributed.fsdp.FSDP"] = Sharded.name
    FUNCTIONS[f"{distributed_wrapper}.no_sync"] = class_model("contextlib.nullcontext")
    FUNCTIONS[f"{distributed_wrapper}.join"] = class_model("contextlib.nullcontext")
    FUNCTIONS["torch.nn.parallel.data_parallel"] = _gathered
    FUNCTIONS["torch.nn.SyncBatchNorm.convert_sync_batchnorm"] = first
    register_names("torch.distributed", _SILENT, nothing)
    collectives.register_all()
    process_objects.register_all()
    for name in (*_NUMBERS, *_QUESTIONS):
        FUNCTIONS[f"torch.distributed.{name}"] = _asks(f"torch.distributed.{name}")
    FUNCTIONS["torch.multiprocessing.spawn"] = _spawn
    register_names("torch.multiprocessing", "set_sharing_strategy", nothing)
