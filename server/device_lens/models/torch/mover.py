"""What a move does to the parameters and buffers of one `nn.Module`."""

from __future__ import annotations

from typing import Any

from device_lens.domain.device import DeviceTree, shared
from device_lens.domain.guard import combine, leaves
from device_lens.domain.heap import ModuleObject, Parameter, Table
from device_lens.domain.join import join_tensors_blindly
from device_lens.domain.parameters import set_tensor, settled
from device_lens.domain.trail import Trail
from device_lens.domain.values import Tensor, Unknown
from device_lens.models.call import Services, Value
from device_lens.models.torch.parts import OpaqueFields, own_device
from device_lens.models.words import words

_FLOATING = frozenset(words("float16 bfloat16 float32 float64 complex64 complex128"))


class Mover:
    """One move of a module."""

    def __init__(
        self,
        services: Services,
        device: DeviceTree | None,
        dtype: str | None,
        trail: Trail | None,
    ) -> None:
        self.services = services
        self.device = device
        self.dtype = dtype
        self.trail = trail
        self.done: set[int] = set()
        self._any_of: list[tuple[Table, str, Value]] = []
        """Where those are that may be any of several."""
        self.may_miss = False
        """Whether what it comes to now stands for others too, which it does not move."""

    def move_parts(self, module: ModuleObject) -> None:
        write = self.services.journal.write
        for name, value in list(module.parameters.items()):
            if type(value) is Parameter and isinstance(value.fields, OpaqueFields):
                self._move_lent(value, value.fields.module)
                continue
            found = combine(self._moved_part, value)
            if found is not value:
                write(module.parameters, name, found)
            if not self.may_miss and any(_is_any_of(leaf) for leaf in leaves(found)):
                self._any_of.append((module.parameters, name, found))
        for name, value in list(module.buffers.items()):
            write(module.buffers, name, combine(self.moved, value))
        representative = module.own.get("representative")
        if type(representative) is Parameter and "tensor" in representative.fields:
            self._move_parameter(representative)
        if self.device is not None:
            here = own_device(module) if self.may_miss else self.device
            write(module.own, "device", combine(shared, here, self.device))
            if self.trail is not None:
                write(module.own, "moved", self.trail)
        if self.dtype is not None:
            write(module.own, "dtype", self.dtype)

    def settle(self) -> None:
        """Once all parts are moved: of one that may be any of several, which each may be elsewhere
        now, it is known that it was moved."""
        for table, name, value in self._any_of:
            self.services.journal.write(table, name, combine(self._settled, value))

    def _settled(self, value: Value) -> Value:
        return settled(value, self.moved(value.tensor)) if _is_any_of(value) else value

    def _move_lent(self, parameter: Parameter, owner: ModuleObject) -> None:
        """A parameter that a module has from one whose parameters are not listed: it moves, and
        where those are for which it stands nobody knows."""
        before = parameter.tensor
        if id(parameter) not in self.done and id(owner) not in self.done:
            moved = join_tensors_blindly(before, self.moved(before))
            self.services.journal.write(parameter.fields, "tensor", moved)

    def _moved_part(self, value: Value) -> Value:
        """A parameter, moved in place; another where it is one of several is a mere tensor."""
        if type(value) is not Parameter:
            return self.moved(value)
        self._move_parameter(value)
        return value

    def _move_parameter(self, parameter: Parameter) -> None:
        if id(parameter) in self.done:
            return
        self.done.add(id(parameter))
        moved = self.moved(parameter.tensor)
        if isinstance(parameter.fields, OpaqueFields) and "tensor" not in parameter.fields:
            return
        if "grad" in parameter.fields and self.device is not None:
            self.services.journal.delete(parameter.fields, "grad")
        set_tensor(self.services.journal, parameter, moved)

    def moved(self, value: Value) -> Value:
        """A tensor, parameter or unknown as it is after the move."""
        if type(value) is Parameter:
            value = value.tensor
        if self.may_miss and type(value) is Tensor:
            return join_tensors_blindly(value, self._moved(value))
        if self.may_miss and type(value) is Unknown and self.device is not None:
            return Unknown(value.label, combine(shared, value.device, self.device))
        return self._moved(value)

    def _moved(self, value: Value) -> Value:
        if type(value) is Unknown and self.device is not None:
            return Unknown(value.label, self.device)
        if type(value) is not Tensor:
            return value
        changes: dict[str, Any] = {}
        if self.device is not None:
            changes["device"] = self.device
            changes["grad_apart"] = False  # the gradient moves along
            changes["pinned"] = False
            if self.trail is not None:
                changes["trail"] = self.trail.behind(value.trail)
        if self.dtype is not None and (value.dtype is None or value.dtype in _FLOATING):
            changes["dtype"] = self.dtype if value.dtype else None
        return value.with_(**changes) if changes else value


def _is_any_of(value: Value) -> bool:
    """Whether it is a parameter that may be any of several."""
    return type(value) is Parameter and bool(value.among)
