"""`t.numpy()` → `t.detach().cpu().numpy()`, with no more than what is needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.map_container import mapped
from device_lens.fixes.move_operand import appended
from device_lens.fixes.place import Place, grouped


def host_copy(
    subject: Place, container: str | None, detach: bool, move: bool, as_array: bool = False
) -> Fix | None:
    """Brings a tensor, or each tensor of a container, to where host code can read it; a tensor that
    is none for that code `as_array`. A tensor that a call is given twice is brought there twice."""
    suffix = _suffix(detach, move)
    if container is not None:
        new_text = mapped(subject, (container,), suffix)
        if new_text is None:
            return None
        edit = subject.replace(new_text)
        return Fix(f"Copy each to the host: {new_text}", Safety.SAFE, (edit,))
    suffix += ".numpy()" if as_array else ""
    edits = [appended(each, suffix) for each in (subject, *_twins(subject))]
    known = tuple(edit for edit in edits if edit is not None)
    if len(known) != len(edits):
        return None
    title = "Copy it to the host" if move else "Leave the graph"
    return Fix(f"{title}: {grouped(subject)}{suffix}", Safety.SAFE, known)


def _twins(argument: Place) -> Iterator[Place]:
    """The other arguments of a call that read the same variable: `x` and `x` of `np.dot(x, x)`."""
    call = argument.parent
    if not isinstance(call, ast.Call) or not isinstance(argument.node, ast.Name | ast.Attribute):
        return
    for each in (*call.args, *(keyword.value for keyword in call.keywords)):
        if each is not argument.node and ast.unparse(each) == ast.unparse(argument.node):
            yield argument.at(each)


def copy_items(items: list[Place], detach: bool, move: bool) -> Fix | None:
    """`[step, loss]` → `[step, loss.cpu()]`, for what is written out in a list, tuple or dict."""
    suffix = _suffix(detach, move)
    edits = [appended(item, suffix) for item in items]
    known = tuple(edit for edit in edits if edit is not None)
    if not items or len(known) != len(items):
        return None
    texts = ", ".join(f"{grouped(item)}{suffix}" for item in items)
    return Fix(f"Copy to the host: {texts}", Safety.SAFE, known)


def _suffix(detach: bool, move: bool) -> str:
    return (".detach()" if detach else "") + (".cpu()" if move else "")
