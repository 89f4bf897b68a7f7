"""pandas: tables are in host memory."""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.values import External, HostArray
from device_lens.models.call import Call, Model, Value
from device_lens.models.libraries.host import host_class, host_function, is_class_name
from device_lens.models.registry import ATTRIBUTES, FUNCTIONS, PACKAGES
from device_lens.models.words import words

FRAME = "pandas.DataFrame"


def _frame(call: Call) -> Value:
    return Instance(External(FRAME), call.site.node)


def _array(call: Call) -> Value:
    return HostArray()


def _itself(call: Call) -> Value:
    return call.receiver


def _model(name: str) -> Model:
    if is_class_name(name):
        return host_class(FRAME, f"pd.{name.removeprefix('pandas.')}()")
    if name.rpartition(".")[2].startswith("read_"):
        return _frame
    return host_function(name, reads=False)


def register_all() -> None:
    PACKAGES["pandas"] = _model
    for name in words("values iloc loc index columns"):
        ATTRIBUTES[f"{FRAME}.{name}"] = _array if name == "values" else _itself
    for name in words("to_numpy"):
        FUNCTIONS[f"{FRAME}.{name}"] = _array
    for name in words("__getitem__ head tail sample copy drop dropna fillna reset_index astype"):
        FUNCTIONS[f"{FRAME}.{name}"] = _itself
