"""What the distributions of `torch.distributions` are made from, and which of that meets what."""

from __future__ import annotations

from device_lens.models.words import words

PARAMETERS = {
    "Bernoulli": "probs logits",
    "Beta": "concentration1 concentration0",
    "Binomial": "total_count probs logits",
    "Categorical": "probs logits",
    "Cauchy": "loc scale",
    "Chi2": "df",
    "ContinuousBernoulli": "probs logits",
    "Dirichlet": "concentration",
    "Exponential": "rate",
    "FisherSnedecor": "df1 df2",
    "Gamma": "concentration rate",
    "Geometric": "probs logits",
    "Gumbel": "loc scale",
    "HalfCauchy": "scale",
    "HalfNormal": "scale",
    "InverseGamma": "concentration rate",
    "Kumaraswamy": "concentration1 concentration0",
    "LKJCholesky": "dim concentration",
    "Laplace": "loc scale",
    "LogNormal": "loc scale",
    "LogisticNormal": "loc scale",
    "LowRankMultivariateNormal": "loc cov_factor cov_diag",
    "Multinomial": "total_count probs logits",
    "MultivariateNormal": "loc covariance_matrix precision_matrix scale_tril",
    "NegativeBinomial": "total_count probs logits",
    "Normal": "loc scale",
    "OneHotCategorical": "probs logits",
    "OneHotCategoricalStraightThrough": "probs logits",
    "Pareto": "scale alpha",
    "Poisson": "rate",
    "RelaxedBernoulli": "temperature probs logits",
    "RelaxedOneHotCategorical": "temperature probs logits",
    "StudentT": "df loc scale",
    "Uniform": "low high",
    "VonMises": "loc concentration",
    "Weibull": "scale concentration",
    "Wishart": "df covariance_matrix precision_matrix scale_tril",
}
"""Distributions with the tensors that they are made from, in the constructor's order."""
WRAPPERS = {
    "Independent": "base_distribution",
    "TransformedDistribution": "base_distribution",
    "MixtureSameFamily": "component_distribution",
}
"""Distributions made from others, with the attribute that holds the one that counts."""
POSITION = {"MixtureSameFamily": 1}
ELEMENTWISE = words(
    "Bernoulli Beta Cauchy ContinuousBernoulli Exponential Gamma Geometric Gumbel HalfCauchy "
    "HalfNormal Kumaraswamy Laplace LogNormal Normal Pareto Poisson StudentT Uniform Weibull"
)
"""Distributions over numbers: one for each element of what their parameters broadcast to."""
BROADCASTING = words(
    "Bernoulli Beta ContinuousBernoulli Geometric Kumaraswamy Pareto Poisson Weibull"
)
"""Those that make their parameters as large as the value before the two meet: one number on the
host is none any more."""
ARITHMETIC = words(
    "Cauchy Exponential FisherSnedecor Gumbel HalfNormal Laplace LogNormal Normal StudentT VonMises"
)
"""Those that only reckon with a value and their parameters: one number on the host meets a value
anywhere."""
WHOLE = words("Bernoulli Binomial Geometric NegativeBinomial Poisson")
ALTERNATIVE = frozenset(
    words("probs logits covariance_matrix precision_matrix scale_tril total_count temperature dim")
)
"""Parameters that may be left out for others, or have defaults."""
_MATRIX = "covariance_matrix precision_matrix scale_tril"
_SPREAD = "variance stddev entropy"
_BESIDE = {
    "Cauchy": {"loc": "mean mode variance stddev", "scale": "entropy"},
    "FisherSnedecor": {"df2": "mean"},
    "Gumbel": {"loc": "mode", "scale": _SPREAD},
    "Laplace": {"loc": "mean mode", "scale": _SPREAD},
    "LowRankMultivariateNormal": {
        "loc": "mean mode",
        "cov_factor": f"{_MATRIX} {_SPREAD}",
    },
    "MultivariateNormal": {"loc": "mean mode", _MATRIX: f"{_MATRIX} {_SPREAD}"},
    "Normal": {"loc": "mean mode", "scale": _SPREAD},
    "Pareto": {"scale": "mode"},
    "RelaxedBernoulli": {"probs logits": "probs logits"},
    "RelaxedOneHotCategorical": {"probs logits": "probs logits"},
    "StudentT": {"loc": "mean mode", "df scale": _SPREAD},
    "Uniform": {"high": "mode"},
    "VonMises": {"loc": "mean mode", "concentration": "variance stddev"},
}
"""Statistics that are reckoned from some of the parameters: the others may be anywhere."""
STATISTICS: dict[tuple[str, str], frozenset[str]] = {
    (name, statistic): frozenset(words(parameters))
    for name, rows in _BESIDE.items()
    for parameters, statistics in rows.items()
    for statistic in words(statistics)
}
MEETING_AT_ONCE = {
    "Beta": "concentration1 concentration0",
    "LowRankMultivariateNormal": "cov_factor cov_diag",
    "Uniform": "low high",
    "Wishart": "df covariance_matrix precision_matrix scale_tril",
}
"""Parameters that the constructor itself reckons with. Those of all other distributions meet when
something is drawn or asked: a constructor only makes them of one size."""
IF_VALIDATED = frozenset(("Uniform",))
"""Those that do so to check their arguments."""
LENIENT = frozenset(("Uniform",))
"""Those that take one number on the host beside one that is not."""
UNMOVED = frozenset(("total_count",))
"""Parameters that are moved to where the others are."""
TAKING_VALUES = words("Chi2 Gamma HalfCauchy")
"""Distributions whose `log_prob` moves the value to their parameters."""
