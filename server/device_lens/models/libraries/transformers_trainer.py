"""The trainer of transformers: it puts its model where its arguments say, and gives the methods of
its class the model and a batch that are there."""

from __future__ import annotations

from typing import Any

from device_lens.domain.code import BoundMethod, ClassValue, Function
from device_lens.domain.device import (
    ANY_INDEX,
    CPU,
    UNKNOWN_DEVICE,
    Device,
    DeviceTree,
    SymbolicDevice,
    is_unknown,
    same_everywhere,
    widen_device,
)
from device_lens.domain.guard import choose, combine, leaves
from device_lens.domain.heap import DictObject, Instance, ListObject, ModuleObject
from device_lens.domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    DeviceValue,
    External,
    Tensor,
    TupleValue,
    Unknown,
)
from device_lens.models.call import Call, Value, constant, is_none
from device_lens.models.libraries import accelerate
from device_lens.models.registry import ALIASES, FUNCTIONS
from device_lens.models.torch.module import lose, move
from device_lens.models.torch.objects import nothing
from device_lens.models.torch.parts import home_device
from device_lens.models.torch.target import CURRENT_CUDA, accelerator_or_host
from device_lens.models.words import words

TRAINER = "transformers.Trainer"
ARGUMENTS = "transformers.TrainingArguments"
MODEL = "transformers.PreTrainedModel"
_SAME = {
    TRAINER: "trainer.Trainer Seq2SeqTrainer trainer_seq2seq.Seq2SeqTrainer",
    ARGUMENTS: """training_args.TrainingArguments Seq2SeqTrainingArguments
        training_args_seq2seq.Seq2SeqTrainingArguments""",
}
"""Other names of either class and of those that differ in nothing that moves."""
_STEPS = words("compute_loss training_step prediction_step")
"""Methods of a trainer that it calls with its model and a batch."""
_ELSEWHERE = words("deepspeed fsdp fp16_full_eval bf16_full_eval")
"""Arguments with which the trainer leaves its model where it is until it trains."""
_HOST_ONLY = words("use_cpu no_cuda")
_PLACES = "<places>"
"""The field of arguments that tells that the trainer moves its model as it is made."""
_DEVICE = "<device>"
"""The field of a trainer that tells where it trains; it has none where nobody knows."""
_AHEAD = words("get_train_dataloader create_optimizer")
_OWN_LOOPS = words("_inner_training_loop evaluation_loop prediction_loop")
_BEFORE = words("on_train_begin on_epoch_begin on_step_begin")
_AFTER = words("on_step_end on_epoch_end on_train_end")


def calls(base: str, method: str) -> bool:
    """Whether a trainer, of which a class of the program derives, calls its method with the model
    and a batch on the device that it trains on."""
    return method in _STEPS and is_trainer(base)


def is_trainer(name: str) -> bool:
    """Whether a class is a trainer, which moves its model and batches, and nothing else of what
    it holds."""
    package, _, last = name.partition(".")
    return package == "transformers" and last.endswith("Trainer")


def model_and_batch(home: SymbolicDevice, model_site: Any, batch_site: Any) -> tuple[Value, Value]:
    """The model and the batch that a trainer gives to a method of its own, both of them somewhere
    that only the trainer knows."""
    model = ModuleObject(External(MODEL), model_site)
    model.own.update(opaque=True, device=home, dtype=None, trail=None)
    return model, _batch(home, batch_site)


def _batch(home: DeviceTree, site: Any) -> DictObject:
    item = Unknown("the batch's item", home)
    item.tensor_evidence = True
    return DictObject({}, item, site)


def _arguments(call: Call) -> Value:
    """Settings; they tell the device if nothing that decides it is hidden."""
    made = Instance(External(ARGUMENTS), call.site.node)
    if call.named_complete and len(call.args) <= 1:
        made.fields["device"] = DeviceValue(_chosen(call))
        made.fields[_PLACES] = Const(all(_is_off(call, name) for name in _ELSEWHERE))
    return made


def _is_off(call: Call, name: str) -> bool:
    given = call.kwargs.get(name, NONE)
    return is_none(given) or constant(given) in (False, "")


def _chosen(call: Call) -> DeviceTree:
    """The host if the program asks for that, else the accelerator that is there. Of several GPUs
    it is the first, or the one of its process, whichever was the current one."""
    device = accelerator_or_host(call.services)
    if call.services.current_cuda() is not CURRENT_CUDA:
        device = widen_device(combine(_some_gpu, device))
    for name in _HOST_ONLY:
        if name in call.kwargs:
            on_host = call.services.truth(call.kwargs[name])
            device = widen_device(choose(on_host, CPU, device))
    return device


def _some_gpu(device: Any) -> Any:
    is_gpu = type(device) is Device and device.type == "cuda"
    return Device("cuda", ANY_INDEX) if is_gpu else device


def _made(call: Call) -> Value:
    made = Instance(External(TRAINER), call.site.node)
    _set_up(call, made)
    return made


def _initialise(call: Call) -> Value:
    if isinstance(call.receiver, Instance):
        _set_up(call, call.receiver)
    return NONE


def _set_up(call: Call, trainer: Instance) -> None:
    """A trainer puts its model where its arguments say."""
    model = call.get(0, "model", NONE)
    if is_none(model) and "model_init" in call.kwargs:
        model = call.services.invoke(call.kwargs["model_init"], (), {})
    settings = call.get(1, "args", NONE)
    if is_none(settings) and call.complete:
        settings = Instance(External(ARGUMENTS), call.site.node)
        settings.fields["device"] = DeviceValue(_chosen(call))
        settings.fields[_PLACES] = TRUE
    told = settings.fields if isinstance(settings, Instance) else {}
    device = told.get("device")
    place: DeviceTree = UNKNOWN_DEVICE
    if type(device) is DeviceValue and told.get(_PLACES) == TRUE:
        place = device.device
    combine(lambda leaf: _placed(call, leaf, place), model)
    if type(device) is DeviceValue:
        call.write(trainer.fields, _DEVICE, device)
        accelerator = Instance(External(accelerate.NAME), call.site.node)
        accelerator.fields["device"] = device
        call.write(trainer.fields, "accelerator", accelerator)
    for name, value in (("model", model), ("args", settings)):
        if not is_none(value):
            call.write(trainer.fields, name, value)
    call.write(trainer.fields, "<callbacks>", call.kwargs.get("callbacks", NONE))


def _placed(call: Call, model: Value, device: DeviceTree) -> Value:
    """Moves a model, unless `device_map` may have put it where it has to stay."""
    if not isinstance(model, ModuleObject):
        return model
    if is_unknown(device) or _may_stay(model, device):
        lose(call.services, model)
    else:
        move(call.services, model, device, None, call.trail("moved", "is moved by the trainer"))
    return model


def _may_stay(model: ModuleObject, device: DeviceTree) -> bool:
    if type(model.cls) is not External or not model.cls.name.startswith("transformers."):
        return False
    home = home_device(model)
    on_host = home is not None and all(leaf == CPU for leaf in leaves(home))
    return home is not None and not on_host and not same_everywhere(home, device)


def _train(call: Call) -> Value:
    """A trainer calls the steps of its class with its model and a batch, and its callbacks."""
    for name in _AHEAD:
        _own(call, name)
    _tell(call, _BEFORE)
    _step(call, "training_step", "compute_loss")
    _tell(call, _AFTER)
    return call.unknown()


def _evaluate(call: Call) -> Value:
    """The same without gradients."""
    before = call.services.globals["grad"]
    call.services.set_global("grad", False)
    _step(call, "prediction_step", "compute_loss", evaluates=True)
    call.services.set_global("grad", before)
    return call.unknown()


def _tell(call: Call, names: list[str]) -> None:
    """Callbacks of the program's own classes get the model by its name."""
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    held = fields.get("<callbacks>", NONE)
    given = tuple(fields.get(name, Unknown(name)) for name in ("args", "state", "control"))
    for each in held.items if type(held) is ListObject else ():
        for name in names:
            if _defines(each, name):
                method = call.services.attribute(each, name)
                named = {"model": fields["model"]} if "model" in fields else {}
                call.services.invoke(method, given, named)


def _step(call: Call, step: str, loss: str, evaluates: bool = False) -> None:
    """One step of a class of the program: its own, else the one whose loss is the program's own,
    else a call of the model."""
    trainer = call.receiver
    if not isinstance(trainer, Instance) or any(_defines(trainer, name) for name in _OWN_LOOPS):
        return
    device, model = trainer.fields.get(_DEVICE), trainer.fields.get("model")
    own = next((name for name in (step, loss) if _defines(trainer, name)), None)
    if type(device) is not DeviceValue or not isinstance(model, ModuleObject):
        _step_somewhere(call)
    elif own == step:
        # Whether batches are on the device by then hangs on the version.
        given = (model, _batch(UNKNOWN_DEVICE, call.site.node))
        more = (FALSE, NONE) if evaluates else ()
        call.services.invoke(call.services.attribute(trainer, step), (*given, *more), {})
    else:
        _loss(call, model, _batch(device.device, call.site.node), evaluates)


def _step_somewhere(call: Call) -> None:
    cls = call.receiver.cls
    own = cls.lookup("compute_loss") if type(cls) is ClassValue else None
    if isinstance(own, Function) and len(own.node.args.args) > 1:
        home = SymbolicDevice(own.node.args.args[1].arg, of_module_input=True)
        pair = model_and_batch(home, call.site.node, call.site.node)
        call.services.invoke(BoundMethod(call.receiver, own), pair, {})


def _loss(call: Call, model: Value, batch: Value, evaluates: bool) -> Value:
    if _defines(call.receiver, "compute_loss"):
        named = {"return_outputs": TRUE} if evaluates else {}
        method = call.services.attribute(call.receiver, "compute_loss")
        return call.services.invoke(method, (model, batch), named)
    return _run(call, model, batch)


def _run(call: Call, model: Value, batch: Value) -> Value:
    """A call of the model with a batch whose keys are not known: what its `forward` asks for."""
    cls = model.cls if isinstance(model, ModuleObject) else None
    forward = cls.lookup("forward") if type(cls) is ClassValue else None
    if type(forward) is not Function or type(batch) is not DictObject or batch.rest is None:
        return call.unknown()
    parameters = (*forward.node.args.posonlyargs, *forward.node.args.args)[1:]
    optional = len(forward.defaults)
    named = {}
    for left, parameter in zip(range(len(parameters), 0, -1), parameters, strict=True):
        perhaps = Unknown(parameter.arg, getattr(batch.rest, "device", UNKNOWN_DEVICE))
        named[parameter.arg] = perhaps if left <= optional else batch.rest
    return call.services.invoke(model, (), {**named, **batch.entries})


def _base_loss(call: Call) -> Value:
    """`super().compute_loss(model, inputs)`: a loss where the model is, and what that gave."""
    model, batch = call.get(0, "model", NONE), call.get(1, "inputs", NONE)
    outputs = _run(call, model, batch)
    home = home_device(model) if isinstance(model, ModuleObject) else None
    home = UNKNOWN_DEVICE if home is None else home
    loss = Tensor(home, shape=None, zero_dim=True, requires_grad=None)
    wanted = constant(call.get(2, "return_outputs", FALSE))
    if type(wanted) is not bool or not call.complete:
        return call.unknown()
    told = outputs if type(outputs) is not Unknown else Unknown("outputs", home)
    return TupleValue((loss, told)) if wanted else loss


def _base_step(call: Call) -> Value:
    """`super().training_step(model, inputs)`: the loss of the class, of a batch that is moved."""
    model, batch = call.get(0, "model", NONE), _prepared(call)
    evaluates = call.name.endswith("prediction_step")
    _loss(call, model, batch, evaluates)
    return call.unknown()


def _prepared(call: Call) -> Value:
    """`self._prepare_inputs(inputs)`: the batch where the trainer trains."""
    position = 0 if call.name.endswith("inputs") else 1
    batch = call.get(position, "inputs", call.get(position, "data", NONE))
    fields = call.receiver.fields if isinstance(call.receiver, Instance) else {}
    device = fields.get(_DEVICE)
    target = device.device if type(device) is DeviceValue else UNKNOWN_DEVICE
    return accelerate.moved_along(call, batch, target, "is moved by the trainer")


def _move_model(call: Call) -> Value:
    """`self._move_model_to_device(model, device)`."""
    model, device = call.get(0, "model", NONE), call.get(1, "device", NONE)
    return call.services.invoke(call.services.attribute(model, "to"), (device,), {})


def _add_callback(call: Call) -> Value:
    added, trainer = call.get(0, "callback", NONE), call.receiver
    if isinstance(trainer, Instance):
        held = trainer.fields.get("<callbacks>", NONE)
        items = held.items if type(held) is ListObject else ()
        both = ListObject((*items, added), None, "list", call.site.node)
        call.write(trainer.fields, "<callbacks>", both)
    return NONE


def _own(call: Call, name: str) -> None:
    if _defines(call.receiver, name):
        call.services.invoke(call.services.attribute(call.receiver, name), (), {})


def _defines(owner: Value, name: str) -> bool:
    cls = owner.cls if isinstance(owner, Instance) else None
    return type(cls) is ClassValue and isinstance(cls.lookup(name), Function)


def register_all() -> None:
    for name, others in _SAME.items():
        ALIASES.update((f"transformers.{other}", name) for other in others.split())
    FUNCTIONS[ARGUMENTS] = _arguments
    FUNCTIONS[TRAINER] = _made
    FUNCTIONS[f"{TRAINER}.__init__"] = _initialise
    FUNCTIONS[f"{TRAINER}.train"] = _train
    for name in words("evaluate predict"):
        FUNCTIONS[f"{TRAINER}.{name}"] = _evaluate
    FUNCTIONS[f"{TRAINER}.compute_loss"] = _base_loss
    for name in words("training_step prediction_step"):
        FUNCTIONS[f"{TRAINER}.{name}"] = _base_step
    for name in words("_prepare_inputs _prepare_input"):
        FUNCTIONS[f"{TRAINER}.{name}"] = _prepared
    FUNCTIONS[f"{TRAINER}._move_model_to_device"] = _move_model
    FUNCTIONS[f"{TRAINER}.add_callback"] = _add_callback
    for name in words("log log_metrics save_metrics save_state save_model create_model_card"):
        FUNCTIONS[f"{TRAINER}.{name}"] = nothing
