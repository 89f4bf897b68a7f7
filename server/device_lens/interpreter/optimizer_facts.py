"""Facts about optimizers whose state or parameters a later line leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from device_lens.domain.guard import Literals
from device_lens.domain.trail import Site
from device_lens.interpreter import places
from device_lens.interpreter.rarer_facts import OptimizerConflict

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine


def conflict(
    machine: Machine,
    form: str,
    optimizer: Site | None,
    move: Site | None,
    state: Site | None,
    literals: Literals,
) -> None:
    """A step that runs after the conflict. It is told once, where the optimizer is made. A call
    that is not followed may have given the optimizer the parameters that replace its own. Without
    an accelerator all is in one place, or a move to one has failed."""
    if optimizer is None or move is None or places.without_accelerator(literals):
        return
    omissions = machine.recorder.omissions
    if form in ("replaced-parameters", "replaced-model") and (omissions.left_out or omissions.like):
        return
    condition = places.condition_text(machine, literals)
    machine.findings.add(OptimizerConflict(optimizer, form, optimizer, move, state, condition))
