"""The distributions of `torch.distributions`: what they are made of, and what they do with it."""

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
"""Where the constructor takes it, if not first."""
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
ARITHMETIC = words("Cauchy Exponential Gumbel HalfNormal Laplace LogNormal Normal")
"""Those that only reckon with a value and their parameters: one number on the host meets a value
anywhere."""
KEEPING = words(
    "Cauchy FisherSnedecor Gamma Gumbel InverseGamma Kumaraswamy Laplace LogNormal Normal Pareto "
    "StudentT VonMises Weibull"
)
"""Those whose constructor only keeps its parameters: samples and densities take them together."""
WHOLE = words("Bernoulli Binomial Geometric NegativeBinomial Poisson")
"""Those whose samples are whole numbers, of a type that their parameters decide."""
FILES = {
    "Chi2": "chi2",
    "FisherSnedecor": "fishersnedecor",
    "LKJCholesky": "lkj_cholesky",
    "LowRankMultivariateNormal": "lowrank_multivariate_normal",
    "OneHotCategoricalStraightThrough": "one_hot_categorical",
    "RelaxedOneHotCategorical": "relaxed_categorical",
    "StudentT": "studentT",
}
"""The modules that define distributions, where their names do not tell."""
