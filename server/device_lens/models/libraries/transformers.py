"""transformers and diffusers: models and pipelines out of a hub, tokenizers on the host.

A model is on the host, or wherever `device_map` puts it; what a tokenizer gives moves in place.
"""

from __future__ import annotations

import re

from device_lens.domain.device import (
    CPU,
    UNKNOWN_DEVICE,
    DeviceTree,
    is_unknown,
)
from device_lens.domain.heap import DictObject, Instance, ModuleObject
from device_lens.domain.trail import Trail
from device_lens.domain.values import NONE, TRUE, Const, DeviceValue, External, Tensor, Unknown
from device_lens.models import wording
from device_lens.models.call import Call, Model, Value, constant, is_none
from device_lens.models.dtypes import named
from device_lens.models.libraries.opaque import OpaqueModule, register, unknown_output
from device_lens.models.libraries.transformers_parts import PretrainedModel, made_output
from device_lens.models.libraries.transformers_trainer import MODEL
from device_lens.models.registry import (
    ALIASES,
    ATTRIBUTES,
    FUNCTIONS,
    MODULE_PACKAGES,
    MODULES,
    PACKAGE_BASES,
    PACKAGES,
    ModuleModel,
)
from device_lens.models.torch.collation import map_tensors
from device_lens.models.torch.construction import opaque
from device_lens.models.torch.conversions import device_argument, to_target
from device_lens.models.torch.parts import home_device
from device_lens.models.torch.target import CURRENT_CUDA, asked, present
from device_lens.models.words import words

DISPATCHED = "transformers.DispatchedModel"
"""A model that `device_map` spread: hooks move what it is given."""
TOKENIZER = "transformers.PreTrainedTokenizer"
ENCODING = "transformers.BatchEncoding"
PIPELINE = "transformers.Pipeline"
SETTINGS = "transformers.PretrainedConfig"
_HOST = re.compile(r"(Tokenizer|TokenizerFast|Processor|FeatureExtractor)$")
_SETTINGS = re.compile(r"(Config|Arguments|Collator\w*|Scheduler)$")
_OUTPUT = re.compile(r"Output(With[A-Z]\w*)?$")
_MODULE = re.compile(
    r"(Model|LMHead|Encoder|Decoder|Transformer|Adapter|AutoencoderKL|For[A-Z]\w+)$|^AutoModel\w*$"
)
_ENCODED = words("input_ids attention_mask token_type_ids pixel_values labels input_features")
_GIVEN = words("logits last_hidden_state start_logits end_logits text_embeds image_embeds sample")
_QUANTIZED = {"quantization_config", "load_in_8bit", "load_in_4bit"}
"""Arguments with which the library chooses the device."""
_UNSPREAD = {"cpu", "cuda", "mps", "xpu"}


def _package(name: str) -> Model | None:
    """Classes by how they are spelt, and their loaders."""
    parts = name.split(".")
    owner = parts[-2] if len(parts) > 2 else ""
    if parts[-1] in ("from_pretrained", "from_config", "from_single_file"):
        return _loader(owner)
    last = parts[-1]
    if last.endswith("Pipeline") or last == "pipeline":
        return _pipeline
    return _class(last) if last[:1].isupper() and len(parts) <= 4 else None


def _module_class(name: str) -> ModuleModel | None:
    """Classes that the program derives its own from."""
    last = name.rpartition(".")[2]
    return MODULES.get(MODEL) if last.endswith("PreTrainedModel") or _MODULE.search(last) else None


def _bases(name: str) -> tuple[str, ...]:
    return (MODEL, "torch.nn.Module") if _module_class(name) is not None else ()


def _loader(owner: str) -> Model | None:
    if owner.endswith("Pipeline") or owner.startswith("AutoPipeline"):
        return _pipeline
    return _class(owner)


def _class(name: str) -> Model | None:
    if _HOST.search(name):
        return lambda call: Instance(External(TOKENIZER), call.site.node)
    if _SETTINGS.search(name):
        return _settings
    if _OUTPUT.search(name):
        return made_output
    return _model if _MODULE.search(name) else None


def _settings(call: Call) -> Value:
    """Settings keep what they are given under its name."""
    made = Instance(External(SETTINGS), call.site.node)
    if call.name.endswith("Config"):
        made.fields.update(call.kwargs)
    return made


def _model(call: Call) -> Value:
    dtype = named(call.kwargs.get("torch_dtype", call.kwargs.get("dtype")))
    where = call.kwargs.get("device_map", NONE)
    if not is_none(where):
        device = _mapped(call, where)
        return opaque(call, DISPATCHED if is_unknown(device) else MODEL, device, dtype)
    if not call.complete or not _QUANTIZED.isdisjoint(call.kwargs):
        return opaque(call, DISPATCHED, UNKNOWN_DEVICE, dtype)
    return opaque(call, MODEL, call.services.default_device(), dtype)


def _mapped(call: Call, where: Value) -> DeviceTree:
    """The device of `device_map="cuda"` or `{"": 0}`; "auto" and larger maps are not known."""
    if type(where) is DictObject:
        only = where.entries.get("")
        known = only is not None and len(where.entries) == 1
        return asked(call.services, only, UNKNOWN_DEVICE) if known else UNKNOWN_DEVICE
    if type(where) is Const and str(where.value).partition(":")[0] not in _UNSPREAD:
        return UNKNOWN_DEVICE
    return asked(call.services, where, UNKNOWN_DEVICE)


def _tokenized(call: Call) -> Value:
    """`tokenizer(text, return_tensors="pt")`: a mapping of tensors in host memory."""
    wanted = call.kwargs.get("return_tensors")
    if constant(wanted) == "pt":
        value: Value = Tensor(CPU, "int64", zero_dim=False, trail=_trail(call))
    else:
        value = Unknown("token ids", CPU if wanted is not None else UNKNOWN_DEVICE)
    made = DictObject({}, value, call.site.node)
    made.kind = ENCODING
    made.entries.update(dict.fromkeys(_ENCODED[:2], value))
    return made


def _trail(call: Call) -> Trail:
    return call.trail("encoded", "is made on the CPU by the tokenizer")


def _encoding_to(call: Call) -> Value:
    """Moves the tensors of an encoding in place and gives it back."""
    encoding = call.receiver
    if type(encoding) is not DictObject:
        return call.receiver
    target = to_target(call).device
    if call.name.endswith(".cuda"):
        target = present(call.services, CURRENT_CUDA)
    if target is not None:
        for key, value in list(encoding.entries.items()):
            call.write(encoding.entries, key, _relocated(call, value, target))
        if encoding.rest is not None:
            call.write(encoding.fields, "rest", _relocated(call, encoding.rest, target))
    return encoding


def _relocated(call: Call, value: Value, device: DeviceTree) -> Value:
    def moved(leaf: Value) -> Value:
        if type(leaf) is Tensor:
            trail = call.trail("moved", f"{wording.moved(device)} by `.to()`", leaf.trail)
            return leaf.with_(device=device, trail=trail)
        return Unknown(leaf.label, device) if type(leaf) is Unknown else leaf

    return map_tensors(value, moved)


def _pipeline(call: Call) -> Value:
    """A pipeline, on `device=` or on the host; its `to` is in place."""
    made = Instance(External(PIPELINE), call.site.node)
    made.fields["<device>"] = device_argument(call, 99) or CPU
    model = call.kwargs.get("model")
    if isinstance(model, ModuleObject):
        made.fields["model"] = model
    return made


def _pipeline_to(call: Call) -> Value:
    device = to_target(call).device
    if isinstance(call.receiver, Instance) and device is not None:
        call.write(call.receiver.fields, "<device>", device)
    return call.receiver


def _pipeline_device(call: Call) -> Value:
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    return DeviceValue(fields.get("<device>", UNKNOWN_DEVICE))


def _output(call: Call, result: Tensor) -> Value:
    """A structure of tensors on the model's device, of which those that a model always gives are
    known by name; the first is one of these, or the loss."""
    made = call.unknown(result.device)
    if type(made) is Unknown:
        tensor = result.with_(requires_grad=None)
        made.parts().update((key, tensor) for name in _GIVEN for key in (name, ("[]", name)))
        made.parts()["[]", 0] = tensor
    return made


def _generated(call: Call) -> Value:
    """`model.generate(...)`: tokens beside the model."""
    model = call.receiver
    if not isinstance(model, ModuleObject):
        return call.unknown()
    if model.cls == External(MODEL) and (made := MODULES.get(MODEL)) is not None:
        made.forward(call)  # the prompt has to be where the model is
    device = home_device(model)
    found = UNKNOWN_DEVICE if device is None else device
    return Tensor(found, "int64", zero_dim=False)


def _decoded(call: Call) -> Value:
    return Unknown("text")


def _itself(call: Call) -> Value:
    return call.receiver


def register_all() -> None:
    register(PretrainedModel(MODEL, _output))
    register(OpaqueModule(DISPATCHED, unknown_output, checked=0, names=False))
    PACKAGES["transformers"] = PACKAGES["diffusers"] = _package
    MODULE_PACKAGES["transformers"] = MODULE_PACKAGES["diffusers"] = _module_class
    PACKAGE_BASES["transformers"] = _bases
    FUNCTIONS[f"{MODEL}.generate"] = FUNCTIONS[f"{DISPATCHED}.generate"] = _generated
    for name in words("encode_plus batch_encode_plus __call__ pad apply_chat_template"):
        FUNCTIONS[f"{TOKENIZER}.{name}"] = _tokenized
    for name in words("decode batch_decode tokenize convert_ids_to_tokens post_process"):
        FUNCTIONS[f"{TOKENIZER}.{name}"] = _decoded
    FUNCTIONS[f"{TOKENIZER}.encode"] = _encoded
    FUNCTIONS[f"{ENCODING}.to"] = FUNCTIONS[f"{ENCODING}.cuda"] = _encoding_to
    for name in words("to enable_xformers_memory_efficient_attention enable_attention_slicing"):
        FUNCTIONS[f"{PIPELINE}.{name}"] = _pipeline_to if name == "to" else _itself
    FUNCTIONS[f"{PIPELINE}.__call__"] = lambda call: Unknown("the pipeline's output")
    ATTRIBUTES[f"{PIPELINE}.device"] = _pipeline_device
    for name in words("get_peft_model prepare_model_for_kbit_training"):
        FUNCTIONS[f"peft.{name}"] = _adapted
    FUNCTIONS["transformers.set_seed"] = _decoded
    ALIASES["transformers.configuration_utils.PretrainedConfig"] = SETTINGS
    ATTRIBUTES[f"{SETTINGS}.use_return_dict"] = lambda call: TRUE


def _encoded(call: Call) -> Value:
    """`tokenizer.encode(text, return_tensors="pt")`: one tensor in host memory."""
    if constant(call.kwargs.get("return_tensors")) == "pt":
        return Tensor(CPU, "int64", trail=_trail(call), zero_dim=False)
    return Unknown("token ids")


def _adapted(call: Call) -> Value:
    """The model with adapters: the same model, as far as devices go."""
    return call.args[0] if call.args else call.kwargs.get("model", call.unknown())
