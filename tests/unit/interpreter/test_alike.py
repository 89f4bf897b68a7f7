"""What is kept of an answer for calls that are alike."""

from __future__ import annotations

import ast

from device_lens.domain.heap import ListObject
from device_lens.domain.path import ALWAYS
from device_lens.interpreter.alike import Alikes


def test_a_generator_keeps_the_function_that_it_runs() -> None:
    """Whoever enters it as a manager asks that for what it catches."""
    function = ast.parse("def managed():\n    yield\n").body[0]
    alikes = Alikes()
    made = ListObject((), None, "generator", function)
    alikes.keep("call", (), (), made, None, 0, lambda table: True)
    found = alikes.find("call", ALWAYS)
    assert found is not None
    _, answer = found
    assert answer is not None
    again = answer.again()
    assert again is not made
    assert (again.kind, again.site) == ("generator", function)
