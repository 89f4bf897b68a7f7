"""matplotlib and seaborn: plots read their data as arrays."""

from __future__ import annotations

from device_lens.domain.heap import Instance
from device_lens.domain.values import External, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value
from device_lens.models.libraries.host import host_function
from device_lens.models.registry import FUNCTIONS, PACKAGES
from device_lens.models.words import words

FIGURE = "matplotlib.figure.Figure"
AXES = "matplotlib.axes.Axes"
_DRAWING = frozenset(
    words(
        """plot scatter hist hist2d bar barh imshow matshow contour contourf pcolormesh boxplot
        violinplot errorbar fill_between step stem semilogx semilogy loglog pie quiver axvline
        axhline hexbin plot_surface lineplot scatterplot histplot heatmap barplot kdeplot"""
    )
)
"""Functions and methods that draw the data they are given."""


def _model(name: str) -> Model:
    last = name.rpartition(".")[2]
    return host_function(f"{last}()", last in _DRAWING, Unknown)


def _axes(call: Call) -> Value:
    return Instance(External(AXES), call.site.node)


def _figure(call: Call) -> Value:
    return Instance(External(FIGURE), call.site.node)


def _subplots(call: Call) -> Value:
    return TupleValue((_figure(call), _axes(call)))


def _itself(call: Call) -> Value:
    """Several axes in an array: any of them."""
    return call.receiver


def register_all() -> None:
    PACKAGES["matplotlib"] = PACKAGES["seaborn"] = _model
    FUNCTIONS["matplotlib.pyplot.subplots"] = _subplots
    FUNCTIONS["matplotlib.pyplot.figure"] = _figure
    for name in words("gca subplot axes"):
        FUNCTIONS[f"matplotlib.pyplot.{name}"] = _axes
    for name in words("add_subplot add_axes subplots gca"):
        FUNCTIONS[f"{FIGURE}.{name}"] = _axes
    for name in words("__getitem__ flatten ravel twinx twiny"):
        FUNCTIONS[f"{AXES}.{name}"] = _itself
