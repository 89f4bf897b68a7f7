"""How an operand got where it is, as far as its history tells of the case that is reported."""

from __future__ import annotations

import re

from device_lens.domain.device import CPU, Device
from device_lens.interpreter.facts import Operand
from device_lens.rules.context import Context
from device_lens.rules.wording import telling_step


def whence(operand: Operand, context: Context) -> str:
    """How it got there, in parentheses; nothing where the history tells of another case."""
    if is_moved_since(operand) or _tells_of_another_case(operand):
        return ""
    return context.whence(operand.trail)


def is_moved_since(operand: Operand) -> bool:
    """Whether the history ends where something was made on the CPU that is on an accelerator: of
    what has moved in several ways no one is told."""
    step = telling_step(operand.trail)
    on_cpu = step is not None and step.text.startswith("is created on the CPU")
    return on_cpu and isinstance(operand.device, Device) and operand.device.type in _ACCELERATORS


_ACCELERATORS = ("cuda", "mps", "xpu")


def _tells_of_another_case(operand: Operand) -> bool:
    """Whether the history ends with a move to an accelerator, which in the case that is told of
    did not happen."""
    step = telling_step(operand.trail)
    return (
        operand.device is CPU
        and step is not None
        and step.kind == "moved"
        and _TO_ACCELERATOR.fullmatch(step.text) is not None
    )


_TO_ACCELERATOR = re.compile(r"is moved to `(cuda|mps|xpu)[^`]*`(?! or).*")
