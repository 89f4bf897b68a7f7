"""The public callables of PyTorch that models must cover, by namespace."""

from __future__ import annotations

from collections.abc import Iterator

from torch.overrides import get_ignored_functions, get_overridable_functions

from model_check.exceptions import INTERNALS, MAKERS

_NAMESPACES = {
    "torch": "torch",
    "torch.functional": "torch",
    "torch.nn.functional": "torch.nn.functional",
    "torch.linalg": "torch.linalg",
    "torch.fft": "torch.fft",
    "torch.special": "torch.special",
    "Tensor": "torch.Tensor",
}
_PUBLIC = {"log_sigmoid": "logsigmoid"}
"""Functions that are listed under another name than their public one."""
_PREFIXES = ("linalg_", "fft_", "special_")


def overridable() -> dict[str, set[str]]:
    """Names by namespace of what `get_overridable_functions` lists, and under `attributes` the
    properties of tensors."""
    found: dict[str, set[str]] = {"attributes": set()}
    for namespace, functions in get_overridable_functions().items():
        label = getattr(namespace, "__name__", str(namespace))
        home = _NAMESPACES.get(label)
        if home is None:
            found["attributes"].add(label)
            continue
        for function in functions:
            name = getattr(function, "__name__", "")
            if name == "__get__":
                continue
            for prefix in _PREFIXES:
                if home.endswith(prefix[:-1]):
                    name = name.removeprefix(prefix)
            name = _PUBLIC.get(name, name)
            found.setdefault(home, set()).add(name)
    return found


def makers() -> dict[str, set[str]]:
    """Those of `get_ignored_functions` that make or move tensors."""
    ignored = {getattr(function, "__name__", "") for function in get_ignored_functions()}
    return {
        namespace: {name for name in names if name in ignored or name in _UNLISTED}
        for namespace, names in MAKERS.items()
    }


_UNLISTED = {"fftfreq", "rfftfreq"}
"""Those that the list has under a name with a prefix."""


def is_internal(name: str) -> bool:
    """Whether a name is no public function: private, or of the printed list."""
    private = name.startswith("_") and not name.startswith("__")
    return private or name in INTERNALS


def public(names: set[str]) -> Iterator[str]:
    yield from sorted(name for name in names if not is_internal(name))
