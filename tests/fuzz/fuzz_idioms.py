"""Draws what programs do with the language around tensors: records, closures, caches, registries,
objects that pass on, call and iterate, attributes that are set late."""

from __future__ import annotations

from fuzz_expressions import DEEPEST, PLACES, Expressions

IDIOMS = """\
import collections
import itertools
import types

Pair = collections.namedtuple("Pair", "a b")
REGISTRY = {}


def registered(name):
    def keep(function):
        REGISTRY[name] = function
        return function

    return keep


@registered("host")
def to_host(x):
    return x.cpu()


@registered("gpu")
def to_gpu(x, device="cuda:1"):
    return x.to(device)


@functools.lru_cache(maxsize=None)
def cached(device):
    return torch.ones(2, device=device)


def holder(x):
    kept = [x]

    def get(y=None):
        return kept[-1]

    def put(y):
        kept.append(y)
        return y

    return get, put


def replaced(x):
    def put(y):
        nonlocal x
        x, y = y, x
        return y

    return put


class Mover:
    def __init__(self, device):
        self.device = device

    def __call__(self, x):
        return x.to(self.device)


class Proxy:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Bag:
    first = None

    def __init__(self, *xs):
        self.xs = list(xs)
        if coin():
            self.first = xs[0]

    def __iter__(self):
        for x in self.xs:
            yield x

    def __len__(self):
        return len(self.xs)

    def __getitem__(self, index):
        return self.xs[index]

    def __add__(self, other):
        return Bag(*self.xs, *other)


class Cache:
    store = {}

    def __init__(self):
        self.own = {}

    @classmethod
    def shared(cls, key, x):
        if key not in cls.store:
            cls.store[key] = x
        return cls.store[key]

    def __contains__(self, key):
        return key in self.own

    def get(self, key, x):
        if key in self:
            return self.own[key]
        self.own[key] = x
        return x


CACHE = Cache()


"""


class Idioms(Expressions):
    """Tensors as `Expressions` draws them, and by way of the definitions above."""

    idiomatic: bool

    def tensor(self, depth: int = 0) -> str:
        if self.idiomatic and depth < DEEPEST and self.chance(0.15):
            return self._idiom(depth + 1)
        return super().tensor(depth)

    def _idiom(self, depth: int) -> str:
        one, other = self.tensor(depth), self.tensor(depth)
        options = [
            f"Pair({one}, {other}).{self.pick('a', 'b')}",
            f"Pair(a={one}, b={other})[{self.pick('0', '-1')}]",
            f"Pair({one}, {other})._replace(a={self.known('t')}).{self.pick('a', 'b')}",
            f"types.SimpleNamespace(a={one}, b={other}).{self.pick('a', 'b')}",
            f'REGISTRY["{self.pick("host", "gpu")}"]({one})',
            f"cached({self.device()})",
            f"Mover({self.device()})({one})",
            f"functools.reduce(lambda v, f: f(v), [Mover({self.device()}), torch.relu], {one})",
            f"[*Bag({one}, {other})][{self.pick('0', '-1')}]",
            f"(Bag({one}) + Bag({other}))[{self.pick('0', '1')}]",
            f"either(*Bag({one}, {other}))",
            f'Cache.shared("{self.pick("a", "b")}", {one})',
            f'CACHE.get("{self.pick("a", "b")}", {one})',
            f'{{"cpu": to_host, "cuda": to_gpu}}[{one}.device.type]({other})',
            f"(lambda *a: a[{self.pick('0', '-1')}])({one}, {other})",
            f"(lambda **k: k['{self.pick('a', 'b')}'])(a={one}, b={other})",
            f"list(zip(*[({one}, {other}), ({other}, {one})]))[{self.pick('0', '1')}][0]",
            f'dict.fromkeys("ab", {one})["a"]',
            f"list(itertools.chain([{one}], [{other}]))[{self.pick('0', '-1')}]",
        ]
        for each in self.names["l"][-1:]:
            options += [
                f"[lambda: e for e in {each}][0]()",
                f"[lambda e=e: e for e in {each}][0]()",
                f"dict(enumerate({each}))[0]",
                f"next((e for e in {each} if {self.condition()}), {one})",
                f"list(itertools.islice(itertools.cycle({each}), 3))[-1]",
                f"Pair._make({each}[:1] + [{one}]).{self.pick('a', 'b')}",
                f"(lambda first, *others: others[-1] if others else first)(*{each})",
            ]
        for each in self.names["o"][-2:]:
            options += [
                f'getattr({each}, "late", {one})',
                f'({each}.late if hasattr({each}, "late") else {one})',
            ]
            known = self.classes[each]
            if known.tensors and not known.module:
                options += [f"Proxy({each}){self.random.choice(known.tensors)}"]
        for each in self.names["d"][-1:]:
            options += [
                f'either({one}, **{{k: v for k, v in {each}.items() if k == "z"}})',
                f"collections.ChainMap({each}, {{'c': {one}}})['{self.pick('a', 'c')}']",
                f"collections.OrderedDict({each})['b']",
                f"[{each}[k] for k in ('a', 'b') if k in {each}][-1]",
            ]
        return self.random.choice(options)

    def late_changes(self) -> list[str]:
        """Statements that set an attribute which the object may not have."""
        one, changes = self.tensor(1), []
        for each in self.names["o"][-2:]:
            changes += [f"{each}.late = {one}", f'setattr({each}, "late", {one})']
        return changes

    def late_bindings(self) -> list[str]:
        """What makes functions of one tensor that share what they keep."""
        one = self.tensor(1)
        return [
            f"replaced({one})",
            f"holder({one})[{self.pick('0', '1')}]",
            f"functools.partial(either, y={one})",
            f"functools.partial(Mover({self.pick(*PLACES)}))",
        ]
