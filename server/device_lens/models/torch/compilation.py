"""What a program asks about tracing and compiling: analysed code is never run by a tracer."""

from __future__ import annotations

from device_lens.domain.values import FALSE
from device_lens.models.call import Call, Value
from device_lens.models.python.builtins import IDENTITY
from device_lens.models.registry import FUNCTIONS
from device_lens.models.torch.objects import first, nothing, returns
from device_lens.models.words import words

NEVER = words(
    """torch.jit.is_scripting torch.jit.is_tracing torch._C._get_tracing_state
    torch.compiler.is_compiling torch.compiler.is_dynamo_compiling torch.compiler.is_exporting
    torch._dynamo.is_compiling torch.onnx.is_in_onnx_export torch._utils.is_compiling
    torchvision._is_tracing"""
)
DECORATORS = words(
    """torch.compiler.disable torch.compiler.allow_in_graph torch._dynamo.disable
    torch._dynamo.allow_in_graph torch.compiler.assume_constant_result"""
)
"""They give the function back, as far as devices go."""
EFFECTS = words(
    """torch._assert torch._check torch._check_is_size torch.compiler.reset torch._dynamo.reset
    torch._dynamo.mark_dynamic torch.compiler.cudagraph_mark_step_begin"""
)


def _compiled(call: Call) -> Value:
    """`torch.compile(model)`, and `torch.compile(mode=…)` as a decorator."""
    return call.get(0, "model", IDENTITY)


def register_all() -> None:
    FUNCTIONS["torch.compile"] = _compiled
    for name in NEVER:
        FUNCTIONS[name] = returns(FALSE)
    for name in DECORATORS:
        FUNCTIONS[name] = first
    for name in EFFECTS:
        FUNCTIONS[name] = nothing
