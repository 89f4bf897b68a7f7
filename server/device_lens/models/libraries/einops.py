"""einops: tensors in other shapes, where they were; arrays stay arrays."""

from __future__ import annotations

from device_lens.domain.heap import ListObject
from device_lens.domain.values import HostArray, TupleValue, Unknown
from device_lens.models.call import Call, Model, Value
from device_lens.models.operation import apply, parse
from device_lens.models.registry import BASES, FUNCTIONS, MODULES
from device_lens.models.signature import Bound, signature
from device_lens.models.torch.nn_layer import Layer
from device_lens.models.words import words

_SHAPED = "(@tensors, pattern) -> any.keep view"
_PACKED = "(@tensors, pattern) -> some.keep"
_PIECE = "(@tensor, packed_shapes, pattern) -> any.keep view"
_PRODUCT = "(...@operands) -> any.promote"


def _of(row: str, first: str) -> Model:
    """By its row, for tensors: of anything else than a tensor or several, nothing is said."""

    def model(call: Call) -> Value:
        given = Bound(signature(row.partition("->")[0].strip()), call).get(first)
        if type(given) is HostArray:
            return HostArray(given.dtype)
        if type(given) is Unknown and not given.tensor_evidence:
            return call.unknown(given.device)
        return apply(parse(row), call)

    return model


_rearranged = _of(_SHAPED, "tensors")


def _pack(call: Call) -> Value:
    """`pack([x, y], "b *")`: one tensor, and the shapes that went into it."""
    shapes = ListObject((), Unknown("shape"), "list", call.site.node)
    return TupleValue((_of(_PACKED, "tensors")(call), shapes))


def _unpack(call: Call) -> Value:
    """`unpack(x, shapes, "b *")`: as many tensors as there are shapes."""
    return ListObject((), _of(_PIECE, "tensor")(call), "list", call.site.node)


def _einsum(call: Call) -> Value:
    """`einsum(a, b, "i j, j k -> i k")`: operands on one device."""
    return apply(parse(_PRODUCT), call)


def register_all() -> None:
    """Fills the registry."""
    for name in words("rearrange reduce repeat"):
        FUNCTIONS[f"einops.{name}"] = FUNCTIONS[f"einops.einops.{name}"] = _rearranged
    FUNCTIONS["einops.pack"] = _pack
    FUNCTIONS["einops.unpack"] = _unpack
    FUNCTIONS["einops.einsum"] = _einsum
    for name in words("Rearrange Reduce"):
        layer = Layer(f"einops.layers.torch.{name}", "pattern", function="einops.rearrange")
        MODULES[layer.name] = layer
        BASES[layer.name] = ("torch.nn.Module",)
