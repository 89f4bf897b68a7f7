"""How many cases the flags of a command line have."""

from __future__ import annotations

from typing import Any

from harness import value
from model_check.recorder import SITE, Recorder

from device_lens.domain.atom import Atom
from device_lens.domain.guard import Guarded, depth, leaves
from device_lens.domain.values import Const
from device_lens.models import registry
from device_lens.models.call import Call

PARSER = "argparse.ArgumentParser"


def call(name: str, receiver: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Calls a method or function of argparse."""
    model = registry.function(name)
    assert model is not None
    named = {key: value(each) for key, each in kwargs.items()}
    return model(Call(name, receiver, tuple(map(value, args)), named, SITE, Recorder()))


def flag_of_commands(*values: Any) -> Any:
    """What the whole parser gives for a flag that each of several sub-commands sets."""
    parser = call(PARSER)
    commands = call(f"{PARSER}.add_subparsers", parser)
    for each in values:
        command = call("argparse._SubParsersAction.add_parser", commands, "one")
        call(f"{PARSER}.set_defaults", command, chosen=each)
    return call(f"{PARSER}.parse_args", parser).fields["chosen"]


def test_one_case_for_each_sub_command() -> None:
    found = list(leaves(flag_of_commands(*range(20))))
    assert sorted(leaf.value for leaf in found) == list(range(20))


def test_what_some_have_alike_is_one_case() -> None:
    found = list(leaves(flag_of_commands(1, 2, 1, 2, 3)))
    assert sorted(leaf.value for leaf in found) == [1, 2, 3]


def test_values_that_hang_on_flags_do_not_multiply_without_end() -> None:
    values = [Guarded(Atom(f"--{n}", "flag"), Const(n), Const(-n)) for n in range(1, 30)]
    assert depth(flag_of_commands(*values)) < 30
