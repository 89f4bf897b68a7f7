"""What a test has told of an unknown, on the side of it where it does not hold."""

from __future__ import annotations

from typing import Any

from device_lens.domain.atom import Atom
from device_lens.domain.device import is_unknown
from device_lens.domain.guard import Guarded, leaves, node
from device_lens.domain.similarity import TENSORS
from device_lens.domain.values import NONE, TRUE, Unknown

_EMPTY = "<nothing in it>"
"""Under this an unknown remembers that it is not true: None, zero, a text or container of nothing.
No program asks that of a tensor that it would make one of."""
_ITSELF = "<where it is not true>"
"""Under this an unknown remembers what it is there, so that it is the same each time."""


def beside_tensor(tree: Any, left: Any, right: Any) -> Any:
    """A tree of two values. Where one is a tensor and the other may be an unknown, as after
    `if x: x = torch.tensor(x)`, the unknown is what the conditions above it say that it is."""
    other = right if type(left) in TENSORS else left if type(right) in TENSORS else None
    asked = other is not None and any(map(_was_asked, leaves(other)))
    return _told(tree, frozenset()) if asked else tree


def _was_asked(value: Any) -> bool:
    return (
        type(value) is Unknown
        and value.truths is not None
        and not value.tensor_evidence
        and is_unknown(value.device)
    )


def _told(tree: Any, denied: frozenset[Atom]) -> Any:
    """A tree below conditions that do not hold."""
    if type(tree) is not Guarded:
        return _as_asked(tree, denied) if _was_asked(tree) else tree
    yes, no = _told(tree.yes, denied), _told(tree.no, denied | {tree.atom})
    return tree if yes is tree.yes and no is tree.no else node(tree.atom, yes, no)


def _as_asked(value: Unknown, denied: frozenset[Atom]) -> Any:
    """An unknown where some atoms do not hold."""
    truths = value.truths or {}
    if truths.get("not none") in denied:
        return NONE
    return _empty(value) if truths.get("truth") in denied else value


def _empty(value: Unknown) -> Unknown:
    parts = value.parts()
    found = parts.get(_ITSELF)
    if type(found) is not Unknown:
        found = parts[_ITSELF] = Unknown(value.label)
        found.truths = dict(value.truths or {})
        found.parts()[_EMPTY] = TRUE
    return found


def is_empty(value: Any) -> bool:
    """Whether a value is an unknown that is seen to have nothing in it."""
    return type(value) is Unknown and value.fields is not None and _EMPTY in value.fields


def lacks(name: str) -> bool:
    """Whether nothing that may be empty has an attribute of that name."""
    return name not in _OF_EMPTY


_OF_EMPTY = frozenset(
    name for kind in (list, tuple, dict, set, str, bytes, int, float, bool) for name in dir(kind)
)
