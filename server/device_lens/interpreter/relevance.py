"""What no tensor can reach, told from names alone, so that it need not be run.

A file matters where it, or a file that it imports, imports a library of tensors, and where such a
file imports it. A function matters where its text has a name that may stand for a tensor, a module
or a device, or that makes or moves one. Both err on the side of running.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from device_lens.domain.code import ClassValue, Deferred, Function, Namespace, Waiting
from device_lens.domain.guard import leaves
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, Parameter
from device_lens.domain.libraries import TENSOR_LIBRARIES
from device_lens.domain.values import DeviceValue, DtypeValue, External, Tensor, TupleValue
from device_lens.interpreter.budget import Cancelled
from device_lens.interpreter.protocol import Workspace
from device_lens.syntax.import_statements import Import, imports_of

_TRIGGER = re.compile(
    r"\.(?:to|cuda|cpu|numpy|item|tolist|half|float|double|bfloat16|long|int|type|backward|detach"
    r"|pin_memory|requires_grad_?|synchronize)\b|\b(?:device|cuda|[tT]ensors?|modules?)\b|CUDA_"
)
"""What treats a value as a tensor or module, whatever it is."""
_PLAIN_USE = re.compile(r"\.(?:cuda|cpu)\(|[\"']cuda\b|CUDA_VISIBLE_DEVICES")
"""What tells that a file uses tensors although it imports no library of theirs."""
_NAME = re.compile(r"[^\W\d]\w*")
_APART = {sign: " " for sign in range(128) if re.match(r"\W", chr(sign))}
_MATTERING = (Tensor, Parameter, ModuleObject, DeviceValue, DtypeValue)


_COMPILERS = frozenset("triton numba taichi warp tilelang cutlass cupyx".split())
"""Libraries whose decorators take a function's text for a program of another language."""


class Relevance:
    """Answers for one analysis; what is asked again is remembered. Each file may be parsed for an
    answer: so they raise `Cancelled` when `cancelled` says so."""

    def __init__(self, workspace: Workspace, cancelled: Callable[[], bool]) -> None:
        self._workspace = workspace
        self._cancelled = cancelled
        self._uses: dict[str, bool] = {}
        self._above: dict[str, bool] = {}
        self._imported: dict[str, tuple[str, ...]] = {}
        self._stamps: dict[str, Any] = {}
        self._vocabularies: dict[str, tuple[Any, frozenset[str]]] = {}
        self._words: dict[Any, tuple[bool, frozenset[str]]] = {}

    def begin(self, workspace: Workspace) -> None:
        """Takes the files as they are now."""
        self._workspace = workspace
        for path, stamp in list(self._stamps.items()):
            if workspace.stamp(path) != stamp:
                before = self._imported.pop(path, None), self._uses.pop(path, None)
                del self._stamps[path]
                if before != (self._imports(path), self._uses_tensors(path)):
                    self._above.clear()
                    self._vocabularies.clear()

    def files(self, paths: Sequence[str]) -> frozenset[str]:
        """Those of some files that matter when they are analysed together."""
        found = {path for path in paths if self._reaches(path)}
        if len(found) < len(paths):
            found |= self._below(found).intersection(paths)
        return frozenset(found)

    def function(self, function: Function) -> bool:
        """Whether a function may handle a tensor, module or device, and Python runs it."""
        if _is_kernel(function):
            return False
        owner = function.owner
        if owner is not None and owner.is_module:
            return True
        node = owner.node if owner is not None else function.node
        return self._matters(function.chunk, node, self._vocabulary(function.namespace))

    def treats(self, function: Function) -> bool:
        """Whether a function's own text treats something as a tensor, module or device."""
        return self.words(function.chunk, function.node)[0]

    def words(self, chunk: Any, node: Any) -> tuple[bool, frozenset[str]]:
        """What the text of a definition tells: whether it treats something as a tensor, else its
        words."""
        known = self._words.get(node)
        if known is None:
            text = text_of(chunk, node)
            treats = _TRIGGER.search(text) is not None
            known = treats, frozenset() if treats else words_in(text)
            self._words[node] = known
        return known

    def forget(self, node: Any) -> None:
        """Lets go of a definition whose text is another one now."""
        self._words.pop(node, None)

    def _matters(self, chunk: Any, node: Any, vocabulary: frozenset[str]) -> bool:
        treats, words = self.words(chunk, node)
        return treats or not vocabulary.isdisjoint(words)

    def _vocabulary(self, namespace: Namespace) -> frozenset[str]:
        """Names of a module that may stand for something that matters."""
        known = self._vocabularies.get(namespace.path)
        if known is not None and known[0] is namespace.file:
            return known[1]
        found: set[str] = set()
        own: dict[str, Any] = {}
        for name, value in namespace.scope.names.items():
            if isinstance(value, Function | ClassValue) and value.namespace is namespace:
                own[name] = value
            elif any(self._is_mattering(leaf) for leaf in leaves(value)):
                found.add(name)
        new = frozenset(found)
        while True:
            new = frozenset(n for n, v in own.items() if self._matters(v.chunk, v.node, new))
            if not new:
                break
            found |= new
            for name in new:
                del own[name]
        self._vocabularies[namespace.path] = namespace.file, frozenset(found)
        return frozenset(found)

    def _is_mattering(self, value: Any, depth: int = 2) -> bool:
        kind = type(value)
        if kind is External:
            return value.name.partition(".")[0] in TENSOR_LIBRARIES
        if kind is Namespace or kind is Deferred or kind is Waiting:
            return self._reaches(value.path)
        if kind is Function or kind is ClassValue:
            return self._reaches(value.namespace.path)
        if kind is Instance:
            return self._is_mattering(value.cls)
        if depth and kind in (ListObject, DictObject, TupleValue):
            items = value.entries.values() if kind is DictObject else value.items
            return any(self._is_mattering(item, depth - 1) for item in items)
        return kind in _MATTERING

    def _reaches(self, path: str) -> bool:
        """Whether a file, or one that it imports, directly or not, uses tensors."""
        known = self._above.get(path)
        if known is None:
            known = any(map(self._uses_tensors, self._reachable([path])))
            self._above[path] = known
        return known

    def _below(self, paths: Iterable[str]) -> frozenset[str]:
        return frozenset(self._reachable(paths))

    def _reachable(self, paths: Iterable[str]) -> Iterator[str]:
        """Some files and what they import, directly or not."""
        pending = list(paths)
        seen = set(pending)
        while pending:
            if self._cancelled():
                raise Cancelled
            path = pending.pop()
            yield path
            for other in self._imports(path):
                if other not in seen:
                    seen.add(other)
                    pending.append(other)

    def _uses_tensors(self, path: str) -> bool:
        known = self._uses.get(path)
        if known is None:
            file = self._workspace.source(path)
            known = file is not None and any(
                not each.level and each.module.partition(".")[0] in TENSOR_LIBRARIES
                for each in imports_of(file)
            )
            self._uses[path] = known or bool(file and _PLAIN_USE.search(file.text))
            self._stamps[path] = self._workspace.stamp(path)
        return self._uses[path]

    def _imports(self, path: str) -> tuple[str, ...]:
        """The workspace's files that a file imports itself."""
        known = self._imported.get(path)
        if known is None:
            file = self._workspace.source(path)
            found: dict[str, None] = {}
            for each in () if file is None else imports_of(file):
                found.update(dict.fromkeys(self._resolved(each, path)))
            known = self._imported[path] = tuple(found)
            self._stamps[path] = self._workspace.stamp(path)
        return known

    def _resolved(self, one: Import, importer: str) -> Iterator[str]:
        module, level, names = one.module, one.level, one.names
        resolve = self._workspace.resolve
        package = resolve(module, level, importer)
        if package is not None:
            yield package
            if not self._workspace.is_package(package):
                return
        # A folder without `__init__.py` is a package of the modules in it.
        for name in names:
            inner = resolve(f"{module}.{name}" if module else name, level, importer)
            if inner is not None:
                yield inner


def text_of(chunk: Any, node: Any) -> str:
    """The lines of a definition of a chunk."""
    if len(chunk.body) == 1 and chunk.body[0] is node:
        found: str = chunk.text
        return found
    first: int = node.lineno - chunk.first_line
    return "\n".join(_lines_of(chunk)[first : node.end_lineno - chunk.first_line + 1])


@lru_cache(maxsize=2)
def _lines_of(chunk: Any) -> list[str]:
    """The lines of a chunk, whose methods are asked for one after the other."""
    lines: list[str] = chunk.text.split("\n")
    return lines


def words_in(text: str) -> frozenset[str]:
    """All names that a text may use, and its numbers."""
    # Half as long as the pattern takes, which asks each letter of any language.
    return frozenset(text.translate(_APART).split() if text.isascii() else _NAME.findall(text))


def _is_kernel(function: Function) -> bool:
    """Whether a decorator compiles a function: `@triton.jit`, `@cuda.jit()` of numba."""
    for decorator in getattr(function.node, "decorator_list", ()):
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        while isinstance(named, ast.Attribute):
            named = named.value
        name = named.id if isinstance(named, ast.Name) else ""
        root = function.namespace.scope.names.get(name)
        if type(root) is External and root.name.partition(".")[0] in _COMPILERS:
            return True
    return False
