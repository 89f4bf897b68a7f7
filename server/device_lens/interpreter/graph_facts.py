"""Facts about graphs that are kept alive over the iterations of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from device_lens.domain.guard import leaves
from device_lens.domain.heap import DictObject, ListObject, ModuleObject, Parameter, contents
from device_lens.domain.values import Tensor, TupleValue
from device_lens.interpreter.facts import Kind
from device_lens.interpreter.graph_chains import chain_of
from device_lens.interpreter.graph_flow import Fate, fate
from device_lens.interpreter.graph_lives import (
    answered,
    held_by_caller,
    holders_of,
    is_of_own_class,
    that_go_on,
    was_filled,
)
from device_lens.interpreter.graph_names import (
    given_to,
    gone_through,
    held_in,
    iterated,
    only_item,
    operands,
    part_of,
    parts_of,
    started_from,
    taken_of,
    terms,
)
from device_lens.interpreter.graph_sharing import is_bound_once, read_with_graph, share_graph
from device_lens.interpreter.graph_steps import (
    base_of,
    carries_on,
    has_backward,
    is_literal,
    is_of,
    is_of_one_step,
    is_of_parts,
    joined,
    taken_in_place,
)
from device_lens.interpreter.graph_uses import is_never_used
from device_lens.interpreter.graph_windows import is_bounded, lets_go
from device_lens.interpreter.kept_graphs import Kept, given_back
from device_lens.interpreter.named_views import kept_in
from device_lens.interpreter.rarer_facts import RetainedGraph
from device_lens.models.call import constant, tensor_of
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame, LoopRecord
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall


def has_graph(value: Any) -> bool:
    tensor = tensor_of(value)
    return (
        tensor is not None
        and type(tensor) is Tensor
        and tensor.requires_grad is True
        and tensor.leaf is False
    )


def _doubt(machine: Machine, subject: Any, value: Any) -> None:
    """Notes that what may have a graph is a number in some case."""
    if any(isinstance(constant(leaf), int | float) for leaf in leaves(value)):
        machine.findings.doubtful.add(subject)


def summed(machine: Machine, node: ast.AugAssign, left: Any, right: Any, frame: Frame) -> None:
    """`total += loss`, `outputs += [out]`. What is added up without gradients has no graph."""
    if not isinstance(node.op, ast.Add) or machine.globals["grad"] is False:
        return
    _doubt(machine, node.value, right)
    form, put, values = "sum", node.value, [right]
    if not has_graph(right):
        form, put, values = _taken_in(machine, put, right, only_item(put))
    if values:
        is_named = isinstance(node.target, ast.Name)
        held = kept_in(machine, node.target, frame) if is_named else node.target
        if held is not None:
            _keep(machine, node, held, put, form, frame, values, left)


def _taken_in(
    machine: Machine, written: ast.expr, value: Any, item: ast.expr | None
) -> tuple[str, ast.expr, list[Any]]:
    """How a list takes in what another one holds: the one item that is written, as by itself."""
    for each in contents(value) if item is not None else ():
        _doubt(machine, item, each)
    values = list(filter(has_graph, held_in(value, written)))
    return ("parts", written, values) if item is None else ("collect", item, values)


def assigned(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    """`total = total + loss`, `outputs = torch.cat([outputs, out])`, `outputs[step] = out`."""
    if frame.loops:
        _stored(machine, node, frame)
    elif not isinstance(node.targets[0], ast.Attribute | ast.Subscript):
        return  # it ends with the function, which a loop around the call enters anew
    form, parts = joined(node.value, frame)
    if not parts or machine.globals["grad"] is False:
        return
    text = ast.unparse(node.targets[0])
    if not any(is_of(part, text) for part in parts):
        return
    for other in parts:
        values = [] if is_of(other, text) else _graphs_at(machine, other)
        if not values and isinstance(other, ast.List | ast.Tuple):
            form, values = "parts", [v for each in other.elts for v in _graphs_at(machine, each)]
        if values:
            _keep(machine, node, node.targets[0], other, form, frame, values)
            return


def _stored(machine: Machine, node: ast.Assign, frame: Frame) -> None:
    """`outputs[step] = out`: another item of a list or dict in each iteration."""
    target = node.targets[0]
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Name):
        return
    loop = frame.loops[-1].node
    steps = walk(loop.target) if isinstance(loop, ast.For) else ()
    if not any(isinstance(each, ast.Name) and each.id == target.slice.id for each in steps):
        return
    values = _graphs_at(machine, node.value) if isinstance(target.value, ast.Name) else ()
    if values and type(machine.evaluate(target.value, frame)) in (ListObject, DictObject, Tensor):
        held = kept_in(machine, target.value, frame)
        if held is not None:
            _keep(machine, node, held, node.value, "collect", frame, values)


def _graphs_at(machine: Machine, node: ast.expr) -> list[Any]:
    """The tensors with graphs that an expression was seen to be."""
    seen = machine.recorder.seen.get(node, ())
    for entry in seen:
        _doubt(machine, node, entry.value)
    return [entry.value for entry in seen if has_graph(entry.value)]


def written(machine: Machine, seen: LibraryCall) -> None:
    """`total.add_(loss)`, and `rows[i].copy_(out)` where that is a row of a tensor."""
    node = seen.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if not node.args or len(node.args) != len(seen.args) or not has_graph(seen.args[0]):
        return
    if machine.globals["grad"] is False:
        return
    form, holder = taken_in_place(node) or ("", node.func.value)
    held = kept_in(machine, holder, seen.frame)
    if held is not None and (form or held is not holder):
        _keep(machine, node, held, node.args[0], form or "collect", seen.frame, [seen.args[0]])


def appended(machine: Machine, seen: LibraryCall) -> None:
    """`outputs.append(out)`, `outputs.extend([out])`, `outputs.insert(0, out)`."""
    node = seen.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    place = 1 if node.func.attr == "insert" else 0
    if len(node.args) != place + 1 or len(seen.args) != place + 1:
        return
    put, holder = node.args[place], node.func.value
    form, values = "collect", [seen.args[place]]
    _doubt(machine, put, values[0])
    if not has_graph(values[0]):
        item = only_item(put) if node.func.attr == "extend" else None
        form, put, values = _taken_in(machine, put, values[0], item)
    if values:
        _keep(machine, node, holder, put, form, seen.frame, values, seen.receiver)


def passed(machine: Machine, seen: LibraryCall) -> None:
    """`loss.backward()`, which frees the graph unless it is told to keep it: that of what the
    function has computed along with the loss too, which it may return."""
    if "retain_graph" in seen.kwargs:
        return
    spent, frame = machine.watched.spent, seen.frame
    if (loss := tensor_of(seen.receiver)) is not None:
        spent.put(loss, True)
    run = frame.function.node if frame.function is not None else None
    for name, value in frame.scope.names.items() if run is not None else ():
        unspent = has_graph(value) and spent.get(tensor_of(value)) is None
        if unspent and is_bound_once(run, name) and _is_spent(machine, run, {name}):
            spent.put(tensor_of(value), True)


def comprehended(machine: Machine, node: ast.ListComp, element: Any, frame: Frame) -> None:
    """`[net(x) for x in loader]`: a list that keeps the graph of every batch. Over anything but
    a data loader there is no telling how many there are."""
    seen = machine.recorder.seen.get(node.generators[0].iter, ())
    if not any(entry.kind is Kind.DATALOADER for entry in seen):
        return
    if not has_graph(element) or _in_module(machine):
        return
    statement = frame.statement
    text = ast.unparse(node.elt)
    if isinstance(statement, ast.Assign) and statement.value is node:
        text = ast.unparse(statement.targets[0])
    kept = machine.watched.kept_graphs.get(node)
    if kept is None:
        site = machine.site(node, frame)
        fact = RetainedGraph(site, text, machine.site(node.elt, frame), "collect")
        kept = machine.watched.kept_graphs[node] = Kept(fact, filled=True)
    kept.reached(chain_of(frame))


def _in_module(machine: Machine) -> bool:
    """Whether a module's own method runs: what it collects is part of one output."""
    return any(isinstance(frame.self_value, ModuleObject) for frame in machine.stack)


def _keep(
    machine: Machine,
    node: Any,
    accumulator: ast.expr,
    subject: ast.expr,
    form: str,
    frame: Frame,
    values: Iterable[Any],
    receiver: Any = None,
) -> None:
    found = _loop_around(machine, frame, subject, node, accumulator)
    text = ast.unparse(accumulator)
    if found is None:
        if given_back(frame, accumulator, subject) and not is_bounded(receiver):
            site, put = machine.site(node, frame), machine.site(subject, frame)
            fact = RetainedGraph(site, text, put, form, spent=True)
            machine.watched.kept_graphs[node] = Kept(fact, filled=True)
        return
    runs, names, record, is_window = found
    loops = [record.node for record in frame.loops]
    if is_of_one_step(loops, text):
        return
    name = subject.id if form == "collect" and isinstance(subject, ast.Name) else None
    if name is not None and loops and carries_on(loops[-1], name):
        return  # the next iteration computes with it, and keeps its graph all the same
    kept = machine.watched.kept_graphs.get(node)
    if kept is None:
        fact = RetainedGraph(machine.site(node, frame), text, machine.site(subject, frame), form)
        if form == "parts" and parts_of(subject) != [subject]:
            items = filter(partial(_graphs_at, machine), parts_of(subject))
            fact.parts = tuple(machine.site(each, frame) for each in items)
        awaited = bool(frame.loops) and _is_awaited(frame.loops[-1].node, names[0], frame)
        kept = machine.watched.kept_graphs[node] = Kept(fact, awaited)
    kept.filled = kept.filled or was_filled(machine, receiver, record)
    kept.bounded = kept.bounded or is_window or is_bounded(receiver)
    names[0] = names[0] | taken_of(subject)
    now = map(tensor_of, _held_now(subject, values, frame))
    spent = any(map(machine.watched.spent.get, now))
    kept.fact.spent = kept.fact.spent or spent or any(map(partial(_is_spent, machine), runs, names))
    local = bool(frame.loops) and not _in_module(machine)
    local = local and (base_of(text) is not None or is_of_own_class(frame))
    kept.reached(chain_of(frame) if local else ())


def _held_now(subject: ast.expr, values: Iterable[Any], frame: Frame) -> Iterable[Any]:
    """Of the values that were seen at a place those of this pass: where it is a name, what the name
    stands for now, since what an earlier iteration computed may have gone backward since."""
    if isinstance(subject, ast.Name) and subject.id in frame.scope.names:
        return leaves(frame.scope.names[subject.id])
    return values


def _loop_around(
    machine: Machine, frame: Frame, subject: ast.expr, adding: Any, accumulator: ast.expr
) -> tuple[list[Any], list[set[str]], LoopRecord, bool] | None:
    """What each iteration of a loop runs that reaches the place: the functions on the way,
    innermost first, and the loop, in this function or the nearest caller that has one. With each
    the names that hold there what is kept; the loop's record; whether any of these takes out of a
    list again. The loop is a hot one, or one that trains: each iteration runs the backward pass of
    what is kept, however few there are. None too where the sum or list that is being added to is
    not there in the next iteration."""
    names = set[str]().union(*map(operands, parts_of(subject)))
    runs: list[Any] = []
    held: list[set[str]] = []
    holders, is_window = holders_of(accumulator), False
    inner: Frame | None = frame
    while inner is not None and holders != frozenset():
        for record in reversed(inner.loops):
            node = record.node
            names = names | iterated(node, names)
            found = [*runs, node], [*held, names]
            whole = part_of(subject, node) if inner is frame else None
            hot = record.hot and not is_of_parts(node) and not _is_of_kept(machine, node, whole)
            if hot or (not is_literal(node) and any(map(partial(_is_spent, machine), *found))):
                goes_on = that_go_on(node, holders, adding) != frozenset()
                is_window = is_window or lets_go(node, holders, accumulator)
                return (*found, record, is_window) if goes_on else None
        held.append(names)
        runs.append(inner.function.node if inner.function is not None else ast.Pass())
        call, outer = inner.call_site, inner.parent
        is_window = is_window or lets_go(runs[-1], holders, accumulator)
        holders = that_go_on(runs[-1], holders, adding)
        holders = held_by_caller(inner, outer, holders, adding)
        given = answered(inner, outer, names)
        names = given.union(*map(operands, given_to(call)))
        inner = outer
    return None


def _is_of_kept(machine: Machine, loop: Any, whole: ast.Name | None) -> bool:
    """Whether a loop goes through what has graphs itself, or the parts of a model, each of which it
    sees once, or what it keeps is items of a `whole` that does, which is there with all of them
    before anything of it is added up."""
    sources = gone_through(loop.iter) if isinstance(loop, ast.For) else []
    values = (
        leaf
        for node in ([*sources, whole] if whole is not None else sources)
        for entry in machine.recorder.seen.get(node, ())
        for leaf in leaves(entry.value)
    )
    return any(has_graph(each) or any(map(_is_kept, contents(each))) for each in values)


def _is_kept(item: Any) -> bool:
    """Whether an item has a graph, or is a part of a model, by itself or with its name or number:
    it is there as long as the model is."""
    parts = item.items if type(item) is TupleValue else (item,)
    return has_graph(item) or any(isinstance(each, ModuleObject | Parameter) for each in parts)


def conclude(machine: Machine) -> None:
    """Tells of those from which no backward pass starts."""
    for kept in machine.watched.kept_graphs.values():
        if not kept.filled or kept.bounded:
            continue
        if kept.unused is None:
            may_be = kept.fact.form != "parts" and not kept.awaited
            kept.unused = may_be and is_never_used(kept.fact, kept.chains)
        if kept.fact.spent or kept.unused:
            machine.findings.add(kept.fact)


def _is_spent(machine: Machine, run: Any, names: set[str]) -> bool:
    """Whether a loop or function runs the backward pass of what these names hold, or of what comes
    out of the same graph: that gives nothing that could be used, and frees the graph."""
    seen = partial(_graphs_at, machine)
    for statement in walk(run):
        node = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr != "backward" or any(k.arg == "retain_graph" for k in node.keywords):
            continue
        started = terms(run, started_from(node))
        if names & started or any(base_of(each) in names for each in started):
            return True
        if share_graph(run, names, started.union(read_with_graph(node.func.value)), seen):
            return True
    return False


def _is_awaited(loop: Any, names: set[str], frame: Frame) -> bool:
    """Whether the backward pass of what these names hold runs after the loop."""
    return not has_backward(loop) and bool(
        fate(chain_of(frame)[0].body, names, frozenset()) & Fate.BACKWARD
    )


WATCHERS = {
    "list.append": appended,
    "list.extend": appended,
    "list.insert": appended,
    "torch.Tensor.add_": written,
    "torch.Tensor.backward": passed,
    "torch.Tensor.copy_": written,
    "torch.Tensor.lerp_": written,
}
