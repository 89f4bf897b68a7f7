"""What models may ask of the interpreter: the `Services` protocol over a `Machine`'s state."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from device_lens.domain.device import UNKNOWN_DEVICE, Device, DeviceTree, is_accelerator
from device_lens.domain.guard import Guarded, Literals, leaves, undecided
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, moment
from device_lens.domain.join import join
from device_lens.domain.trail import Site
from device_lens.domain.values import (
    NONE,
    BoundExternal,
    Const,
    DeviceValue,
    External,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import conditions, gradient_text, reports
from device_lens.interpreter.dispatch import NEXT
from device_lens.interpreter.facts import Skipped
from device_lens.models.python.own_contexts import OF_THREADS
from device_lens.models.torch import module as torch_module
from device_lens.models.torch import optimizer_state
from device_lens.models.torch.parts import home_device

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame

MOVERS = ("prepare", "setup", "initialize", "wrap", "dispatch", "parallel", "shard", "to_device")
"""Parts of names of library functions that are known to move the modules they are given."""
PLACE_WORDS = ("device", "gpu", "cuda")
"""Parts of names of functions that put the tensors of a list or dict elsewhere."""
RUNNERS = frozenset("train trainer training fit learn learner runner engine trial".split())
"""Words in names of what runs modules by itself, and so moves them to where it computes."""
PLACES = frozenset("device devices device_id device_ids gpu gpus gpu_id gpu_ids use_cuda".split())
"""Keywords by which code is told where to compute."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def with_active(machine: Any, node: Any, frame: Frame, action: Any) -> Any:
    """Runs `action` while `node` is the call whose arguments reports point at. What a model calls
    may be called later, or not at all: none of it ends the present path."""
    before, stuck = machine.active, frame.stuck
    machine.active = (node, frame)
    try:
        return action()
    finally:
        machine.active, frame.stuck = before, stuck


class ModelServices:
    """Mixed into `Machine`, whose state it reads; `active` is the call (node and frame) whose
    model runs."""

    active: tuple[Any, Frame] | None
    in_process: bool = False
    """Whether what runs is run by other processes."""
    lent: Any = None
    """The call whose place a library's function has that the call runs, as in
    `map(np.asarray, xs)`: what that function is given is not written there."""

    def condition(self: Any) -> Any:
        return self.path.told

    def default_device(self: Any) -> DeviceTree:
        found: DeviceTree = self.globals["default_device"]
        return found

    def default_type_device(self: Any) -> DeviceTree:
        found: DeviceTree = self.globals["default_type"]
        return found

    def current_cuda(self: Any) -> DeviceTree:
        found = self.globals["current_cuda"]
        return found if found is not None else Device("cuda")

    def is_called_unseen(self: Any) -> bool:
        return bool(self.symbolic)

    def invoke(self: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from device_lens.interpreter import calls

        node, frame = self.active_place()
        before = self.lent
        if type(function) in (External, BoundExternal, ModuleObject):
            self.lent = node
        try:
            return calls.call(self, function, args, kwargs, node, frame)
        finally:
            self.lent = before

    def invoke_in_process(
        self: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        before, self.in_process = self.in_process, True
        try:
            return self.invoke(function, args, kwargs)
        finally:
            self.in_process = before

    def invoke_beside(
        self: Any,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        in_process: bool,
    ) -> Any:
        found: list[Any] = [Unknown()]
        mark, start = self.journal.mark(), moment()

        def run() -> int:
            call = self.invoke_in_process if in_process else self.invoke
            found[0] = call(function, args, kwargs)
            return NEXT

        if in_process:
            before = self.path
            run()
            self.journal.rollback(mark, start)
            self.path = before
        else:
            self.fork(undecided(), self.active_place()[1], run, lambda: NEXT)
        return found[0]

    def invoke_in_thread(
        self: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        state, write = self.globals, self.journal.write
        before = {name: state.get(name) for name in OF_THREADS}
        try:
            for name in before:
                write(state, name, self.program.start.get(name, True))
            return self.invoke_beside(function, args, kwargs, False)
        finally:
            for name, value in before.items():
                write(state, name, value)

    def attribute(self: Any, value: Any, name: str) -> Any:
        from device_lens.interpreter import attributes

        node, frame = self.active_place()
        return attributes.read(self, value, name, node, frame)

    def item(self: Any, value: Any, index: Any) -> Any:
        from device_lens.interpreter import subscripts

        node, frame = self.active_place()
        return subscripts.item(self, value, index, node, frame)

    def does_to_each(self: Any, module: Any) -> bool:
        from device_lens.interpreter import of_many

        node, frame = self.active_place()
        return of_many.does_to_each(module, node, frame)

    def changed_in_place(self: Any, old: Any, new: Any) -> None:
        from device_lens.interpreter import written_graphs

        node, frame = self.active_place()
        written_graphs.change_graph(self, node, old, new, frame)

    def truth(self: Any, value: Any) -> Any:
        return self.decide(conditions.truth(value))

    def iterate(self: Any, value: Any) -> tuple[tuple[Any, ...], Any]:
        """The items known one by one, and what any further item is."""
        from device_lens.interpreter import iteration

        return iteration.iterate(self, value)

    def merge_items(self: Any, value: Guarded, count: int) -> Any:
        """A tree of sequences as one tuple of `count` items, each what it is in every case."""
        return TupleValue(tuple(self._item(value, index) or Unknown() for index in range(count)))

    def _item(self: Any, value: Any, index: int) -> Any:
        """An item of a tree of sequences (None: no case has it). None, which unpacks nowhere, is
        no case."""
        if type(value) is Guarded:
            yes, no = self._item(value.yes, index), self._item(value.no, index)
            return join(Guarded(value.atom, True, False), yes, no)
        if value == NONE:
            return None
        items, rest = self.iterate(value)
        return items[index] if index < len(items) else rest

    def active_place(self: Any) -> tuple[Any, Frame]:
        if self.active is not None:
            found: tuple[Any, Frame] = self.active
            return found
        frame = self.stack[-1]
        return frame.statement, frame

    def argument_site(self: Any, position: int | str) -> Site | None:
        node, frame = self.active_place()
        if node is self.lent:
            return None
        stored = isinstance(node, ast.Subscript | ast.Attribute) and position == 1
        found = getattr(frame.statement, "value", None) if stored else argument_node(node, position)
        return None if found is None else self.site(found, frame)

    def conflict(
        self: Any,
        operation: str,
        left: tuple[Any, int | str],
        right: tuple[Any, int | str],
        literals: Any,
        wants_cpu: bool = False,
    ) -> None:
        reports.conflict(self, operation, left, right, literals, wants_cpu)

    def synchronize(self: Any, what: str, subject: Any, position: int | str) -> None:
        reports.synchronization(self, what, subject, position)

    def host_read(
        self: Any,
        what: str,
        value: Any,
        position: int | str,
        nested: bool = False,
        container: str | None = None,
    ) -> None:
        """Reports that a tensor is read as host memory: `.numpy()`, `np.asarray(t)`, a plot."""
        reports.host_read(self, what, value, position, nested, container)

    def optimizer_conflict(
        self: Any,
        form: str,
        optimizer: Site | None,
        move: Site | None,
        state: Site | None,
        literals: Literals,
    ) -> None:
        reports.optimizer_conflict(self, form, optimizer, move, state, literals)

    def generator_conflict(
        self: Any, consumer: str, generator: Any, position: int | str, needed: DeviceTree
    ) -> None:
        reports.generator_conflict(self, consumer, generator, position, needed)

    def report(self: Any, fact: Any) -> None:
        self.findings.add(fact)

    def skip(self: Any, reason: str) -> None:
        node, frame = self.active_place()
        self.skip_at(node, frame, reason)

    def skip_at(self: Any, node: Any, frame: Frame, reason: str) -> None:
        self.findings.skip(Skipped(self.site(node, frame), reason))

    def inference_mode(self: Any) -> bool | None:
        grad = self.globals["grad"]
        return not grad if isinstance(grad, bool) else None

    def gpus_hidden(self: Any) -> Any:
        return self.globals["no_gpu"]

    def gradients_cleared(self: Any) -> bool:
        return gradient_text.cleared_before(*self.active_place())

    def set_global(self: Any, name: str, value: Any) -> None:
        self.journal.write(self.globals, name, value)

    def escape(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> None:
        """Values are given to code that is not seen. Modules keep their device unless the code is
        known for moving them; one on the host does not where the code runs modules by itself, or
        is told a device too. The tensors of lists and dicts stay where they are, unless its name
        speaks of a device or it is told one."""
        values = (*args, *kwargs.values())
        reports.escaped(self, values, name)
        for value in values:
            if isinstance(value, Instance):
                _lose_gradients(self.journal, value)
                optimizer_state.lose(self.journal, value)
        short = name.removesuffix(".__init__").rpartition(".")[2]
        moves = any(part in short.lower() for part in MOVERS)
        if any(word in short.lower() for word in PLACE_WORDS) or any(map(_is_device, values)):
            for value in values:
                if type(value) in (ListObject, DictObject):
                    _lose_items(self.journal, value)
        if not moves and not _may_move(short, args, kwargs):
            return
        for value in values:
            if type(value) is ModuleObject and (moves or not _on_accelerator(value)):
                torch_module.lose(self, value)


def _lose_gradients(journal: Any, value: Instance) -> None:
    """Code that is not seen may have run what sets the attributes of an object, or of what it
    holds, anew, without a graph."""
    pending, seen = [value], {id(value)}
    while pending:
        instance = pending.pop()
        for key, kept in list(instance.fields.items()):
            if type(kept) is Tensor and kept.requires_grad:
                journal.write(instance.fields, key, kept.with_(requires_grad=None, leaf=None))
        parts = instance.modules.values() if isinstance(instance, ModuleObject) else ()
        for held in (*instance.fields.values(), *parts):
            for leaf in leaves(held):
                if isinstance(leaf, Instance) and id(leaf) not in seen:
                    seen.add(id(leaf))
                    pending.append(leaf)


def _lose_items(journal: Any, container: ListObject | DictObject) -> None:
    """Code that is not seen may have put the tensors of a list or dict elsewhere, in it."""
    for table in (container.entries if type(container) is DictObject else {}, container.fields):
        for key, value in list(table.items()):
            found = tuple(map(_lost, value)) if type(value) is tuple else _lost(value)
            if found != value:
                journal.write(table, key, found)


def _lost(value: Any) -> Any:
    return value.with_(device=UNKNOWN_DEVICE, trail=None) if type(value) is Tensor else value


def _may_move(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    words = {word.lower() for word in _WORD.findall(name)}
    told = not PLACES.isdisjoint(kwargs) or any(map(_is_device, args))
    return told or not RUNNERS.isdisjoint(words)


def _is_device(value: Any) -> bool:
    return any(
        type(leaf) is DeviceValue
        or (type(leaf) is Const and isinstance(leaf.value, str) and leaf.value[:4] == "cuda")
        for leaf in leaves(value)
    )


def _on_accelerator(module: ModuleObject) -> bool:
    """Whether a module is on an accelerator, if there is one."""
    home = _with_accelerator(home_device(module))
    return home is not None and all(map(is_accelerator, leaves(home)))


def _with_accelerator(tree: Any) -> Any:
    while type(tree) is Guarded and tree.atom.kind == "accelerator":
        tree = tree.yes
    return tree


def argument_node(node: Any, position: int | str) -> Any:
    """The node of an argument; position -1 is the receiver or left operand. Of an item, that in
    the list or tuple that is written there, else all of it."""
    if isinstance(position, str) and position.endswith("]"):
        whole, _, number = position[:-1].partition("[")
        found = argument_node(node, int(whole) if whole.lstrip("-").isdigit() else whole)
        return _item(found, int(number))
    if isinstance(node, ast.Call):
        if isinstance(position, str):
            return _keyword(node, position)
        if position == -1:
            return node.func.value if isinstance(node.func, ast.Attribute) else None
        if position < len(node.args):
            return node.args[position]
        return None
    if isinstance(node, ast.BinOp):
        return _operand(node.left, node.right, position)
    if isinstance(node, ast.AugAssign):
        return _operand(node.target, node.value, position)
    if isinstance(node, ast.Compare):
        return _operand(node.left, node.comparators[0], position)
    if isinstance(node, ast.Subscript):
        return node.value if position == -1 else node.slice
    if isinstance(node, ast.UnaryOp):
        return node.operand
    if isinstance(node, ast.Attribute):
        return node.value
    if isinstance(node, ast.Return):
        return node.value if position == 0 else None
    return None


def _item(node: Any, number: int) -> Any:
    """An item of a list or tuple that is written out."""
    if not isinstance(node, ast.List | ast.Tuple) or number >= len(node.elts):
        return node
    unpacked = any(isinstance(each, ast.Starred) for each in node.elts[: number + 1])
    return node if unpacked else node.elts[number]


def _keyword(node: ast.Call, name: str) -> Any:
    """The value of a keyword, else of the mapping that it must come from; None for a part of the
    module that is called."""
    if name.startswith("self."):
        return None
    values = {keyword.arg: keyword.value for keyword in node.keywords}
    return values.get(name, values.get(None))


def _operand(left: Any, right: Any, position: int | str) -> Any:
    return left if position == -1 else right
