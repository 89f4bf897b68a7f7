"""Which files are analysed together: groups that do not depend on how many processes there are.

Files that import each other, directly or not, belong together; what is still large is cut into
slices in order of path. With each group go the scripts that reach into it, so that knowledge flows
from callers wherever they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from device_lens.interpreter.fuel import Extent

SLICE = 100
"""Files of a group."""
MOST_SCRIPTS = 40
"""Scripts outside a group that run before it."""

Imports = Mapping[str, frozenset[str]]
"""The files that each file imports directly."""


@dataclass(frozen=True, slots=True)
class Group:
    """Files to analyse together, and the scripts that run before them. `left_out` counts further
    scripts that reach into the group; `component` is the first of all files that import each
    other, directly or not, of which the group is a part, `extent` tells how large they are."""

    targets: tuple[str, ...]
    entries: tuple[str, ...]
    extent: Extent
    left_out: int = 0
    component: str = ""


def plan(
    targets: Sequence[str],
    imports: Imports,
    scripts: Iterable[str],
    lines: Callable[[Iterable[str]], int],
) -> list[Group]:
    """The groups of `targets`, those of one component one after the other. `lines` counts those of
    files."""
    wanted = frozenset(targets)
    known = frozenset(scripts)
    importers = reverse(imports)
    groups: list[Group] = []
    for component in _components(sorted(wanted), imports, importers):
        files = [path for path in component if path in wanted]
        own = tuple(path for path in component if path in known)
        extent = Extent(lines(component) // 1_000 + 1, own, len(files) <= SLICE)
        for start in range(0, len(files), SLICE):
            few = files[start : start + SLICE]
            groups.append(_group(few, importers, known, component[0], extent))
    return sorted(groups, key=lambda group: (group.component, group.targets))


def relevant(imports: Imports, using: Iterable[str]) -> frozenset[str]:
    """The files that a tensor can reach: those that use tensors, what they import, and who
    imports them."""
    above = _reached(using, reverse(imports))
    return frozenset(_reached(above, imports))


def reverse(imports: Imports) -> dict[str, frozenset[str]]:
    """The files that import each file directly."""
    found: dict[str, set[str]] = {}
    for path, targets in imports.items():
        for target in targets:
            found.setdefault(target, set()).add(path)
    return {path: frozenset(each) for path, each in found.items()}


def _group(
    files: list[str],
    importers: Imports,
    scripts: frozenset[str],
    component: str,
    extent: Extent,
) -> Group:
    own = frozenset(files)
    callers = [path for path in _reached(files, importers) if path in scripts and path not in own]
    left_out = max(len(callers) - MOST_SCRIPTS, 0)
    return Group(tuple(files), tuple(callers[:MOST_SCRIPTS]), extent, left_out, component)


def _components(paths: Sequence[str], imports: Imports, importers: Imports) -> list[list[str]]:
    seen: set[str] = set()
    found: list[list[str]] = []
    for path in paths:
        if path in seen:
            continue
        component = {path}
        queue = deque(component)
        while queue:
            current = queue.popleft()
            for other in imports.get(current, frozenset()) | importers.get(current, frozenset()):
                if other not in component:
                    component.add(other)
                    queue.append(other)
        seen |= component
        found.append(sorted(component))
    return found


def _reached(start: Iterable[str], edges: Imports) -> list[str]:
    """What can be reached, the nearest first, the start included."""
    seen = dict.fromkeys(start)
    queue = deque(seen)
    while queue:
        for following in sorted(edges.get(queue.popleft(), ())):
            if following not in seen:
                seen[following] = None
                queue.append(following)
    return list(seen)
