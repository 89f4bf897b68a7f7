"""Element-wise functions of `torch`: operands are broadcast, and 0-dimensional host tensors may
meet any device."""

from __future__ import annotations

from device_lens.models.table import register

TABLE = """
(@input) -> same.float
    acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cos cosh deg2rad
    digamma erf erfc erfinv exp exp2 expm1 i0 lgamma log log10 log1p log2 rad2deg reciprocal rsqrt
    sigmoid sin sinc sinh sqrt tan tanh
(@input) -> same.keep
    bitwise_not ceil fix floor frac neg negative round sgn sign square
    trunc relu
(@input) -> same.keep view
    conj conj_physical positive resolve_conj resolve_neg
(@input) -> same.real
    abs absolute
(@input) -> same.real_float
    angle
(@input) -> same.real view
    real imag
(@input) -> same.bool
    isneginf isposinf logical_not signbit
(@input) -> same.bool
    isfinite isinf isnan isreal
(@input, eps) -> same.float
    logit
(n, @input) -> same.float
    polygamma
(@input, p) -> same.float
    mvlgamma
(@input, p, *, generator) -> same.keep
    bernoulli
(@input, generator) -> same.keep
    poisson
(@input, nan, posinf, neginf) -> same.keep
    nan_to_num
(@input, @other) -> broadcast.promote scalars
    bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor floor_divide
    fmax fmin fmod heaviside hypot maximum minimum mul multiply remainder
(@input, @other) -> broadcast.promote
    gcd igamma igammac lcm logaddexp logaddexp2 nextafter
(@input, @other, alpha) -> broadcast.promote scalars
    add sub subtract
(@input, @other, *, alpha) -> broadcast.promote scalars
    rsub
(@input, @exponent) -> broadcast.promote scalars
    pow
(@input, @exponent) -> broadcast.float64 scalars
    float_power
(@input, @other) -> broadcast.quotient scalars
    arctan2 atan2 copysign ldexp true_divide xlogy
(@input, @other, rounding_mode) -> broadcast.divided scalars
    div divide
(@input, @other) -> broadcast.bool scalars
    eq ge greater greater_equal gt le less less_equal lt ne not_equal
(@input, @other) -> broadcast.bool guests=other
    logical_and logical_or logical_xor
(@input, @other, rtol, atol, equal_nan) -> broadcast.bool scalars
    isclose
(@input, @min, @max) -> broadcast.promote
    clamp clip
(@input, @max) -> broadcast.promote
    clamp_max
(@input, @min) -> broadcast.promote
    clamp_min
(@input, @end, @weight) -> broadcast.keep scalars
    lerp
(@input, @tensor1, @tensor2, *, value) -> broadcast.promote
    addcdiv
(@input, @tensor1, @tensor2, *, value) -> broadcast.promote scalars
    addcmul
(@real, @imag) -> broadcast.unknown
    complex polar
(@input) -> any.complex
    view_as_complex view_as_complex_copy
(@input) -> some.real
    view_as_real view_as_real_copy
(@input, *, >mantissa, >exponent) -> (mantissa=same.keep, exponent=same.int32)
    frexp
(@input, threshold, value) -> same.keep
    threshold
(@input) -> same.keep
    alias_copy detach_copy
(@input, ~value) -> same.keep
    fill
(@input, lambd) -> same.keep
    hardshrink
(@input, alpha, inplace) -> same.keep
    celu
(@input, inplace) -> same.keep
    selu
(@input, @weight) -> same.keep
    prelu
(@input, lower, upper, training, inplace) -> same.keep
    rrelu
(@input, p, train) -> same.keep view
    alpha_dropout dropout feature_alpha_dropout feature_dropout
(@input, p, train) -> (=same.keep, =same.bool)
    native_dropout
(@input, scale, zero_point, quant_min, quant_max) -> same.keep
    fake_quantize_per_tensor_affine
(@input, @scale, @zero_point, axis, quant_min, quant_max) -> same.keep
    fake_quantize_per_channel_affine
"""

IN_PLACE = """
    abs absolute acos acosh add addcdiv addcmul arccos arccosh arcsin arcsinh arctan arctan2 arctanh
    asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min clip conj_physical copysign cos
    cosh deg2rad digamma div divide eq erf erfc erfinv exp exp2 expm1 fix float_power floor
    floor_divide fmod frac gcd ge greater greater_equal gt heaviside hypot i0 igamma igammac lcm
    ldexp le lerp less less_equal lgamma log log10 log1p log2 logical_and logical_not logical_or
    logical_xor logit lt mul multiply mvlgamma nan_to_num ne neg negative nextafter not_equal pow
    rad2deg reciprocal relu remainder round rsqrt sgn sigmoid sign sin sinc sinh sqrt square sub
    subtract tan tanh true_divide trunc xlogy threshold celu selu rrelu alpha_dropout dropout
    feature_alpha_dropout feature_dropout
"""
"""Those that have a variant with an underscore, which writes into its first operand."""


def register_all() -> None:
    register(TABLE, "torch")
