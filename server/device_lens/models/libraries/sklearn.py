"""scikit-learn and scipy: functions and estimators read their data as arrays."""

from __future__ import annotations

from device_lens.domain.heap import ListObject
from device_lens.domain.values import HostArray, Unknown
from device_lens.models.call import Call, Model, Value
from device_lens.models.libraries.host import (
    host_class,
    host_function,
    is_class_name,
    read_arguments,
)
from device_lens.models.registry import FUNCTIONS, PACKAGES

_ASK_CLASS = ("issparse", "isspmatrix", "is_classifier", "is_regressor", "is_clusterer")
"""How functions begin that ask for the class of what they are given, and read nothing of it."""


def _model(name: str) -> Model:
    last = name.rpartition(".")[2]
    if is_class_name(name):
        return host_class(name, f"{last}()", reads=False)
    if last == "fit":
        return _fit
    if last.startswith(_ASK_CLASS):
        return host_function(f"{last}()", reads=False, result=Unknown)
    return host_function(f"{last}()", result=Unknown if last == "score" else HostArray)


def _split(call: Call) -> Value:
    """`train_test_split(a, b)`: parts of what it is given, arrays where these were tensors."""
    read_arguments(call, "train_test_split()")
    return ListObject((), HostArray(), "list", call.site.node)


def _fit(call: Call) -> Value:
    """An estimator's `fit` gives the estimator back."""
    read_arguments(call, "fit()")
    return call.receiver


def register_all() -> None:
    PACKAGES["sklearn"] = PACKAGES["scipy"] = _model
    FUNCTIONS["sklearn.model_selection.train_test_split"] = _split
