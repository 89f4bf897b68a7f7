"""What was seen of an expression at one moment."""

from __future__ import annotations

from typing import Any

from device_lens.domain.heap import ModuleObject
from device_lens.interpreter.facts import Kind


class Seen:
    """One observation: the kind and device of a value under a path condition, which may leave less
    open than the value's own. Of a module `trail` is what was known of its way when it was
    observed: others may move it later. `failed` tells that it was made after something had
    failed."""

    __slots__ = ("condition", "device", "failed", "kind", "trail", "value")

    def __init__(
        self, kind: Kind, device: Any, value: Any, condition: Any, failed: bool = False
    ) -> None:
        self.failed = failed
        self.kind = kind
        self.device = device
        self.value = value
        self.condition = condition
        self.trail = value.trail if type(value) is ModuleObject else None
