"""`module.train()` and `module.eval()`: a class may have a `train` of its own, which the `eval` of
PyTorch calls, and the `train` of the module around it."""

from __future__ import annotations

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.heap import ModuleObject
from device_lens.domain.values import FALSE, TRUE
from device_lens.models.call import Call, Value
from device_lens.models.torch.module_parts import receiver
from device_lens.models.torch.parts import walk


def train(call: Call) -> Value:
    """What `nn.Module.train` does."""
    module = receiver(call)
    if module is not None:
        _set(call, module, call.get(0, "mode", TRUE))
    return call.receiver


def evaluate(call: Call) -> Value:
    """What `nn.Module.eval` does: `self.train(False)`."""
    module = receiver(call)
    own = None if module is None else _own_train(module)
    if own is not None:
        return call.services.invoke(BoundMethod(module, own), (FALSE,), {})
    if module is not None:
        _set(call, module, FALSE)
    return call.receiver


def _set(call: Call, module: ModuleObject, mode: Value) -> None:
    """Puts a module and those within it into a mode, parents first."""

    def own(each: ModuleObject) -> Function | None:
        return None if each is module else _own_train(each)

    for _, each in walk(module, lambda each: own(each) is not None):
        method = own(each)
        if method is None:
            call.write(each.fields, "training", mode)
        else:
            call.services.invoke(BoundMethod(each, method), (mode,), {})


def _own_train(module: ModuleObject) -> Function | None:
    """The `train` of a class of the program."""
    own = module.cls.lookup("train") if type(module.cls) is ClassValue else None
    return own if type(own) is Function else None
