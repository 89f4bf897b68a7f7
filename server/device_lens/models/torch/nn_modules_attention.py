"""Attention and the transformer, whose parts are modules in turn."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from device_lens.domain.code import ClassValue
from device_lens.domain.heap import ListObject, ModuleObject, Parameter
from device_lens.domain.values import FALSE, NONE, Const, External, Shape, Tensor, TupleValue
from device_lens.models import wording
from device_lens.models.call import Call, Value, constant, is_none, tensor_of
from device_lens.models.numbers import dimension
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.construction import construct
from device_lens.models.torch.conversions import device_argument
from device_lens.models.torch.copying import deep_copy
from device_lens.models.torch.nn_layer import agreeing_module, constructor_arguments, factory
from device_lens.models.torch.nn_shapes import number

_PLACE = ("device", "dtype")


class CausalMask(NamedTuple):
    """A mask that may tell no more than that nobody looks ahead, which needs no mask: then it stays
    unread wherever it is (`multi_head_attention_forward`, `torch/nn/functional.py`). Each argument
    by its position and name."""

    mask: tuple[int, str]
    padding: tuple[int, str]
    """With a padding mask it is added to that."""
    hint: tuple[int, str]
    is_looked_for: bool = False
    """Whether its numbers are compared where no hint is given (`_detect_is_causal_mask`,
    `torch/nn/modules/transformer.py`)."""

    def may_stay_unread(self, call: Call) -> bool:
        """Whether it may tell no more in a call."""
        hint = call.get(*self.hint)
        if tensor_of(call.get(*self.padding)) is not None or hint == FALSE:
            return False
        if is_none(hint):
            return self.is_looked_for and _may_be_square(tensor_of(call.get(*self.mask)))
        return True


def _may_be_square(mask: Tensor | None) -> bool:
    """Whether a mask may be of the size of one by which nobody looks ahead."""
    if mask is None or mask.shape is None:
        return True
    return len(mask.shape) == 2 and (None in mask.shape or mask.shape[0] == mask.shape[1])


def unread(call: Call, masks: Iterable[CausalMask]) -> frozenset[str]:
    """The names of the masks that may stay unread in a call."""
    return frozenset(each.mask[1] for each in masks if each.may_stay_unread(call))


class Attention:
    """`nn.MultiheadAttention`."""

    name = "torch.nn.MultiheadAttention"
    constructor = (
        "embed_dim num_heads dropout=0.0 bias=True add_bias_kv=False add_zero_attn=False kdim=None "
        "vdim=None batch_first=False device=None dtype=None"
    )
    takes = "query key value key_padding_mask need_weights attn_mask"
    causal = CausalMask((5, "attn_mask"), (3, "key_padding_mask"), (7, "is_causal"))

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Makes one projection for query, key and value, or three where their sizes differ."""
        arguments = constructor_arguments(self.constructor, call)
        for name in ("embed_dim", "num_heads", "batch_first", "kdim", "vdim"):
            call.write(module.fields, name, arguments.get(name, NONE))
        make = factory(call, arguments)
        wide = number(arguments, "embed_dim")
        for name, shape in self._projections(arguments, wide).items():
            call.write(module.parameters, name, Parameter(make(shape), call.site.node))
        if arguments.get("bias") != FALSE:
            tall = None if wide is None else 3 * wide
            call.write(module.parameters, "in_proj_bias", Parameter(make((tall,)), call.site.node))
        if constant(arguments.get("add_bias_kv")) is True:
            for name in ("bias_k", "bias_v"):
                call.write(module.parameters, name, Parameter(make((1, 1, wide)), call.site.node))
        out = construct(
            call,
            "torch.nn.modules.linear.NonDynamicallyQuantizableLinear",
            Const(wide),
            Const(wide),
            bias=arguments.get("bias"),
            **{name: arguments[name] for name in _PLACE if name in arguments},
        )
        call.write(module.modules, "out_proj", out)

    def _projections(self, arguments: dict[str, Value], wide: int | None) -> dict[str, Shape]:
        if is_none(arguments.get("kdim")) and is_none(arguments.get("vdim")):
            return {"in_proj_weight": (None if wide is None else 3 * wide, wide)}
        key, value = number(arguments, "kdim"), number(arguments, "vdim")
        return {
            "q_proj_weight": (wide, wide),
            "k_proj_weight": (wide, key if key is not None else wide),
            "v_proj_weight": (wide, value if value is not None else wide),
        }

    def forward(self, call: Call) -> Value:
        """The attended values, and the weights unless they are not asked for."""
        wanted = call.get(4, "need_weights")
        asked = is_none(wanted) or constant(wanted) is True
        without = () if asked else unread(call, (self.causal,))
        result = agreeing_module(call, self.name, self.takes, without)
        query = tensor_of(call.get(0, "query"))
        output = result.with_(shape=None if query is None else query.shape, zero_dim=False)
        weights = NONE if wanted == FALSE else result.with_(shape=None, zero_dim=False)
        return TupleValue((output, weights))


@dataclass(frozen=True, slots=True)
class TransformerLayer:
    """An encoder or decoder layer: attention blocks, two linear layers and norms."""

    name: str
    attentions: tuple[str, ...]
    takes: str
    causal: tuple[CausalMask, ...]

    constructor = (
        "d_model nhead dim_feedforward=2048 dropout=0.1 activation=None layer_norm_eps=1e-05 "
        "batch_first=False norm_first=False bias=True device=None dtype=None"
    )

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Makes the layer's modules."""
        arguments = constructor_arguments(TransformerLayer.constructor, call)
        wide, inner = arguments.get("d_model", NONE), arguments.get("dim_feedforward", NONE)
        shared = {name: arguments[name] for name in _PLACE if name in arguments}
        biased = {**shared, "bias": arguments.get("bias")}

        def put(name: str, kind: str, *args: Value, **kwargs: Value) -> None:
            call.write(module.modules, name, construct(call, f"torch.nn.{kind}", *args, **kwargs))

        for name in self.attentions:
            put(name, "MultiheadAttention", wide, arguments.get("nhead", NONE), **biased)
        put("linear1", "Linear", wide, inner, **biased)
        put("linear2", "Linear", inner, wide, **biased)
        for index in range(len(self.attentions) + 1):
            put(f"norm{index + 1}", "LayerNorm", wide, **biased)

    def forward(self, call: Call) -> Value:
        """Shaped like the first input."""
        return like_first(call, self.name, self.takes, unread(call, self.causal))


def like_first(call: Call, name: str, takes: str, without: Container[str] = ()) -> Tensor:
    """A result shaped like the first input."""
    result = agreeing_module(call, name, takes, without)
    first = tensor_of(call.get(0, takes.split()[0]))
    return result.with_(shape=None if first is None else first.shape, zero_dim=False)


@dataclass(frozen=True, slots=True)
class TransformerStack:
    """`TransformerEncoder` and `TransformerDecoder`: copies of one layer."""

    name: str
    layer: str
    takes: str
    causal: tuple[CausalMask, ...]

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Copies the layer as often as is asked; the copies beyond the first are told as one
        where that is not known."""
        layer = call.get(0, self.layer, NONE)
        count = call.get(1, "num_layers")
        call.write(module.fields, "num_layers", count if count is not None else NONE)
        layers = construct(call, "torch.nn.ModuleList")
        known = type(count) is Const and isinstance(count.value, int)
        names = [str(index) for index in range(min(count.value, _MOST))] if known else ["0", "*"]
        for name in names:
            call.write(layers.modules, name, deep_copy(layer, {}))
        call.write(module.modules, "layers", layers)
        norm = call.get(2, "norm")
        if isinstance(norm, ModuleObject):
            call.write(module.modules, "norm", norm)

    def forward(self, call: Call) -> Value:
        """Shaped like the first input. Layers of the program's own are followed."""
        layers = call.receiver.modules.get("layers")
        members = list(layers.modules.values()) if isinstance(layers, ModuleObject) else []
        if not members or not _is_own(members[0]):
            return like_first(call, self.name, self.takes, unread(call, self.causal))
        value, kwargs = call.args[0] if call.args else NONE, dict(call.kwargs)
        if "mask" in kwargs:
            kwargs["src_mask"] = kwargs.pop("mask")
        for layer in members[:MOST_FOLLOWED]:
            value = call.services.invoke(layer, (value, *call.args[1:]), kwargs)
        return value


_MOST = 48
"""Copies of a layer that are told apart."""
MOST_FOLLOWED = 2
"""Layers of a stack that are followed: the others are copies."""


class WholeTransformer:
    """`nn.Transformer`."""

    name = "torch.nn.Transformer"
    constructor = (
        "d_model=512 nhead=8 num_encoder_layers=6 num_decoder_layers=6 dim_feedforward=2048 "
        "dropout=0.1 activation=None custom_encoder=None custom_decoder=None layer_norm_eps=1e-05 "
        "batch_first=False norm_first=False bias=True device=None dtype=None"
    )
    takes = (
        "src tgt src_mask tgt_mask memory_mask src_key_padding_mask tgt_key_padding_mask "
        "memory_key_padding_mask"
    )
    causal = (
        CausalMask((2, "src_mask"), (5, "src_key_padding_mask"), (8, "src_is_causal"), True),
        CausalMask((3, "tgt_mask"), (6, "tgt_key_padding_mask"), (9, "tgt_is_causal"), True),
        CausalMask((4, "memory_mask"), (7, "memory_key_padding_mask"), (10, "memory_is_causal")),
    )

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Makes an encoder and a decoder."""
        arguments = constructor_arguments(self.constructor, call)
        shared = {name: arguments.get(name) for name in (*_PLACE, "bias", "dim_feedforward")}
        wide, heads = arguments["d_model"], arguments["nhead"]
        normed = {name: arguments.get(name) for name in (*_PLACE, "bias")}
        for name in ("Encoder", "Decoder"):
            own = arguments.get(f"custom_{name.lower()}")
            if isinstance(own, ModuleObject):
                call.write(module.modules, name.lower(), own)
                continue
            layer = construct(call, f"torch.nn.Transformer{name}Layer", wide, heads, **shared)
            norm = construct(call, "torch.nn.LayerNorm", wide, **normed)
            count = arguments[f"num_{name.lower()}_layers"]
            stack = construct(call, f"torch.nn.Transformer{name}", layer, count, norm)
            call.write(module.modules, name.lower(), stack)

    def forward(self, call: Call) -> Value:
        """Shaped like the target sequence. An encoder and a decoder of the program's own are
        followed."""
        parts = call.receiver.modules
        encoder, decoder = parts.get("encoder"), parts.get("decoder")
        source, target = call.get(0, "src", NONE), call.get(1, "tgt", NONE)
        memory = source
        if _is_own(encoder):
            masks = _masks(call, {"mask": 2, "src_key_padding_mask": 5}, {"mask": "src_mask"})
            memory = call.services.invoke(encoder, (source,), masks)
        if _is_own(decoder):
            named = dict(zip(_DECODER_MASKS, (3, 4, 6, 7), strict=True))
            return call.services.invoke(decoder, (target, memory), _masks(call, named, {}))
        result = agreeing_module(call, self.name, self.takes, unread(call, self.causal))
        known = tensor_of(target)
        return result.with_(shape=None if known is None else known.shape, zero_dim=False)


_DECODER_MASKS = ("tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask")


def _is_own(module: Value) -> bool:
    return isinstance(module, ModuleObject) and type(module.cls) is ClassValue


def _masks(call: Call, positions: dict[str, int], given_as: dict[str, str]) -> dict[str, Value]:
    """The masks of a call by the names that a part takes them under."""
    return {
        name: call.get(position, given_as.get(name, name), NONE)
        for name, position in positions.items()
    }


_ENCODER = "src src_mask src_key_padding_mask"
_DECODER = "tgt memory tgt_mask memory_mask tgt_key_padding_mask memory_key_padding_mask"
_ENCODER_MASK = CausalMask((1, "src_mask"), (2, "src_key_padding_mask"), (3, "is_causal"))
_TARGET_MASK = CausalMask((2, "tgt_mask"), (4, "tgt_key_padding_mask"), (6, "tgt_is_causal"))
_MEMORY_MASK = CausalMask(
    (3, "memory_mask"), (5, "memory_key_padding_mask"), (7, "memory_is_causal")
)

ATTENTION: tuple[Attention | TransformerLayer | TransformerStack | WholeTransformer, ...] = (
    Attention(),
    TransformerLayer(
        "torch.nn.TransformerEncoderLayer", ("self_attn",), _ENCODER, (_ENCODER_MASK,)
    ),
    TransformerLayer(
        "torch.nn.TransformerDecoderLayer",
        ("self_attn", "multihead_attn"),
        _DECODER,
        (_TARGET_MASK, _MEMORY_MASK),
    ),
    TransformerStack(
        "torch.nn.TransformerEncoder",
        "encoder_layer",
        "src mask src_key_padding_mask",
        (_ENCODER_MASK._replace(mask=(1, "mask"), is_looked_for=True),),
    ),
    TransformerStack(
        "torch.nn.TransformerDecoder",
        "decoder_layer",
        _DECODER,
        (_TARGET_MASK._replace(is_looked_for=True), _MEMORY_MASK),
    ),
    WholeTransformer(),
)


def _causal_mask(call: Call) -> Value:
    """`generate_square_subsequent_mask(n)`: on the default device unless `device=` is given."""
    device = device_argument(call, 1)
    size = dimension(call.get(0, "sz"))
    where = call.services.default_device() if device is None else device
    trail = call.trail("created", wording.created(call.name, where))
    return Tensor(where, "float32", (size, size), trail, default_made=device is None)


def _clones(call: Call) -> Value:
    """`_get_clones(layer, n)`, which programs with layers of their own import from there: a list
    of copies."""
    layer, count = call.get(0, "module", NONE), constant(call.get(1, "N"))

    def copy() -> Value:
        return call.services.invoke(External("copy.deepcopy"), (layer,), {})

    if type(count) is int:
        copies = ListObject(
            tuple(copy() for _ in range(min(count, _MOST))), None, "list", call.site.node
        )
    else:
        copies = ListObject((), copy(), "list", call.site.node)
    return construct(call, "torch.nn.ModuleList", copies)


def register_all() -> None:
    FUNCTIONS["torch.nn.modules.transformer._get_clones"] = _clones
    name = "generate_square_subsequent_mask"
    FUNCTIONS[f"torch.nn.Transformer.{name}"] = _causal_mask
    ALIASES[f"torch.nn.modules.transformer.Transformer.{name}"] = f"torch.nn.Transformer.{name}"
