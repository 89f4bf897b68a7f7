"""Moves a tensor that is to be trained so that it stays a leaf."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from device_lens.fixes.arguments import is_true
from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.place import Place, grouped
from device_lens.fixes.transfer_call import read_transfer
from device_lens.syntax.names import last_name
from device_lens.syntax.pairing import target_of
from device_lens.syntax.walking import walk


def move_inside(call: Place) -> Fix | None:
    """`nn.Parameter(t).to(d)` → `nn.Parameter(t.to(d))`."""
    transfer = read_transfer(call)
    if transfer is None:
        return None
    maker = transfer.receiver.node
    if not isinstance(maker, ast.Call) or not maker.args or isinstance(maker.args[0], ast.Starred):
        return None
    data = call.at(maker.args[0])
    suffix = call.source.text_of(transfer.suffix)
    edits = (data.replace(f"{grouped(data)}{suffix}"), call.edit(transfer.suffix, ""))
    return Fix(f"Move the data instead: {grouped(data)}{suffix}", Safety.SAFE, edits)


def move_detached(call: Place) -> Fix | None:
    """`x = x.to(d)` → `x = x.detach().to(d).requires_grad_()`: a leaf on the device. Where the text
    does not say that it always requires grad, it does as `x` did."""
    transfer = read_transfer(call)
    if transfer is None:
        return None
    suffix = call.source.text_of(transfer.suffix)
    receiver = grouped(transfer.receiver)
    flag = "" if _surely_asks(transfer.receiver) else f"{receiver}.requires_grad"
    if flag and any(isinstance(each, ast.Call) for each in walk(transfer.receiver.node)):
        return None  # it would be made twice
    new_text = f"{receiver}.detach(){suffix}.requires_grad_({flag})"
    statement = call.statement.node
    target = target_of(statement, call.node) if isinstance(statement, ast.Assign) else None
    rebinds = target is not None and ast.unparse(target) == ast.unparse(transfer.receiver.node)
    if rebinds and _is_kept_before(transfer.receiver):
        return None  # who has the old leaf goes on with it
    safety = Safety.SAFE if rebinds else Safety.UNSAFE
    return Fix(f"Make it a leaf there: {new_text}", safety, (call.replace(new_text),))


def _is_kept_before(receiver: Place) -> bool:
    """Whether an object has been made of the value before it is moved: an optimizer."""
    text, start = receiver.text, receiver.range.start
    calls = (
        call
        for root in _around(receiver)
        for call in walk(root)
        if isinstance(call, ast.Call) and last_name(call.func)[:1].isupper()
    )
    return any(
        isinstance(part, ast.Name | ast.Attribute)
        and ast.unparse(part) == text
        and receiver.at(part).range.start < start
        for call in calls
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        for part in walk(argument)
    )


def _surely_asks(receiver: Place) -> bool:
    """Whether what is asked of gradients where a value is made, and wherever else its function or
    class asks for some, is that it requires them."""
    asked = [each for root in _around(receiver) for each in _asked(root)]
    return bool(asked) and all(map(is_true, asked))


def _around(receiver: Place) -> Iterable[ast.AST]:
    """Where the value may be made: the class for an attribute, else the function; outside of these
    the top level."""
    inner = receiver.owner if isinstance(receiver.node, ast.Attribute) else receiver.function
    return receiver.top_level if inner is None else (inner,)


def _asked(root: ast.AST) -> Iterator[ast.expr]:
    """What is said of gradients: `requires_grad=…`, `x.requires_grad = …`,
    `x.requires_grad_(…)`."""
    for node in walk(root):
        match node:
            case ast.keyword(arg="requires_grad", value=value):
                yield value
            case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
                yield value
            case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=args, keywords=keywords):
                named = [each.value for each in keywords]
                yield next(iter((*args, *named)), ast.Constant(True))


def parameter_again(call: Place) -> Fix | None:
    """`self.gain = self.gain.to(d)` → `self.gain = nn.Parameter(self.gain.to(d))`."""
    nn = name_at(call, "torch.nn")
    if nn is None:
        return None
    new_text = f"{nn}.Parameter({call.text})"
    return Fix(f"Make it a parameter again: {new_text}", Safety.UNSAFE, (call.replace(new_text),))
