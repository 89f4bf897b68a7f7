"""As much of torch as the drawn programs use, run for devices and shapes alone: a tensor is where
it is, and what PyTorch's operations refuse raises."""

from __future__ import annotations

from contextlib import contextmanager
from random import Random
from types import ModuleType
from typing import Any

_default = ["cpu"]
_current = [0]
_grad = [True]
_coins = [Random(0)]


class Device:
    """`torch.device`, which is a context manager too."""

    def __init__(self, text: Any, index: int | None = None) -> None:
        text = str(text)
        self.type, _, number = text.partition(":")
        self.index = int(number) if number else index
        if self.type not in ("cpu", "cuda") or (self.index or 0) not in (0, 1):
            raise RuntimeError(f"there is no device {text}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __enter__(self) -> Device:
        _default.append(str(self))
        return self

    def __exit__(self, *error: object) -> None:
        _default.pop()


def place(device: Any) -> str:
    """The device of a tensor that is made or put there."""
    if isinstance(device, Tensor):
        return device.place
    if not isinstance(device, str | int | Device | None):
        raise TypeError("no device")
    text = _default[-1] if device is None else str(device)
    if isinstance(device, int):
        text = f"cuda:{device}"
    Device(text)
    return f"cuda:{_current[-1]}" if text == "cuda" else text


class Tensor:
    """`taped` tells that it requires grad, `leaf` that nothing computed it from what does."""

    def __init__(self, where: str, shape: tuple[int, ...] = (2,), taped: bool = False) -> None:
        self.place, self.shape, self.taped, self.leaf = where, shape, taped, not taped

    def _like(self, where: str | None = None, shape: tuple[int, ...] | None = None) -> Tensor:
        return Tensor(
            self.place if where is None else where,
            self.shape if shape is None else shape,
            self.taped and _grad[-1],
        )

    @property
    def device(self) -> Device:
        return Device(self.place)

    @property
    def data(self) -> Tensor:
        return Tensor(self.place, self.shape)

    @property
    def is_cuda(self) -> bool:
        return self.place != "cpu"

    @property
    def requires_grad(self) -> bool:
        return self.taped

    def dim(self) -> int:
        return len(self.shape)

    def to(self, where: Any = None, *, device: Any = None) -> Tensor:
        asked = where if device is None else device
        there = self.place if asked is None else place(asked)
        return self if there == self.place else self._like(there)

    def cpu(self) -> Tensor:
        return self.to("cpu")

    def cuda(self, device: Any = "cuda") -> Tensor:
        return self.to(device)

    def clone(self) -> Tensor:
        return self._like()

    def detach(self) -> Tensor:
        return Tensor(self.place, self.shape)

    def new_ones(self, size: int, device: Any = None) -> Tensor:
        return Tensor(self.place if device is None else place(device), (size,))

    new_zeros = new_ones

    def copy_(self, other: Tensor) -> Tensor:
        _broadcast(self.shape, other.shape)
        return self._changed()

    def _changed(self) -> Tensor:
        if self.taped and self.leaf and _grad[-1]:
            raise RuntimeError("a leaf that requires grad is changed in place")
        return self

    def sum(self, dim: int | None = None) -> Tensor:
        return self._like(shape=() if dim is None else self.shape[1:])

    mean = sum

    def float(self) -> Tensor:
        return self

    def view(self, *shape: int) -> Tensor:
        return self._like(shape=shape)

    def item(self) -> int:
        if self.shape:
            raise RuntimeError("more than one item")
        return 1

    def tolist(self) -> Any:
        return [1] * self.shape[0] if self.shape else 1

    def numpy(self) -> Any:
        if self.is_cuda or self.taped:
            raise TypeError("no memory that NumPy can read")
        return self.tolist()

    def __bool__(self) -> bool:
        self.item()
        return _coins[-1].random() < 0.5

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Any:
        return iter([self[number] for number in range(len(self))])

    def __getitem__(self, index: int) -> Tensor:
        if not isinstance(index, int) or index >= len(self):
            raise IndexError(index)
        return self._like(shape=self.shape[1:])

    def __deepcopy__(self, memo: Any) -> Tensor:
        if self.taped and not self.leaf:
            raise RuntimeError("only leaves can be copied deeply")
        return memo.setdefault(id(self), type(self)(self.place, self.shape, self.taped))

    def __add__(self, other: Any) -> Tensor:
        return elementwise(self, other)

    __radd__ = __mul__ = __rmul__ = __sub__ = __gt__ = __add__

    def __matmul__(self, other: Tensor) -> Tensor:
        return together(self, other)._like(shape=())

    def __iadd__(self, other: Any) -> Tensor:
        if isinstance(other, Tensor):
            if other.place != self.place and (other.is_cuda or other.shape):
                raise RuntimeError("Expected all tensors to be on the same device")
            if _broadcast(self.shape, other.shape) != self.shape:
                raise RuntimeError("the result has another shape")
        self._changed()
        if isinstance(other, Tensor) and other.taped and _grad[-1] and not self.taped:
            self.taped, self.leaf = True, False
        return self

    __imul__ = __iadd__
    add_ = __iadd__


def _broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    longest: tuple[int, ...] = max(shapes, key=len)
    for shape in shapes:
        if shape and shape != longest[len(longest) - len(shape) :]:
            raise RuntimeError("the shapes do not fit")
    return longest


def together(*values: Any) -> Tensor:
    """The result of an operation on tensors. Raises RuntimeError where they are apart."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    if len(tensors) < len(values):
        raise TypeError("no tensor")
    places = {value.place for value in tensors}
    if len(places) > 1:
        raise RuntimeError("Expected all tensors to be on the same device")
    taped = _grad[-1] and any(value.taped for value in tensors)
    return Tensor(places.pop(), _broadcast(*(value.shape for value in tensors)), taped)


def elementwise(*values: Any) -> Tensor:
    """The same where numbers do, and host tensors without dimensions beside those elsewhere."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    if any(not isinstance(value, Tensor | int | float) for value in values) or not tensors:
        raise TypeError("neither tensor nor number")
    guests = [value for value in tensors if value.place == "cpu" and not value.shape]
    hosts = [value for value in tensors if not any(value is guest for guest in guests)]
    if len({value.place for value in hosts}) == 1:
        shape = _broadcast(*(value.shape for value in tensors))
        taped = _grad[-1] and any(value.taped for value in tensors)
        return Tensor(hosts[0].place, shape, taped)
    return together(*tensors)


class Parameter(Tensor):
    """What a module's moves put elsewhere in place."""

    def __init__(
        self, where: Any, shape: tuple[int, ...] = (2,), requires_grad: bool = True
    ) -> None:
        if isinstance(where, Tensor):
            where, shape = where.place, where.shape
        super().__init__(where, shape, requires_grad)
        self.leaf = True


def _made(*args: Any, device: Any = None, **more: Any) -> Tensor:
    size = args[0] if args else 2
    return Tensor(place(device), size if isinstance(size, tuple) else args)


def _tensor(data: Any, device: Any = None) -> Tensor:
    return Tensor(place(device), (len(data),) if isinstance(data, list) else ())


def _alike(x: Tensor, device: Any = None) -> Tensor:
    return Tensor(x.place if device is None else place(device), x.shape)


def _cat(tensors: Any) -> Tensor:
    tensors = list(tensors)
    if any(not value.shape for value in tensors):
        raise RuntimeError("zero-dimensional tensors cannot be concatenated")
    whole = together(*tensors)
    return whole._like(shape=(sum(len(value) for value in tensors), *whole.shape[1:]))


def _stack(tensors: Any) -> Tensor:
    tensors = list(tensors)
    if len({value.shape for value in tensors}) > 1:
        raise RuntimeError("stack expects tensors of one size")
    whole = together(*tensors)
    return whole._like(shape=(len(tensors), *whole.shape))


@contextmanager
def _taping(on: bool) -> Any:
    _grad.append(on)
    try:
        yield
    finally:
        _grad.pop()


@contextmanager
def _on_gpu(device: Any) -> Any:
    _current.append(device if isinstance(device, int) else Device(device).index or 0)
    try:
        yield
    finally:
        _current.pop()


def _set_default(device: Any) -> None:
    _default[:] = [str(Device(device))]


def modules(coins: Random) -> dict[str, ModuleType]:
    """`torch` and its parts, by the names under which programs import them. What a tensor's value
    decides, coins do."""
    from fuzz_torch_nn import LAYERS

    del _default[1:], _current[1:], _grad[1:]
    _default[0], _coins[0] = "cpu", coins
    torch, nn, cuda = ModuleType("torch"), ModuleType("torch.nn"), ModuleType("torch.cuda")
    for name in ("ones", "zeros", "rand", "randn", "empty"):
        setattr(torch, name, _made)
    for name in ("relu", "add", "mul", "where"):
        setattr(torch, name, elementwise)
    known: dict[str, Any] = {
        "Tensor": Tensor,
        "tensor": _tensor,
        "device": Device,
        "cat": _cat,
        "stack": _stack,
        "dot": lambda x, y: x @ y,
        "zeros_like": _alike,
        "ones_like": _alike,
        "is_tensor": lambda x: isinstance(x, Tensor),
        "no_grad": lambda: _taping(False),
        "enable_grad": lambda: _taping(True),
        "set_default_device": _set_default,
        "nn": nn,
        "cuda": cuda,
    }
    vars(torch).update(known)
    vars(cuda).update(is_available=lambda: True, device_count=lambda: 2, device=_on_gpu)
    vars(nn).update(LAYERS, Parameter=Parameter)
    return {"torch": torch, "torch.nn": nn}
