"""What the text of a definition shows of devices: whether anything in it can be told of.

A function that runs with symbols for its parameters knows one device for each of them. Something
can be told of it only where it makes a tensor on a device of its own, names a device, moves or
reads a tensor, or keeps one where moves of its module miss it. This errs on the side of telling:
what it misses, `check` misses (the documents in `tests/mdtest` are held against it).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from device_lens.domain.device import TYPES
from device_lens.interpreter.call_evidence import (
    CASTS,
    is_cast,
    is_conversion,
    is_none,
    is_placed,
    reads_range,
)
from device_lens.interpreter.loop_evidence import WAITING, may_wait
from device_lens.interpreter.plain_names import PlainText, gives_counts
from device_lens.models.torch.creation import FACTORIES
from device_lens.models.torch.evidence import EVIDENT
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import children, fields_of

_MAKERS = frozenset(name.rpartition(".")[2] for name in FACTORIES) | frozenset(
    "tensor as_tensor asarray from_numpy frombuffer from_file from_dlpack normal load Generator "
    "sparse_coo_tensor sparse_csr_tensor sparse_compressed_tensor Tensor".split()
)
"""Names in `torch` of what makes a tensor out of none."""
_IMPORTED = _MAKERS - {"range", "load", "normal"}
"""Those that a program may import by name."""
_PLACING = frozenset(
    "to to_ cuda cpu xpu mps npu numpy item tolist backward synchronize pin_memory type get_device "
    "share_memory_ to_empty apply_ map_ register_hook set_default_device set_device "
    "set_default_tensor_type set_start_method".split()
)
"""Methods that move a tensor, or wait for one, or decide where others may."""
_TELLING = frozenset(
    "SGD RMSprop Adagrad Adadelta LBFGS NAdam RAdam Rprop ASGD SparseAdam Adafactor Muon "
    "DataParallel DistributedDataParallel DDP FullyShardedDataParallel DataLoader Variable "
    "GradScaler HalfTensor FloatTensor DoubleTensor BFloat16Tensor LongTensor IntTensor "
    "ShortTensor ByteTensor CharTensor BoolTensor default_device".split()
)
"""Calls of what is told of by itself, or gives what is somewhere; all of `Adam…` do too."""
_COMPILED = re.compile(r"torch\.(?:compile\Z|jit\.)")
"""What gives a module again that it is given."""
_PLAIN = frozenset("dict tuple list set int float str bool len range".split())
_RUN_OFTEN = re.compile(r"forward|__call__|call|.*_step\Z|.*loss|sample|generate|encode|decode")
"""Methods in which a layer that is made is a layer that moves have missed."""
_HINTING = _MAKERS | _TELLING | frozenset(TYPES) | {"register_buffer", "array", "ascontiguousarray"}
"""Words with one of which a text may show something, wherever they stand."""
_METHODS = _PLACING | CASTS
_HINTS = (
    (_METHODS, re.compile(r"\.(?:" + "|".join(sorted(_METHODS)) + r")\(")),
    (
        frozenset(("self",)),
        re.compile(
            r"self\.\w+\s*(?::[^=\n]*)?="
            r"\s*(?:[(\[{]|list\(|dict\(|tuple\(|\w+\.\w|self\.\w+[.\[])"
        ),
    ),
    (frozenset(("nn",)), re.compile(r"nn\.[A-Z]")),
    (frozenset(("for", "while")), re.compile(r"^\s+(?:async\s+)?(?:for|while)\b", re.MULTILINE)),
    (frozenset(("import",)), re.compile(r"^\s+(?:from|import)\s+torch\b", re.MULTILINE)),
)
"""What else it may show something with: the words without which it has no such thing, and how that
reads."""
_LAYER = re.compile(r"torch\.nn\.[A-Z]")
_KNOWING = frozenset("Tensor Parameter is_tensor is_cuda is_cpu device data grad".split())
"""Other names by which a value is known for a tensor."""
_OF_TYPES = ("annotation", "returns")
"""Fields of nodes that hold what stands for types."""
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
"""The others that hold nodes, by the type of the node."""
_DEVICE = re.compile(r"(?:" + "|".join(TYPES) + r")(?::\d*)?\Z")


def _is_hinted(text: str, words: frozenset[str]) -> bool:
    """Whether a text has what shows anything: most show nothing, which costs no look at their
    trees."""
    if not words.isdisjoint(_HINTING) or "Adam" in text:
        return True
    return any(
        not words.isdisjoint(needed) and hint.search(text) is not None for needed, hint in _HINTS
    )


def shows(
    text: str,
    words: frozenset[str],
    node: ast.AST,
    in_module: bool,
    names: Names,
    gives_plain: Callable[[str], bool] = lambda name: False,
    plain: PlainText | None = None,
) -> bool:
    """Whether the text of a definition, or a part of it, shows anything of devices. `words`: those
    of the text; `in_module`: it is a class of modules, or of their methods; `gives_plain`: whether
    all that has a name gives numbers or words only; `plain`: what is of the class of a method."""
    if not _is_hinted(text, words) and not names.are_in(words):
        return False
    try:
        is_blind = not in_module and not _may_know(words, names)
        plain = plain or PlainText(None)
        return _Reading(in_module, names, gives_plain, plain, is_blind).shows(node)
    except RecursionError:  # nobody has written that by hand
        return True


def _may_know(words: frozenset[str], names: Names) -> bool:
    """Whether a text has words by which a value is known for a tensor that its function is given:
    what only tensors have, and PyTorch itself."""
    return not (
        words.isdisjoint(EVIDENT)
        and words.isdisjoint(_KNOWING)
        and words.isdisjoint(names.known)
        and not any(each.endswith("_") and each[0] != "_" for each in words)
    )


class Names:
    """What the names of a file stand for in PyTorch, by their qualified names."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known = {"torch": "torch", **known}
        own = (name for name, full in known.items() if full.rpartition(".")[2] != name)
        parts = (name for name, full in known.items() if _LAYER.match(full) is not None)
        self._told = frozenset((*own, *parts))

    def are_in(self, words: frozenset[str]) -> bool:
        """Whether words have a name of which PyTorch's own name does not tell."""
        return not self._told.isdisjoint(words)


class _Reading:
    """A look at one definition."""

    def __init__(
        self,
        in_module: bool,
        names: Names,
        gives_plain: Callable[[str], bool],
        plain: PlainText,
        is_blind: bool,
    ) -> None:
        """`is_blind`: nothing is known of what the function is given."""
        self._in_module = in_module
        self._gives_plain = gives_plain
        self._names = dict(names.known)
        self._method = ""
        self._in_loop = False
        self._plain = plain
        self._is_blind = is_blind
        self._kept = False
        """Whether it is within what a module takes as a parameter or buffer of its own."""

    def shows(self, node: ast.AST) -> bool:
        kind = type(node)
        if self._in_loop:
            if kind is ast.Raise:
                return False  # it ends the loop
            if kind in WAITING and may_wait(node, self._plain.holds):
                return True
        look = _LOOKS.get(kind)
        return self._below(node) if look is None else look(self, node)

    def _constant(self, node: ast.Constant) -> bool:
        value = node.value
        return type(value) is str and len(value) < 12 and _DEVICE.match(value) is not None

    def _expression(self, node: ast.Expr) -> bool:
        call = node.value
        return (type(call) is ast.Call and is_cast(call)) or self.shows(call)

    def _comprehension(self, node: ast.ListComp) -> bool:
        return not reads_range(node) and self._below(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> bool:
        self._names |= _imported(node)
        return False

    def _full(self, node: ast.expr) -> str:
        """The qualified name of what an expression stands for in PyTorch; empty for all else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        known = self._names.get(node.id) if isinstance(node, ast.Name) else None
        return "" if known is None else ".".join((known, *reversed(parts)))

    def _below(self, node: ast.AST) -> bool:
        kind = type(node)
        fields = _FIELDS.get(kind)
        if fields is None:
            fields = _FIELDS[kind] = tuple(n for n in fields_of(kind) if n not in _OF_TYPES)
        for name in fields:
            value = getattr(node, name, None)
            if type(value) is list:
                for each in value:
                    if each is not None and type(each) is not ast.Name and self.shows(each):
                        return True
            elif value is not None and type(value) is not ast.Name and self.shows(value):
                return True
        return False

    def _function(self, node: ast.FunctionDef) -> bool:
        outer, self._method = self._method, self._method or node.name
        around = self._plain
        if not outer:
            self._plain = around.within(node, self._is_blind)
        given = [*node.args.defaults, *node.args.kw_defaults]
        try:
            if any(each is not None and self.shows(each) for each in given):
                return True
            return any(map(self.shows, (*node.decorator_list, *node.body)))
        finally:
            self._method, self._plain = outer, around

    def _class(self, node: ast.ClassDef) -> bool:
        outer, self._plain = self._plain, PlainText(node)
        try:
            return self._below(node)
        finally:
            self._plain = outer

    def _loop(self, node: ast.AST) -> bool:
        outer, self._in_loop = self._in_loop, not self._is_setting_up
        try:
            waits = self._in_loop and may_wait(node, self._plain.holds)
            return waits or self._below(node)
        finally:
            self._in_loop = outer

    def _call(self, call: ast.Call) -> bool:
        function, full = call.func, self._full(call.func)
        name = full.rpartition(".")[2] or last_name(function)
        if name in _TELLING or name.startswith("Adam"):
            return True
        if name in _MAKERS and (full or (isinstance(function, ast.Name) and name in _IMPORTED)):
            return (not self._kept and not is_placed(call, name)) or self._given(call)
        if isinstance(function, ast.Attribute):
            if name in ("item", "tolist") and self._is_made(function.value):
                return self._given(call)
            if name in _PLACING:
                return not is_conversion(call, name) or self._below(call)
        if self._makes_layer(full):
            return True
        in_place = name in ("Parameter", "register_buffer", "Buffer") and self._is_setting_up
        if name == "register_buffer" and self._method != "__init__" and not is_none(call):
            return True
        outer, self._kept = self._kept, self._kept or in_place
        try:
            return self._below(call)
        finally:
            self._kept = outer

    @property
    def _is_setting_up(self) -> bool:
        return self._in_module and self._method == "__init__"

    def _given(self, call: ast.Call) -> bool:
        """What the arguments of a maker show."""
        return any(map(self.shows, (*call.args, *call.keywords)))

    def _makes_layer(self, full: str) -> bool:
        if not self._in_module or _LAYER.match(full) is None:
            return False
        return _RUN_OFTEN.match(self._method) is not None

    def _attribute(self, node: ast.Attribute) -> bool:
        """`torch.cuda`, or a function that makes tensors and is handed on."""
        full = self._full(node)
        if full and (node.attr in TYPES or node.attr in ("backends", "accelerator")):
            return True
        if full and node.attr in _MAKERS and node.attr != "Tensor":
            return True
        return self.shows(node.value)

    def _assignment(self, node: Any) -> bool:
        return (self._in_module and self._keeps(node)) or self._below(node)

    def _keeps(self, node: Any) -> bool:
        """Whether an attribute of a module gets what moves of it may miss."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        own = any(_is_own(target) for each in targets for target in _elements(each))
        return own and node.value is not None and self._may_hold(node.value)

    def _may_hold(self, value: ast.expr) -> bool:
        """Whether what is assigned may be a tensor that is derived from parts of the module, or a
        plain container of parts."""
        return self._shows_part(value) and not self._plain.holds(value)

    def _shows_part(self, value: ast.expr) -> bool:
        if isinstance(value, ast.List | ast.Dict | ast.Tuple | ast.Set):
            below = [*getattr(value, "elts", ()), *getattr(value, "values", ())]
            return any(
                isinstance(each, ast.Call) and last_name(each.func) not in _PLAIN for each in below
            )
        if isinstance(value, ast.ListComp | ast.DictComp):
            made = value.elt if isinstance(value, ast.ListComp) else value.value
            return isinstance(made, ast.Call) and last_name(made.func) not in _PLAIN
        for node in self._held(value):
            if isinstance(node, ast.Attribute) and node.attr in ("weight", "bias", "data", "grad"):
                return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                receiver = node.func.value
                if isinstance(receiver, ast.Attribute) and _is_own(receiver):
                    return True
                full = self._full(node.func)
                if full and not node.func.attr[:1].isupper() and _COMPILED.match(full) is None:
                    return True
                if node.func.attr in ("clone", "detach", "contiguous"):
                    return True
        return False

    def _held(self, value: ast.expr) -> Iterator[ast.AST]:
        """The parts of an expression of which it may be made, but for what is handed to the
        constructors in it: a part that is made of it is registered."""
        pending: list[ast.AST] = [value]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Subscript):
                pending.append(node.value)
            elif isinstance(node, ast.Call):
                name = last_name(node.func)
                if not (name[:1].isupper() or gives_counts(name) or self._gives_plain(name)):
                    yield node
                    pending += children(node)
            else:
                yield node
                pending += children(node)

    def _is_made(self, value: ast.expr) -> bool:
        """Whether a value is made on the spot: `torch.linspace(0, 1, n).flip(0)`."""
        while isinstance(value, ast.Call | ast.Attribute | ast.Subscript):
            if isinstance(value, ast.Call):
                full = self._full(value.func)
                if full:
                    return full.removeprefix("torch.") in FACTORIES
                value = value.func
            else:
                value = value.value
        return False


_LOOKS: dict[type[ast.AST], Callable[[_Reading, Any], bool]] = {
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), _Reading._loop),
    **dict.fromkeys((ast.Assign, ast.AnnAssign, ast.AugAssign), _Reading._assignment),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), _Reading._function),
    **dict.fromkeys((ast.Import, ast.ImportFrom), _Reading._import),
    ast.Attribute: _Reading._attribute,
    ast.Call: _Reading._call,
    ast.ClassDef: _Reading._class,
    ast.Constant: _Reading._constant,
    ast.Expr: _Reading._expression,
    ast.ListComp: _Reading._comprehension,
    ast.MatchSingleton: lambda reading, node: False,
}
"""What looks at a node, by its type; at the others it is asked what is below them."""


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """What the names stand for that a function imports of PyTorch for itself."""
    if isinstance(node, ast.ImportFrom):
        inside = node.module is not None and node.module.partition(".")[0] == "torch"
        pairs = {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        return pairs if inside else {}
    return {
        each.asname or "torch": each.name if each.asname else "torch"
        for each in node.names
        if each.name.partition(".")[0] == "torch"
    }


def _elements(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, ast.Tuple | ast.List) else [target]


def _is_own(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )
