"""`torch.special`: element-wise functions, some of which `torch` has under another name."""

from __future__ import annotations

from device_lens.models.registry import FUNCTIONS
from device_lens.models.table import register

TABLE = """
(@input) -> same.float
    entr erfcx i0e i1 i1e log_ndtr ndtr ndtri
(@input) -> same.float!
    airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1
    modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1
    spherical_bessel_j0
(@input, @n) -> broadcast.quotient! scalars
    chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
    hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p
    shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w
(@input, @other) -> broadcast.quotient scalars
    xlog1py zeta
(@input, dim, *, dtype) -> same.float
    softmax log_softmax
(@input, *, decimals) -> same.keep
    round
"""
SAME = {
    "expit": "sigmoid",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "multigammaln": "mvlgamma",
    "psi": "digamma",
    "i0": "i0",
    "digamma": "digamma",
    "erf": "erf",
    "erfc": "erfc",
    "erfinv": "erfinv",
    "exp2": "exp2",
    "expm1": "expm1",
    "log1p": "log1p",
    "logit": "logit",
    "logsumexp": "logsumexp",
    "polygamma": "polygamma",
    "sinc": "sinc",
    "xlogy": "xlogy",
}
"""Names in `torch.special` of functions of `torch`."""


def register_all() -> None:
    register(TABLE, "torch.special")
    for name, same in SAME.items():
        FUNCTIONS[f"torch.special.{name}"] = FUNCTIONS[f"torch.{same}"]
