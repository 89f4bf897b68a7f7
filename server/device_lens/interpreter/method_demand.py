"""Which methods of a class have to run for what can be found in one of them.

A method in which nothing can be found matters where it names what another one changes, in which
something can, and where it calls that in a loop, or for what it gives: who runs a method, and what
becomes of what it leaves, decides what is told of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from device_lens.domain.code import ClassValue
from device_lens.syntax.names import is_own_attribute
from device_lens.syntax.walking import walk

_OWN = re.compile(r"self\.(\w+)")
_AS_A_WHOLE = re.compile(
    r"self\.(?:to|to_empty|cuda|cpu|xpu|ipu|half|float|double|bfloat16|apply|_apply"
    r"|load_state_dict|__dict__|__setattr__)\b|\b(?:setattr|vars)\(\s*self\b"
)
"""What changes an object as a whole, or an attribute that only a run can tell."""
_LOOPS = (
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


class Methods:
    """The methods of a class, its own and inherited ones, and what they have to do with each
    other."""

    def __init__(
        self,
        cls: ClassValue,
        shows: Callable[[ast.AST, ClassValue], bool],
        text_of: Callable[[ast.AST, ClassValue], tuple[str, frozenset[str]]],
    ) -> None:
        """`shows` says whether something can be found in a part of a class, `text_of` how such a
        part reads, and its words."""
        self.all_matter = False
        """Whether all have to run: something shows outside of them, or one in which something
        does may change the object as a whole."""
        self._methods: dict[str, list[_Method]] = {}
        shown = set[str]()
        for each in cls.mro:
            for part in each.node.body:
                if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    self.all_matter = self.all_matter or shows(part, each)
                    continue
                method = _Method(part, text_of(part, each)[0])
                self._methods.setdefault(part.name, []).append(method)
                if shows(part, each):
                    shown.add(part.name)
                    self.all_matter = self.all_matter or method.is_at_large
        self._matter = set[str]() if self.all_matter else self._with(shown)
        self._is_made = "__init__" not in shown

    def matters(self, name: str) -> bool:
        """Whether the method of a name, which nobody calls, has to run for what shows in the
        class. For what shows where an object is made any of them will do, which needs one."""
        before, self._is_made = self._is_made, True
        return self.all_matter or name in self._matter or not before

    def give(self, name: str) -> None:
        """Takes note that the method of a name gives what is somewhere."""
        self._matter |= {other for other, each in self._all() if name in each.named}

    def _with(self, shown: set[str]) -> set[str]:
        """Some methods with those that matter to them."""
        later = shown - {"__init__"}  # what that leaves is known of an object that has been made
        changed = {name for each in later for one in self._methods[each] for name in one.changed}
        readers = {name for name, each in self._all() if not changed.isdisjoint(each.named)}
        called = set(shown)
        while more := {name for name, each in self._all() if called & each.named} - called:
            called |= more
        callers = [(name, each) for name, each in self._all() if called & each.named]
        return shown | readers | {name for name, each in callers if called & each.in_loops}

    def _all(self) -> Iterator[tuple[str, _Method]]:
        return ((name, each) for name, found in self._methods.items() for each in found)


class _Method:
    """What a method names of `self`."""

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> None:
        given = (*node.args.posonlyargs, *node.args.args)
        by_self = any(each.arg == "self" for each in given[:1])
        self.is_at_large = not by_self or _AS_A_WHOLE.search(text) is not None
        """Whether it may change more than the attributes that it names by `self`."""
        self.named = frozenset(_OWN.findall(text))
        self._node = node

    @cached_property
    def changed(self) -> frozenset[str]:
        """The attributes that it assigns, or calls for what it does to them."""
        return frozenset(_changed(self._node))

    @cached_property
    def in_loops(self) -> frozenset[str]:
        """The attributes that it names in loops."""
        return frozenset(_in_loops(self._node))


def _changed(function: ast.AST) -> Iterator[str]:
    for node in walk(function):
        if isinstance(node, ast.Attribute | ast.Subscript):
            if not isinstance(node.ctx, ast.Load):
                yield from _own(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from _own(node.value.func)


def _own(node: ast.expr) -> Iterable[str]:
    """The attribute of `self` of which an expression is a part."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        if is_own_attribute(node):
            return (node.attr,)
        node = node.func if isinstance(node, ast.Call) else node.value
    return ()


def _in_loops(function: ast.AST) -> Iterator[str]:
    for node in walk(function):
        if isinstance(node, _LOOPS):
            for inner in walk(node):
                if isinstance(inner, ast.Attribute):
                    yield from _own(inner)
