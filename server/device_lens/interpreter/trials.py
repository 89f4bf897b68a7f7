"""A `try` that tries an accelerator out: `torch.zeros(1).cuda()`, or else the CPU. Its handler runs
where there is none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.condition import conjunction, negation
from device_lens.domain.device import Device
from device_lens.domain.guard import Guarded
from device_lens.domain.values import FALSE, Const, DeviceValue
from device_lens.interpreter.conditions import truth
from device_lens.interpreter.full_names import full_name
from device_lens.interpreter.scan import names_read
from device_lens.models.torch.availability import assumed_accelerator, availability
from device_lens.models.torch.creation import FACTORIES
from device_lens.syntax.names import dotted, last_name
from device_lens.syntax.walking import walk

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine

_CAUGHT = frozenset("RuntimeError AssertionError Exception BaseException".split())
_UNHEARD_OF = frozenset({"AttributeError", "ImportError"})
"""What a PyTorch raises that has not heard of what it is asked."""
_MAKERS = frozenset(name.rpartition(".")[2] for name in FACTORIES) | {"tensor"}
_OF_TENSORS = frozenset("sum mean float clone detach cpu".split())
"""Methods that no shape and no dtype stops."""
_HARMLESS = frozenset("print str device to cuda RuntimeError".split()) | _MAKERS | _OF_TENSORS
"""What a body may call besides: nothing of it raises where there is an accelerator."""
_ANSWERING = frozenset("is_available device_count is_initialized empty_cache manual_seed".split())
"""Functions of `torch.cuda` that do not raise without one."""
_QUESTIONS = frozenset(
    "torch.cuda.is_available torch.cuda.device_count "
    "torch.backends.mps.is_available torch.backends.mps.is_built".split()
)
"""Functions that every PyTorch has, and that raise nowhere."""
_NAMED = _QUESTIONS | set("torch.cuda torch.device torch.backends torch.backends.mps".split())


def needs_accelerator(machine: Machine, node: ast.Try, frame: Frame) -> Any:
    """The condition under which the body gets through, else the handler runs: that there is an
    accelerator, where it does nothing but use that, and that what it asserts of it holds; True of
    a body that nothing can stop; None of any other."""
    if len(node.handlers) != 1 or machine.gpus_hidden() != FALSE:
        return None
    caught = node.handlers[0].type
    trial = _Trial(machine, frame)
    if trial.only_asks(node.body) and _catches(caught, _CAUGHT | _UNHEARD_OF):
        return True
    if not _catches(caught, _CAUGHT):
        return None
    return machine.decide(trial.condition) if trial.takes(node.body) and trial.uses else None


class _Trial:
    """What a body needs to get through, read off statement by statement."""

    def __init__(self, machine: Machine, frame: Frame) -> None:
        self.machine = machine
        self.frame = frame
        self.condition: Any = True
        self.uses = False
        self.imported: dict[str, str] = {}
        """Names that the body itself gives PyTorch and its parts."""
        self.bound: dict[str, ast.expr] = {}

    def takes(self, body: list[ast.stmt]) -> bool:
        """Whether all is known of what may stop some statements."""
        return all(map(self._takes, body))

    def _takes(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Import(names=names):
                return all(map(self._imports, names))
            case ast.Assert(test=test):
                return self._needs(test, True)
            case ast.If(test=test, body=[ast.Raise()], orelse=[]):
                return self._needs(test, False)
            case ast.If(test=test):
                side = self._side(test)
                return side is not None and self.takes(statement.body if side else statement.orelse)
        if not _is_simple(statement):
            return False
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.bound[name] = value
        parts = list(walk(statement))
        if any(isinstance(each, _COMPUTING) and not _is_with_itself(each) for each in parts):
            return False
        return all(self._calls(each) for each in parts if isinstance(each, ast.Call))

    def only_asks(self, body: list[ast.stmt]) -> bool:
        """Whether statements do nothing but ask which accelerators there are, and name a device."""
        return all(map(_is_simple, body)) and all(
            self._is_answered(each) for statement in body for each in walk(statement)
        )

    def _is_answered(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=func, args=args, keywords=[]):
                name = self._full(func)
                return name in _QUESTIONS or (name == "torch.device" and all(map(_is_device, args)))
            case ast.Attribute(ctx=ast.Load()):
                return self._full(node) in _NAMED
            case ast.Attribute() | ast.Tuple() | ast.List() | ast.Starred():
                return False
            case ast.Name(ctx=ast.Load()):
                return self._full(node) in ("torch", "torch.cuda")
            case ast.Call() | ast.BinOp() | ast.JoinedStr() | ast.Compare() | ast.UnaryOp():
                return False
        return True

    def _full(self, node: ast.expr) -> str:
        """What an expression names, by the library's own names."""
        name, dot, rest = dotted(node).partition(".")
        imported = self.imported.get(name)
        return full_name(node, self.frame) if imported is None else f"{imported}{dot}{rest}"

    def _is_question(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._full(node.func) in _QUESTIONS and not node.args

    def _imports(self, name: ast.alias) -> bool:
        if name.asname is not None:
            self.imported[name.asname] = name.name
        return name.name in ("torch", "torch.cuda")

    def _needs(self, test: ast.expr, wanted: bool) -> bool:
        """Takes note of what is asserted: a question about the GPUs."""
        asked = self._asked(test)
        if asked is None:
            return False
        condition = truth(self.machine.evaluate(asked, self.frame))
        if not wanted:
            condition = negation(condition)
        self.condition = conjunction(self.condition, condition)
        self.uses = True
        return True

    def _asked(self, test: ast.expr) -> ast.expr | None:
        """A test that says nothing but how many GPUs there are, with a name replaced by what the
        body has bound it to."""
        match test:
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant()]):
                value = self.bound.get(name)
                if value is None or not self._is_question(value):
                    return None
                known: ast.expr | None = test.__dict__.get(_ASKED)
                if known is None:
                    known = ast.copy_location(ast.Compare(value, test.ops, test.comparators), test)
                    test.__dict__[_ASKED] = known
                return known
            case ast.Compare(left=ast.Call() as left, comparators=[ast.Constant()]):
                return test if self._is_question(left) else None
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return test if self._is_question(operand) else None
        return test if self._is_question(test) else None

    def _side(self, test: ast.expr) -> bool | None:
        """Which way a test goes that calls nothing, nor reads what the body binds."""
        if any(isinstance(each, _WORKING) for each in walk(test)):
            return None
        if not self.bound.keys().isdisjoint(names_read(test)):
            return None
        side = self.machine.decide(truth(self.machine.evaluate(test, self.frame)))
        return side if isinstance(side, bool) else None

    def _calls(self, call: ast.Call) -> bool:
        """Whether a call is harmless where there is the accelerator that it uses."""
        name = last_name(call.func)
        if self._is_of_cuda(call):
            kind = None if name in _ANSWERING else "cuda"
        elif name not in _HARMLESS and not _is_of_whole(call):
            return False
        else:
            kind = self._used(call, name)
        if kind is _UNKNOWN or self._may_ask_for_another(call) or _may_be_ragged(call):
            return False
        if kind is not None:
            atom = availability(kind, assumed_accelerator(self.machine))
            self.condition = conjunction(self.condition, Guarded(atom, True, False))
            self.uses = True
        return True

    def _is_of_cuda(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and self._full(call.func.value) == "torch.cuda"

    def _used(self, call: ast.Call, name: str) -> str | None:
        """The kind of accelerator without which a call raises."""
        if name == "cuda" and isinstance(call.func, ast.Attribute):
            return "cuda"
        if name == "to":
            return self._kind(call.args[0]) if call.args else None
        if name not in _MAKERS:
            return None
        placed = [each.value for each in call.keywords if each.arg == "device"]
        return self._kind(placed[0]) if placed else None

    def _kind(self, node: ast.expr) -> str | None:
        """The kind of accelerator that an argument names, None for the CPU or a dtype."""
        if isinstance(node, ast.Call) and last_name(node.func) == "device" and node.args:
            node = node.args[0]
        named = self._named(node)
        if isinstance(named, str):
            kind = named.partition(":")[0]
            return None if kind == "cpu" else kind if kind in ("cuda", "mps", "xpu") else _UNKNOWN
        return None if self._full(node).startswith("torch.") else _UNKNOWN

    def _named(self, node: ast.expr) -> Any:
        """The text that an argument is, or the device; None where that is not known."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id not in self.bound:
            value = self.machine.evaluate(node, self.frame)
            if type(value) is Const:
                return value.value
            if type(value) is DeviceValue and type(value.device) is Device:
                return str(value.device)
        return None

    def _may_ask_for_another(self, call: ast.Call) -> bool:
        """Whether a call may name a GPU besides the first one."""
        values = (*call.args, *(each.value for each in call.keywords))
        named = [self._named(each) for each in values]
        if any(isinstance(each, str) and each.partition(":")[2] not in ("", "0") for each in named):
            return True
        placing = self._is_of_cuda(call) or last_name(call.func) in ("cuda", "device")
        return placing and not all(isinstance(each, str) or each == 0 for each in named)


_UNKNOWN = "?"
"""Stands for an accelerator of a kind that nobody knows."""
_ASKED = "_asked_of_gpus"
"""The entry of a test under which the question is kept that it asks."""
_COMPUTING = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Starred, ast.Tuple, ast.comprehension)
"""What may raise for what it is given: shapes, dtypes, devices, how many there are."""
_WORKING = (ast.Call, ast.Await, ast.Subscript, ast.NamedExpr, ast.Yield, ast.BinOp)


def _is_with_itself(node: ast.AST) -> bool:
    """Whether a tensor is computed with itself, whose shape and device fit."""
    match node:
        case ast.BinOp(
            left=ast.Name(id=left), op=ast.Add() | ast.Sub() | ast.Mult(), right=ast.Name(id=right)
        ):
            return left == right
    return False


def _is_of_whole(call: ast.Call) -> bool:
    """Whether this is the number that all of a tensor gives: `x.sum().item()`."""
    match call.func:
        case ast.Attribute(value=ast.Call(func=func, args=[], keywords=[]), attr="item"):
            return last_name(func) in ("sum", "mean")
    return False


def _may_be_ragged(call: ast.Call) -> bool:
    """Whether `torch.tensor` is given anything but numbers."""
    if last_name(call.func) != "tensor":
        return False
    given = [each for argument in call.args for each in getattr(argument, "elts", [argument])]
    return not all(isinstance(each, ast.Constant) for each in given)


def _is_simple(statement: ast.stmt) -> bool:
    return isinstance(
        statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return | ast.Pass
    ) and not any(isinstance(each, ast.Subscript | ast.Await) for each in walk(statement))


def _is_device(node: ast.expr) -> bool:
    """Whether an expression surely names a device, in each case that it tells apart."""
    if isinstance(node, ast.IfExp):
        return _is_device(node.body) and _is_device(node.orelse)
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return node.value.partition(":")[0] in ("cuda", "cpu", "mps")


def _catches(kind: ast.expr | None, caught: frozenset[str]) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(each, ast.Name) and each.id in caught for each in kinds)
