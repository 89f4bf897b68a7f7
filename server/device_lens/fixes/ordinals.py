"""Renumbers a device that `CUDA_VISIBLE_DEVICES` hides: with `"2,3"`, GPU 3 is `cuda:1`."""

from __future__ import annotations

import ast

from device_lens.fixes.edit import Edit, Fix, Safety
from device_lens.fixes.place import Place


def renumber(place: Place, ordinal: int, visible: tuple[str, ...]) -> Fix | None:
    """`place` names the device `ordinal` as it is numbered without the mask."""
    if str(ordinal) not in visible:
        return None
    new = visible.index(str(ordinal))
    for node in ast.walk(place.node):
        edit = _edit(place.at(node), ordinal, new)
        if edit is not None:
            return Fix(f"Renumber it: cuda:{new}", Safety.UNSAFE, (edit,))
    return None


def _edit(place: Place, ordinal: int, new: int) -> Edit | None:
    node = place.node
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, str) and node.value == f"cuda:{ordinal}":
        return place.replace(place.text.replace(f"cuda:{ordinal}", f"cuda:{new}"))
    if type(node.value) is int and node.value == ordinal:
        return place.replace(str(new))
    return None
