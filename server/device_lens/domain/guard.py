"""Decision trees over guards: values that depend on conditions the analysis cannot decide.

A tree is either a leaf (any value) or a `Guarded` node: under `atom` the tree `yes`, else `no`.
Trees are ordered by their atoms and reduced, so two trees that decide alike are equal.
A *condition* is a tree whose leaves are `True` and `False`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from device_lens.domain.atom import Atom

MAX_DEPTH = 6
"""Atoms on one path of a tree; deeper trees collapse, since their leaves multiply."""

MOST_CASES = 64
"""Leaves of a tree that are told apart: what two trees give together may have one for each pair."""

MOST_SHARED_NODES = 8_192
"""Nodes of which there is one object each; past that the next ones are made anew."""

_NODES: dict[tuple[int, int, int], Guarded] = {}
"""Nodes by the identities of their parts, which they keep alive. What is the same object need not
be compared, and costs its memory once."""
_generation = 1
"""How often the table of these has begun anew."""
_SINGLE: set[type] = {bool}
"""The types of leaves that are equal only to themselves."""
_OF_OTHERS = -1
"""The generation of trees that have leaves of other types."""


class Guarded:
    """A decision: `yes` where `atom` holds, else `no`. `depth` counts the atoms on its longest
    path, `size` its leaves; it is a condition where all leaves are truth values. No two of one
    `generation` above 0 are equal."""

    __slots__ = (
        "_atoms",
        "_hash",
        "atom",
        "depth",
        "generation",
        "is_condition",
        "no",
        "size",
        "yes",
    )

    def __init__(self, atom: Atom, yes: Any, no: Any) -> None:
        self.atom = atom
        self.yes = yes
        self.no = no
        if type(yes) is Guarded:
            left, size, so_far = yes.depth, yes.size, yes.is_condition
        else:
            left, size, so_far = 0, 1, yes is True or yes is False
        if type(no) is Guarded:
            right, more = no.depth, no.size
            so_far = so_far and no.is_condition
        else:
            right, more = 0, 1
            so_far = so_far and (no is True or no is False)
        self.depth: int = 1 + (left if left > right else right)
        self.size: int = size + more
        self.is_condition: bool = so_far
        self.generation = 0
        self._hash: int | None = None
        self._atoms: frozenset[Atom] | None = None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not Guarded or self.atom is not other.atom:
            return False
        if self.generation > 0 and self.generation == other.generation:
            return False
        return bool(self.depth == other.depth and self.yes == other.yes and self.no == other.no)

    def __hash__(self) -> int:
        found = self._hash
        if found is None:
            found = hash((id(self.atom), _leaf_hash(self.yes), _leaf_hash(self.no)))
            self._hash = found
        return found

    def __repr__(self) -> str:
        return f"({self.atom!r} ? {self.yes!r} : {self.no!r})"


Literals = tuple[tuple[Atom, bool], ...]
"""A conjunction: atoms with the value that each must have."""


def _leaf_hash(tree: Any) -> int:
    try:
        return hash(tree)
    except TypeError:
        return id(tree)


def depth(tree: Any) -> int:
    return tree.depth if type(tree) is Guarded else 0


def single(kind: type) -> None:
    """Takes note that the leaves of a type are equal only to themselves, and cost little: trees of
    nothing else are the same object where they are equal."""
    _SINGLE.add(kind)


def node(atom: Atom, yes: Any, no: Any) -> Any:
    """A reduced node; `atom` must precede every atom of `yes` and `no`."""
    if yes is no:
        return yes
    if len(_NODES) >= MOST_SHARED_NODES:
        _begin_anew()
    left = _shared(yes, None)
    right = None if left is None else _shared(no, None)
    if left is not None and right is not None:
        return left if left is right else _shared_node(atom, left, right)
    if yes == no:
        return yes
    made = Guarded(atom, yes, no)
    made.generation = _OF_OTHERS
    return made


def _begin_anew() -> None:
    global _generation
    _NODES.clear()
    _generation += 1


def _shared(tree: Any, known: dict[int, Any] | None) -> Any:
    """The one object for what equals a tree; None where its leaves are none of which that holds.
    `known` has the answers for parts: a tree has many more ways than parts."""
    if type(tree) is not Guarded:
        return tree if type(tree) in _SINGLE else None
    if tree.generation == _generation:
        return tree
    if tree.generation == _OF_OTHERS:
        return None
    known = {} if known is None else known
    if id(tree) not in known:
        yes = _shared(tree.yes, known)
        no = None if yes is None else _shared(tree.no, known)
        made = None if no is None else yes if yes is no else _shared_node(tree.atom, yes, no)
        known[id(tree)] = made
    return known[id(tree)]


def _shared_node(atom: Atom, yes: Any, no: Any) -> Guarded:
    key = (id(atom), id(yes), id(no))
    found = _NODES.get(key)
    if found is None:
        found = _NODES[key] = Guarded(atom, yes, no)
        found.generation = _generation
    return found


def assume(tree: Any, atom: Atom, value: bool) -> Any:
    """`tree` where `atom` has `value`."""
    if type(tree) is not Guarded or tree.atom.order > atom.order:
        return tree
    if tree.atom is atom:
        return tree.yes if value else tree.no
    yes, no = assume(tree.yes, atom, value), assume(tree.no, atom, value)
    return tree if yes is tree.yes and no is tree.no else node(tree.atom, yes, no)


def assume_all(tree: Any, literals: Literals) -> Any:
    """`tree` where every literal holds."""
    if type(tree) is not Guarded or not literals:
        return tree
    return assume_known(tree, dict(literals))


def assume_known(tree: Any, known: dict[Atom, bool]) -> Any:
    """`tree` where every one of some atoms has its value."""
    if type(tree) is not Guarded or known.keys().isdisjoint(atom_set(tree)):
        return tree
    return _assumed(tree, known)


def _assumed(tree: Any, known: dict[Atom, bool]) -> Any:
    if type(tree) is not Guarded:
        return tree
    value = known.get(tree.atom)
    if value is not None:
        return _assumed(tree.yes if value else tree.no, known)
    yes, no = _assumed(tree.yes, known), _assumed(tree.no, known)
    return tree if yes is tree.yes and no is tree.no else node(tree.atom, yes, no)


def combine(function: Callable[..., Any], *trees: Any) -> Any:
    """`function` applied leaf by leaf over trees, keeping their correlations. It may itself give a
    tree."""
    if len(trees) == 1:
        return _mapped(function, trees[0])
    first: Atom | None = None
    for tree in trees:
        if type(tree) is Guarded and (first is None or tree.atom.order < first.order):
            first = tree.atom
    if first is None:
        return function(*trees)
    yes = combine(function, *[side(t, first, True) for t in trees])
    no = combine(function, *[side(t, first, False) for t in trees])
    return _decided(first, yes, no)


def _mapped(function: Callable[..., Any], tree: Any) -> Any:
    if type(tree) is not Guarded:
        return function(tree)
    yes, no = _mapped(function, tree.yes), _mapped(function, tree.no)
    return _decided(tree.atom, yes, no)


def _decided(atom: Atom, yes: Any, no: Any) -> Any:
    """A node over trees that leaf functions made, whose atoms may precede its own."""
    if _precedes(yes, atom) or _precedes(no, atom):
        return choose(node(atom, True, False), yes, no)
    return node(atom, yes, no)


def _precedes(tree: Any, atom: Atom) -> bool:
    """Whether a tree that a leaf function made starts at or before `atom`."""
    return type(tree) is Guarded and tree.atom.order <= atom.order


def undecided(text: str = "") -> Guarded:
    """A condition that nothing decides: another one at each call."""
    return Guarded(Atom(text), True, False)


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """The tree that is `yes` where `condition` holds and `no` elsewhere."""
    if type(condition) is not Guarded:
        return yes if condition else no
    if yes is no:
        return yes
    if type(yes) is not Guarded and type(no) is not Guarded and condition.depth == 1:
        first = condition.atom
        return node(first, yes, no) if condition.yes is True else node(first, no, yes)
    first = condition.atom
    if type(yes) is Guarded and yes.atom.order < first.order:
        first = yes.atom
    if type(no) is Guarded and no.atom.order < first.order:
        first = no.atom
    if condition.atom is first:
        holds, fails = condition.yes, condition.no
    else:
        holds = fails = condition
    return node(
        first,
        choose(holds, side(yes, first, True), side(no, first, True)),
        choose(fails, side(yes, first, False), side(no, first, False)),
    )


def side(tree: Any, atom: Atom, value: bool) -> Any:
    """`tree` where `atom`, which none of its atoms precedes, has `value`."""
    if type(tree) is Guarded and tree.atom is atom:
        return tree.yes if value else tree.no
    return tree


def cases(tree: Any) -> Iterator[tuple[Literals, Any]]:
    """Every path of a tree with its leaf."""
    if type(tree) is not Guarded:
        yield (), tree
        return
    for value, branch in ((True, tree.yes), (False, tree.no)):
        for literals, leaf in cases(branch):
            yield ((tree.atom, value), *literals), leaf


def leaves(tree: Any) -> Sequence[Any]:
    """What a tree decides between, a leaf as often as it stands in it."""
    if type(tree) is not Guarded:
        return (tree,)
    found: list[Any] = []
    pending = [tree.no, tree.yes]
    while pending:
        part = pending.pop()
        if type(part) is Guarded:
            pending += part.no, part.yes
        else:
            found.append(part)
    return found


def atom_set(tree: Any) -> frozenset[Atom]:
    """The atoms of a tree, kept with it, but not with each of its parts."""
    if type(tree) is not Guarded:
        return _NO_ATOMS
    known = tree._atoms
    if known is None:
        found: set[Atom] = set()
        pending: list[Any] = [tree]
        while pending:
            part = pending.pop()
            if type(part) is Guarded:
                found.add(part.atom)
                pending += part.yes, part.no
        known = tree._atoms = frozenset(found)
    return known


_NO_ATOMS: frozenset[Atom] = frozenset()


def atoms(tree: Any) -> list[Atom]:
    """The atoms of a tree, in the order in which they came up: what is made anew for each of them
    comes up in that order too."""
    return sorted(atom_set(tree), key=came_up)


def came_up(atom: Atom) -> int:
    return atom.order


def made_since(tree: Any, start: int) -> list[Atom]:
    """The atoms of a tree that came after a moment and are none of a reader's."""
    return [atom for atom in atoms(tree) if atom.order > start and not atom.named]


def renamed(tree: Any, names: dict[Atom, Atom]) -> Any:
    """The tree with other atoms in place of some."""
    if type(tree) is not Guarded:
        return tree
    atom = names.get(tree.atom, tree.atom)
    yes, no = renamed(tree.yes, names), renamed(tree.no, names)
    return choose(Guarded(atom, True, False), yes, no)


def primary(tree: Any) -> Any:
    """The part of a tree that the primary case selects: atoms with a default have it."""
    if type(tree) is not Guarded:
        return tree
    if tree.atom.default is not None:
        return primary(tree.yes if tree.atom.default else tree.no)
    return node(tree.atom, primary(tree.yes), primary(tree.no))
