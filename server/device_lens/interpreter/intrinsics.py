"""Built-in functions that need the interpreter itself: `super`, `isinstance`, `getattr` …"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from device_lens.domain.code import BoundMethod, ClassValue, Function, Namespace
from device_lens.domain.guard import Guarded, combine
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject, Parameter
from device_lens.domain.join import join
from device_lens.domain.presence import settle
from device_lens.domain.unknowns import is_no_list
from device_lens.domain.values import (
    BoundExternal,
    Const,
    DeviceValue,
    DtypeValue,
    External,
    HostArray,
    Partial,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.interpreter import (
    attributes,
    choices,
    class_attributes,
    descriptors,
    having,
    imports,
    own_tensors,
)
from device_lens.interpreter.conditions import opaque
from device_lens.interpreter.dispatch import INTRINSICS
from device_lens.interpreter.frames import Frame
from device_lens.interpreter.library_modules import CONTAINERS
from device_lens.interpreter.standard_classes import is_standard, type_of_kind
from device_lens.models import registry
from device_lens.models.call import tensor_of
from device_lens.models.dtypes import TENSOR_TYPES
from device_lens.models.numbers import is_number, is_one_of_few, is_text, is_whole
from device_lens.models.torch import unnamed_parts
from device_lens.models.torch.attributes import is_on

if TYPE_CHECKING:
    from device_lens.interpreter.machine import Machine

_TENSOR_CLASSES = frozenset(
    {
        "torch.Tensor",
        "torch._C.TensorBase",
        "torch.autograd.Variable",
        "torch.autograd.variable.Variable",
    }
)
"""The classes of which every tensor is an instance."""


def super_value(machine: Machine, node: ast.Call, frame: Frame) -> Any:
    """`super()` or `super(C, self)`."""
    if len(node.args) == 2:
        owner = machine.evaluate(node.args[0], frame)
        receiver = machine.evaluate(node.args[1], frame)
    else:
        method = frame
        while method.self_value is None and method.parent is not None and method.owner is None:
            method = method.parent
        owner, receiver = method.owner, method.self_value
    if type(owner) is ClassValue and receiver is not None:
        return attributes.Super(receiver, owner)
    return Unknown("super()")


def _isinstance(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    if len(args) != 2:
        return Unknown()
    condition = combine(lambda leaf: instance_condition(machine, leaf, args[1]), args[0])
    return combine(Const, condition)


def instance_condition(machine: Machine, value: Any, classes: Any) -> Any:
    """The condition under which `value` is an instance of one of `classes`."""
    if type(classes) in (TupleValue, ListObject):
        answers = [instance_condition(machine, value, cls) for cls in classes.items]
        if any(answer is True for answer in answers):
            return True
        if all(answer is False for answer in answers):
            return False
        if type(value) is Unknown:
            asked = zip(classes.items, answers, strict=True)
            names = tuple(class_name(cls) for cls, answer in asked if answer is not False)
            return opaque(value, ("isinstance", names))
        return next(answer for answer in answers if answer is not False)
    typed = _is_of_type(value, classes) if type(classes) is External else None
    if typed is not None:
        return combine(
            lambda leaf: leaf.value if type(leaf) is Const else opaque(leaf, "is"), typed
        )
    answer = is_instance(machine, value, classes)
    if answer is not None:
        return answer
    if type(value) is Unknown:
        return opaque(value, ("isinstance", class_name(classes)))
    return opaque(Unknown(), "isinstance")


def _is_of_type(value: Any, cls: External) -> Any:
    """Whether a tensor is of a legacy type such as `torch.cuda.FloatTensor`, which tells dtype and
    device; None for other values and classes."""
    module, _, name = cls.name.rpartition(".")
    dtype = TENSOR_TYPES.get(name)
    tensor = tensor_of(value)
    if dtype is None or tensor is None or module not in _TYPE_DEVICES:
        return None
    if tensor.dtype is not None and tensor.dtype != dtype:
        return Const(False)
    there = is_on(_TYPE_DEVICES[module], tensor.device)
    if tensor.dtype is not None:
        return there
    return combine(lambda leaf: leaf if leaf == Const(False) else Unknown(), there)


_TYPE_DEVICES = {"torch": "cpu", "torch.cuda": "cuda"}


def class_name(cls: Any) -> Any:
    if type(cls) is External:
        return cls.name
    return id(cls)


def is_instance(machine: Machine, value: Any, cls: Any) -> bool | None:
    """Whether `value` is an instance of `cls`; None where that is not known."""
    if type(value) is External and not registry.names_code(value.name):
        return None
    if type(cls) is ClassValue:
        if _is_of_own_class(value, cls):
            return True
        if not _PROTOCOLS.isdisjoint(cls.foreign):
            return having.fits(value, cls)
        hooked = cls.lookup("__subclasshook__") is not None
        hooked = hooked or (type(value) is Tensor and own_tensors.derives(cls))
        return None if type(value) is Unknown or hooked else False
    if type(cls) is not External:
        return None
    return _of_library_class(machine, value, cls.name)


def _is_of_own_class(value: Any, cls: ClassValue) -> bool:
    owner = value.cls if isinstance(value, Instance) else None
    if type(value) is TupleValue:
        owner = getattr(value.names, "owner", None)
    elif type(value) is Tensor:
        owner = value.cls
    return type(owner) is ClassValue and cls in owner.mro


_PROTOCOLS = frozenset({"typing.Protocol", "typing_extensions.Protocol"})
_CALLABLE = ("typing.Callable", "collections.abc.Callable")
_STANDARD = frozenset(
    "abc builtins collections contextlib dataclasses enum typing typing_extensions".split()
)
"""Modules whose classes derive from none of PyTorch's."""
_BUILTIN: dict[type, tuple[str, ...]] = {
    Tensor: ("torch.Tensor",),
    Parameter: ("torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"),
    DeviceValue: ("torch.device",),
    DtypeValue: ("torch.dtype",),
    HostArray: ("numpy.ndarray",),
    Function: ("types.FunctionType", *_CALLABLE),
    BoundMethod: ("types.MethodType", *_CALLABLE),
    Partial: ("functools.partial", *_CALLABLE),
}
_NUMBERS = frozenset(
    "builtins.int builtins.float builtins.bool builtins.complex numbers.Number numbers.Integral "
    "numbers.Real".split()
)
_OF_WHOLE_NUMBERS = _NUMBERS - {"builtins.float", "builtins.bool", "builtins.complex"}
_OF_FRACTIONS = frozenset({"builtins.float", "numbers.Number", "numbers.Real"})
_KINDS_OF_DICTS = frozenset({"collections.OrderedDict", "collections.defaultdict"})
"""Classes that a dict of the analysis may be of."""


def _is_tensor(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    if not args:
        return Unknown()
    cls = External("torch.Tensor")
    return combine(Const, combine(lambda leaf: instance_condition(machine, leaf, cls), args[0]))


def _of_library_class(machine: Machine, value: Any, name: str) -> bool | None:
    kind = type(value)
    if name == "builtins.object":
        return True
    if name in _TENSOR_CLASSES:
        name = "torch.Tensor"
    if kind in _BUILTIN:
        return name in _BUILTIN[kind]
    if kind is ClassValue:
        return name in ("builtins.type", *_CALLABLE)
    if kind is External and name in ("builtins.type", *_CALLABLE):
        return True if value.name.rpartition(".")[2][:1].isupper() else None
    if kind is TupleValue:
        return name == "builtins.tuple" or is_standard(tuple, name)
    if kind is ListObject:
        if value.kind == "iterator" and name.rpartition(".")[2] in ("Generator", "GeneratorType"):
            return None  # a library's own, which may be one
        of_kind = is_standard(type_of_kind(value.kind), name)
        return of_kind or name == f"builtins.{value.kind}"
    if kind is DictObject:
        if name in _KINDS_OF_DICTS:
            return None
        return name == "builtins.dict" or is_standard(dict, name)
    if kind is Const:
        return _constant_is(value.value, name)
    if isinstance(value, Instance):
        return _object_is(machine, value, name)
    if is_number(value):
        whole = is_whole(value)
        if whole is None or name not in _NUMBERS:
            return None if name in _NUMBERS else False
        return name in (_OF_WHOLE_NUMBERS if whole else _OF_FRACTIONS)
    if is_text(value):
        return name == "builtins.str" or is_standard(str, name)
    if kind is Unknown:
        return False if name == "builtins.list" and is_no_list(value) else None
    return False


def _constant_is(value: Any, name: str) -> bool:
    names = {f"builtins.{cls.__name__}" for cls in type(value).__mro__}
    if name.startswith("numbers."):
        return isinstance(value, int | float)
    return name in names or is_standard(type(value), name)


def _object_is(machine: Machine, value: Instance, name: str) -> bool | None:
    name = registry.canonical(name)
    if type(value) is ModuleObject and name in ("torch.nn.Module", "torch.nn.modules.Module"):
        return True
    cls = value.cls
    names = cls.foreign if type(cls) is ClassValue else (cls.name, *registry.bases(cls.name))
    if name in names:
        return True
    if type(value) is ModuleObject and not value.own.get("opaque"):
        return False
    if name.startswith("torch.") and (_is_told_whole(cls, name) or _is_no_layer(cls, name)):
        return False
    return False if name.startswith(("builtins.", "torch.Tensor")) else None


def _is_no_layer(cls: Any, asked: str) -> bool:
    """Whether a module is a whole model out of a library, which is none of PyTorch's layers."""
    is_layer = asked.startswith("torch.nn.") and asked.rpartition(".")[2] not in CONTAINERS
    return is_layer and type(cls) is External and cls.name.startswith(_WHOLE_MODELS)


_WHOLE_MODELS = ("torchvision.models.", "transformers.")


def _is_told_whole(cls: Any, asked: str) -> bool:
    """Whether all is known of a class that decides if it derives from one of PyTorch's, where its
    names do not have that one: modules have objects of their own, so all of PyTorch's other
    classes are none."""
    is_module = asked in ("torch.nn.Module", "torch.nn.modules.Module")
    if type(cls) is External:
        return is_module and cls.name.startswith("torch.")
    if any(len(each.bases) < len(each.node.bases) for each in cls.mro):
        return False
    roots = {name.partition(".")[0] for name in cls.foreign}
    return roots <= ({*_STANDARD, "torch"} if is_module else _STANDARD)


def _getattr(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    name = choices.unknown_name(args[1]) if len(args) == 2 else None
    if name is not None and type(args[0]) is Namespace:
        names = imports.all_names(machine, args[0])
        found = choices.called(machine, names, name, node, frame)
        if found is None:
            found = choices.kept_apart(_of_name(machine, args, node, frame), names, name)
        return found
    return _of_name(machine, args, node, frame)


def _of_name(machine: Machine, args: tuple[Any, ...], node: Any, frame: Frame) -> Any:
    if len(args) >= 2 and type(args[1]) is Guarded:
        ways = ((args[0], side, *args[2:]) for side in (args[1].yes, args[1].no))
        yes, no = (
            _getattr(machine, way, {}, node, frame)
            if is_one_of_few(way[1])
            else _of_name(machine, way, node, frame)
            for way in ways
        )
        return join(Guarded(args[1].atom, True, False), yes, no)
    if len(args) >= 2 and type(args[1]) is Const and isinstance(args[1].value, str):
        tree, name = args[0], args[1].value
        has_default = len(args) == 3
        if has_default and having.surely_lacks(tree, name):
            return args[2]
        if has_default and type(tree) is Guarded and having.may_lack(tree, name):
            return machine.choose(
                Guarded(tree.atom, True, False),
                frame,
                lambda: _of_name(machine, (tree.yes, *args[1:]), node, frame),
                lambda: _of_name(machine, (tree.no, *args[1:]), node, frame),
            )
        there = having.present(tree, name) if has_default else True
        found = attributes.read(machine, tree, name, node, frame)
        if there is True:
            return found
        settle(machine.journal, tree.fields, name, there)  # asked again, it is as likely there
        return join(there, found, args[2])
    machine.skip_at(node, frame, "the attribute's name is not known")
    if len(args) < 2:
        return Unknown("getattr(…)")
    return unnamed_parts.some_attribute(args[0], args[1], "getattr(…)")


def _hasattr(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    if len(args) != 2 or type(args[1]) is not Const or type(name := args[1].value) is not str:
        return Unknown()
    return having.has(args[0], name)


def _type(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    if len(args) != 1:
        return Unknown()
    return combine(_class_or_unknown, args[0])


def _class_or_unknown(value: Any) -> Any:
    found = class_attributes.class_of(value)
    return Unknown("type(…)") if found is None else found


_CODE = (
    Function,
    BoundMethod,
    ClassValue,
    ModuleObject,
    External,
    BoundExternal,
    Partial,
)


def _callable(
    machine: Machine, args: tuple[Any, ...], kwargs: dict[str, Any], node: Any, frame: Frame
) -> Any:
    if args and isinstance(args[0], _CODE):
        return Const(True)
    if args and type(args[0]) in (Const, Tensor, Parameter, TupleValue, ListObject, DictObject):
        return Const(False)
    return Unknown()


INTRINSICS.update(
    {
        "builtins.isinstance": _isinstance,
        "torch.is_tensor": _is_tensor,
        "builtins.getattr": _getattr,
        "builtins.hasattr": _hasattr,
        "builtins.type": _type,
        "builtins.callable": _callable,
        "builtins.property": descriptors.made_property,
    }
)
