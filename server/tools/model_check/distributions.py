"""Every distribution in every placement of its parameters, with PyTorch and with the model."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch

from device_lens.domain.device import CONTESTED, CPU, is_unknown
from device_lens.domain.heap import Instance
from device_lens.domain.values import Const, Tensor
from device_lens.models import registry
from device_lens.models.call import Call
from device_lens.models.torch.distributions import BASE, NAMESPACE
from model_check.recorder import CUDA, SITE, Recorder

NUMBERS: dict[str, dict[str, float]] = {
    "Bernoulli": {"probs": 0.5},
    "Beta": {"concentration1": 0.5, "concentration0": 0.9},
    "Binomial": {"total_count": 3.0, "probs": 0.5},
    "Cauchy": {"loc": 0.5, "scale": 0.9},
    "Chi2": {"df": 3.0},
    "ContinuousBernoulli": {"probs": 0.3},
    "Exponential": {"rate": 0.5},
    "FisherSnedecor": {"df1": 5.0, "df2": 6.0},
    "Gamma": {"concentration": 0.5, "rate": 0.9},
    "Geometric": {"probs": 0.3},
    "Gumbel": {"loc": 0.5, "scale": 0.9},
    "HalfCauchy": {"scale": 0.5},
    "HalfNormal": {"scale": 0.5},
    "InverseGamma": {"concentration": 3.0, "rate": 0.9},
    "Kumaraswamy": {"concentration1": 0.5, "concentration0": 0.9},
    "Laplace": {"loc": 0.5, "scale": 0.9},
    "LogNormal": {"loc": 0.5, "scale": 0.9},
    "NegativeBinomial": {"total_count": 3.0, "probs": 0.5},
    "Normal": {"loc": 0.5, "scale": 0.9},
    "Pareto": {"scale": 0.3, "alpha": 3.0},
    "Poisson": {"rate": 0.5},
    "RelaxedBernoulli": {"temperature": 0.5, "probs": 0.5},
    "StudentT": {"df": 3.0, "loc": 0.5, "scale": 0.9},
    "Uniform": {"low": 0.1, "high": 0.9},
    "VonMises": {"loc": 0.5, "concentration": 0.9},
    "Weibull": {"scale": 0.5, "concentration": 0.9},
}
"""Distributions over numbers, with parameters that all of them accept."""
_ROW, _SQUARE = [1 / 3] * 3, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
ARRAYS: dict[str, dict[str, list[Any]]] = {
    "Categorical": {"probs": _ROW},
    "Dirichlet": {"concentration": _ROW},
    "LogisticNormal": {"loc": _ROW, "scale": _ROW},
    "LowRankMultivariateNormal": {"loc": _ROW, "cov_factor": _SQUARE, "cov_diag": _ROW},
    "MultivariateNormal": {"loc": _ROW, "covariance_matrix": _SQUARE},
    "OneHotCategorical": {"probs": _ROW},
    "RelaxedOneHotCategorical": {"temperature": [0.5], "probs": _ROW},
    "Wishart": {"df": [5.0], "covariance_matrix": _SQUARE},
}
"""Distributions over what has dimensions."""
_ONES = "Bernoulli Binomial Geometric NegativeBinomial Poisson".split()
_VALUES: dict[str, Any] = {
    "LogisticNormal": [0.2, 0.3, 0.4, 0.1],
    "OneHotCategorical": [0.0, 1.0, 0.0],
    "Categorical": [0.0, 1.0, 2.0],
    "Wishart": _SQUARE,
    **dict.fromkeys(_ONES, 1.0),
}
_DRAWN = ("sample", "rsample", "entropy", "mean", "mode", "variance", "stddev")
_OF_VALUE = ("log_prob", "cdf", "icdf")
_PLACES = ("number", "cpu 0-d", "cuda 0-d", "cpu", "cuda")
Made = tuple[Any, Any]
"""A value for PyTorch and the same for the model."""


def run(only: list[str]) -> int:
    """Prints what disagrees; 1 where the model says a device or an error that is none."""
    totals: Counter[str] = Counter()
    for name in only or [*NUMBERS, *ARRAYS]:
        for validate in (None, False):
            for verdict, detail in _placements(name, validate):
                totals[verdict] += 1
                if verdict in ("wrong", "false error") or (only and verdict != "right"):
                    print(f"{verdict}: {detail}")
    print(", ".join(f"{count} {verdict}" for verdict, count in totals.items()))
    return 1 if totals["wrong"] or totals["false error"] else 0


def _placements(name: str, validate: bool | None) -> Iterator[tuple[str, str]]:
    parameters: dict[str, Any] = NUMBERS.get(name) or ARRAYS[name]
    places = _PLACES if name in NUMBERS else _PLACES[3:]
    for chosen in itertools.product(places, repeat=len(parameters)):
        if set(chosen) == {"number"}:
            continue
        where = f"{name}({', '.join(chosen)}, validate_args={validate})"
        made = {
            key: _made(at, value)
            for (key, value), at in zip(parameters.items(), chosen, strict=True)
        }
        yield from _asked(name, where, made, validate, places)


def _asked(
    name: str, where: str, made: dict[str, Made], validate: bool | None, places: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    checked = {} if validate is None else {"validate_args": validate}
    real = _attempt(
        lambda: getattr(torch.distributions, name)(
            **{key: pair[0] for key, pair in made.items()}, **checked
        )
    )
    services = Recorder()
    keywords = {key: pair[1] for key, pair in made.items()}
    keywords.update({key: Const(each) for key, each in checked.items()})
    model = registry.function(f"{NAMESPACE}.{name}")
    assert model is not None
    said = model(Call(f"{NAMESPACE}.{name}", None, (), keywords, SITE, services))
    verdict = _constructed(real, services)
    yield verdict, where
    if isinstance(real, str) or verdict != "right":
        return
    for asked in _DRAWN:
        yield _verdict(_of(real, asked), _said(said, asked)), f"{where}.{asked}"
    value = _VALUES.get(name, 0.5 if name in NUMBERS else _ROW)
    for at in places[1:] if name in NUMBERS else places:
        given = _made(at, value)
        for asked in _OF_VALUE:
            truth = _of(real, asked, given[0])
            yield _verdict(truth, _said(said, asked, given[1])), f"{where}.{asked}({at})"


def _made(place: str, value: Any) -> Made:
    if place == "number":
        return value, Const(value)
    many = isinstance(value, list)
    real = torch.tensor(value if many or place.endswith("0-d") else [value] * 3)
    device = CUDA if place.startswith("cuda") else CPU
    return real.to(str(device)), Tensor(device, "float32", tuple(real.shape))


def _attempt(function: Callable[[], Any]) -> Any:
    """What it gives; "apart" where devices are, "refused" where anything else is wrong."""
    try:
        return function()
    except RuntimeError as error:
        apart = "same device" in str(error) or "cuda" in str(error)
        return "apart" if apart else "refused"
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return "refused"


def _of(real: Any, asked: str, *given: Any) -> Any:
    def ask() -> Any:
        found = getattr(real, asked)
        return found(*given) if callable(found) else found

    return _attempt(ask)


def _said(said: Instance, asked: str, *given: Any) -> tuple[Any, Recorder]:
    services = Recorder()
    name = f"{BASE}.{asked}"
    model = registry.function(name) or registry.ATTRIBUTES[name]
    return model(Call(name, said, given, {}, SITE, services)), services


def _constructed(real: Any, services: Recorder) -> str:
    if real == "apart":
        return "right" if services.conflicts else "missed"
    return "false error" if services.conflicts else "right"


def _verdict(real: Any, said: tuple[Any, Recorder]) -> str:
    value, services = said
    if isinstance(real, str):
        return "right" if services.conflicts or real == "refused" else "missed"
    if services.conflicts:
        return "false error"
    if value.device is CONTESTED or is_unknown(value.device):
        return "unknown"
    same = (value.device is CPU) == (real.device.type == "cpu")
    return "right" if same else "wrong"
