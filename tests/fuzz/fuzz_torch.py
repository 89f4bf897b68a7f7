"""As much of torch as the drawn programs use, run for the devices alone: a tensor is where it is,
and an operation on tensors that are apart raises, as PyTorch's do."""

from __future__ import annotations

from contextlib import contextmanager
from types import ModuleType
from typing import Any

_default = ["cpu"]


class Device:
    """`torch.device`, which is a context manager too."""

    def __init__(self, text: Any, index: int | None = None) -> None:
        text = str(text)
        self.type, _, number = text.partition(":")
        self.index = int(number) if number else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __enter__(self) -> Device:
        _default.append(place(self))
        return self

    def __exit__(self, *error: object) -> None:
        _default.pop()


def place(device: Any) -> str:
    """The device of a tensor that is made or put there."""
    if device is None:
        return _default[-1]
    if isinstance(device, Tensor):
        return device.place
    text = str(device)
    return "cuda:0" if text == "cuda" else text


class Tensor:
    def __init__(self, where: str) -> None:
        self.place = where

    @property
    def device(self) -> Device:
        return Device(self.place)

    @property
    def is_cuda(self) -> bool:
        return self.place != "cpu"

    def to(self, where: Any) -> Tensor:
        return self if place(where) == self.place else type(self)(place(where))

    def cpu(self) -> Tensor:
        return self.to("cpu")

    def cuda(self, number: int = 0) -> Tensor:
        return self.to(f"cuda:{number}")

    def clone(self) -> Tensor:
        return Tensor(self.place)

    def new_ones(self, size: int) -> Tensor:
        return Tensor(self.place)

    def copy_(self, other: Tensor) -> Tensor:
        return self

    def sum(self, dim: int) -> Tensor:
        return Tensor(self.place)

    def float(self) -> Tensor:
        return self

    def __getitem__(self, index: Any) -> Tensor:
        return Tensor(self.place)

    def __add__(self, other: Any) -> Tensor:
        return together(self, other)

    __radd__ = __mul__ = __rmul__ = __sub__ = __gt__ = __add__

    def __iadd__(self, other: Any) -> Tensor:
        together(self, other)
        return self

    __imul__ = __iadd__


def together(*values: Any) -> Tensor:
    """The result of an operation on tensors. Raises RuntimeError where they are apart."""
    places = {value.place for value in values if isinstance(value, Tensor)}
    if len(places) > 1:
        raise RuntimeError("Expected all tensors to be on the same device")
    return Tensor(places.pop())


class Parameter(Tensor):
    """What a module's moves put elsewhere in place."""


class Module:
    """`torch.nn.Module`: a move reaches parameters, buffers and modules, however deep."""

    def register_buffer(self, name: str, value: Tensor) -> None:
        self.__dict__.setdefault("_buffers", set()).add(name)
        setattr(self, name, value)

    def to(self, where: Any) -> Module:
        for name, value in list(vars(self).items()):
            if isinstance(value, Module):
                value.to(where)
            elif isinstance(value, Parameter):
                value.place = place(where)
            elif name in self.__dict__.get("_buffers", ()):
                self.__dict__[name] = value.to(where)
        return self

    def cpu(self) -> Module:
        return self.to("cpu")

    def cuda(self, number: int = 0) -> Module:
        return self.to(f"cuda:{number}")

    def parameters(self) -> Any:
        for value in vars(self).values():
            if isinstance(value, Module):
                yield from value.parameters()
            elif isinstance(value, Parameter):
                yield value

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)  # type: ignore[attr-defined]


class Linear(Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        self.weight = Parameter(_default[-1])
        self.bias = Parameter(_default[-1])

    def forward(self, x: Tensor) -> Tensor:
        return together(x, self.weight, self.bias)


class ModuleList(Module):
    def __init__(self, modules: list[Module]) -> None:
        for number, module in enumerate(modules):
            setattr(self, str(number), module)

    def __getitem__(self, index: int) -> Any:
        return list(vars(self).values())[index]

    def __iter__(self) -> Any:
        return iter(list(vars(self).values()))

    def append(self, module: Module) -> None:
        setattr(self, str(len(vars(self))), module)


def _made(*args: Any, device: Any = None, **more: Any) -> Tensor:
    return Tensor(place(device))


def _joined(tensors: Any) -> Tensor:
    return together(*tensors)


@contextmanager
def _no_grad() -> Any:
    yield


def modules() -> dict[str, ModuleType]:
    """`torch` and its parts, by the names under which programs import them."""
    torch, nn = ModuleType("torch"), ModuleType("torch.nn")
    for name in ("ones", "zeros", "rand", "tensor", "arange"):
        setattr(torch, name, _made)
    for name in ("zeros_like", "ones_like", "relu", "where"):
        setattr(torch, name, together)
    known = {"Tensor": Tensor, "device": Device, "cat": _joined, "stack": _joined, "nn": nn}
    vars(torch).update(known, no_grad=_no_grad)
    vars(nn).update({"Module": Module, "Linear": Linear, "ModuleList": ModuleList})
    return {"torch": torch, "torch.nn": nn}


def forget() -> None:
    """Puts back what a program left behind."""
    del _default[1:]
