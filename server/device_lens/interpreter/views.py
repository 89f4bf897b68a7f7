"""Views of dicts that have a name, `keys = table.keys()`: they give what the dict has by the time
when somebody reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_lens.domain.heap import DictObject, ListObject
from device_lens.domain.values import TupleValue
from device_lens.models import registry
from device_lens.models.call import Call
from device_lens.models.python.mappings import VIEWED

if TYPE_CHECKING:
    from device_lens.interpreter.frames import Frame
    from device_lens.interpreter.machine import Machine


def present(machine: Machine, view: ListObject, node: Any, frame: Frame) -> ListObject:
    """A list as it is now, if it is a view."""
    viewed = view.fields.get(VIEWED)
    model = registry.function(f"dict.{view.kind}") if type(viewed) is DictObject else None
    if model is None:
        return view
    call = Call(f"dict.{view.kind}", viewed, (), {}, machine.site(node, frame), machine)
    now = model(call)
    return view if _is_as_before(view, now) else now


def _is_as_before(view: ListObject, now: ListObject) -> bool:
    if not _is_same(now.rest, view.rest):
        return False
    return len(now.items) == len(view.items) and all(map(_is_same, now.items, view.items))


def _is_same(one: Any, other: Any) -> bool:
    if type(one) is TupleValue is type(other) and len(one.items) == len(other.items):
        return all(map(_is_same, one.items, other.items))
    return one is other or bool(one == other)
