"""Why something was not measured: a code from a fixed set, and a sentence for people.

The sentence goes into a hover, the status item or the terminal. It holds nothing but our words and
the interpreter's path, which is shown inside a code span; what torch or a driver said is in
`detail`, for the log only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SENTENCES = {
    "no-torch": "{python} has no PyTorch: install torch there, or select another interpreter.",
    "torch-broken": "PyTorch cannot be imported in {python}.",
    "no-interpreter": "{python} cannot be started: select another interpreter.",
    "no-accelerator": "PyTorch in {python} sees no GPU on this machine.",
    "cpu-only-torch": "This machine has an NVIDIA driver, but PyTorch in {python} is built for the "
    "CPU only.",
    "driver-too-old": "The NVIDIA driver is too old for the PyTorch in {python}.",
    "driver-mismatch": "The NVIDIA driver and the PyTorch in {python} do not fit together.",
    "no-such-device": "PyTorch in {python} does not see this device.",
    "device-lost": "The device failed while measuring, or was removed.",
    "out-of-memory": "There was not enough free memory on the device to measure this.",
    "too-large": "Measuring this would take more than a quarter of the free memory.",
    "unsupported": "PyTorch in {python} cannot run this on that device.",
    "invalid-request": "This cannot be measured: a size, shape or name is out of range.",
    "timed-out": "Measuring took too long and was stopped.",
    "worker-died": "The measuring process ended unexpectedly.",
    "bad-answer": "The measuring process gave an answer that makes no sense.",
    "slow-start": "PyTorch in {python} took too long to import.",
    "too-many": "Too many measurements are waiting.",
    "cancelled": "The measurement was cancelled.",
    "closed": "Measuring has been switched off.",
}

CODES = frozenset(_SENTENCES)

_BRIEFS = {
    "no-torch": "no PyTorch to measure with",
    "torch-broken": "PyTorch cannot be imported",
    "no-interpreter": "the chosen Python does not start",
    "no-accelerator": "no GPU to measure on",
    "cpu-only-torch": "PyTorch is for the CPU only",
    "driver-too-old": "the NVIDIA driver is too old",
    "driver-mismatch": "driver and PyTorch do not fit",
    "device-lost": "the device failed",
    "timed-out": "measuring took too long",
    "worker-died": "the measuring process ended",
    "bad-answer": "the measurements make no sense",
    "slow-start": "PyTorch takes too long to import",
}
"""A status item shows one narrow line, and cuts off what does not fit with what follows it."""

WARNINGS = {
    "few-samples": "it was too slow to be repeated often",
    "wide-spread": "its repetitions differ widely",
    "device-busy": "another program was using the device",
}
"""Why a measurement may not be trusted, by the worker's code; reads on after "because"."""


@dataclass(frozen=True)
class Problem:
    """One reason; `code` is one of `CODES`."""

    code: str
    interpreter: str = ""
    detail: str = ""

    @property
    def brief(self) -> str:
        """A few words for where a sentence has no room."""
        return _BRIEFS.get(self.code, "nothing is measured")

    @property
    def sentence(self) -> str:
        """One sentence that says what is the matter, and what helps where something does."""
        path = re.sub(r"[\x00-\x1f`]", "?", self.interpreter)
        python = f"`{path}`" if path else "The selected interpreter"
        sentence = _SENTENCES[self.code].replace("{python}", python)
        return sentence[0].upper() + sentence[1:]
