"""Walks through a part of a program and notes which known values flow into which.

What a value is and where it lives comes from the facts; the walk only follows names. A function
of the same file that moves something is walked through where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from device_lens.domain.trail import Site
from device_lens.ide.cases import Cases, read
from device_lens.ide.map_calls import Callables, Callee
from device_lens.ide.map_graph import Graph, Ids, Value
from device_lens.ide.map_names import (
    Known,
    arguments_of,
    is_named,
    label_of,
    name_of,
    pairs_of,
    parts_of,
    union,
)
from device_lens.ide.map_regions import Region, Statement
from device_lens.interpreter.facts import (
    Expression,
    FileFacts,
    Kind,
    Synchronization,
    Transfer,
)

MOST_CALLS = 3
"""How deep calls of the file's own functions are walked through."""
_NUMBERS = ("size", "dim", "numel", "stride", "tolist", "get_device", "element_size", "backward")
"""Methods of a tensor after which no tensor is left."""
_UNKNOWN = Cases(None, None, ())
_HOST = Cases("cpu", None, ())

Names = dict[str, Ids]


def flow_of(facts: FileFacts, region: Region) -> Graph:
    """The values of a part of a file and what flows between them."""
    walk = Walk(facts, region)
    walk.block(region.statements)
    return walk.graph


class Walk:
    """One walk through a part, in the order of the text; branches are all taken."""

    def __init__(self, facts: FileFacts, region: Region) -> None:
        self.graph = Graph()
        self.names: Names = {}
        self._facts = facts
        self._chunk: Any = region.site.chunk
        self._known = Known(facts)
        self._callables = Callables(facts, region.class_node)
        self._calling: list[ast.AST] = []
        self._returned: list[tuple[Ids, ...]] = []
        self._items: tuple[ast.AST, tuple[Ids, ...]] | None = None
        """What the function that was walked through last gave back, by item, and its call."""
        self._made: set[int] = set()
        """The values that were made in it."""

    def block(self, statements: Iterable[Statement]) -> None:
        """Walks through statements of any chunks."""
        for chunk, statement in statements:
            self._chunk = chunk
            self._statement(statement)

    def _body(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            self._assign(node.targets, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign([node.target], node.value)
        elif isinstance(node, ast.AugAssign):
            sources = union(self._read(node.target), self.follow(node.value))
            self._bind(node.target, sources, node)
        elif isinstance(node, ast.For | ast.AsyncFor):
            self._bind(node.target, self._value(node.iter), node.iter)
            self._body(node.body)
            self._body(node.orelse)
        elif isinstance(node, ast.If):
            self._branches(node)
        elif isinstance(node, ast.Return):
            self._return(node)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._others(node)

    def _others(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self._statement(child)
            elif isinstance(child, ast.expr):
                self.follow(child)
            elif isinstance(child, ast.withitem | ast.ExceptHandler | ast.match_case):
                self._others(child)

    def _branches(self, node: ast.If) -> None:
        """Both sides run from the same names; after them a name is what either made of it."""
        self.follow(node.test)
        before = dict(self.names)
        self._body(node.body)
        after, self.names = self.names, before
        self._body(node.orelse)
        for name, ids in after.items():
            self.names[name] = union(ids, self.names.get(name, ()))

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            return
        items = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        found = tuple(self._value(each) for each in items)
        if self._calling:
            self._returned.append(found)
            return
        sources, fact = found[0], self._known.fact(node.value)
        if len(items) == 1 and sources and fact is not None and not is_named(node.value):
            value = self._define("return", fact, sources, self._site(node))
            value.sites.append(self._site(node.value))

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        for target in targets:
            pairs = pairs_of(target, value)
            found = [self.follow(each) for _, each in pairs]
            if self._items is not None and self._items[0] is value:
                self._take_items(target, value, self._items[1])
                continue
            for (name, each), sources in zip(pairs, found, strict=True):
                self._bind(name, sources, each, is_named(each))

    def _take_items(self, target: ast.expr, call: ast.expr, items: tuple[Ids, ...]) -> None:
        """Names what a function that was walked through gave back: its values are the caller's."""
        several = isinstance(target, ast.Tuple | ast.List) and len(target.elts) == len(items)
        names = target.elts if several and isinstance(target, ast.Tuple | ast.List) else [target]
        for each, ids in zip(names, items if several else (union(*items),), strict=True):
            name = name_of(each)
            if name is not None and len(ids) == 1 and ids[0] in self._made:
                self.graph.give_name(self.graph.values[ids[0]], name, self._site(each))
            self._bind(each, ids, call, is_alias=len(ids) == 1)

    def _bind(self, target: ast.expr, sources: Ids, value: ast.AST, is_alias: bool = False) -> None:
        """Lets a target stand for what flows into it."""
        if isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._bind(each, sources, value)
            return
        if isinstance(target, ast.Starred):
            target = target.value
        if isinstance(target, ast.Subscript):
            # An item that is put into a container is part of it from then on.
            name = name_of(target.value)
            if name is not None and sources:
                self.names[name] = union(self.names.get(name, ()), sources)
            return
        name = name_of(target)
        if name is None:
            return
        fact = None if name == "_" else self._known.fact(target)
        if is_alias and sources:
            self.names[name] = sources
        elif fact is None:
            self._carry(name, sources)
        else:
            defined = self._define(name, fact, sources, self._site(target))
            defined.sites.append(self._site(value))
            self.names[name] = (defined.id,)

    def _carry(self, name: str, sources: Ids) -> None:
        """A value of which nothing is known may still hold what flowed into it."""
        if sources:
            self.names[name] = sources
        else:
            self.names.pop(name, None)

    def _define(self, name: str, fact: Expression, sources: Ids, site: Site) -> Value:
        """The value that a name stands for now."""
        cases, current = read(fact.device), self.names.get(name, ())
        if len(sources) == 1:
            only = self.graph.values[sources[0]]
            if only.anonymous and (only.cases == cases or cases.device is None):
                return self.graph.give_name(only, name, site)
            if only.kind == "module" and fact.kind is not Kind.MODULE and self._renews(only, name):
                return only
        known = self.graph.values[current[0]] if len(current) == 1 else None
        same = known is not None and (known.label, known.cases) == (name, cases)
        if known is not None and same and self.graph.extend(known, sources, site):
            return known
        value = self.graph.add(name, fact.kind.value, cases, site, fact)
        self.graph.connect(sources, value.id, site)
        return value

    def _renews(self, module: Value, name: str) -> bool:
        """Whether a module's result takes the name of its input: `x = self.layer(x)`. In a chain
        of these the modules say enough."""
        inputs = self.names.get(name, ())
        return module.id in inputs or any(
            flow.source in inputs for flow in self.graph.into(module.id)
        )

    def follow(self, node: ast.AST) -> Ids:
        """The values that flow into an expression's result; notes what happens inside it."""
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return self._read(node)
        if isinstance(node, ast.NamedExpr):
            sources = self.follow(node.value)
            self._bind(node.target, sources, node.value)
            return sources
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node)
        if isinstance(node, ast.Lambda | ast.Constant | ast.JoinedStr):
            return ()
        sources = union(*(self.follow(each) for each in parts_of(node)))
        return () if isinstance(node, ast.Compare) and self._known.fact(node) is None else sources

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Ids:
        before = dict(self.names)
        for generator in node.generators:
            sources = self._value(generator.iter)
            for each in ast.walk(generator.target):
                if isinstance(each, ast.Name):
                    self.names[each.id] = sources
            self._follow_all(generator.ifs)
        if isinstance(node, ast.DictComp):
            found = union(self.follow(node.key), self.follow(node.value))
        else:
            found = self.follow(node.elt)
        self.names = before
        return found

    def _read(self, node: ast.AST) -> Ids:
        """What a name, an attribute or an item stands for."""
        wait = self._known.waits.get(id(node))
        if isinstance(node, ast.Subscript):
            self.follow(node.slice)
            return self.follow(node.value)
        name = name_of(node)
        if name is not None and name in self.names:
            found = self.names[name]
            if wait is not None:
                self._wait(node, wait, found)
            return found
        fact = self._known.fact(node)
        if isinstance(node, ast.Attribute):
            base = self._known.fact(node.value)
            if base is None or base.kind is not Kind.MODULE:
                inside = self.follow(node.value)
                if inside:
                    return inside if fact is not None or base is None else ()
            elif not isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript):
                self.follow(node.value)
        return () if name is None or fact is None else (self._outside(name, fact).id,)

    def _outside(self, name: str, fact: Expression) -> Value:
        """A value that was there before the part began."""
        cases = read(fact.device)
        value = self.graph.find(name, cases)
        if value is None:
            value = self.graph.add(name, fact.kind.value, cases, fact.site, fact)
        value.sites.append(fact.site)
        self.names[name] = (value.id,)
        return value

    def _follow_all(self, nodes: Iterable[ast.AST]) -> None:
        """For what happens inside them."""
        for node in nodes:
            self.follow(node)

    def _value(self, node: ast.expr) -> Ids:
        """Like `follow`, but a value that comes from nowhere is one itself."""
        found = self.follow(node)
        fact = self._known.fact(node)
        if found or fact is None:
            return found
        value = self._anonymous(node, fact.kind.value, read(fact.device), fact)
        return (value.id,)

    def _anonymous(
        self, node: ast.AST, kind: str, cases: Cases, fact: Expression | None = None
    ) -> Value:
        value = self.graph.add(
            label_of(self._site(node), self._facts), kind, cases, self._site(node), fact
        )
        value.anonymous = True
        return value

    def _call(self, node: ast.Call) -> Ids:
        transfer = self._known.transfers.get(id(node))
        if transfer is not None:
            return self._transfer(node, transfer)
        wait = self._known.waits.get(id(node))
        if wait is not None:
            found = self._inputs(node)
            self._wait(node, wait, found)
            return found if self._known.fact(node) is not None else ()
        callee = self._callables.find(node)
        if callee is not None and self._may_enter(callee):
            return self._enter(node, callee)
        module, fact = self._known.module_of(node.func), self._known.fact(node)
        if module is not None:
            return self._module(node, module)
        found = self._inputs(node)
        if fact is not None:
            # What a new module is made of is no flow of values.
            return () if fact.kind is Kind.MODULE else found
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return () if method in _NUMBERS else found

    def _inputs(self, node: ast.Call) -> Ids:
        """What flows into a call: its arguments, and the receiver of a method."""
        found = [self._value(each) for each in arguments_of(node)]
        if isinstance(node.func, ast.Attribute):
            base = self._known.fact(node.func.value)
            if base is None or base.kind is not Kind.MODULE:
                found.insert(0, self.follow(node.func.value))
        return union(*found)

    def _module(self, node: ast.Call, module: Expression) -> Ids:
        """A module runs on its inputs. One without parameters is but a step on the way."""
        fact = self._known.fact(node)
        if fact is None or fact.kind is Kind.MODULE:
            self._follow_all(arguments_of(node))
            if fact is not None and isinstance(node.func, ast.Attribute):
                return self.follow(node.func.value)  # `model.train()` is the model
            return ()
        found = self._inputs(node)
        name = name_of(module.site.node) or label_of(module.site, self._facts)
        if module.bytes == 0 or name in ("self", "super()"):
            return found
        known = [self.graph.values[each] for each in self.names.get(name, ())]
        value = known[0] if known and known[0].kind == "module" else self._outside(name, module)
        value.sites.append(self._site(node))
        self.graph.connect(found, value.id, self._site(node))
        return (value.id,)

    def _may_enter(self, callee: Callee) -> bool:
        return callee.node not in self._calling and len(self._calling) < MOST_CALLS

    def _enter(self, node: ast.Call, callee: Callee) -> Ids:
        """Walks through a function of the file where it is called."""
        given = [(name, self._value(argument)) for name, argument in callee.given(node)]
        outside, chunk, returned = self.names, self._chunk, self._returned
        self.names = {name: sources for name, sources in given if sources}
        self._chunk, self._returned = callee.chunk, []
        before = set(self.graph.values)
        self._calling.append(callee.node)
        self._body(callee.node.body)
        self._calling.pop()
        found = self._returned
        self.names, self._chunk, self._returned = outside, chunk, returned
        self._made = self.graph.values.keys() - before
        items = tuple(union(*each) for each in zip(*found, strict=False))
        self._items = node, items
        return union(*items)

    def _wait(self, node: ast.AST, wait: Synchronization, sources: Ids) -> None:
        """The host waits for a value of the device."""
        value = self._anonymous(node, "host", _HOST)
        value.anonymous = False
        self.graph.connect(sources, value.id, self._site(node), wait=wait)

    def _transfer(self, node: ast.Call, transfer: Transfer) -> Ids:
        """A value moves: what it is afterwards is another value."""
        self._follow_all(arguments_of(node))
        subject = transfer.subject.node
        sources = self.follow(subject)
        source, target = read(transfer.source), read(transfer.target)
        if source == target and (source.device is not None or source.symbol is not None):
            return sources
        if not sources:
            fact = self._known.fact(subject)
            sources = (self._anonymous(subject, transfer.kind.value, source, fact).id,)
        moved = self._anonymous(node, transfer.kind.value, target, self._known.fact(node))
        self.graph.connect(sources, moved.id, self._site(node), transfer)
        if transfer.discarded:
            moved.anonymous = False
            moved.thrown_away = True
            return ()
        name = name_of(subject)
        if transfer.in_place and name is not None:
            self.graph.give_name(moved, name, self._site(node))
            self.names[name] = (moved.id,)
        return (moved.id,)

    def _site(self, node: ast.AST) -> Site:
        return Site(self._facts.path, self._chunk, node)
