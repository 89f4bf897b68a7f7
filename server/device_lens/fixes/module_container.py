"""`self.layers = [...]` → `self.layers = nn.ModuleList([...])`, and its relatives."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from device_lens.fixes import container_uses
from device_lens.fixes.comprehension import name_at
from device_lens.fixes.edit import Fix, Safety
from device_lens.fixes.parts_put_in import takes_other_things
from device_lens.fixes.place import Place
from device_lens.fixes.register_buffer import assigned_elsewhere
from device_lens.fixes.set_up import ready
from device_lens.syntax.names import last_name
from device_lens.syntax.source import SourceFile

CONTAINERS = {
    "modules": "ModuleList",
    "parameters": "ParameterList",
    "tuple-of-modules": "ModuleList",
    "tuple-of-parameters": "ParameterList",
    "dict-of-modules": "ModuleDict",
    "dict-of-parameters": "ParameterDict",
}
"""By what the plain container holds."""

_TAKEN = frozenset(
    "T_destination add_module apply bfloat16 buffers call_super_init children clear compile copy "
    "cpu cuda double dump_patches eval extra_repr float forward fromkeys get get_buffer "
    "get_extra_state get_parameter get_submodule half ipu items keys load_state_dict modules mtia "
    "named_buffers named_children named_modules named_parameters parameters pop popitem "
    "register_backward_hook register_buffer register_forward_hook register_forward_pre_hook "
    "register_full_backward_hook register_full_backward_pre_hook "
    "register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module "
    "register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ "
    "set_extra_state set_submodule setdefault share_memory state_dict to to_empty train training "
    "type update values xpu zero_grad".split()
)
"""Attributes of `nn.ModuleDict` and `nn.ParameterDict` (PyTorch 2.13): a key of that name raises
`KeyError: "attribute 'train' already exists"`."""


def module_container(
    assignment: Place,
    attribute: str,
    holds: str,
    keys: Collection[object] = (),
    loads: bool = False,
    sources: Sequence[SourceFile] = (),
) -> Fix | None:
    """Wraps the plain list or dict that an attribute is set to. `keys` are those that a dict is
    known to have; `loads` tells that the program loads a checkpoint, which has none for the new
    parts; `sources` are the files whose classes may set the attribute too."""
    nn = name_at(assignment, "torch.nn")
    node = assignment.node
    if nn is None or not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return None
    if not ready(assignment):
        return None
    whole = _or_none(node.value)
    if isinstance(whole, ast.Call) and last_name(whole.func) == "defaultdict":
        return None  # no container of PyTorch's makes what is asked for
    if whole is None or takes_other_things(assignment, whole, attribute):
        return None
    fit = {_fits(key, assignment.owner) for key in _keys(assignment, whole, attribute)}
    if False in fit or not all(map(_is_name, keys)):
        return None
    used = container_uses.fit(assignment, attribute, CONTAINERS[holds])
    if used is False:
        return None
    value = assignment.at(whole)
    name = f"{nn}.{CONTAINERS[holds]}"
    inside = _inside(whole)
    held = value.at(inside).text
    if isinstance(inside, ast.Tuple) and not held.startswith("("):
        held = f"[{held}]"
    edit = value.replace(f"{name}()" if _is_empty(whole) else f"{name}({held})")
    plain = _is_written(whole) and used is True and not hides(whole)
    equivalent = plain and None not in fit and not loads
    equivalent = equivalent and not assigned_elsewhere(assignment, attribute, sources)
    return Fix(f"Use {name}", Safety.SAFE if equivalent else Safety.UNSAFE, (edit,))


def _or_none(value: ast.expr) -> ast.expr | None:
    """The container in what may be None instead; None where that is written in another way."""
    match value:
        case ast.IfExp(body=container, orelse=ast.Constant(value=None)):
            return container
        case ast.IfExp(body=ast.Constant(value=None), orelse=container):
            return container
        case ast.BoolOp():
            return None
    return value


def _is_written(value: ast.expr) -> bool:
    """Whether a list or a dict is written there, with all that it begins with."""
    if isinstance(value, ast.Dict):
        return None not in value.keys
    return isinstance(value, ast.List | ast.Tuple | ast.ListComp) or _is_empty(value)


def hides(value: ast.AST) -> bool:
    """Whether a container is written for one module that is made elsewhere, as programs keep one
    out of their own parameters: `self.teacher = [teacher]`."""
    elements = value.values if isinstance(value, ast.Dict) else getattr(value, "elts", ())
    return [type(each) for each in elements] == [ast.Name]


def _inside(value: ast.expr) -> ast.expr:
    """What `list(…)` or `tuple(…)` is made of: a `ModuleList` takes that as well."""
    if not isinstance(value, ast.Call) or _called(value) not in ("list", "tuple"):
        return value
    if value.keywords or len(value.args) != 1 or isinstance(value.args[0], ast.Starred):
        return value
    return value.args[0]


def _keys(assignment: Place, value: ast.expr, attribute: str) -> Iterator[ast.expr]:
    """The keys by which the class fills a dict that is kept as an attribute of `self`, and those by
    which it reads one that is not written whole: they tell how it is filled."""
    whole = isinstance(value, ast.Dict) and bool(value.keys) and _is_written(value)
    if isinstance(value, ast.Dict):
        yield from (key for key in value.keys if key is not None)
    elif isinstance(value, ast.DictComp):
        yield value.key
    elif not (isinstance(value, ast.Call) and _is_empty(value) and _called(value) == "dict"):
        return
    for node in ast.walk(assignment.owner) if assignment.owner is not None else ():
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            held = node.value
            if whole and isinstance(node.ctx, ast.Load):
                continue
            if held.attr == attribute and isinstance(held.value, ast.Name):
                yield node.slice


def _fits(key: ast.expr, owner: ast.ClassDef | None) -> bool | None:
    """Whether a module can have a part of that name: a text without dots that names none of its
    methods. None where the text does not tell."""
    if isinstance(key, ast.Constant):
        return _is_name(key.value)
    if isinstance(key, ast.JoinedStr):
        fixed = (part.value for part in key.values if isinstance(part, ast.Constant))
        return not any("." in str(text) for text in fixed)
    if isinstance(key, ast.Call) and _called(key) == "str":
        return True
    counts = isinstance(key, ast.Name) and owner is not None and _is_counter(key.id, owner)
    return False if counts or isinstance(key, ast.Tuple) else None


def _is_name(key: object) -> bool:
    return isinstance(key, str) and key != "" and "." not in key and key not in _TAKEN


def _is_counter(name: str, owner: ast.ClassDef) -> bool:
    """Whether a loop of the class counts with the name: `for i in range(3)`, or the first of two
    over `enumerate(...)`."""
    for node in ast.walk(owner):
        if not isinstance(node, ast.For | ast.comprehension) or not isinstance(node.iter, ast.Call):
            continue
        target = node.target
        if _called(node.iter) == "enumerate" and isinstance(target, ast.Tuple):
            target = target.elts[0]
        elif _called(node.iter) != "range":
            continue
        if isinstance(target, ast.Name) and target.id == name:
            return True
    return False


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict") and not value.args and not value.keywords
    if isinstance(value, ast.List | ast.Tuple):
        return not value.elts
    return isinstance(value, ast.Dict) and not value.keys
