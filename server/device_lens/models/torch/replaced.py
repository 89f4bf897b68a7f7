"""Models that took the place of those whose parameters an optimizer has: whether they are trained.

One that is called with autograd on, before a backward pass and a step of that optimizer, is meant
to be trained by it.
"""

from __future__ import annotations

from device_lens.domain.guard import leaves
from device_lens.domain.heap import DictObject, Instance, ModuleObject, Parameter
from device_lens.domain.journal import Journal
from device_lens.domain.trail import Site
from device_lens.domain.values import Tensor, TupleValue
from device_lens.models.call import Services, Value
from device_lens.models.torch.module import OPTIMIZERS
from device_lens.models.torch.parts import all_parts, is_opaque

REPLACES = "<replaces>"
"""What the `own` of such a model holds: the optimizers of the one before it, as a tuple."""
AWAITED = "awaited"
"""The state of a program that holds the optimizers of those models that were called since the last
backward pass, as a tuple."""
_LEFT, _WITH, _TRAINED = "<left at>", "<left with>", "<left in a backward pass>"
"""The fields of an optimizer with where its model was replaced, with what, and whether a backward
pass went through that."""
_BY_HAND = "<left, and read by hand>"
"""The field that tells whether the program has taken the parameters of the former model out of the
optimizer since: it may give them gradients, and the new model what a step made of them."""
GROUP_OF = "<group of>"
"""The field of a group of parameters with its optimizer."""


def parameters(module: ModuleObject) -> list[Parameter]:
    """Every parameter of a module; none where some are not listed."""
    parts = [] if is_opaque(module) else list(all_parts(module))
    found = [part.value for part in parts if part.kind == "parameter"]
    listed = [each for each in found if type(each) is Parameter and not each.among]
    return listed if len(listed) == len(found) else []


def replace(services: Services, optimizers: tuple[Instance, ...], given: Value, site: Site) -> None:
    """A model, or one of several, takes the place of the one that the optimizers were made for."""
    for optimizer in optimizers:
        services.journal.write(optimizer.fields, _LEFT, site)
        services.journal.write(optimizer.fields, _WITH, given)
        services.journal.write(optimizer.fields, _TRAINED, False)
        services.journal.write(optimizer.fields, _BY_HAND, False)
    for module in leaves(given):
        services.journal.write(module.own, REPLACES, optimizers)


def read_group(journal: Journal, group: DictObject) -> None:
    """The program takes the parameters out of a group of an optimizer."""
    optimizer = group.fields[GROUP_OF]
    if isinstance(optimizer, Instance) and optimizer.fields.get(_BY_HAND) is False:
        journal.write(optimizer.fields, _BY_HAND, True)


def called(services: Services, module: ModuleObject, output: Value) -> None:
    """A model that replaces another one was called."""
    outputs = output.items if type(output) is TupleValue else (output,)
    found = [leaf for each in outputs for leaf in leaves(each) if type(leaf) is Tensor]
    if services.inference_mode() is False and any(each.requires_grad for each in found):
        services.set_global(AWAITED, module.own[REPLACES])


def trained(services: Services, awaited: Value) -> None:
    """A backward pass went through the models that replace those of the optimizers, as far as these
    are the same whatever was decided."""
    for optimizer in awaited if isinstance(awaited, tuple) else ():
        if isinstance(optimizer, Instance):
            services.journal.write(optimizer.fields, _TRAINED, True)
    services.set_global(AWAITED, ())


def left_at(optimizer: Instance) -> Site | None:
    """Where the model was replaced that an optimizer was made for, if the new one was trained,
    no optimizer has any of its parameters, and nobody has taken the former ones out of it."""
    fields = optimizer.fields
    site = leaves(fields.get(_LEFT))[0]
    held = [
        parameters(each) if type(each) is ModuleObject else [] for each in leaves(fields.get(_WITH))
    ]
    if not isinstance(site, Site) or not all(held):
        return None
    given = any(OPTIMIZERS in parameter.fields for each in held for parameter in each)
    lost = fields.get(_TRAINED) is True and fields.get(_BY_HAND) is False
    return site if lost and not given else None
