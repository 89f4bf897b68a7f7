"""A call of a library function as its model sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from device_lens.domain.denied import is_empty
from device_lens.domain.device import (
    ANY_INDEX,
    UNKNOWN_DEVICE,
    UNNAMED,
    Device,
    DeviceTree,
    SymbolicDevice,
    flatten_device,
    is_unknown,
    parse_device,
    some_device,
    widen_device,
)
from device_lens.domain.guard import Guarded, choose, combine, leaves
from device_lens.domain.heap import MISSING, HeapObject, ModuleObject, Parameter
from device_lens.domain.join import join
from device_lens.domain.journal import Journal
from device_lens.domain.trail import Site, Trail
from device_lens.domain.values import (
    NONE,
    BoundExternal,
    Const,
    DeviceValue,
    HostArray,
    Tensor,
    Unknown,
)

_SOME_CUDA = Device("cuda", ANY_INDEX)
Value = Any
"""An abstract value, see `domain.values`."""


class Services(Protocol):
    """What a model may ask of the interpreter."""

    journal: Journal
    globals: dict[str, Any]
    """State that holds for whatever the program runs; `journal` writes it."""

    def default_device(self) -> DeviceTree:
        """Where a factory without `device=` creates now."""

    def default_type_device(self) -> DeviceTree:
        """Where the default tensor type is, which `torch.Tensor` creates on."""

    def current_cuda(self) -> DeviceTree:
        """What `cuda` without an index means now."""

    def may_be_left_out(self) -> bool:
        """Whether a pass of the loop that runs may leave the present statement out."""

    def is_in_each_pass(self) -> bool:
        """Whether every pass of a loop runs the present statement."""

    def is_read_up(self, node: Any) -> bool:
        """Whether the present statement asks for all that an expression in it gives one by one."""

    def doubt(self, mark: int, since: int) -> None:
        """What was written since a mark, made at the moment `since`, may not have happened."""

    def is_called_unseen(self) -> bool:
        """Whether a caller that is not seen may have set up what runs now."""

    def invoke(self, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Calls a function value of any kind."""

    def invoke_in_process(
        self, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value:
        """Calls it as another process does. It is followed there however often the program calls
        it by itself."""

    def invoke_beside(
        self,
        function: Value,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        in_process: bool,
    ) -> Value:
        """Calls it as a thread or a process does that runs beside the program: what it changes may
        be changed from here on, or, in a process of its own, never is."""

    def invoke_in_thread(
        self, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value:
        """The same in a new thread, which has no default device, current GPU or mode of autograd
        from the one that starts it."""

    def iterate(self, value: Value) -> tuple[tuple[Value, ...], Value]:
        """The items that are known one by one, and what any further item is (None: no more)."""

    def attribute(self, value: Value, name: str) -> Value:
        """`value.name` as the program would read it."""

    def item(self, value: Value, index: Value) -> Value:
        """`value[index]` as the program would read it."""

    def made_lazily(self, value: Value) -> None:
        """Tells that the items of a new iterator are made when it is read."""

    def truth(self, value: Value) -> Any:
        """The condition under which `value` is true: True, False or a tree of them."""

    def condition(self) -> Any:
        """The condition under which the present statement runs."""

    def argument_site(self, position: int | str) -> Site | None:
        """Where the argument at that position or of that keyword stands in the program; the
        receiver is position -1."""

    def took_no_tensor(self, position: int | str) -> None:
        """Tells that an operation on tensors has been given a number there, or what else is
        none."""

    def has_dimensions(self, position: int | str) -> None:
        """Tells that the tensor which the call has been given there has dimensions, since the line
        raises otherwise."""

    def conflict(
        self,
        operation: str,
        left: tuple[Value, int | str],
        right: tuple[Value, int | str],
        literals: Any,
        wants_cpu: bool = False,
    ) -> None:
        """Reports two operands (with their argument positions) that are on different devices in
        the case `literals`."""

    def synchronize(self, what: str, subject: Value, position: int | str) -> None:
        """Reports that the call waits for the device that `subject` is on."""

    def host_read(
        self,
        what: str,
        value: Value,
        position: int | str,
        nested: bool = False,
        container: str | None = None,
    ) -> None:
        """Reports that a tensor is read as host memory: `.numpy()`, `np.asarray(t)`, a plot.
        `nested`: it is in a container beside other things, or in one of several containers;
        `container`: what it is in, if that is a dict."""

    def report(self, fact: Any) -> None:
        """Reports a fact of `interpreter.rarer_facts`, built by the interpreter's own factories."""

    def does_to_each(self, module: Value) -> bool:
        """Whether what the program does here to an object that stands for many is done to each; so
        is what it does to one."""

    def changed_in_place(self, old: Value, new: Value) -> None:
        """The receiver joins or leaves the graph in place, or has another shape: `new` is what it
        is from here on."""

    def skip(self, reason: str) -> None:
        """Records that the call is not understood."""

    def inference_mode(self) -> bool | None:
        """Whether autograd records nothing now (`no_grad`, `inference_mode`); None: unknown."""

    def gpus_hidden(self) -> Value:
        """Whether `CUDA_VISIBLE_DEVICES` hides all GPUs: a tree of constants."""

    def in_coroutine(self) -> bool:
        """Whether a coroutine runs, in what may be a task of its own."""

    def gradients_cleared(self) -> bool:
        """Whether the code around the call clears gradients before it and computes none since."""

    def set_global(self, name: str, value: Value) -> None:
        """Sets interpreter-wide state: `default_device`, `default_type`, `current_cuda`,
        `grad`, `no_gpu`."""


class Call:
    """Arguments of one call. `args` leaves out the receiver of a method.

    `complete` is False where the program passes `*args` or `**kwargs` that are not known, so that
    an argument which seems to be left out may be there; `named_complete` that none can be there by
    keyword.
    """

    __slots__ = (
        "args",
        "complete",
        "kwargs",
        "name",
        "named_complete",
        "receiver",
        "services",
        "site",
    )

    def __init__(
        self,
        name: str,
        receiver: Value,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        site: Site,
        services: Services,
        complete: bool = True,
        named_complete: bool | None = None,
    ) -> None:
        self.name = name
        self.receiver = receiver
        self.args = args
        self.kwargs = kwargs
        self.site = site
        self.services = services
        self.complete = complete
        self.named_complete = complete if named_complete is None else named_complete

    def get(self, position: int, name: str, default: Value = None) -> Value:
        """The argument at `position` or of keyword `name`; `default` (Python's None) if absent."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(name, default)

    def place(self, position: int, name: str) -> int | str:
        """How `Services` knows that argument."""
        return position if position < len(self.args) else name

    def trail(self, kind: str, text: str, previous: Trail | None = None) -> Trail:
        return Trail(kind, text, self.site, previous, self.services.condition())

    def write(self, table: dict[Any, Any], key: Any, value: Value) -> None:
        self.services.journal.write(table, key, value)

    def unknown(self, device: DeviceTree = UNKNOWN_DEVICE) -> Unknown:
        return Unknown(self.name, device)


Model = Callable[[Call], Value]


def tensor_of(value: Value) -> Tensor | None:
    """The tensor that an operand is, or None where it is none (or not known to be one).

    A tree becomes one tensor whose device is the tree of its tensors' devices: operands of other
    kinds would not take part in the operation. An unknown that the program treats as a tensor is
    a tensor on its symbolic device.
    """
    kind = type(value)
    if kind is Tensor:
        return value  # type: ignore[no-any-return]
    if kind is Parameter:
        return value.tensor  # type: ignore[no-any-return]
    if kind is Unknown:
        if value.tensor_evidence or not is_unknown(value.device):
            return Tensor(value.device, requires_grad=None, leaf=None)
        return None
    if kind is Guarded:
        return _tensor_of_tree(value)
    return None


def treated_as_tensor(value: Value) -> bool:
    """Whether a value is a tensor, or an unknown that the program treats as one, in some case.

    What any number allows too (`float(x)`, `x > 0`) is no evidence of a tensor."""
    kind = type(value)
    if kind is Guarded:
        return any(treated_as_tensor(leaf) for leaf in leaves(value))
    return kind is Tensor or kind is Parameter or (kind is Unknown and value.tensor_evidence)


def _tensor_of_tree(tree: Guarded) -> Tensor | None:
    yes, no = tree.yes, tree.no
    left = _tensor_of_tree(yes) if type(yes) is Guarded else tensor_of(yes)
    right = _tensor_of_tree(no) if type(no) is Guarded else tensor_of(no)
    if left is None and right is None:
        return None
    if left is None or right is None:
        found = left or right
        assert found is not None
        other = no if left is not None else yes
        if any(type(leaf) in _UNTOLD and not is_empty(leaf) for leaf in leaves(other)):
            sides = (found.device, UNKNOWN_DEVICE)
            device = choose(Guarded(tree.atom, left is not None, left is None), *sides)
            return found.with_(device=widen_device(device))
        return found
    joined = join(Guarded(tree.atom, True, False), left, right)
    return joined if type(joined) is Tensor else None


_UNTOLD = (Unknown, BoundExternal, HostArray)
"""What may be somewhere else than a tensor that a tree has beside it."""


def device_of(value: Value, current_cuda: DeviceTree | None = None) -> DeviceTree | None:
    """The device that a device-like argument names: a string, a `torch.device`, an ordinal, or an
    unknown (then a symbol that is the same each time). None for anything else, such as a dtype.
    """
    if type(value) is Guarded:
        tree = combine(_leaf_device, value)
        return None if tree is None else _without_none(tree)
    found: DeviceTree | None = _leaf_device(value)
    return found


def _without_none(tree: Any) -> DeviceTree:
    found: DeviceTree = combine(lambda leaf: UNKNOWN_DEVICE if leaf is None else leaf, tree)
    return found


def _leaf_device(value: Value) -> Any:
    from device_lens.models.numbers import is_number

    if type(value) is DeviceValue:
        return value.device
    if type(value) is Const:
        if isinstance(value.value, str):
            return parse_device(value.value) or UNKNOWN_DEVICE
        if type(value.value) is int and value.value >= 0:
            return Device("cuda", value.value)
        return None
    if type(value) is Unknown:
        some = _SOME_CUDA if is_number(value) else some_device(value.label)
        if some is not None:
            return some
        parts = value.parts()
        symbol = parts.get("<as device>")
        if symbol is None:
            symbol = parts["<as device>"] = SymbolicDevice(value.label or UNNAMED)
        return symbol
    return None


def single_device(value: Value) -> DeviceTree:
    """The one device of a tensor, parameter or module's unlisted parts; unknown otherwise."""
    tensor = tensor_of(value)
    if tensor is not None:
        return flatten_device(tensor.device)
    if type(value) is ModuleObject:
        return value.device
    return UNKNOWN_DEVICE


def constant(value: Value, default: Any = None) -> Any:
    """The Python constant behind a value, or `default`."""
    return value.value if type(value) is Const else default


def is_none(value: Value) -> bool:
    return value is None or value is MISSING or value == NONE


def is_object(value: Value) -> bool:
    return isinstance(value, HeapObject)
