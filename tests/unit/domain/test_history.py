"""The states at marked moments of a run can be had again once all of it is undone."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from device_lens.domain.heap import MISSING, Dated, moment
from device_lens.domain.history import History
from device_lens.domain.journal import Journal

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["make", "write", "write", "write", "delete", "branch", "undo", "mark"]),
        st.integers(0, 5),
        st.sampled_from("abc"),
    ),
    max_size=60,
)


@given(STEPS)
def test_a_marked_state_is_what_it_was(steps: list[tuple[str, int, str]]) -> None:
    journal, history = Journal(), History()
    tables: list[dict[Any, Any]] = [Dated(), {}]
    journal.log = history.changes
    branches: list[int] = []
    moments: list[tuple[int, int]] = []
    known: list[list[tuple[dict[Any, Any], dict[Any, Any]]]] = []
    for number, (step, at, key) in enumerate(steps):
        table = tables[at % len(tables)]
        if step == "make":
            tables.append(Dated())
        elif step == "write":
            journal.write(table, key, number)
        elif step == "delete":
            journal.delete(table, key)
        elif step == "branch":
            branches.append(journal.mark())
        elif step == "undo" and branches:
            journal.undo(branches.pop())
        elif step == "mark":
            moments.append((history.mark(), moment()))
            known.append([(each, dict(each)) for each in tables])
    journal.undo(0)
    journal.log = None
    for state, then in zip(history.states(moments), known, strict=True):
        present = journal.swap(state)
        assert [dict(table) for table, _ in then] == [kept for _, kept in then]
        journal.swap(present)
        assert MISSING not in [value for table in tables for value in table.values()]


@given(STEPS)
def test_what_no_marked_moment_knows_is_not_kept(steps: list[tuple[str, int, str]]) -> None:
    journal, history = Journal(), History()
    journal.log = history.changes
    history.mark()
    young = Dated()
    for number, (_, _, key) in enumerate(steps):
        journal.write(young, key, number)
    history.mark()
    assert history.changes == []
