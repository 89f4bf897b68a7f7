"""Groups of files: complete, without overlap, with the scripts that reach into them."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from device_lens.ide.plan import SLICE, plan, relevant
from device_lens.interpreter.fuel import Extent

FILES = [f"f{number}.py" for number in range(8)]
GRAPHS = st.dictionaries(
    st.sampled_from(FILES), st.frozensets(st.sampled_from(FILES), max_size=3), max_size=8
)
LINES = 300
"""Of each file."""


def count(paths: Iterable[str]) -> int:
    return LINES * len(list(paths))


@given(GRAPHS, st.sets(st.sampled_from(FILES)), st.sets(st.sampled_from(FILES)))
def test_every_target_is_in_one_group(
    imports: dict[str, frozenset[str]], targets: set[str], scripts: set[str]
) -> None:
    groups = plan(sorted(targets), imports, scripts, count)
    found = [path for group in groups for path in group.targets]
    assert sorted(found) == sorted(targets)
    for group in groups:
        assert set(group.entries) <= scripts - set(group.targets)


def test_scripts_that_reach_a_group_come_with_it() -> None:
    imports = {"train.py": frozenset({"net.py"}), "net.py": frozenset({"layers.py"})}
    (group,) = plan(["layers.py"], imports, ["train.py", "other.py"], count)
    assert group.entries == ("train.py",)
    assert group.extent == Extent(thousands=1, scripts=("train.py",), whole=True)


def test_files_apart_are_groups_apart() -> None:
    assert len(plan(["a.py", "b.py"], {}, [], count)) == 2


def test_large_groups_are_cut() -> None:
    paths = [f"{number:03}.py" for number in range(SLICE + 5)]
    imports = {path: frozenset({paths[0]}) for path in paths[1:]}
    groups = plan(paths, imports, paths[1:], count)
    assert [len(group.targets) for group in groups] == [SLICE, 5]
    assert {group.extent for group in groups} == {Extent(32, tuple(paths[1:]), whole=False)}


def test_a_tensor_reaches_importers_and_imports() -> None:
    imports = {"a": frozenset({"b"}), "b": frozenset({"c"}), "x": frozenset({"y"})}
    assert relevant(imports, ["b"]) == {"a", "b", "c"}
