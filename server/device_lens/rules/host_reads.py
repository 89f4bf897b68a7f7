"""What the rules about reads of host memory share: what is read, and the fix that copies it."""

from __future__ import annotations

from device_lens.fixes.edit import Fix
from device_lens.fixes.host_copy import host_copy
from device_lens.interpreter.facts import Kind
from device_lens.interpreter.rarer_facts import HostRead
from device_lens.rules.context import Context


def container_of(fact: HostRead, context: Context) -> str | None:
    """What the subject is where it is known to hold tensors rather than to be one."""
    if fact.container is not None:
        return fact.container
    known = context.expression(fact.subject)
    return "list" if known is not None and known.kind is Kind.CONTAINER else None


def copied(fact: HostRead, detach: bool, move: bool, context: Context) -> Fix | None:
    """The tensors brought to where NumPy can read them, where the text names them alone."""
    if fact.nested or fact.subject.node is fact.site.node:
        return None
    return host_copy(context.place(fact.subject), container_of(fact, context), detach, move)
