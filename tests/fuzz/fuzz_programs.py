"""Draws programs whose devices hang on what nobody can know before they run: on `coin()`.

None of them handles exceptions: what is so only after a failure does not count beside anything
else.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from fuzz_definitions import Definitions
from fuzz_idioms import IDIOMS

HEAD = """\
import contextlib
import copy
import dataclasses
import functools
import random

import torch
from torch import nn

DEVICE = torch.device("cuda")
CONFIG = {"device": "cuda:1", "lr": 0.1}


def coin():
    return random.random() < 0.5


def either(x, y=None, *rest, flip=False, **more):
    if flip:
        return y if y is not None else x
    for each in rest:
        x = each
    return more.get("z", x)


def maybe(x, device):
    if coin():
        return None
    return x.to(device)


def passed_on(xs):
    for x in xs:
        yield x
    yield torch.ones(2)


@contextlib.contextmanager
def kept(x):
    with torch.no_grad():
        yield x.cuda() if coin() else x


class Kept:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.x = self.x.cuda()
        return self.x

    def __exit__(self, *error):
        return False


"""
FLAGS = """\
FIRST, SECOND = coin(), coin()
OPTIONS = {"gpu": coin()}


class Settings:
    def __init__(self):
        self.on = coin()


SETTINGS = Settings()


def chosen(x, y, flag):
    if flag:
        return x
    return y


def moved(x, flag=FIRST):
    return x.cuda() if flag else x.cpu()


def usual(x):
    if SETTINGS.on:
        x = x.to("cuda:1")
    return x


"""
GIVEN = ("torch.ones(2)", 'torch.ones(2, device="cuda")', "torch.ones(2).cuda(1)")


def program(random: Random, corpus: Sequence[str] = ()) -> str:
    """Some definitions, and a function with its call or a script, which use them."""
    return HEAD + Writer(random).whole()


def idiomatic_program(random: Random, corpus: Sequence[str] = ()) -> str:
    """The same with more of what the language offers around tensors."""
    return HEAD + IDIOMS + Writer(random, idiomatic=True).whole()


def flagged_program(random: Random, corpus: Sequence[str] = ()) -> str:
    """The same with coins that are tossed once and asked many times."""
    return HEAD + FLAGS + Writer(random, flagged=True).whole()


FLAG_LINES = (HEAD + FLAGS).count("\n")
SHARED_LINES = (HEAD + IDIOMS).count("\n")
"""The lines before what an idiomatic program draws: definitions that all of it shares."""


class Writer(Definitions):
    def __init__(self, random: Random, idiomatic: bool = False, flagged: bool = False) -> None:
        self.random = random
        self.idiomatic = idiomatic
        self.flagged = flagged
        self.names = {kind: [] for kind in "tsldofvngb"}
        self.fixed = set()
        self.classes = {}
        self.functions = {}
        self.apart = random.choice((0.02, 0.1, 0.3))
        self.lines = []
        self.indent = self.loops = self.made = 0
        self.result = ""
        self.globals = []
        self.top = False

    def at_top(self) -> bool:
        return self.top

    def whole(self) -> str:
        for _ in range(self.random.randint(0, 4)):
            self.define()
        if self.chance(0.3):
            self.top = True
            self.names["t"] = [*self.globals, self.bind("t", self.random.choice(GIVEN))]
            self._statements()
            self.write(f"last = {self.tensor()}")
            return "\n".join(self.lines) + "\n"
        parameters = [f"p{number}" for number in range(self.random.randint(1, 2))]
        self.write(f"def case({', '.join(parameters)}):")
        self.indent = 1
        self.names["t"], self.result = [*self.globals, *parameters], "return"
        self.fixed = set(self.globals)
        self._statements()
        self.write(f"return {self.tensor()}")
        self.indent = 0
        given = [self.random.choice(GIVEN) for _ in parameters]
        self.write(f"\n\nlast = case({', '.join(given)})")
        if self.chance(0.2):
            self.write(f"last = case({', '.join(given)})")
        return "\n".join(self.lines) + "\n"

    def _statements(self) -> None:
        for _ in range(self.random.randint(4, 10)):
            self.statement(0)
