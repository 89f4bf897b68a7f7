"""The editor's settings, section `deviceLens`: what is missing or odd has its default."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

SECTION = "deviceLens"

_INDEXED_DEVICE = re.compile(r"(cuda|xpu):(0|[1-9][0-9]?)")
_LONGEST_BUDGET_MS = 5_000.0
_LONGEST_TIMEOUT_S = 600.0
_SEVERITIES = frozenset({"off", "hint", "information", "warning", "error"})


@dataclass(frozen=True)
class Settings:
    """The settings of one folder. None stands for "what the project's configuration says"."""

    enable: bool = True
    on_save_only: bool = False
    whole_workspace: bool = False
    severity: Mapping[str, str] = field(default_factory=dict)
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    assume_accelerator: str | None = None
    hover: bool = True
    transfer_hints: bool = True
    device_hints: bool = False
    threshold_ms: float = 0.1
    semantic_tokens: bool = False
    project_interpreter: tuple[str, ...] | None = None
    benchmark_trigger: str = "hover"
    hover_budget_ms: float = 250.0
    benchmark_timeout_s: float = 20.0
    benchmark_device: str | None = None
    """What a bare `cuda` or `xpu` stands for, None for the first of them."""

    def configuration(self) -> dict[str, object]:
        """What the settings say of the analysis, with the names of `[tool.device-lens]`."""
        values: dict[str, object] = {
            "select": self.select,
            "ignore": self.ignore,
            "exclude": self.exclude,
            "severity": dict(self.severity) or None,
            "assume-accelerator": self.assume_accelerator,
        }
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }


def read_settings(section: object) -> Settings:
    """The settings in what a client answers; a client may answer anything."""
    if not isinstance(section, Mapping):
        return Settings()
    default = Settings()
    return Settings(
        enable=_get(section, "enable", _boolean, default.enable),
        on_save_only=_get(section, "run", _text, "") == "onSave",
        whole_workspace=_get(section, "diagnosticMode", _text, "") == "workspace",
        severity=_get(section, "severity", _severities, {}),
        select=_get(section, "select", _texts, None),
        ignore=_get(section, "ignore", _texts, None),
        exclude=_get(section, "exclude", _texts, None),
        assume_accelerator=_get(section, "assumeAccelerator", _accelerator, None),
        hover=_get(section, "hover.enable", _boolean, default.hover),
        transfer_hints=_get(section, "inlayHints.transfers", _boolean, default.transfer_hints),
        device_hints=_get(section, "inlayHints.devices", _boolean, default.device_hints),
        threshold_ms=_get(section, "cost.threshold", _amount, default.threshold_ms),
        semantic_tokens=_get(section, "semanticTokens", _boolean, default.semantic_tokens),
        project_interpreter=_get(section, "projectInterpreter", _texts, ()) or None,
        benchmark_trigger=_get(section, "benchmark.trigger", _trigger, default.benchmark_trigger),
        hover_budget_ms=_get(section, "benchmark.hoverBudget", _budget, default.hover_budget_ms),
        benchmark_timeout_s=_get(
            section, "benchmark.timeout", _timeout, default.benchmark_timeout_s
        ),
        benchmark_device=_get(section, "benchmark.device", _device, None),
    )


def _get(section: Mapping[Any, Any], key: str, check: Callable[[object], Any], default: Any) -> Any:
    """The value at a dotted key, nested or flat, that passes the check."""
    value: object = section.get(key)
    if value is None:
        value = section
        for part in key.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    checked = check(value)
    return default if checked is None else checked


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _accelerator(value: object) -> str | None:
    return value if isinstance(value, str) and value in ("cuda", "mps", "xpu") else None


def _trigger(value: object) -> str | None:
    return value if isinstance(value, str) and value in ("hover", "click", "off") else None


def _budget(value: object) -> float | None:
    """Milliseconds that a hover may wait: never so many that it seems to hang."""
    amount = _amount(value)
    return None if amount is None else min(amount, _LONGEST_BUDGET_MS)


def _timeout(value: object) -> float | None:
    """Seconds that a measurement may take."""
    amount = _amount(value)
    return None if amount is None else min(max(amount, 1.0), _LONGEST_TIMEOUT_S)


def _device(value: object) -> str | None:
    return value if isinstance(value, str) and _INDEXED_DEVICE.fullmatch(value) else None


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if value >= 0 else None


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    return tuple(each for each in value if isinstance(each, str))


def _severities(value: object) -> dict[str, str] | None:
    if not isinstance(value, Mapping):
        return None
    return {
        rule: severity
        for rule, severity in value.items()
        if isinstance(rule, str) and isinstance(severity, str) and severity in _SEVERITIES
    }
