"""The modules of the stand-in for torch: what is registered moves, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fuzz_torch import Parameter, Tensor, elementwise, place, together


class Module:
    """`torch.nn.Module`: a move reaches parameters, buffers and modules, however deep."""

    def __init__(self) -> None:
        self.__dict__.update(_parameters={}, _buffers={}, _modules={}, training=True)

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(table, ()):
                return self.__dict__[table][name]
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        tables = {"_parameters": Parameter, "_modules": Module, "_buffers": Tensor}
        for table, kind in tables.items():
            if isinstance(value, kind) and (table != "_buffers" or name in own[table]):
                for other in (own, *(own[each] for each in tables if each != table)):
                    other.pop(name, None)
                own[table][name] = value
                return
            if name in own.get(table, ()):
                if value is not None:
                    raise TypeError(f"cannot assign that as {name}")
                own[table][name] = None
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                return
        object.__delattr__(self, name)

    def register_buffer(self, name: str, value: Any, persistent: bool = True) -> None:
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(name)
        self._buffers[name] = value

    def register_parameter(self, name: str, value: Any) -> None:
        if hasattr(self, name) and name not in self._parameters:
            raise KeyError(name)
        self._parameters[name] = value

    def add_module(self, name: str, module: Any) -> None:
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(name)
        self._modules[name] = module

    def to(self, where: Any = None, *, device: Any = None) -> Any:
        if where is None and device is None:
            return self
        there = place(where if device is None else device)
        for module in self._modules.values():
            if module is not None:
                module.to(there)
        for value in self._parameters.values():
            if value is not None:
                value.place = there
        for name, value in self._buffers.items():
            if value is not None:
                self._buffers[name] = value.to(there)
        return self

    def cpu(self) -> Any:
        return self.to("cpu")

    def cuda(self, device: Any = "cuda") -> Any:
        return self.to(device)

    def train(self, mode: bool = True) -> Any:
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        return self.train(False)

    def apply(self, function: Callable[[Any], Any]) -> Any:
        for module in self.children():
            module.apply(function)
        function(self)
        return self

    def children(self) -> Iterator[Any]:
        return (module for module in self._modules.values() if module is not None)

    def named_children(self) -> Iterator[Any]:
        return (each for each in self._modules.items() if each[1] is not None)

    def modules(self) -> Iterator[Any]:
        yield self
        for module in self.children():
            yield from module.modules()

    def parameters(self) -> Iterator[Parameter]:
        for module in self.modules():
            yield from (each for each in module._parameters.values() if each is not None)

    def buffers(self) -> Iterator[Tensor]:
        for module in self.modules():
            yield from (each for each in module._buffers.values() if each is not None)

    def __call__(self, *args: Any, **more: Any) -> Any:
        return self.forward(*args, **more)


class Linear(Module):
    def __init__(self, inputs: int, outputs: int, bias: bool = True, device: Any = None) -> None:
        super().__init__()
        self.weight = Parameter(place(device), (outputs, inputs))
        self.register_parameter("bias", Parameter(place(device), (outputs,)) if bias else None)

    def forward(self, x: Tensor) -> Tensor:
        if not x.shape:
            raise RuntimeError("an input without dimensions")
        return together(*(each for each in (x, self.weight, self.bias) if each is not None))._like(
            shape=x.shape
        )


class LayerNorm(Module):
    def __init__(self, size: int, device: Any = None) -> None:
        super().__init__()
        self.weight = Parameter(place(device), (size,))
        self.bias = Parameter(place(device), (size,))

    def forward(self, x: Tensor) -> Tensor:
        if not x.shape:
            raise RuntimeError("an input without dimensions")
        return together(x, self.weight, self.bias)


class ReLU(Module):
    def forward(self, x: Tensor) -> Tensor:
        return elementwise(x)


class Identity(Module):
    def forward(self, x: Any) -> Any:
        return x


class ModuleList(Module):
    def __init__(self, modules: Any = ()) -> None:
        super().__init__()
        self.extend(modules)

    def _at(self, index: int) -> str:
        return list(self._modules)[index]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._at(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        self._modules[self._at(index)] = module

    def __delitem__(self, index: int) -> None:
        del self._modules[self._at(index)]
        self._number(list(self._modules.values()))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Any:
        return iter(self._modules.values())

    def _number(self, modules: list[Any]) -> None:
        self._modules.clear()
        self._modules.update((str(number), module) for number, module in enumerate(modules))

    def append(self, module: Module) -> Any:
        self._modules[str(len(self))] = module
        return self

    def extend(self, modules: Any) -> Any:
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> None:
        modules = list(self)
        modules.insert(index, module)
        self._number(modules)


class Sequential(ModuleList):
    def __init__(self, *modules: Any) -> None:
        super().__init__(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Sequential(*list(self._modules.values())[index])
        return super().__getitem__(index)

    def forward(self, x: Any) -> Any:
        for module in self:
            x = module(x)
        return x


class ModuleDict(Module):
    def __init__(self, modules: Any = ()) -> None:
        super().__init__()
        self.update(modules)

    def update(self, modules: Any) -> None:
        for name, module in dict(modules).items():
            self.add_module(name, module)

    def __getitem__(self, name: str) -> Any:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Any:
        return iter(self._modules)

    def pop(self, name: str) -> Any:
        return self._modules.pop(name)

    def keys(self) -> Any:
        return self._modules.keys()

    def values(self) -> Any:
        return self._modules.values()

    def items(self) -> Any:
        return self._modules.items()


class ParameterList(Module):
    def __init__(self, values: Any = ()) -> None:
        super().__init__()
        for value in values:
            self.append(value)

    def __getitem__(self, index: int) -> Any:
        return list(self._parameters.values())[index]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Any:
        return iter(self._parameters.values())

    def append(self, value: Tensor) -> Any:
        made = value if isinstance(value, Parameter) else Parameter(value)
        self.register_parameter(str(len(self)), made)
        return self


LAYERS = {
    each.__name__: each
    for each in (
        *(Module, Linear, LayerNorm, ReLU, Identity),
        *(ModuleList, Sequential, ModuleDict, ParameterList),
    )
}
"""What `torch.nn` has, by name."""
