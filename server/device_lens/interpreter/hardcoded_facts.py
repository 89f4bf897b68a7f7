"""Facts about accelerators that the code names without asking whether they exist.

A string such as `"cuda"` is followed from where it is written to where it is used as a device: one
that no tensor meets is no device.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from device_lens.domain.device import is_accelerator, parse_device
from device_lens.domain.guard import Guarded, atoms, leaves
from device_lens.domain.trail import Site
from device_lens.domain.values import Const
from device_lens.interpreter.rarer_facts import HardcodedDevice
from device_lens.models.call import constant
from device_lens.models.dtypes import TENSOR_TYPES

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine
    from device_lens.interpreter.watched import LibraryCall

_ASKS = re.compile(r"cuda|gpu|mps|xpu|device|accel", re.IGNORECASE)
_LEAVES_OUT = re.compile(r"skip|require|needs|mark\b", re.IGNORECASE)
_MARK_OF_FILE = re.compile(r"^pytestmark\s*=\s*(?:.*\n){1,4}?(?=\S|\Z)", re.MULTILINE)
_DEVICE_NAME = re.compile(r"(?:^|_)(?:device|dev)\d*$", re.IGNORECASE)
TAKES_DEVICE_FIRST = (".to", ".set_default_device", ".to_empty")
_METHODS = ("torch.Tensor.cuda", "torch.nn.Module.cuda")
DEFAULT_TYPE = "torch.set_default_tensor_type"


class Literal(NamedTuple):
    """A device string: where it stands, what it says, whether something asks for the device."""

    site: Site
    text: str
    form: str
    guarded: bool


def literal(machine: Machine, node: ast.Constant, value: Const, frame: Frame) -> None:
    """A string literal has been read."""
    device = parse_device(str(value.value))
    if device is None or not is_accelerator(device):
        return
    site = machine.site(node, frame)
    note = Literal(site, str(value.value), _form(frame, node), _guarded(machine))
    machine.watched.literals.put(value, note)
    machine.unit.noted.add(frame.chunk.lineage)


def _form(frame: Frame, node: ast.Constant) -> str:
    statement = frame.statement
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return "default"
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is node:
        return "assignment"
    return "argument"


def _guarded(machine: Machine) -> bool:
    """Whether the present path has asked for an accelerator, a flag or the like."""
    path = machine.path
    if type(path.named) is Guarded and atoms(path.named):
        return True
    if any(atom.named or _ASKS.search(atom.text) for atom, _ in path.literals):
        return True
    return any(map(_is_skipped, machine.stack))


def _is_skipped(frame: Frame) -> bool:
    """Whether a test is left out on machines without an accelerator: as its decorator says, that of
    its class, or the mark of its file."""
    function = frame.function
    if function is None:
        return False
    nodes = [function.node, *([] if function.owner is None else [function.owner.node])]
    texts = [ast.unparse(each) for node in nodes for each in getattr(node, "decorator_list", ())]
    whole = frame.namespace.file.text
    if "pytestmark" in whole:
        texts += _MARK_OF_FILE.findall(whole)
    return any(_LEAVES_OUT.search(text) and _ASKS.search(text) for text in texts)


def device_made(machine: Machine, seen: LibraryCall) -> None:
    """`torch.device("cuda")` is the literal again: what meets it tells."""
    given = seen.get(0, "type") or seen.kwargs.get("device")
    note = _note(machine, given)
    if note is None and type(given) is Guarded:
        note = among(machine, given)
        note = None if note is None else note._replace(guarded=True)
    if note is not None:
        machine.watched.literals.put(_by_default(seen.value), note._replace(form="argument"))


def among(machine: Machine, value: Any) -> Any:
    """The literal that a value is in one of its cases."""
    found = (machine.watched.literals.get(leaf) for leaf in leaves(value))
    return next((note for note in found if note is not None), None)


def _note(machine: Machine, value: Any) -> Any:
    """The literal that a value is, if it is one."""
    return machine.watched.literals.get(_by_default(value))


def _by_default(value: Any) -> Any:
    """The value that it has where command-line flags are left at their defaults."""
    while type(value) is Guarded and value.atom.kind == "flag" and value.atom.default is not None:
        value = value.yes if value.atom.default else value.no
    return value


def called(machine: Machine, seen: LibraryCall) -> None:
    """A call that may be given a device."""
    given = [seen.kwargs.get("device"), seen.kwargs.get("map_location")]
    if seen.name.endswith(TAKES_DEVICE_FIRST) and seen.args:
        given.append(seen.args[0])
    for value in given:
        note = _note(machine, value) if value is not None else None
        if note is not None:
            _report(machine, note)


def _report(machine: Machine, note: Literal) -> None:
    if not note.guarded and not _guarded(machine):
        machine.findings.add(HardcodedDevice(note.site, note.text, note.form))


def method(machine: Machine, seen: LibraryCall) -> None:
    """`x.cuda()`, `x.cuda(0)`."""
    if not isinstance(seen.node, ast.Call) or _guarded(machine):
        return
    index = seen.get(0, "device")
    if index is not None and type(constant(index)) is not int:
        called(machine, seen)
        return
    machine.findings.add(HardcodedDevice(machine.site(seen.node, seen.frame), "cuda", "method"))


def legacy_type(machine: Machine, seen: LibraryCall) -> None:
    """`torch.cuda.FloatTensor(...)`, `set_default_tensor_type("torch.cuda.FloatTensor")`."""
    if not isinstance(seen.node, ast.Call) or _guarded(machine):
        return
    named = seen.name
    if named == DEFAULT_TYPE:
        value = seen.get(0, "t")
        named = str(getattr(value, "name", None) or constant(value))
    if named.startswith("torch.cuda."):
        machine.findings.add(HardcodedDevice(machine.site(seen.node, seen.frame), named, "type"))


def default_kept(machine: Machine, parameter: str, default: Any) -> None:
    """A parameter that no caller gives keeps its default."""
    note = machine.watched.literals.get(default)
    if note is not None and _DEVICE_NAME.search(parameter):
        _report(machine, note)


WATCHERS = {
    **dict.fromkeys(_METHODS, method),
    "torch.device": device_made,
    DEFAULT_TYPE: legacy_type,
    **{f"torch.cuda.{name}": legacy_type for name in TENSOR_TYPES},
}
