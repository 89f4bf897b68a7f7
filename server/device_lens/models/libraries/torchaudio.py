"""torchaudio: sound comes from files on the host; transforms are modules, most of them with windows
and filters that have to be where the sound is."""

from __future__ import annotations

from device_lens.domain.device import CPU
from device_lens.domain.values import Tensor, TupleValue
from device_lens.models.call import Call, Value
from device_lens.models.libraries.opaque import OpaqueModule, register, tensor_output
from device_lens.models.numbers import number
from device_lens.models.registry import BASES, FUNCTIONS, MODULES
from device_lens.models.torch.nn_layer import Layer
from device_lens.models.torch.objects import nothing
from device_lens.models.words import words

_WITH_BUFFERS = """GriffinLim InverseMelScale InverseSpectrogram LFCC MFCC MelScale MelSpectrogram
    Spectrogram SpectralCentroid TimeStretch"""
_PLAIN = """AmplitudeToDB ComputeDeltas Deemphasis Fade FrequencyMasking Loudness MuLawDecoding
    MuLawEncoding Preemphasis Resample SlidingWindowCmn TimeMasking Vol"""


def _load(call: Call) -> Value:
    """The samples and how many there are of them in a second."""
    trail = call.trail("created", "is read on the CPU by `torchaudio.load`")
    return TupleValue((Tensor(CPU, "float32", (None, None), trail), number("a sample rate")))


def register_all() -> None:
    """Fills the registry."""
    for name in words(_WITH_BUFFERS):
        register(OpaqueModule(f"torchaudio.transforms.{name}", tensor_output))
    for name in words(_PLAIN):
        layer = Layer(f"torchaudio.transforms.{name}", "")
        MODULES[layer.name] = layer
        BASES[layer.name] = ("torch.nn.Module",)
    FUNCTIONS["torchaudio.load"] = _load
    FUNCTIONS["torchaudio.save"] = nothing
