"""The words that messages share: devices, conditions, histories."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from tokenize import COMMENT, TokenError, generate_tokens

from device_lens.domain.condition import describe
from device_lens.domain.device import (
    CPU,
    UNNAMED,
    Device,
    DeviceTree,
    SymbolicDevice,
    is_accelerator,
)
from device_lens.domain.guard import cases, leaves, primary
from device_lens.domain.trail import Trail

_CONDITIONS = {
    "torch.cuda.is_available()": "CUDA is available",
    "not torch.cuda.is_available()": "CUDA is not available",
    "torch.backends.mps.is_available()": "MPS is available",
    "not torch.backends.mps.is_available()": "MPS is not available",
    "torch.xpu.is_available()": "an XPU is available",
    "not torch.xpu.is_available()": "no XPU is available",
    "torch.accelerator.is_available()": "an accelerator is available",
    "not torch.accelerator.is_available()": "no accelerator is available",
}

_BY_DEFAULT = (" is not given", " is left at its default")
_DEVICES = re.compile(r"cuda|gpu|cpu|mps|xpu|npu|device|accelerator", re.IGNORECASE)
_MOST_TOLD = 3
"""Conditions of a finding that are told: nobody reads more in one sentence."""
_ASKED = re.compile(r"(?P<flag>.+?)(?P<how> is (?:not )?given| is left at its default)")
"""What the models of command lines say of flags."""


def quoted(text: str) -> str:
    """Source text in a message: one line, of a length that a reader can take in."""
    line = " ".join((_without_comments(text) if "\n" in text else text).split())
    if len(line) > 60:
        line = f"{line[:57]}..."
    return f"`{line}`"


def _without_comments(text: str) -> str:
    """An expression of several lines without the comments in it."""
    lines = text.split("\n")
    try:
        for token in list(generate_tokens(StringIO(f"({text}\n)").readline)):
            if token.type == COMMENT:
                row, column = token.start[0] - 1, token.start[1] - (token.start[0] == 1)
                lines[row] = lines[row][:column]
    except (TokenError, SyntaxError):
        return text
    return "\n".join(lines)


def leaf(device: DeviceTree) -> DeviceTree:
    """The device of the primary case: the accelerator, where the cases differ."""
    found: list[DeviceTree] = list(leaves(primary(device)))
    return next((each for each in found if is_accelerator(each)), found[0])


def accelerated(device: DeviceTree) -> tuple[DeviceTree, str | None] | None:
    """The case in which a tensor is not on the host: its device, and the condition where that is
    not the primary case. None where the device is the host, or not known, in every case."""
    first = leaf(device)
    if is_accelerator(first) or isinstance(first, SymbolicDevice):
        return first, None
    for literals, each in cases(device):
        if is_accelerator(each):
            return each, describe(tuple(pair for pair in literals if pair[0].named))
    return None


def on(device: DeviceTree) -> str:
    """`on the CPU`, `on cuda:0`, `wherever `x` is`."""
    one = leaf(device)
    if one is CPU:
        return "on the CPU"
    if isinstance(one, Device):
        return f"on {one}"
    if isinstance(one, SymbolicDevice):
        return "wherever it is" if one.label == UNNAMED else f"wherever `{one.label}` is"
    return "on a device that is not known"


def to(device: DeviceTree) -> str:
    """`to the CPU`, `to cuda`, `to the device of `x``; to another one where it is not known."""
    one = leaf(device)
    if one is CPU:
        return "to the CPU"
    if isinstance(one, Device):
        return f"to {one}"
    is_told = isinstance(one, SymbolicDevice) and one.label != UNNAMED
    return f"to {one}" if is_told else "to another device"


def together(first: str | None, second: str | None) -> str | None:
    """Two conditions as one, each part once."""
    parts = [part for each in (first, second) if each for part in each.split(" and ")]
    return " and ".join(dict.fromkeys(parts)) or None


def when(condition: str | None) -> str:
    """` when CUDA is available`, with the space before it; empty without a condition. Of many parts
    those are told that are not as they are by default, and of these first which say a device."""
    if not condition:
        return ""
    parts = condition.split(" and ")
    told = sorted(parts, key=_distance)[:_MOST_TOLD]
    words = [_CONDITIONS.get(part) or spelled(part) for part in parts if part in told]
    if len(parts) > len(words):
        more = len(parts) - len(words)
        words.append("another condition holds" if more == 1 else f"{more} more conditions hold")
    return f" when {' and '.join(words)}"


def _distance(part: str) -> tuple[bool, bool]:
    """How little a part of a condition tells of why a device is another one than usual."""
    return part.endswith(_BY_DEFAULT), _DEVICES.search(part) is None


def spelled(condition: str, code: Callable[[str], str] = "`{}`".format) -> str:
    """A condition with what is code in it marked: of `--fast is given` the flag."""
    return " and ".join(
        f"{code(asked['flag'])}{asked['how']}" if (asked := _ASKED.fullmatch(part)) else code(part)
        for part in condition.split(" and ")
    )


def participle(text: str) -> str:
    """`is created on the CPU by torch.zeros` → `created on the CPU by torch.zeros`."""
    return text.removeprefix("is ").removeprefix("was ")


def telling_step(trail: Trail | None) -> Trail | None:
    """The step of a history that says why the value is where it is: the last move, else the
    creation."""
    return next(iter(telling_steps(trail)), None)


def telling_steps(trail: Trail | None) -> list[Trail]:
    """That step and those after it, oldest first. What was before tells of other values and other
    devices, except where a tensor was made on the device of another one."""
    steps = [] if trail is None else list(trail.steps())
    for index in reversed(range(len(steps))):
        if steps[index].kind == "created" and index > 0:
            continue
        if steps[index].kind in ("moved", "created", "computed", "encoded", "loaded"):
            return steps[index:]
    return steps[-1:]
