"""The words that messages share."""

from __future__ import annotations

from device_lens.domain.device import UNNAMED, SymbolicDevice
from device_lens.rules.wording import on, quoted, to, together, when


def test_comments_inside_an_expression_are_left_out() -> None:
    assert quoted('a["# b"]\n    # why\n    and c  # so\n') == '`a["# b"] and c`'
    assert quoted("a  # b\n + (") == "`a # b + (`"


def test_conditions_are_told_once() -> None:
    assert together("a and b", "b and c") == "a and b and c"
    assert together(None, "a") == "a"
    assert together(None, None) is None


def test_of_many_conditions_the_unusual_are_told() -> None:
    assert (
        when("--a is given and --b is not given") == " when `--a` is given and `--b` is not given"
    )
    many = " and ".join(["--a is not given", *(f"--{each} is given" for each in "bcde")])
    told = " when `--b` is given and `--c` is given and `--d` is given and 2 more conditions hold"
    assert when(many) == told
    usual = " and ".join([*(f"--{each} is left at its default" for each in "abc"), "--d is given"])
    assert when(usual).endswith("and `--d` is given and another condition holds")
    late = " and ".join([*(f"--{each} is given" for each in "abc"), "--no_cuda is given"])
    told = " when `--a` is given and `--b` is given and `--no_cuda` is given"
    assert when(late) == f"{told} and another condition holds"


def test_what_has_no_name_is_not_quoted() -> None:
    assert on(SymbolicDevice("x")) == "wherever `x` is"
    assert on(SymbolicDevice(UNNAMED)) == "wherever it is"
    assert to(SymbolicDevice("x")) == "to the device of `x`"
    assert to(SymbolicDevice(UNNAMED)) == "to another device"
