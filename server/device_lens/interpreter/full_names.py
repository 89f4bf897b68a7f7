"""What a text names, by the names that libraries have: where a file says `import torch as th`,
`th.cuda` is `torch.cuda`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import Deferred
from device_lens.domain.guard import Guarded, leaves
from device_lens.domain.heap import MISSING
from device_lens.domain.values import External
from device_lens.syntax.names import dotted

if TYPE_CHECKING:
    from device_lens.domain.code import Scope
    from device_lens.interpreter.frames import Frame


def value_of(name: str, frame: Frame) -> Any:
    """What a name stands for where a frame is, as far as it is bound; `MISSING` where it is not."""
    scope: Scope | None = frame.scope
    while scope is not None:
        if name in scope.names:
            return scope.names[name]
        scope = scope.parent
    return frame.namespace.scope.names.get(name, MISSING)


def full_name(node: ast.expr, frame: Frame) -> str:
    """`torch.cuda.device_count` of what a library calls so, whatever the file calls it; the text
    itself where nothing has bound its first name yet, nothing where that is no part of a library,
    or where the expression is more than names."""
    text = dotted(node)
    name, dot, rest = text.partition(".")
    value = value_of(name, frame) if name else None
    if value is MISSING or isinstance(value, Deferred):
        return text
    library = _library(value)
    return f"{library}{dot}{rest}" if library else ""


def is_torch(name: str, frame: Frame) -> bool:
    """Whether a name stands for PyTorch as a whole."""
    return _library(value_of(name, frame)) == "torch"


def _library(value: Any) -> str:
    """The part of a library that a value is wherever it is one; nothing where it is none."""
    if type(value) is External:
        return value.name
    parts = leaves(value) if type(value) is Guarded else ()
    names = {each.name for each in parts if type(each) is External}
    return names.pop() if len(names) == 1 else ""
