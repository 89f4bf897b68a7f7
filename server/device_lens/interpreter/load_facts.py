"""Facts about `torch.load` without `map_location`."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.device import SymbolicDevice, is_accelerator
from device_lens.domain.guard import atoms, leaves, primary
from device_lens.domain.heap import DictObject, contents
from device_lens.domain.trail import Site
from device_lens.domain.values import Unknown
from device_lens.interpreter import load_names, saved_files
from device_lens.interpreter.rarer_facts import Load
from device_lens.interpreter.saved_files import SAVES
from device_lens.models.call import constant, is_none, tensor_of
from device_lens.models.libraries.network import FETCHING

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

RANK = "rank"
"""Evidence that several processes run the file."""
STARTS = "starts processes"
"""Evidence that the program itself starts these, so that what is outside of them runs once."""
ASKS = "asks for an accelerator"
ON_HOST = "processes on the host"
"""Evidence that these are joined by a backend for the host's memory."""
DOWNLOADS = "downloads"
_DEPTH = 3
_MADE_OF = "<loaded>"
"""The field of a dict with the loaded one that it has its entries from."""
_STATE_OF_NUMBERS = re.compile(r"scaler|sched|sampler|generator", re.IGNORECASE)
"""Names of objects whose state holds no tensors."""
_MOVES = frozenset("to cuda cpu".split())
_OF_MODULES = _MOVES | {"eval", "parameters"}
"""What a whole model that was saved is asked, and nothing else that is."""
_RANK_VARIABLES = frozenset({"LOCAL_RANK", "RANK", "WORLD_SIZE"})


class Loaded(NamedTuple):
    """A call of `torch.load` and what was at hand there."""

    site: Site
    frame: Frame
    names: frozenset[str]
    device: str | None
    entry: str
    """The file that runs: the script, or the library's own."""
    anywhere: bool
    """Nothing tells of a machine that cannot load it: there is an accelerator where the line runs,
    or the file lies beside the program's own."""
    published: bool
    """The path is what a function gives back that downloads it."""
    started: bool
    """The line runs in a process that the program started."""
    name: str
    """The evidence that the program saves a file of that name; empty where that is not known."""
    from_elsewhere: bool
    """The file can have come from another machine alone where there is no accelerator."""


class Restored(NamedTuple):
    """A checkpoint that was loaded into a module or optimizer, or a whole model. `device`: an
    expression for its device that is at hand where it was loaded. `known`: the program saved it
    itself."""

    load: Loaded
    device: str | None
    known: bool


def loaded(machine: Machine, seen: LibraryCall) -> None:
    """`torch.load(path)`."""
    if not is_none(seen.get(1, "map_location")) or not isinstance(seen.node, ast.Call):
        return
    if any(keyword.arg is None for keyword in seen.node.keywords) or _for_one_rank(machine):
        return
    frame = seen.frame
    saved = _named(seen, 0)
    if saved and machine.watched.shows(saved, (frame.namespace.path,)):
        return
    site, names = machine.site(seen.node, frame), frozenset(frame.scope.names)
    elsewhere = saved_files.needs_accelerator(machine, seen)
    entry = machine.stack[0].namespace.path
    anywhere = saved_files.accelerator_is_there(machine) or saved_files.beside_source(seen)
    device, published = load_names.device_name(frame), _is_downloaded(machine, seen)
    if any(load_names.is_chosen(value) for _, value in load_names.device_names(frame)):
        machine.watched.note(ASKS, frame.namespace.path)
    started, name = machine.in_process, saved_files.name_loaded(seen)
    machine.watched.loads.put(
        seen.value,
        Loaded(site, frame, names, device, entry, anywhere, published, started, name, elsewhere),
    )


def _for_one_rank(machine: Machine) -> bool:
    """Whether a rank is asked for: by itself, or by what it is where it is set at all
    (`os.environ.get("RANK", "0") == "0"`)."""
    path = machine.path
    asked = (atom for condition in path.mixed for atom in atoms(condition))
    return any("rank" in atom.text.lower() for atom in (*(a for a, _ in path.literals), *asked))


def _is_downloaded(machine: Machine, seen: LibraryCall) -> bool:
    """Whether the path is what a call gives back that was seen to download."""
    calls = (each for arg in seen.node.args[:1] for each in ast.walk(arg))
    names = {ast.unparse(each.func) for each in calls if isinstance(each, ast.Call)}
    return any(
        machine.watched.shows(f"{DOWNLOADS} {name}", (seen.frame.namespace.path,)) for name in names
    )


def method_called(
    machine: Machine,
    node: ast.Call,
    receiver: Any,
    args: tuple[Any, ...],
    value: Any,
    frame: Frame,
) -> None:
    """`model.load_state_dict(loaded)`, `loaded.to(device)`, `loaded.eval()`."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name == "load_state_dict":
        _as_checkpoint(machine, node, receiver, args, frame)
    elif type(receiver) is Unknown and name in _OF_MODULES:
        note = machine.watched.loads.get(receiver)
        if note is not None and name in _MOVES:
            machine.watched.loads.put(value, note)
        elif note is not None:
            machine.watched.restored.append(Restored(note, note.device, False))


def _as_checkpoint(
    machine: Machine, node: ast.Call, receiver: Any, args: tuple[Any, ...], frame: Frame
) -> None:
    """What was loaded is a checkpoint."""
    if not args or _STATE_OF_NUMBERS.search(ast.unparse(node.func)):
        return
    state = args[0].fields.get(_MADE_OF, args[0]) if type(args[0]) is DictObject else args[0]
    for value, note in machine.watched.loads.items():
        if _holds(value, state, _DEPTH) or _stays_under(machine, note, node.args[0], frame):
            _restored(machine, value, note, node, receiver, frame)


def _stays_under(machine: Machine, note: Loaded, name: ast.expr, frame: Frame) -> bool:
    """Whether a name of the function that loads holds what was loaded, or a part of that: nothing
    else is assigned to it, as in `if "model" in state: state = state["model"]`, unless another
    branch loads another file."""
    while isinstance(name, ast.Subscript):
        name = name.value
    if not isinstance(name, ast.Name) or note.frame is not frame:
        return False
    function = frame.function
    roots: list[ast.AST] = [] if function is None else [function.node]
    if function is None:
        roots += [part for chunk in frame.namespace.file.chunks for part in chunk.body]
    assigned = [
        node.value
        for root in roots
        for node in ast.walk(root)
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == [name.id]
    ]
    loads = note.site.node
    others = [value for value in assigned if value is not loads and not _is_part(value, name.id)]
    if not any(value is loads for value in assigned):
        return False
    noted = {id(other.site.node) for _, other in machine.watched.loads.items()} if others else ()
    return all(id(value) in noted and _are_apart(roots, loads, value) for value in others)


def _are_apart(roots: list[ast.AST], loads: Any, other: ast.expr) -> bool:
    """Whether two expressions stand in two branches of one test."""
    for test in (node for root in roots for node in ast.walk(root) if isinstance(node, ast.If)):
        sides = [
            {id(n) for each in body for n in ast.walk(each)} for body in (test.body, test.orelse)
        ]
        if any(id(loads) in a and id(other) in b for a, b in (sides, sides[::-1])):
            return True
    return False


def _is_part(value: ast.expr, name: str) -> bool:
    """`name["model"]`, `name.get("model", name)`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in ("get", "pop") and ast.unparse(value.func.value) == name
    return isinstance(value, ast.Subscript) and ast.unparse(value.value) == name


def comprehended(machine: Machine, node: ast.DictComp, made: Any, frame: Frame) -> None:
    """`{key.removeprefix("module."): value for key, value in state.items()}`: what is made of a
    loaded dict by giving its entries other keys is remembered with it."""
    match node:
        case ast.DictComp(
            value=ast.Name(id=kept),
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[_, ast.Name(id=given)]),
                    iter=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="items")),
                )
            ],
        ) if kept == given:
            names = frame.scope.names if name in frame.scope.names else frame.namespace.scope.names
            source, read = names.get(name), ast.Name(name, ast.Load())
            for value, note in machine.watched.loads.items():
                if _holds(value, source, _DEPTH) or _stays_under(machine, note, read, frame):
                    machine.journal.write(made.fields, _MADE_OF, value)


def _holds(whole: Any, part: Any, depth: int) -> bool:
    if whole is part:
        return True
    if not depth:
        return False
    inner: tuple[Any, ...] = ()
    if type(whole) is DictObject:
        inner = (*whole.entries.values(), whole.rest)
    elif type(whole) is Unknown and whole.fields:
        inner = tuple(whole.fields.values())
    return any(_holds(item, part, depth - 1) for item in inner if item is not None)


def _restored(
    machine: Machine, value: Any, note: Loaded, node: ast.Call, receiver: Any, frame: Frame
) -> None:
    device = note.device
    if device is None and frame is note.frame:
        device = load_names.device_of_module(node, receiver, note)
    known = type(value) is not Unknown
    if not known or _on_accelerator(value, _DEPTH):
        machine.watched.restored.append(Restored(note, device, known))


def conclude(machine: Machine) -> None:
    """Tells of the checkpoints that the program shows to be loaded elsewhere."""
    for restored in machine.watched.restored:
        reason = _reason(machine, restored)
        if reason is not None:
            machine.findings.add(Load(restored.load.site, reason, restored.device))


def _reason(machine: Machine, restored: Restored) -> str | None:
    watched, paths = machine.watched, (restored.load.site.path, restored.load.entry)
    several = restored.load.started or not watched.shows(STARTS, paths)
    if several and watched.shows(RANK, paths):
        spread = watched.shows(ON_HOST, paths) or restored.load.published
        return None if spread else "rank"
    if restored.known and restored.load.from_elsewhere:
        return "portable"
    if restored.known or restored.load.anywhere:
        return None
    if saved_files.may_have_saved(watched, restored.load.name, paths):
        return None
    if watched.shows(DOWNLOADS, paths[:1]):
        return None
    return "portable" if watched.shows(ASKS, paths) else None


def _on_accelerator(value: Any, depth: int) -> bool:
    tensor = tensor_of(value)
    if tensor is not None:
        places = leaves(primary(tensor.device))
        return any(is_accelerator(leaf) or isinstance(leaf, SymbolicDevice) for leaf in places)
    if not depth or type(value) is not DictObject:
        return False
    return any(_on_accelerator(item, depth - 1) for item in contents(value))


def several_processes(machine: Machine, seen: LibraryCall) -> None:
    """A call that only programs of several processes make."""
    machine.watched.note(RANK, seen.frame.namespace.path)


def starts(machine: Machine, seen: LibraryCall) -> None:
    """`torch.multiprocessing.spawn(f)`."""
    machine.watched.note(STARTS, seen.frame.namespace.path)
    several_processes(machine, seen)


def joined(machine: Machine, seen: LibraryCall) -> None:
    """`init_process_group("gloo")`."""
    backend = seen.args[0] if seen.args else seen.kwargs.get("backend")
    if constant(backend) == "gloo":
        machine.watched.note(ON_HOST, seen.frame.namespace.path)
    several_processes(machine, seen)


def environment(machine: Machine, seen: LibraryCall) -> None:
    """A variable of the environment that a launcher of processes sets."""
    name = constant(seen.args[0]) if seen.args else None
    if name in _RANK_VARIABLES:
        several_processes(machine, seen)


def formatted(machine: Machine, node: ast.JoinedStr, frame: Frame) -> None:
    """`f"cuda:{rank}"`."""
    first = node.values[0]
    if not isinstance(first, ast.Constant) or not str(first.value).startswith("cuda:"):
        return
    if any("rank" in ast.unparse(value).lower() for value in node.values[1:]):
        machine.watched.note(RANK, frame.namespace.path)


def asks(machine: Machine, seen: LibraryCall) -> None:
    machine.watched.note(ASKS, seen.frame.namespace.path)


def counts(machine: Machine, seen: LibraryCall) -> None:
    """`torch.cuda.device_count() > 0` asks whether there is any. Whether there are several is
    another question."""
    statement = seen.frame.statement
    asked = getattr(statement, "test", None) or getattr(statement, "value", None)
    if asked is not None and any(_asks_for_any(node, seen.node) for node in ast.walk(asked)):
        asks(machine, seen)


def _asks_for_any(node: ast.AST, count: Any) -> bool:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=number)]):
            wanted = 1 if isinstance(op, ast.GtE | ast.Lt) else 0
            return left is count and number == wanted
        case ast.IfExp(test=test):
            return test is count
    return False


def downloads(machine: Machine, seen: LibraryCall) -> None:
    fetched(machine)


def escaped(machine: Machine, name: str) -> None:
    """A function that is not seen is called: one that downloads or copies, by its name."""
    saved_files.escaped(machine, name)
    if name.rpartition(".")[2].lower().startswith("download"):
        fetched(machine)


def fetched(machine: Machine) -> None:
    """A file is fetched from the net, for all that call this. Who publishes weights saves them for
    any machine."""
    for frame in machine.stack:
        machine.watched.note(DOWNLOADS, frame.namespace.path)
    for caller, frame in pairwise(machine.stack):
        if frame.function is not None:
            machine.watched.note(f"{DOWNLOADS} {frame.function.name}", caller.namespace.path)


def saves(machine: Machine, seen: LibraryCall) -> None:
    """`torch.save(x, path)`. What every process saves under a name a function finds there, on its
    own device."""
    saved_files.saved(machine, seen)
    if not _for_one_rank(machine):
        machine.watched.note(_named(seen, 1), seen.frame.namespace.path)


def _named(seen: LibraryCall, position: int) -> str:
    """The evidence that a function saves under the name that a call writes."""
    call, function = seen.node, seen.frame.function
    if not isinstance(call, ast.Call) or function is None:
        return ""
    by_name = [each.value for each in call.keywords if each.arg == "f"]
    places = [*call.args[position : position + 1], *by_name]
    owner = "" if function.owner is None else f"{function.owner.name}."
    return f"{SAVES} {ast.unparse(places[0])} in {owner}{function.name}" if places else ""


_DISTRIBUTED = (
    "torch.distributed.get_rank",
    "torch.nn.parallel.DistributedDataParallel",
)
WATCHERS = {
    "torch.load": loaded,
    "torch.distributed.init_process_group": joined,
    "torch.multiprocessing.spawn": starts,
    "torch.save": saves,
    "torch.cuda.is_available": asks,
    "torch.cuda.device_count": counts,
    "os.getenv": environment,
    "os.environ.get": environment,
    "os.environ.__getitem__": environment,
    **dict.fromkeys(_DISTRIBUTED, several_processes),
    **dict.fromkeys(FETCHING, downloads),
}
