"""`t.numpy()` → `t.detach().cpu().numpy()`, with no more than what is needed."""

from __future__ import annotations

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.map_container import mapped
from device_lens.fixes.move_operand import appended
from device_lens.fixes.place import Place, grouped


def host_copy(
    subject: Place, container: str | None, detach: bool, move: bool, as_array: bool = False
) -> Fix | None:
    """Brings a tensor, or each tensor of a container, to where host code can read it; a tensor that
    is none for that code `as_array`."""
    suffix = _suffix(detach, move)
    if container is not None:
        new_text = mapped(subject, (container,), suffix)
        if new_text is None:
            return None
        edit = subject.replace(new_text)
        return Fix(f"Copy each to the host: {new_text}", Safety.SAFE, (edit,))
    suffix += ".numpy()" if as_array else ""
    appending = appended(subject, suffix)
    if appending is None:
        return None
    title = "Copy it to the host" if move else "Leave the graph"
    return Fix(f"{title}: {grouped(subject)}{suffix}", Safety.SAFE, (appending,))


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
