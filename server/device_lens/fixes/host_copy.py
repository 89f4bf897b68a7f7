"""`t.numpy()` → `t.detach().cpu().numpy()`, with no more than what is needed."""

from __future__ import annotations

from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.map_container import mapped
from device_lens.fixes.move_operand import appended
from device_lens.fixes.place import Place, grouped


def host_copy(subject: Place, container: str | None, detach: bool, move: bool) -> Fix | None:
    """Brings a tensor, or each tensor of a container, to where host code can read it."""
    suffix = (".detach()" if detach else "") + (".cpu()" if move else "")
    if container is not None:
        new_text = mapped(subject, container, suffix)
        if new_text is None:
            return None
        edit = subject.replace(new_text)
        return Fix(f"Copy each to the host: {new_text}", Safety.SAFE, (edit,))
    appending = appended(subject, suffix)
    if appending is None:
        return None
    title = "Copy it to the host" if move else "Leave the graph"
    return Fix(f"{title}: {grouped(subject)}{suffix}", Safety.SAFE, (appending,))
