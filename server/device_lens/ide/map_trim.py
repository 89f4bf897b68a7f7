"""Keeps a device map readable: what nothing flows through goes, then what only passes values on."""

from __future__ import annotations

from collections.abc import Collection

from device_lens.ide.map_graph import Graph, Value

MOST_VALUES = 40


def trim(graph: Graph, marked: Collection[int]) -> int:
    """Leaves at most `MOST_VALUES` values; `marked` ones and those that move are the last to go.
    Returns how many were left out for want of room."""
    _drop_idle(graph, marked)
    before = len(graph.values)
    kept = {*marked, *_moving(graph)}
    while len(graph.values) > MOST_VALUES:
        passing = [value for value in graph.values.values() if value.id not in kept]
        if not passing:
            break
        graph.bypass(min(passing, key=lambda value: _busyness(graph, value)).id)
    for value in list(graph.values)[MOST_VALUES:]:
        graph.remove(value)
    return before - len(graph.values)


def _drop_idle(graph: Graph, marked: Collection[int]) -> None:
    """A value that nothing flows into or out of takes no part, unless there is nothing else."""
    busy = {end for flow in graph.flows for end in (flow.source, flow.target)} | {*marked}
    if busy:
        for value in [each for each in graph.values if each not in busy]:
            graph.remove(value)


def _moving(graph: Graph) -> set[int]:
    ends = ((each.source, each.target) for each in graph.flows if not each.is_plain)
    return {end for both in ends for end in both}


def _busyness(graph: Graph, value: Value) -> tuple[int, bool, int]:
    """How much of the picture hangs on a value: lines that leaving it out adds, modules later."""
    before = sum(1 for _ in graph.into(value.id))
    after = sum(1 for _ in graph.out_of(value.id))
    return before * after - before - after, value.kind == "module", value.id
