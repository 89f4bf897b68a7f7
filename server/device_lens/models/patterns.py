"""Names that a program makes of words and of what is not known: `f"conv{i}"` is `conv*`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from string import Formatter

from device_lens.domain.guard import Guarded
from device_lens.domain.values import Const, Unknown
from device_lens.models.call import Value
from device_lens.models.numbers import is_number, number, text_begun

DIGITS = "*"
"""What stands in a pattern for a number."""
LETTERS = "**"
"""What stands in it for any text."""
_PATTERN = "<pattern>"


def put_together(parts: Iterable[Value], label: str = "a string") -> Unknown:
    """The text that some values make one after the other, not all of which are known."""
    pattern = "".join(map(_part, parts))
    begin = pattern.partition(DIGITS)[0]
    value = text_begun(begin, label)
    value.parts()[_PATTERN] = Const(pattern)
    return value


def filled_in(form: str, given: tuple[Value, ...]) -> Unknown:
    """`form % given`."""
    literal = _SPEC.split(form)
    specs = _SPEC.findall(form)
    if len(specs) != len(given):
        return text_begun(literal[0])
    parts: list[Value] = [Const(literal[0])]
    for spec, value, after in zip(specs, given, literal[1:], strict=True):
        whole = spec[-1] == "d" and type(value) is Unknown
        plain = value if spec in ("%s", "%d") else Unknown()
        parts += [number() if whole else plain, Const(after)]
    return put_together(parts)


def formatted(form: str, args: tuple[Value, ...]) -> Unknown:
    """`form.format(*args)`."""
    try:
        fields = list(Formatter().parse(form))
    except ValueError:
        return text_begun(form.partition("{")[0])
    parts: list[Value] = []
    for position, (before, field, spec, conversion) in enumerate(fields):
        parts.append(Const(before))
        if field is not None:
            simple = not spec and not conversion and field in ("", str(position))
            parts.append(args[position] if simple and position < len(args) else Unknown())
    return put_together(parts)


_SPEC = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]")


def _part(value: Value) -> str:
    if type(value) is Const:
        return str(value.value).replace(DIGITS, "?")  # such a letter matches nothing
    known = pattern_of(value)
    if known is not None:
        return known
    return LETTERS if type(value) is Guarded or not is_number(value) else DIGITS


def pattern_of(value: Value) -> str | None:
    """The pattern of a text that is put together; None of any other."""
    found = value.fields.get(_PATTERN) if type(value) is Unknown and value.fields else None
    return found.value if type(found) is Const and isinstance(found.value, str) else None


def fits(pattern: str, name: str) -> bool:
    """Whether a name may be one of a pattern."""
    return _compiled(pattern).fullmatch(name) is not None


def may_meet(left: str, right: str) -> bool:
    """Whether two patterns may have a name in common, as far as their ends tell it."""
    if left == right:
        return True
    (begin, *_, end), (other_begin, *_, other_end) = left.split(DIGITS), right.split(DIGITS)
    begins = begin.startswith(other_begin) or other_begin.startswith(begin)
    return begins and (end.endswith(other_end) or other_end.endswith(end))


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    words = (_HOLES.get(part, re.escape(part)) for part in re.split(r"(\*\*?)", pattern))
    return re.compile("".join(words), re.DOTALL)


_HOLES = {DIGITS: r"(?:[-+]?[\d.]+(?:e[-+]?\d+)?|True|False|inf|nan)", LETTERS: ".*"}
