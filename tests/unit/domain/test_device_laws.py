"""Laws of the device lattice and of the join of values."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_lens.domain.atom import Atom
from device_lens.domain.device import (
    ANY_INDEX,
    CPU,
    UNKNOWN_DEVICE,
    Agreement,
    Device,
    SymbolicDevice,
    agree,
    flatten_device,
    join_devices,
    parse_device,
    same_everywhere,
    widen_device,
)
from device_lens.domain.guard import Guarded, choose
from device_lens.domain.heap import MISSING, moment
from device_lens.domain.join import flatten, join, join_blind
from device_lens.domain.journal import Journal
from device_lens.domain.similarity import similar
from device_lens.domain.values import NONE, Const, Tensor, TupleValue, Unknown

SYMBOLS = [SymbolicDevice("x"), SymbolicDevice("y")]
CONCRETE = [CPU, Device("cuda"), Device("cuda", 0), Device("cuda", 1), Device("mps")]
LEAVES = [*CONCRETE, *SYMBOLS, Device("cuda", ANY_INDEX), UNKNOWN_DEVICE]
ATOMS = [
    Atom("a is given", "flag", False),
    Atom("", "path"),
    Atom("", "path"),
    Atom("", "path"),
]
WORLDS = [dict(zip(ATOMS, values, strict=True)) for values in product([True, False], repeat=4)]
devices = st.sampled_from(LEAVES)
conditions = st.sampled_from([Guarded(atom, True, False) for atom in ATOMS])
device_trees = st.recursive(
    devices, lambda inner: st.builds(choose, conditions, inner, inner), max_leaves=5
)


def value_in(tree: Any, world: dict[Atom, bool]) -> Any:
    while isinstance(tree, Guarded):
        tree = tree.yes if world[tree.atom] else tree.no
    return tree


def at_most(left: Any, right: Any) -> bool:
    """Whether `right` claims no more than `left`: the same device, one of its type, or nothing."""
    if isinstance(right, Device) and right.index == ANY_INDEX:
        return isinstance(left, Device) and left.type == right.type
    return right is UNKNOWN_DEVICE or left is right or same_everywhere(left, right)


@given(devices, devices)
def test_agreement_is_symmetric(left: Any, right: Any) -> None:
    assert agree(left, right) is agree(right, left)


@given(devices)
def test_a_known_device_agrees_with_itself(device: Any) -> None:
    expected = Agreement.MAYBE if device is UNKNOWN_DEVICE else Agreement.SAME
    assert agree(device, device) is expected


@given(devices, devices, devices)
def test_sure_agreement_is_transitive(a: Any, b: Any, c: Any) -> None:
    if agree(a, b) is Agreement.SAME and agree(b, c) is Agreement.SAME:
        assert agree(a, c) is not Agreement.DIFFERENT


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("cpu", CPU),
        ("cuda", Device("cuda")),
        ("cuda:1", Device("cuda", 1)),
        ("gpu:0", None),
        ("cuda:", None),
        ("cuda:-1", None),
        ("", None),
    ],
)
def test_device_strings(text: str, device: Device | None) -> None:
    assert parse_device(text) is device


@given(conditions, device_trees, device_trees)
def test_the_join_claims_nothing_that_neither_side_says(
    condition: Any, left: Any, right: Any
) -> None:
    joined = join_devices(condition, left, right)
    for world in WORLDS:
        side = left if value_in(condition, world) else right
        assert at_most(value_in(side, world), value_in(joined, world))


@given(conditions, device_trees)
def test_the_join_is_idempotent(condition: Any, tree: Any) -> None:
    joined = join_devices(condition, tree, tree)
    for world in WORLDS:
        assert at_most(value_in(tree, world), value_in(joined, world))


@given(device_trees)
def test_widening_and_flattening_only_forget(tree: Any) -> None:
    for weaker in (widen_device(tree), flatten_device(tree)):
        for world in WORLDS:
            assert at_most(value_in(tree, world), value_in(weaker, world))


@pytest.mark.parametrize("count", [3, 9, 30])
def test_a_device_that_many_flags_may_replace_is_where_the_defaults_put_it(count: int) -> None:
    flags = [Atom(f"--flag{number} is given", "flag", False) for number in range(count)]
    tree: Any = Device("cuda")
    for flag in reversed(flags):
        tree = choose(Guarded(flag, True, False), UNKNOWN_DEVICE, tree)
    kept = widen_device(tree)
    assert value_in(kept, dict.fromkeys(flags, True)) is UNKNOWN_DEVICE
    usual = value_in(kept, dict.fromkeys(flags, False))
    assert usual is (Device("cuda") if count < 20 else UNKNOWN_DEVICE)


@given(device_trees)
def test_flattening_leaves_one_leaf(tree: Any) -> None:
    assert not isinstance(flatten_device(tree), Guarded)


values = st.one_of(
    st.builds(Tensor, device_trees),
    st.sampled_from([NONE, Const(1), Const("a"), Unknown("u")]),
    st.builds(lambda a, b: TupleValue((a, b)), st.builds(Tensor, devices), st.just(NONE)),
)


@given(values, values)
def test_a_blind_join_names_a_device_only_where_tensors_agree(left: Any, right: Any) -> None:
    joined = join_blind(left, right)
    if type(joined) is not Tensor:
        return
    for side in (left, right):
        if type(side) is not Tensor:
            continue
        for world in WORLDS:
            assert at_most(value_in(side.device, world), value_in(joined.device, world))


@given(devices, devices)
def test_of_unknowns_a_blind_join_names_a_device_only_where_they_agree(
    one: Any, other: Any
) -> None:
    left, right = Unknown("u", one), Unknown("v", other)
    joined = join_blind(left, right)
    assert at_most(one, joined.device)
    assert at_most(other, joined.device)
    assert similar(left, right) == (one == other)


@given(values)
def test_flatten_is_idempotent(value: Any) -> None:
    once = flatten(value)
    assert similar(once, flatten(once))


@given(conditions, values, values)
def test_the_join_of_values_keeps_each_side_under_its_condition(
    condition: Any, left: Any, right: Any
) -> None:
    joined = join(condition, left, right)
    if type(joined) is Tensor and type(left) is Tensor and type(right) is Tensor:
        for world in WORLDS:
            side = left if value_in(condition, world) else right
            claimed = value_in(joined.device, world)
            assert at_most(value_in(side.device, world), claimed)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=12))
def test_rolling_back_restores_the_table_and_tells_what_changed(
    writes: list[tuple[str, int]],
) -> None:
    journal, table = Journal(), {"a": 7}
    before = dict(table)
    mark = journal.mark()
    for key, value in writes:
        if value == 3:
            journal.delete(table, key)
        else:
            journal.write(table, key, value)
    after = dict(table)
    changed = journal.rollback(mark, moment())
    assert table == before
    assert len(journal.entries) == mark
    for _, key, value in changed.values():
        assert after.get(key, MISSING) == value
