"""`torch.fft`, and the short-time transforms of `torch`."""

from __future__ import annotations

from device_lens.models.table import register

FFT = """
(@input, n, dim, norm) -> rank.complex
    fft ifft rfft ihfft
(@input, n, dim, norm) -> rank.real_float
    irfft hfft
(@input, s, dim, norm) -> rank.complex
    fft2 fftn ifft2 ifftn rfft2 rfftn ihfft2 ihfftn
(@input, s, dim, norm) -> rank.real_float
    irfft2 irfftn hfft2 hfftn
(@input, dim) -> same.keep
    fftshift ifftshift
"""
TABLE = """
(@input, n_fft, hop_length, win_length, @window, center, pad_mode, normalized, onesided, \
return_complex, align_to_window) -> some.unknown
    stft
(@input, n_fft, hop_length, win_length, @window, center, normalized, onesided, length, \
return_complex) -> some.unknown
    istft
"""


def register_all() -> None:
    register(FFT, "torch.fft")
    register(TABLE, "torch")
    register(TABLE, "torch.Tensor")
