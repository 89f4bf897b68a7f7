"""Methods of tensors on a receiver that is not known to be one.

Many names are those of strings, lists, dicts, modules and numpy arrays too: called on an unknown
they say nothing. Those of `EVIDENT` only tensors have: an unknown on which they are called is one.
"""

from __future__ import annotations

from device_lens.domain.device import UNKNOWN_DEVICE
from device_lens.domain.values import Unknown
from device_lens.models.call import Call, Model, Value
from device_lens.models.registry import FUNCTIONS
from device_lens.models.words import words

_METHOD = "torch.Tensor."
_OF_MODULES_TOO = frozenset(words("to cuda cpu xpu mtia ipu hpu type half float double bfloat16"))
"""Moves and conversions: their models handle any receiver."""
EVIDENT = frozenset(
    words(
        """
        addbmm addcdiv addcmul addmm addmv allclose amax amin baddbmm bmm broadcast_to
        clamp clamp_max clamp_min contiguous cummax cummin detach diag_embed element_size erf
        erfc expand_as expm1 flip flipud gather index_add index_copy index_fill index_put
        index_select is_contiguous is_floating_point is_pinned isclose kthvalue lerp log1p
        log_softmax logical_and logical_not logical_or logical_xor logsumexp long masked_fill
        masked_scatter masked_select matmul mm movedim mv nan_to_num narrow
        ndimension nelement new_empty new_full new_ones new_tensor new_zeros nonzero_static
        numel permute reciprocal repeat_interleave reshape_as retain_grad rsqrt
        scatter scatter_add scatter_reduce sigmoid softmax squeeze_ swapdims take_along_dim topk
        tril triu type_as unbind unflatten unfold unsqueeze view_as
        """
    )
)

_INDEXING = frozenset(words("gather scatter"))
"""Names that objects which speak for processes have too: tensors take a dimension and an index."""
_NOT_EVIDENT = frozenset(words("apply_ set_ requires_grad_"))
"""Names that end like those of methods which write into a tensor, and that modules have too."""

PLAIN = frozenset(
    words(
        """
        data_ptr dense_dim dim dtype element_size get_device is_complex is_contiguous is_cpu is_cuda
        is_floating_point is_leaf is_meta is_mps is_pinned is_shared is_sparse is_xpu item itemsize
        layout nbytes ndim ndimension nelement numel numpy requires_grad shape size sparse_dim
        storage_offset stride tolist
        """
    )
)
"""Attributes and methods that give no tensor, whatever they are asked of."""


def _is_evident(method: str) -> bool:
    """Whether only tensors have a method of that name; so do those that write into the tensor,
    but for a few that modules have."""
    if method in EVIDENT:
        return True
    return method.endswith("_") and not method.startswith("_") and method not in _NOT_EVIDENT


def _is_asked_of_one(call: Call) -> bool:
    """Whether the arguments are those of a tensor's method."""
    if call.name[len(_METHOD) :] not in _INDEXING:
        return True
    return len(call.args) >= 2 or not call.kwargs.keys().isdisjoint(("dim", "index"))


class _Guard:
    """A tensor's method as it is for any receiver."""

    __slots__ = ("evident", "model")

    def __init__(self, model: Model, evident: bool) -> None:
        self.model = model
        self.evident = evident

    def __call__(self, call: Call) -> Value:
        receiver = call.receiver
        if type(receiver) is Unknown and not receiver.tensor_evidence:
            if not self.evident or not _is_asked_of_one(call):
                plain = call.name[len(_METHOD) :] in PLAIN
                device = UNKNOWN_DEVICE if plain else receiver.device
                return Unknown(_label(receiver, call.name), device)
            receiver.note()
            receiver.tensor_evidence = True
        return self.model(call)


def _label(receiver: Unknown, name: str) -> str:
    return f"{receiver.label}.{name.rpartition('.')[2]}(…)" if receiver.label else ""


def guard_methods() -> None:
    """Puts the guard before every method that is registered and has none."""
    for name, model in FUNCTIONS.items():
        method = name[len(_METHOD) :]
        if not name.startswith(_METHOD) or method.startswith("__") or method in _OF_MODULES_TOO:
            continue
        if not isinstance(model, _Guard):
            FUNCTIONS[name] = _Guard(model, _is_evident(method))
