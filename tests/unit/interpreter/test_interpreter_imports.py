"""The modules of the analyser by themselves: what one needs it imports, whoever came before."""

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

import device_lens.interpreter


@pytest.fixture
def fresh() -> Iterator[None]:
    """No module of the product is loaded; those that were are back afterwards."""
    loaded = _loaded()
    for name in loaded:
        del sys.modules[name]
    yield
    for name in _loaded():
        del sys.modules[name]
    sys.modules.update(loaded)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    "name", [each.name for each in pkgutil.iter_modules(device_lens.interpreter.__path__)]
)
def test_module_of_the_interpreter_comes_first(name: str) -> None:
    assert importlib.import_module(f"device_lens.interpreter.{name}")


def _loaded() -> dict[str, ModuleType]:
    return {
        name: module
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "device_lens"
    }
