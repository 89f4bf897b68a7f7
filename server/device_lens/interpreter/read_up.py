"""Whether what gives its items one by one is surely asked for all of them: a generator expression
or `map` does to an item what it does only once that is asked for."""

from __future__ import annotations

import ast
from typing import Any

from device_lens.interpreter.frames import Frame
from device_lens.syntax.names import last_name
from device_lens.syntax.walking import walk

_READS_ALL = frozenset(
    "list tuple set frozenset dict sorted sum min max deque Counter OrderedDict join extend update "
    "ModuleList ParameterList ModuleDict stack cat array".split()
)
"""What goes through all that it is given."""
_PASSES_ON = frozenset("enumerate tqdm trange track iter".split())
"""What gives its first argument's items as they are asked for."""
_WAYS_OUT = (ast.Return, ast.Break, ast.Raise, ast.Yield, ast.YieldFrom)
_READ_UP = "_read_up"
"""The entry of a statement under which the answers of its expressions are kept, until another block
is put into it."""


class Reading:
    """How far what gives its items one by one is read."""

    def __init__(self, surely: bool = True, last: bool | None = None) -> None:
        self.surely = surely or last is not None
        """Whether the next item is surely asked for."""
        self.last = last
        """The truth of an item after which no other is asked for; None: no truth ends it."""
        self.over = False
        """Whether the one that was read is the last."""

    def saw(self, truth: Any, repeated: bool) -> None:
        """An item was read, or any number of them."""
        if self.last is None:
            return
        if repeated or type(truth) is not bool:
            self.surely = False
        else:
            self.over = truth is self.last


def reading(node: Any, frame: Frame) -> Reading:
    """How what the statement that runs has in an expression is read."""
    if type(node) is not ast.GeneratorExp:
        return Reading()
    called = set(_called_with(node, frame))
    last = True if called == {"any"} else False if called == {"all"} else None
    return Reading(is_read_up(node, frame), last)


def _called_with(node: ast.AST, frame: Frame) -> list[str]:
    return [
        getattr(each.func, "id", "")
        for code in _around(frame)
        for each in (walk(code) if code is not None else ())
        if isinstance(each, ast.Call) and any(given is node for given in each.args)
    ]


def is_read_up(node: Any, frame: Frame | None) -> bool:
    """Whether the statement that runs goes on to the end of what an expression in it gives."""
    code = [each for each in _around(frame) if each is not None]
    if not code:
        return False
    kept: dict[Any, bool] = code[0].__dict__.setdefault(_READ_UP, {})
    if node not in kept:
        found = (_reads_up(node, each) for each in code)
        kept[node] = next((each for each in found if each is not None), False)
    return kept[node]


def _around(frame: Frame | None) -> tuple[Any, ...]:
    if frame is None:
        return ()
    return frame.statement, frame.function.node if frame.function is not None else None


def _reads_up(node: ast.AST, code: ast.AST) -> bool | None:
    """The same by the code around the expression; None where it is not in that."""
    for each in walk(code):
        if any(part is node for part in ast.iter_child_nodes(each)):
            return _by_parent(node, each, code)
    return None


def _by_parent(node: ast.AST, parent: ast.AST, code: ast.AST) -> bool:
    match parent:
        case ast.Call(func=func, args=[*args]) if any(each is node for each in args):
            name = last_name(func)
            if name in _PASSES_ON and args[0] is node:
                return bool(_reads_up(parent, code))
            return name in _READS_ALL
        case ast.Starred():
            return True
        case ast.Assign(targets=targets):
            return any(isinstance(each, ast.Tuple | ast.List) for each in targets)
        case ast.For(iter=iterated, body=body) if iterated is node:
            inner = (each for statement in body for each in walk(statement))
            return not any(isinstance(each, _WAYS_OUT) for each in inner)
        case ast.comprehension():
            made = next(each for each in walk(code) if parent in getattr(each, "generators", ()))
            return not isinstance(made, ast.GeneratorExp) or bool(_reads_up(made, code))
        case ast.keyword(arg=None) | ast.YieldFrom():
            return True
    return False
