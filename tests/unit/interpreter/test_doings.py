"""What the text of a function tells of what it may move."""

from __future__ import annotations

import ast

import pytest

from device_lens.interpreter.doings import moved_by


def function(*body: str) -> ast.stmt:
    return ast.parse("def f(model, x, mask):\n" + "\n".join(f"    {line}" for line in body)).body[0]


@pytest.mark.parametrize("maker", ["x.clone()", "torch.zeros(3)", "torch.cat([x, x])"])
def test_what_is_put_into_a_new_tensor_moves_nothing(maker: str) -> None:
    text = function(f"y = {maker}", "y[mask] = x.view(-1).to(y.dtype)", "return model(y)")
    assert moved_by(text) is None


def test_what_is_put_into_something_given_may_move_it() -> None:
    assert moved_by(function("model[0] = model[0].to(x.device)")) is not None
    assert moved_by(function("y = model.layers", "y[0] = y[0].to(x.device)")) is not None


def test_a_name_that_is_something_else_too_is_not_new() -> None:
    text = function("y = x.clone()", "y = model.layers", "y[0] = y[0].to(x.device)")
    assert moved_by(text) is not None
