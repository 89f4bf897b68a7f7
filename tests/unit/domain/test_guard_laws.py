"""Laws of decision trees and path conditions: they mean what their cases mean."""

from __future__ import annotations

from itertools import product
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.domain import guard
from device_lens.domain.atom import Atom
from device_lens.domain.condition import (
    conjunction,
    disjunction,
    exclude,
    forced,
    implies,
    negation,
    settled,
)
from device_lens.domain.device import UNKNOWN_DEVICE, Device
from device_lens.domain.guard import (
    MOST_CASES,
    Guarded,
    assume,
    assume_all,
    atoms,
    cases,
    choose,
    combine,
    leaves,
    primary,
)
from device_lens.domain.join import bounded
from device_lens.domain.path import ALWAYS, Path, without_unnamed
from device_lens.domain.values import Const, Unknown

ATOMS = [
    Atom("a is given", "flag", False),
    Atom("", "path"),
    Atom("torch.cuda.is_available()", "accelerator", True),
    Atom("", "path"),
]
WORLDS = [dict(zip(ATOMS, values, strict=True)) for values in product([True, False], repeat=4)]


def trees(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Trees made by `choose`, so that they are ordered and reduced."""
    literal = st.sampled_from(ATOMS).map(lambda atom: Guarded(atom, True, False))
    return st.recursive(leaf, lambda inner: st.builds(choose, literal, inner, inner), max_leaves=6)


NUMBERS = trees(st.integers(0, 3))
CONDITIONS = trees(st.booleans())


def value_in(tree: Any, world: dict[Atom, bool]) -> Any:
    """What the tree is in one world, found without the code under test."""
    while isinstance(tree, Guarded):
        tree = tree.yes if world[tree.atom] else tree.no
    return tree


@given(CONDITIONS, NUMBERS, NUMBERS)
def test_choose_means_if(condition: Any, yes: Any, no: Any) -> None:
    tree = choose(condition, yes, no)
    for world in WORLDS:
        side = yes if value_in(condition, world) else no
        assert value_in(tree, world) == value_in(side, world)


@given(NUMBERS, NUMBERS)
def test_combine_works_leaf_by_leaf(left: Any, right: Any) -> None:
    total = combine(lambda a, b: a + b, left, right)
    for world in WORLDS:
        assert value_in(total, world) == value_in(left, world) + value_in(right, world)


@given(NUMBERS, CONDITIONS)
def test_combine_takes_functions_that_give_trees(tree: Any, condition: Any) -> None:
    found = combine(lambda n: choose(condition, n, -1), tree)
    for world in WORLDS:
        expected = value_in(tree, world) if value_in(condition, world) else -1
        assert value_in(found, world) == expected


@given(NUMBERS, NUMBERS)
def test_trees_that_decide_alike_are_equal(left: Any, right: Any) -> None:
    alike = all(value_in(left, world) == value_in(right, world) for world in WORLDS)
    assert (left == right) == alike
    if alike:
        assert hash(left) == hash(right)


@given(NUMBERS)
def test_trees_are_ordered_and_reduced(tree: Any) -> None:
    def check(node: Any, last: int) -> None:
        if isinstance(node, Guarded):
            assert node.atom.order > last
            assert node.yes != node.no
            check(node.yes, node.atom.order)
            check(node.no, node.atom.order)

    check(tree, -1)


@given(CONDITIONS, CONDITIONS)
def test_connectives_are_those_of_logic(left: Any, right: Any) -> None:
    for world in WORLDS:
        a, b = value_in(left, world), value_in(right, world)
        assert value_in(conjunction(left, right), world) == (a and b)
        assert value_in(disjunction(left, right), world) == (a or b)
        assert value_in(negation(left), world) == (not a)


@given(CONDITIONS, CONDITIONS)
def test_what_excludes_and_implies_holds_in_every_world(left: Any, right: Any) -> None:
    both = [(value_in(left, world), value_in(right, world)) for world in WORLDS]
    assert exclude(left, right) == (not any(a and b for a, b in both))
    assert implies(left, right) == all(b or not a for a, b in both)


@given(NUMBERS, st.sampled_from(ATOMS), st.booleans())
def test_assume_fixes_one_atom(tree: Any, atom: Atom, value: bool) -> None:
    fixed = assume(tree, atom, value)
    assert atom not in atoms(fixed)
    for world in WORLDS:
        if world[atom] == value:
            assert value_in(fixed, world) == value_in(tree, world)


@given(NUMBERS)
def test_cases_cover_the_tree(tree: Any) -> None:
    found = list(cases(tree))
    assert [leaf for _, leaf in found] == list(leaves(tree))
    for literals, leaf in found:
        assert assume_all(tree, literals) == leaf


@given(CONDITIONS)
def test_forced_literals_hold_wherever_the_condition_does(condition: Any) -> None:
    for atom, value in forced(condition):
        for world in WORLDS:
            if value_in(condition, world):
                assert world[atom] == value


@given(NUMBERS)
def test_the_primary_case_takes_defaults(tree: Any) -> None:
    found = primary(tree)
    assert all(atom.default is None for atom in atoms(found))
    for world in WORLDS:
        if all(atom.default in (None, value) for atom, value in world.items()):
            assert value_in(found, world) == value_in(tree, world)


@given(CONDITIONS)
def test_dropping_unnamed_atoms_only_weakens(condition: Any) -> None:
    weaker = without_unnamed(condition)
    assert all(atom.named for atom in atoms(weaker))
    for world in WORLDS:
        if value_in(condition, world):
            assert value_in(weaker, world)


def holds(path: Path, world: dict[Atom, bool]) -> bool:
    literals = all(world[atom] == value for atom, value in path.literals)
    mixed = all(value_in(each, world) for each in path.mixed)
    return literals and mixed and bool(value_in(path.named, world))


@given(CONDITIONS, CONDITIONS)
def test_a_path_is_never_stronger_than_what_was_assumed(first: Any, second: Any) -> None:
    path = ALWAYS.assume(first).assume(second)
    for world in WORLDS:
        if value_in(first, world) and value_in(second, world):
            assert holds(path, world)


@given(CONDITIONS, CONDITIONS)
def test_paths_that_meet_keep_what_both_hold(first: Any, second: Any) -> None:
    left, right = ALWAYS.assume(first), ALWAYS.assume(second)
    met = left.meet(right)
    for world in WORLDS:
        if holds(left, world) or holds(right, world):
            assert holds(met, world)


@given(CONDITIONS, CONDITIONS)
def test_a_decision_is_true_of_every_world_on_the_path(first: Any, second: Any) -> None:
    path = ALWAYS.assume(first)
    decided = path.decide(second)
    for world in WORLDS:
        if holds(path, world) and value_in(first, world):
            assert value_in(decided, world) == value_in(second, world)


@given(CONDITIONS, CONDITIONS)
def test_paths_that_exclude_each_other_share_no_world(first: Any, second: Any) -> None:
    left, right = ALWAYS.assume(first), ALWAYS.assume(second)
    if left.excludes(right):
        assert not any(holds(left, world) and holds(right, world) for world in WORLDS)


@given(CONDITIONS, CONDITIONS)
def test_what_sets_a_path_apart_is_what_holds_on_it(first: Any, second: Any) -> None:
    if exclude(first, second):
        return
    base = ALWAYS.assume(first)
    path = base.assume(second)
    for world in WORLDS:
        if holds(base, world):
            assert bool(value_in(path.condition(base), world)) is holds(path, world)


def test_what_is_left_of_a_flag_excludes_what_it_was_asked_for() -> None:
    flag = Atom("--model is left at its default", "flag", True)
    first, second = Atom(""), Atom("")
    asked = [
        choose(Guarded(flag, True, False), False, Guarded(a, True, False)) for a in (first, second)
    ]
    one = ALWAYS.assume(asked[0])
    rest = ALWAYS.assume(negation(asked[0]))
    other, last = rest.assume(asked[1]), rest.assume(negation(asked[1]))
    for left, right in ((one, other), (one, last), (other, last)):
        assert left.excludes(right)
    assert rest.decide(asked[0]) is False


def test_atoms_that_programs_share_have_one_order_and_come_first() -> None:
    own = Atom("", "path")
    later, earlier = Atom("CUDA is there", shared=True), Atom("MPS is there", shared=True)
    assert max(later.order, earlier.order) < own.order
    assert later.order != earlier.order
    assert Atom("CUDA is there", shared=True).order == later.order


@pytest.mark.parametrize("most", [16, 256, 9_999])
def test_conditions_cost_their_nodes_and_not_their_ways(most: int) -> None:
    """Each of these pairs doubles the ways through the whole: 2 to the power of 60 of them. So it
    is where the table of shared nodes begins anew in between."""
    every: Any = True
    with patch.object(guard, "MOST_SHARED_NODES", most):
        for _ in range(60):
            every = conjunction(every, disjunction(*(Guarded(Atom(""), True, False) for _ in "ab")))
    assert conjunction(every, negation(every)) is False
    assert disjunction(every, negation(every)) is True
    assert exclude(every, negation(every))
    assert implies(every, every.yes)  # what the other pairs say
    assert not implies(every.yes, every)


DEVICES = trees(st.sampled_from([Device("cpu"), Device("cuda", 0), UNKNOWN_DEVICE]))


@given(st.tuples(CONDITIONS, CONDITIONS) | st.tuples(DEVICES, DEVICES), st.sampled_from([0, 9_999]))
def test_equal_trees_are_those_that_mean_the_same(pair: tuple[Any, Any], most: int) -> None:
    """Also where one was made before the table of shared nodes has begun anew."""
    left, right = pair
    same = all(value_in(left, world) == value_in(right, world) for world in WORLDS)
    assert (left == right) is same
    copied = combine(lambda leaf: leaf, left)
    with patch.object(guard, "MOST_SHARED_NODES", most):
        again = combine(lambda leaf: leaf, right)
        assert (copied == again) is same


@given(NUMBERS)
def test_size_counts_leaves(tree: Any) -> None:
    assert (tree.size if isinstance(tree, Guarded) else 1) == len(list(leaves(tree)))


def ways(count: int) -> Any:
    """A tree in which every way through that many atoms has a leaf of its own."""
    tree: Any = Const(0)
    for number in range(count):
        step = choose(Guarded(Atom("", "path"), True, False), Const(1 << number), Const(0))
        tree = combine(lambda a, b: Const(a.value + b.value), tree, step)
    return tree


@given(st.integers(0, 9))
def test_values_have_a_bounded_number_of_cases(count: int) -> None:
    tree = ways(count)
    found = bounded(tree)
    if 1 << count <= MOST_CASES:
        assert found is tree
    else:
        assert isinstance(found, Unknown)


@given(st.integers(0, 9))
def test_conditions_have_a_bounded_number_of_cases(count: int) -> None:
    condition = combine(lambda leaf: leaf.value.bit_count() % 2 == 0, ways(count))
    found = settled(condition)
    if 1 << count <= MOST_CASES:
        assert found is condition
    else:
        assert found.depth == 1
        assert not found.atom.named


@given(st.lists(st.integers(0, 200), min_size=2, unique=True))
def test_atoms_come_in_the_order_in_which_they_came_up(chosen: list[int]) -> None:
    """Where in memory they are must not decide what a tree with others in their place is."""
    made = [Atom("", "path") for _ in range(201)]
    tree: Any = 0
    for number in chosen:
        tree = Guarded(made[number], tree, number)
    assert atoms(tree) == [made[number] for number in sorted(chosen)]
