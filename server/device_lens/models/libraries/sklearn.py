"""scikit-learn and scipy: functions and estimators read their data as arrays."""

from __future__ import annotations

from device_lens.domain.code import BoundMethod, Function
from device_lens.domain.heap import ListObject
from device_lens.domain.values import HostArray, TupleValue, Unknown
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
    found = host_function(f"{last}()", result=Unknown if last == "score" else HostArray)
    return _solver(found) if name.startswith(_SOLVERS) else found


_SOLVERS = ("scipy.optimize.", "scipy.integrate.")
"""Functions of these modules run what they are given with numbers of their own."""
_RUN = ("fun", "func", "f", "fprime", "jac", "hess")


def _solver(model: Model) -> Model:
    def solve(call: Call) -> Value:
        """`minimize(f, x0)`: it runs `f`, perhaps with numbers that the program never sees."""
        for function in (*call.args[:1], *(call.kwargs.get(name) for name in _RUN)):
            if type(function) in (Function, BoundMethod):
                told = call.kwargs.get("args") if call.name.startswith(_SOLVERS[0]) else None
                others = (
                    told.items if type(told) is TupleValue else map(Unknown, _further(function))
                )
                given = (HostArray("float64"), *others)
                call.services.invoke_beside(function, given, {}, False)
        return model(call)

    return solve


def _further(function: Function | BoundMethod) -> list[str]:
    """The parameters of a function behind the first that have to be given."""
    of = function.function if isinstance(function, BoundMethod) else function
    arguments = of.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    needed = names[: len(names) - len(arguments.defaults)]
    return needed[2 if isinstance(function, BoundMethod) else 1 :]


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
