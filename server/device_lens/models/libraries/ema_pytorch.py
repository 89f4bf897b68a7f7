"""ema_pytorch: a moving average of a model's weights, beside the model or around it."""

from __future__ import annotations

from device_lens.domain.heap import ListObject, ModuleObject
from device_lens.domain.values import FALSE, NONE, TRUE, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Value, is_none
from device_lens.models.torch.copying import deep_copy
from device_lens.models.torch.nn_layer import factory
from device_lens.models.torch.objects import nothing

_COUNTS = (("initted", "bool"), ("step", "int64"))
_NOT_FOLLOWED = ("lazy_init_ema", "move_ema_to_online_device")
"""Options by which an update makes the average, or moves it."""
_LEAVING = (
    "update update_moving_average update_model_with_ema copy_params_from_model_to_ema "
    "copy_params_from_ema_to_model add_to_optimizer_post_step_hook"
)


class Average:
    """`EMA`: has the model, unless it is asked not to, and a copy of it where the model is, which
    is what a call runs. So a move takes the model along."""

    name = "ema_pytorch.EMA"

    def initialise(self, call: Call, module: ModuleObject) -> None:
        """Copies the model, or takes the average that is given."""
        model, given = call.get(0, "model", NONE), call.get(1, "ema_model", NONE)
        if call.kwargs.get("include_online_model", TRUE) == FALSE:
            kept = ListObject((model,), None, "list", call.site.node)
            call.write(module.fields, "online_model", kept)
        else:
            call.write(module.modules, "online_model", model)
        call.write(module.fields, "model", model)
        average = deep_copy(model, {}) if is_none(given) else given
        is_plain = all(call.kwargs.get(each, FALSE) == FALSE for each in _NOT_FOLLOWED)
        if not call.complete or not is_plain or not isinstance(average, ModuleObject):
            average = Unknown("ema_model")
        table = module.modules if isinstance(average, ModuleObject) else module.fields
        call.write(table, "ema_model", average)
        make = factory(call, {})
        for name, dtype in _COUNTS:
            call.write(module.buffers, name, make((), dtype, False))
        call.write(module.fields, "training", TRUE)

    def forward(self, call: Call) -> Value:
        """Calls the average."""
        receiver = call.receiver
        average = receiver.modules.get("ema_model", receiver.fields.get("ema_model", NONE))
        return call.services.invoke(average, call.args, call.kwargs)


def register_all() -> None:
    """Fills the registry."""
    registry.MODULES[Average.name] = Average()
    registry.BASES[Average.name] = ("torch.nn.Module",)
    registry.ALIASES["ema_pytorch.ema_pytorch.EMA"] = Average.name
    for name in _LEAVING.split():
        registry.FUNCTIONS[f"{Average.name}.{name}"] = nothing
    registry.FUNCTIONS[f"{Average.name}.forward_eval"] = Average().forward
