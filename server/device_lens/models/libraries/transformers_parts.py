"""What models of a program's own take from transformers: activations by name, outputs that are
dicts too, and how weights are initialised."""

from __future__ import annotations

from device_lens.domain.code import ClassValue, Function
from device_lens.domain.guard import Guarded
from device_lens.domain.heap import Instance, ModuleObject
from device_lens.domain.values import NONE, External, TupleValue, Unknown
from device_lens.models.call import Call, Value, constant, is_none
from device_lens.models.libraries.attribute_dicts import register_class
from device_lens.models.libraries.opaque import OpaqueModule
from device_lens.models.libraries.transformers_trainer import MODEL
from device_lens.models.registry import ALIASES, ATTRIBUTES, FUNCTIONS
from device_lens.models.torch.objects import nothing
from device_lens.models.words import words

OUTPUT = "transformers.utils.ModelOutput"
_ALSO_OUTPUT = words("ModelOutput file_utils.ModelOutput utils.generic.ModelOutput")
_ACTIVATIONS = "transformers.activations.ClassInstantier"
_TABLE = "transformers.activations.ACT2FN"
_ACTIVATION = "torch.nn.GELU"
"""What stands for any activation that has a name: each leaves a tensor where it is."""
_WITH_PARAMETERS = words("xielu prelu")
_CLASSES = words(
    "NewGELUActivation GELUActivation FastGELUActivation QuickGELUActivation ClippedGELUActivation "
    "AccurateGELUActivation MishActivation LinearActivation ReLUSquaredActivation"
)


class PretrainedModel(OpaqueModule):
    """A model of transformers, or what a class of the program's own has of one."""

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Keeps the settings. A base that is no model by itself has no parts."""
        call.write(module.fields, "config", call.get(0, "config", Unknown("config")))
        if not call.name.removesuffix(".__init__").endswith("PreTrainedModel"):
            super().initialise(call, module)


def _table(call: Call) -> Value:
    """`ACT2FN`: it makes a new activation each time."""
    return Instance(External(_ACTIVATIONS), call.site.node)


def _activation(call: Call) -> Value:
    name = constant(call.get(0, "activation_string", call.get(0, "key", NONE)))
    if name in _WITH_PARAMETERS:
        return call.unknown()
    return ModuleObject(External(_ACTIVATION), call.site.node)


def made_output(call: Call) -> Value:
    """An output has what it is made of as attributes and under their names, None left out."""
    if call.args or not call.named_complete:
        return call.unknown()
    made = Instance(External(OUTPUT), call.site.node)
    made.fields.update(call.kwargs)
    return made


def _item(call: Call) -> Value:
    """`output["logits"]`, `output[0]`: what is None has no number, and a loss comes first."""
    output, key = call.receiver, constant(call.get(0, "key", NONE))
    fields = output.fields if isinstance(output, Instance) else {}
    if isinstance(key, str):
        return fields.get(key, Unknown(key))
    items = _in_order(output)
    known = type(key) is int and items is not None and -len(items) <= key < len(items)
    return items[key] if known and items is not None else Unknown("an item")


def _in_order(output: Value) -> tuple[Value, ...] | None:
    """The items that are not None; Python's None where that is not known of one."""
    if not isinstance(output, Instance) or output.cls != External(OUTPUT):
        return None
    fields = sorted(output.fields.items(), key=lambda each: each[0] != "loss")
    values = [value for _, value in fields if not is_none(value)]
    is_open = any(type(value) in (Guarded, Unknown) for value in values)
    return None if is_open else tuple(values)


def _to_tuple(call: Call) -> Value:
    items = _in_order(call.receiver)
    return call.unknown() if items is None else TupleValue(items)


def _initialised(call: Call) -> Value:
    """`self.post_init()` runs the program's own `_init_weights` on each module in it."""
    cls = call.receiver.cls if isinstance(call.receiver, ModuleObject) else None
    own = cls.lookup("_init_weights") if type(cls) is ClassValue else None
    if isinstance(own, Function):
        each = call.services.attribute(call.receiver, "_init_weights")
        call.services.invoke(call.services.attribute(call.receiver, "apply"), (each,), {})
    return NONE


def register_all() -> None:
    ATTRIBUTES[_TABLE] = _table
    for name in ("__getitem__", "get"):
        FUNCTIONS[f"{_ACTIVATIONS}.{name}"] = _activation
    FUNCTIONS[f"{_ACTIVATIONS}.__contains__"] = lambda call: Unknown("a boolean")
    FUNCTIONS["transformers.activations.get_activation"] = _activation
    ALIASES.update((f"transformers.activations.{name}", _ACTIVATION) for name in _CLASSES)
    register_class(OUTPUT)
    FUNCTIONS[OUTPUT] = made_output
    FUNCTIONS[f"{OUTPUT}.__getitem__"] = _item
    FUNCTIONS[f"{OUTPUT}.to_tuple"] = _to_tuple
    ALIASES.update((f"transformers.{name}", OUTPUT) for name in _ALSO_OUTPUT)
    ALIASES["transformers.modeling_utils.PreTrainedModel"] = MODEL
    for name in words("init_weights post_init"):
        FUNCTIONS[f"{MODEL}.{name}"] = _initialised
    for name in words("gradient_checkpointing_enable tie_weights"):
        FUNCTIONS[f"{MODEL}.{name}"] = nothing
