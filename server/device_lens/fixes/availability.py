"""`"cuda"` → `"cuda" if torch.cuda.is_available() else "cpu"`."""

from __future__ import annotations

import ast

from device_lens.fixes.bindings import surely_bound
from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place, in_quotes

_TESTS = {
    "cuda": "cuda.is_available()",
    "mps": "backends.mps.is_available()",
    "xpu": "xpu.is_available()",
}


def fall_back(place: Place) -> Fix | None:
    """`place` is the literal, or a call such as `x.cuda()`."""
    torch = name_at(place, "torch")
    if torch is None or not surely_bound(place, torch.partition(".")[0]):
        return None
    if isinstance(place.node, ast.Constant):
        return _literal(place, torch)
    return _method(place, torch)


def _literal(place: Place, torch: str) -> Fix | None:
    literal = getattr(place.node, "value", None)
    test = _TESTS.get(literal.partition(":")[0]) if isinstance(literal, str) else None
    if test is None:
        return None
    quote = place.text[-1]
    host = f"{quote}cpu{quote}"
    numbered = _numbered(place)
    if numbered is not None:  # there is no second host
        maker, place = numbered.text.partition("(")[0], numbered
        host = f"{maker}({host})"
    text = f"{place.text} if {torch}.{test} else {host}"
    new_text = text if _stands_alone(place) else f"({text})"
    return Fix(f"Fall back to the CPU: {text}", Safety.UNSAFE, (place.replace(new_text),))


def _numbered(place: Place) -> Place | None:
    """The call `torch.device("cuda", 1)` around its first argument."""
    call = place.parent
    if not isinstance(call, ast.Call) or len(call.args) + len(call.keywords) != 2:
        return None
    if not call.args or call.args[0] is not place.node:
        return None
    return place.at(call) if ast.unparse(call.func).rpartition(".")[2] == "device" else None


def _stands_alone(place: Place) -> bool:
    """Whether a conditional expression can stand in the literal's place without parentheses."""
    return isinstance(
        place.parent,
        ast.Call | ast.keyword | ast.Assign | ast.AnnAssign | ast.arguments | ast.Return | ast.Dict,
    )


def _method(place: Place, torch: str) -> Fix | None:
    node = place.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    kind = node.func.attr
    if kind not in _TESTS or node.args or node.keywords:
        return None
    here, host = in_quotes(place, kind), in_quotes(place, "cpu")
    argument = f"{here} if {torch}.{_TESTS[kind]} else {host}"
    head = place.source.lines.text[
        place.source.lines.offset(place.range.start) : place.source.lines.offset(
            place.at(node.func).range.end
        )
        - len(kind)
    ]
    edit = place.replace(f"{head}to({argument})")
    return Fix(f"Fall back to the CPU: .to({argument})", Safety.UNSAFE, (edit,))
