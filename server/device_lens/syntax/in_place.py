"""Calls that write into what they are given, by what they are told and by their names."""

from __future__ import annotations

import ast

from device_lens.syntax.names import FUNCTIONAL, TORCH, last_name

_ACTIVATIONS = frozenset(
    """ReLU ReLU6 LeakyReLU ELU CELU SELU SiLU Mish Hardswish Hardsigmoid Hardtanh Threshold RReLU
    Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout relu relu6 selu silu
    mish hardswish hardsigmoid""".split()
)
"""What may be told by place to work in place: no other flag of theirs is given so."""
_FUNCTIONS = TORCH | FUNCTIONAL | {"init"}
"""Modules whose functions with `_` at the end write into what they are given first."""
_CHAINED = frozenset("to cuda cpu half float double eval train requires_grad_".split())
"""Methods of a module that give the module itself."""


def is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__")


def asks_in_place(*calls: ast.AST) -> bool:
    """Whether one of `F.relu(x, inplace=True)` or the inner call of `nn.ReLU(inplace=True)(x)`."""
    return any(isinstance(call, ast.Call) and _asks(call) for call in calls)


def _asks(call: ast.Call) -> bool:
    told = [each.value for each in call.keywords if each.arg == "inplace"]
    if last_name(call.func) in _ACTIVATIONS:
        told += [
            each for each in call.args if isinstance(each, ast.Constant) and each.value is True
        ]
    return any(not (isinstance(each, ast.Constant) and not each.value) for each in told)


def is_function_in_place(function: ast.expr) -> bool:
    """Whether a function writes into what it is given first: `nn.init.zeros_`, `F.relu_`."""
    if isinstance(function, ast.Attribute):
        return is_in_place(function.attr) and last_name(function.value) in _FUNCTIONS
    return isinstance(function, ast.Name) and is_in_place(function.id)


def maker_of(value: ast.AST | None) -> ast.Call | None:
    """The call that makes an object, which methods may hand on: `Net()` of `Net().to(d)`."""
    while (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in _CHAINED
    ):
        value = value.func.value
    return value if isinstance(value, ast.Call) else None


def makes_in_place(maker: ast.Call) -> bool:
    """Whether the module that a call makes writes into what it is called with."""
    if last_name(maker.func) == "Sequential" and maker.args:
        first = maker.args[0]
        return isinstance(first, ast.Call) and makes_in_place(first)
    return asks_in_place(maker)
