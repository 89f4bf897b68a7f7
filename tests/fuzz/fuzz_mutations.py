"""Texts that no one would write on purpose, and that every editor holds for a moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[[Random, str, Sequence[str]], str]

_SCRAPS = [
    "(", ")", "[", "]", "{", "}", "'", '"', "'''", '"""', "\\", "#", ":", ",", ".", "=", "@", ";",
    "\0", "\f", "\r", "\r\n", "\n", "\t", "\u2028", "\u2029", "\x85", "\ufeff", "\xa0", "\x1a",
    "é", "😀", "\ud800", "\u0301", "𝐱", "ﬁ", "x.", "x.to(", "x = ", "def f(", "class A(",
    "lambda ", "if ", "elif x:\n", "else:\n", "for i in ", "while True:\n", "with ", "try:\n",
    "except:\n", "finally:\n", "return", "yield", "await ", "async ", "import ",
    "from . import *\n", "match x:\n", "case _:\n", "global x\n", "nonlocal x\n", "del x\n", ":=",
    "**", "*", "->", "...", "f'{x!r:>{w}}'", "rb'\\xff'", "0x", "1e999", "1_000", "9" * 400,
    "%matplotlib inline\n", "!ls\n", "?x\n", "# device-lens: ignore\n", "# device-lens: ignore[",
    "# device-lens: ignore-file\n", "# type: ignore",
    "torch.device('cuda:999999999999999999999')", ".to('cuda', non_blocking=True)",
    "torch.zeros(10**30)", "torch.zeros(-1)", ".view(0, -1)", "[::0]", "<<< 99", "1 << 10**9",
    "'a' * 10**12", "range(10**18)", "[0] * 10**10",
]  # fmt: skip
_ENDS = ["\n", "\r\n", "\r", "\f\n", "\u2028", "\n\n"]


def mutated(random: Random, corpus: Sequence[str]) -> str:
    """One text: a program, or a part of one, changed in one to four ways."""
    text = random.choice(corpus)
    for _ in range(random.choice([1, 1, 1, 2, 2, 3, 4])):
        text = random.choice(MUTATIONS)(random, text, corpus)
    return text


def _place(random: Random, text: str) -> int:
    return random.randint(0, len(text))


def _span(random: Random, text: str, most: int) -> tuple[int, int]:
    start = _place(random, text)
    return start, min(len(text), start + random.randint(1, most))


def truncate(random: Random, text: str, corpus: Sequence[str]) -> str:
    return text[: _place(random, text)]


def behead(random: Random, text: str, corpus: Sequence[str]) -> str:
    return text[_place(random, text) :]


def delete_bracket(random: Random, text: str, corpus: Sequence[str]) -> str:
    places = [at for at, char in enumerate(text) if char in "()[]{}\"':"]
    if not places:
        return text
    at = random.choice(places)
    return text[:at] + text[at + 1 :]


def delete_span(random: Random, text: str, corpus: Sequence[str]) -> str:
    start, stop = _span(random, text, random.choice([1, 3, 30, 300]))
    return text[:start] + text[stop:]


def insert_scrap(random: Random, text: str, corpus: Sequence[str]) -> str:
    at = _place(random, text)
    return text[:at] + random.choice(_SCRAPS) + text[at:]


def insert_noise(random: Random, text: str, corpus: Sequence[str]) -> str:
    at = _place(random, text)
    noise = "".join(chr(random.choice([random.randrange(256), random.randrange(0x11000)]))
                    for _ in range(random.randint(1, 12)))  # fmt: skip
    return text[:at] + noise + text[at:]


def half_typed(random: Random, text: str, corpus: Sequence[str]) -> str:
    """A line that ends in the middle, the rest of the file below it."""
    lines = text.split("\n")
    at = random.randrange(len(lines))
    lines[at] = lines[at][: random.randint(0, len(lines[at]))]
    return "\n".join(lines)


def move_line(random: Random, text: str, corpus: Sequence[str]) -> str:
    lines = text.split("\n")
    line = lines.pop(random.randrange(len(lines)))
    lines.insert(random.randint(0, len(lines)), line)
    return "\n".join(lines)


def repeat_lines(random: Random, text: str, corpus: Sequence[str]) -> str:
    lines = text.split("\n")
    start = random.randrange(len(lines))
    stop = start + random.randint(1, 8)
    return "\n".join(lines[:stop] + lines[start:stop] * random.choice([1, 2, 5]) + lines[stop:])


def indent(random: Random, text: str, corpus: Sequence[str]) -> str:
    lines = text.split("\n")
    start = random.randrange(len(lines))
    for number in range(start, min(len(lines), start + random.randint(1, 10))):
        if random.random() < 0.5:
            lines[number] = random.choice([" ", "    ", "\t", "\f"]) + lines[number]
        else:
            lines[number] = lines[number][random.randint(1, 4) :]
    return "\n".join(lines)


def splice(random: Random, text: str, corpus: Sequence[str]) -> str:
    other = random.choice(corpus)
    return text[: _place(random, text)] + other[_place(random, other) :]


def replace_name(random: Random, text: str, corpus: Sequence[str]) -> str:
    """One name instead of another: sound syntax, odd meaning."""
    words = [
        word for word in text.replace("(", " ").replace(".", " ").split() if word.isidentifier()
    ]
    if len(words) < 2:
        return text
    old, new = random.choice(words), random.choice(words)
    at = text.find(old, _place(random, text))
    return text if at < 0 else text[:at] + new + text[at + len(old) :]


def other_line_ends(random: Random, text: str, corpus: Sequence[str]) -> str:
    end = random.choice(_ENDS)
    if random.random() < 0.5:
        return text.replace("\n", end)
    parts = text.split("\n")
    return "".join(part + random.choice(["\n", end]) for part in parts)


def byte_order_mark(random: Random, text: str, corpus: Sequence[str]) -> str:
    return "\ufeff" + text


def nest(random: Random, text: str, corpus: Sequence[str]) -> str:
    """Deep nesting of expressions or blocks somewhere."""
    depth = random.choice([5, 20, 60, 120, 250])
    line = random.choice([
        "(" * depth + "x" + ")" * depth,
        "[" * depth + "]" * depth,
        "f(" * depth,
        "x" + ".to(d)" * depth,
        "x" + "[0]" * depth,
        "-" * depth + "x",
        "not " * depth + "x",
        "lambda: " * depth + "x",
        " + ".join(["x"] * depth),
        "x if y else " * depth + "z",
        "{1: " * depth + "}" * depth,
    ])  # fmt: skip
    if random.random() < 0.3:
        opener = random.choice(["if x:", "for i in y:", "with a:", "def f():", "class A:", "try:"])
        depth = min(depth, 60)
        line = "".join(" " * level + opener + "\n" for level in range(depth)) + " " * depth + "pass"
    lines = text.split("\n")
    lines.insert(random.randint(0, len(lines)), line)
    return "\n".join(lines)


def huge_literal(random: Random, text: str, corpus: Sequence[str]) -> str:
    size = random.choice([50, 500, 3000])
    line = "v = " + random.choice([
        "[" + ", ".join(map(str, range(size))) + "]",
        "{" + ", ".join(f"'k{n}': {n}" for n in range(size)) + "}",
        repr("a" * size * 10),
        "9" * size,
        " + ".join(["'s'"] * min(size, 500)),
        "(" + ", ".join(["x"] * size) + ")",
        "torch.tensor([" + ", ".join(["0.5"] * size) + "])",
    ])  # fmt: skip
    lines = text.split("\n")
    lines.insert(random.randint(0, len(lines)), line)
    return "\n".join(lines)


def other_encoding(random: Random, text: str, corpus: Sequence[str]) -> str:
    """What a text is when its bytes are read in another encoding."""
    written = random.choice(["utf-8", "utf-16", "latin-1", "cp1252"])
    data = bytearray(text.encode(written, "replace"))
    for _ in range(random.randint(0, 3)):
        data.insert(random.randint(0, len(data)), random.randrange(256))
    return bytes(data).decode(random.choice(["utf-8", "latin-1", "cp437"]), "replace")


MUTATIONS: tuple[Mutation, ...] = (
    truncate, behead, delete_bracket, delete_bracket, delete_bracket, delete_span, insert_scrap,
    insert_scrap, insert_noise, half_typed, half_typed, move_line, repeat_lines, indent, splice,
    replace_name, replace_name, other_line_ends, byte_order_mark, nest, huge_literal,
    other_encoding,
)  # fmt: skip
