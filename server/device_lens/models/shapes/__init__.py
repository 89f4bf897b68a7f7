"""Shape rules: the extent of a result from the arguments of a call.

An *extent* is a shape and whether it has no dimensions; the second says more where the first is
unknown.
"""

from __future__ import annotations

from device_lens.models.shapes import joining, layers, letters, rules
from device_lens.models.shapes.extent import Rule

SHAPES: dict[str, Rule] = {
    "any": rules.unknown,
    "some": rules.some,
    "none": rules.none,
    "line": rules.line,
    "plane": rules.plane,
    "indices": rules.indices,
    "same": rules.same,
    "picked": rules.picked,
    "broadcast": rules.all_operands,
    "reduced": rules.reduced,
    "along": rules.along,
    "viewed": rules.viewed,
    "expanded": rules.expanded,
    "like_other": rules.like_other,
    "repeated": rules.repeated,
    "permuted": rules.permuted,
    "rank": rules.same_rank,
    "padded": rules.padded,
    "ranked": rules.nonzero_dim,
    "transposed": rules.transposed,
    "mT": rules.matrix_transposed,
    "unsqueezed": rules.unsqueezed,
    "squeezed": rules.squeezed,
    "flattened": rules.flattened,
    "selected": rules.selected,
    "narrowed": rules.narrowed,
    "product": joining.product,
    "matrix": joining.matrix_product,
    "vector": joining.vector_product,
    "linear": joining.linear,
    "embedded": joining.embedded,
    "cat": joining.concatenated,
    "stack": joining.stacked,
    "conv": joining.convolved,
    "loss": joining.loss,
    "broadcast2": joining.first_two,
    "attention": layers.attended,
    "one_hot": layers.one_hot,
    "added": layers.added_product,
    "conv_transpose": layers.transposed_convolution,
    "adaptive": layers.adaptive,
    "resized": layers.resized,
    "pool": joining.pooled,
    "first": joining.first_operand,
    "einsum": letters.summed,
    "outer": joining.outer_product,
    "distances": joining.distances,
    "interleaved": rules.interleaved,
}
"""Rules by the names that rows use."""
