"""The modules that are like no others: the base class, `Identity`, the adaptive softmax."""

from __future__ import annotations

from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import NONE, TRUE, Const, TupleValue
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, tensor_of
from device_lens.models.numbers import dimension, number, sequence
from device_lens.models.registry import ModuleModel
from device_lens.models.torch.construction import as_value, construct
from device_lens.models.torch.nn_layer import agreeing_module, constructor_arguments
from device_lens.models.torch.nn_modules import LAYERS
from device_lens.models.torch.nn_modules_attention import ATTENTION
from device_lens.models.torch.nn_modules_plain import PLAIN
from device_lens.models.torch.nn_modules_recurrent import RECURRENT


class Base:
    """`nn.Module` itself: `super().__init__()` of the program's own modules."""

    name = "torch.nn.Module"

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Modules are made in training mode."""
        call.write(module.fields, "training", TRUE)

    def forward(self, call: Call) -> Value:
        """Raises in PyTorch: the class has no forward."""
        return call.unknown()


class Identity:
    """`nn.Identity`: any arguments, the first input back."""

    name = "torch.nn.Identity"

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Keeps nothing."""

    def forward(self, call: Call) -> Value:
        """The very input."""
        return call.get(0, "input", NONE)


class AdaptiveSoftmax:
    """`nn.AdaptiveLogSoftmaxWithLoss`: a head and a tail of projections."""

    name = "torch.nn.AdaptiveLogSoftmaxWithLoss"
    constructor = (
        "in_features n_classes cutoffs div_value=4.0 head_bias=False device=None dtype=None"
    )

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Makes the head and one pair of projections per cutoff."""
        arguments = constructor_arguments(self.constructor, call)
        shared = {name: arguments.get(name) for name in ("device", "dtype")}
        wide = arguments.get("in_features", NONE)
        cutoffs = sequence(arguments.get("cutoffs"))
        sizes = [dimension(item) for item in cutoffs or ()]
        first = sizes[0] + len(sizes) if sizes and isinstance(sizes[0], int) else None
        bias = arguments.get("head_bias")
        head = construct(call, "torch.nn.Linear", wide, as_value(first), bias=bias, **shared)
        call.write(module.modules, "head", head)
        tail = construct(call, "torch.nn.ModuleList")
        for index in range(len(sizes) or 1):
            pair = [
                construct(call, "torch.nn.Linear", size, NONE, bias=Const(False), **shared)
                for size in (wide, NONE)
            ]
            call.write(tail.modules, str(index), construct(call, "torch.nn.Sequential", *pair))
        call.write(module.modules, "tail", tail)

    def forward(self, call: Call) -> Value:
        """`output` per sample, and the mean `loss`."""
        result = agreeing_module(call, self.name, "input_ target_")
        loss = result.with_(shape=())
        return TupleValue((result.with_(shape=None, zero_dim=None), loss), ("output", "loss"))


class LinearLoss:
    """`nn.LinearCrossEntropyLoss`: a projection and the cross entropy of its result."""

    name = "torch.nn.LinearCrossEntropyLoss"
    constructor = (
        "in_features num_classes out_features=() bias=False device=None dtype=None "
        "reduction='mean' weight=None"
    )

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Makes the projection, and keeps the class weights."""
        arguments = constructor_arguments(self.constructor, call)
        shared = {name: arguments.get(name) for name in ("device", "dtype", "bias")}
        rows = arguments.get("num_classes", NONE)
        if arguments.get("out_features") != Const(()):
            rows = NONE
        sizes = (arguments.get("in_features", NONE), rows)
        call.write(module.modules, "linear", construct(call, "torch.nn.Linear", *sizes, **shared))
        call.write(module.buffers, "weight", arguments.get("weight", NONE))

    def forward(self, call: Call) -> Value:
        """The mean loss."""
        return agreeing_module(call, self.name, "input target").with_(shape=())


def _from_pretrained(name: str, others: str) -> Model:
    """The constructor of an embedding whose weights there are already; `others` are the arguments
    that follow `embeddings` and `freeze`."""

    def model(call: Call) -> Value:
        weight = call.get(0, "embeddings", NONE)
        tensor = tensor_of(weight)
        shape = tensor.shape if tensor is not None else None
        sizes = shape if shape is not None and len(shape) == 2 else (None, None)
        rows, columns = (number("a size") if size is None else size for size in sizes)
        kept = {key: call.get(2 + at, key) for at, key in enumerate(others.split())}
        freeze = call.get(1, "freeze", TRUE)
        return construct(call, name, rows, columns, _weight=weight, _freeze=freeze, **kept)

    return model


def register_all() -> None:
    """Fills the registry with every class of `torch.nn` but the containers."""
    rows: tuple[ModuleModel, ...] = (
        *LAYERS,
        *PLAIN,
        *RECURRENT,
        *ATTENTION,
        Base(),
        Identity(),
        AdaptiveSoftmax(),
        LinearLoss(),
    )
    for row in rows:
        registry.MODULES[row.name] = row
        registry.BASES.setdefault(row.name, () if row.name == Base.name else (Base.name,))
    for name, others in (
        ("Embedding", "padding_idx max_norm norm_type scale_grad_by_freq sparse"),
        ("EmbeddingBag", "max_norm norm_type scale_grad_by_freq mode sparse"),
    ):
        model = _from_pretrained(f"torch.nn.{name}", others)
        registry.FUNCTIONS[f"torch.nn.{name}.from_pretrained"] = model
