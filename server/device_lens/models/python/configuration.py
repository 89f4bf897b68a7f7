"""Configuration that decides devices: command-line flags and environment variables."""

from __future__ import annotations

from device_lens.domain.atom import Atom, shared_atom
from device_lens.domain.code import Function
from device_lens.domain.guard import MAX_DEPTH, Guarded, choose, depth
from device_lens.domain.heap import Instance, ListObject, Table
from device_lens.domain.values import NONE, Const, External, TupleValue, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.numbers import is_number, note_not_none, number, number_above, one_among
from device_lens.models.numbers import text as text_of
from device_lens.models.python.given_words import OPTIONS, declare, given
from device_lens.models.torch.objects import itself

PARSER = "argparse.ArgumentParser"
COMMANDS = "argparse._SubParsersAction"
NAMESPACE = "argparse.Namespace"


def _parser(call: Call) -> Value:
    found = Instance(External(PARSER), call.site.node)
    flags: list[Value] = []
    options: list[Value] = []
    parents, _ = call.services.iterate(call.kwargs.get("parents", TupleValue(())))
    for parent in parents:
        if isinstance(parent, Instance):
            flags.extend(parent.fields.get("<flags>", ()))
            options.extend(parent.fields.get(OPTIONS, ()))
    found.fields.update(parser_fields(tuple(flags), tuple(options)))
    return found


def parser_fields(flags: tuple[Value, ...] = (), options: tuple[Value, ...] = ()) -> Table:
    """What a parser knows: its flags with their values, and how they are written."""
    return {"<flags>": flags, OPTIONS: options}


def _parser_with_files(call: Call) -> Value:
    """`configargparse.ArgumentParser()`: flags that a file of settings may give too, as if they
    stood on the command line. One that is read whether it is named or not is not looked at."""
    return call.unknown() if "default_config_files" in call.kwargs else _parser(call)


def _group(call: Call) -> Value:
    """Groups add to their parser's flags."""
    return call.receiver


def _commands(call: Call) -> Value:
    """`parser.add_subparsers(dest="command")`: what makes the parser's sub-commands."""
    destination = constant(call.kwargs.get("dest"))
    if isinstance(call.receiver, Instance) and isinstance(destination, str):
        _add_flags(call, call.receiver, ((destination, Unknown(f"args.{destination}")),))
    found = Instance(External(COMMANDS), call.site.node)
    found.fields["<parser>"] = call.receiver
    return found


def _command(call: Call) -> Value:
    """`commands.add_parser("train")`: a parser whose flags are the whole parser's too."""
    found = _parser(call)
    commands = call.receiver
    if isinstance(found, Instance) and isinstance(commands, Instance):
        found.fields["<parser>"] = commands.fields.get("<parser>", NONE)
        _add_to_whole(call, found, found.fields["<flags>"])
    return found


def _add_flags(call: Call, parser: Instance, new: tuple[Value, ...]) -> None:
    """Adds to a parser's flags, and to those of the parser whose sub-command it is."""
    call.write(parser.fields, "<flags>", (*parser.fields.get("<flags>", ()), *new))
    _add_to_whole(call, parser, new)


def _add_to_whole(call: Call, parser: Instance, new: tuple[Value, ...]) -> None:
    whole = parser.fields.get("<parser>", NONE)
    if isinstance(whole, Instance):
        known = dict(whole.fields.get("<flags>", ()))
        merged = ((name, _of_some_command(known.get(name), value)) for name, value in new)
        _add_flags(call, whole, tuple(merged))


WHICH_COMMAND = "which sub-command is given"
MOST_COMMANDS = 24
"""Sub-commands that give one flag different values, before it is unknown."""


def _of_some_command(known: Value, new: Value, before: int = 0) -> Value:
    """A flag that several sub-commands have: which of them was given is not known. As only one is,
    there are as many cases as there are sub-commands."""
    if known is None or known == new or _alike(known, new):
        return new if known is None else known
    if type(known) is Guarded and known.atom.text == WHICH_COMMAND and before < MOST_COMMANDS:
        if known.yes == new:
            return known
        other = _of_some_command(known.no, new, before + 1)
        return known if other is known.no else _guard(known.atom, known.yes, other)
    if before == MOST_COMMANDS or depth(known) > MAX_DEPTH:
        return Unknown("a flag of many sub-commands")
    return _guard(Atom(WHICH_COMMAND), known, new)


def _alike(left: Value, right: Value) -> bool:
    """Whether two flags are the same one to whoever reads them: by text and in both cases."""
    if type(left) is not Guarded or type(right) is not Guarded:
        return type(left) is Unknown and type(right) is Unknown
    return (
        left.atom.text == right.atom.text
        and (left.yes == right.yes or _alike(left.yes, right.yes))
        and (left.no == right.no or _alike(left.no, right.no))
    )


def add_argument(call: Call) -> Value:
    """`parser.add_argument("--gpu", type=int, default=0)`."""
    parser = call.receiver
    names = [constant(value) for value in call.args]
    texts = [name for name in names if isinstance(name, str)]
    if not isinstance(parser, Instance) or not texts:
        return NONE
    destination = constant(call.kwargs.get("dest"))
    if not isinstance(destination, str):
        long_names = [name for name in texts if name.startswith("--")] or texts
        destination = long_names[0].lstrip("-").replace("-", "_")
    value = flag_value(call, destination, texts[-1] if texts[0].startswith("-") else destination)
    declare(call, tuple(texts), destination)
    _add_flags(call, parser, ((destination, value),))
    return NONE


def flag_value(call: Call, destination: str, text: str) -> Value:
    """What a flag is that `argparse` is asked for: its declared default in the primary case, else
    whatever was given."""
    action = constant(call.kwargs.get("action"))
    default = call.kwargs.get("default", NONE)
    label = f"args.{destination}"
    if action in ("store_true", "store_false"):
        given = action == "store_true"
        atom = shared_atom(f"{text} is given", "flag", False, f"{text} is not given")
        if type(default) is Const and isinstance(default.value, bool) and default.value == given:
            return default
        return Guarded(atom, Const(given), Const(not given))
    converter = call.kwargs.get("type")
    if _is_name(default) and type(converter) in (External, Function):
        default = call.services.invoke(converter, (default,), {})
    if constant(call.kwargs.get("required")) is True:
        return _given(call, label)
    if type(default) is Const:
        if is_number(default) and not isinstance(default.value, bool):
            return _other_number(call, default, text, label)
        if isinstance(default.value, bool) and text.startswith("-"):
            return _truth(call, default, text, label)
        if not text.startswith("-"):
            return _given(call, label)
        atom = left_at_default(text)
        return _guard(atom, default, _other_choice(call, default, text) or _given(call, label))
    if type(default) is Guarded or type(default).__name__ == "DeviceValue":
        atom = left_at_default(text)
        return _guard(atom, default, Unknown(label))
    if _is_empty(default) and text.startswith("-"):
        return _guard(left_at_default(text), default, _some(call, label))
    return Unknown(label) if type(default) is Unknown else default


def _given(call: Call, label: str) -> Unknown:
    """What a flag is that is given: one of its `choices`, where they are strings."""
    choices, converter = call.kwargs.get("choices"), call.kwargs.get("type")
    if "nargs" in call.kwargs or converter not in (*_OF_TEXTS, *_CONVERTERS):
        return Unknown(label)
    found = Unknown(label)
    if choices is not None and converter in _OF_TEXTS:
        items, rest = call.services.iterate(choices)
        names = tuple(name for name in map(constant, items) if isinstance(name, str))
        if rest is None and len(names) == len(items):
            found = one_among(names, label)
    return note_not_none(found)


_OF_TEXTS = (None, External("builtins.str"))
"""Converters that leave a flag a string."""


def _is_empty(default: Value) -> bool:
    """Whether the default is an empty list, which leaves a part of a program out."""
    return type(default) is ListObject and not default.items and default.rest is None


def _some(call: Call, label: str) -> ListObject:
    """What is given in place of an empty list."""
    converter = call.kwargs.get("type")
    item: Value = Unknown(label)
    if converter in _CONVERTERS:
        item = number(label)
    elif converter is None or converter == External("builtins.str"):
        item = text_of(label)
    return ListObject((), item, "list", call.site.node)


def _truth(call: Call, default: Const, flag: str, label: str) -> Value:
    """A flag that is true or false, unless it is a text if given. `type=bool` takes every text for
    true but the empty one; any other converter is there to tell the two apart."""
    converter = call.kwargs.get("type")
    with_value = "nargs" not in call.kwargs or constant(call.kwargs.get("const")) is True
    is_text = converter is None or converter == External("builtins.str")
    if call.kwargs.get("action") == External("argparse.BooleanOptionalAction"):
        is_text = False
    if not with_value or is_text:
        return _guard(left_at_default(flag), default, Unknown(label))
    if default.value and converter == External("builtins.bool"):
        return default
    says = f"{flag} is {default.value}"
    atom = shared_atom(says, "flag", True, f"{flag} is {not default.value}")
    return _guard(atom, default, Const(not default.value))


_OFF = (0, -1)
"""Defaults that leave a part of a program out: a number that is given instead is larger."""


_CONVERTERS = (External("builtins.int"), External("builtins.float"))


def _other_number(call: Call, default: Const, flag: str, label: str) -> Value:
    """A flag with a number for its default. Others than those of `_OFF` are taken for what they
    are: another number decides how much is done, as a rule, and not whether."""
    if default.value not in _OFF or not flag.startswith("-"):
        return default
    converter = call.kwargs.get("type")
    given = Unknown(label)
    if "nargs" not in call.kwargs and converter in _CONVERTERS:
        whole = converter == _CONVERTERS[0]
        given = number_above(default.value if whole else float(default.value), label)
    return _guard(left_at_default(flag), default, given)


def _other_choice(call: Call, default: Const, flag: str) -> Value:
    """What is given in place of the default where `choices` names a few, devices among them;
    Python's None where it may be anything, a list of them with `nargs` too."""
    choices, converter = call.kwargs.get("choices"), call.kwargs.get("type")
    if choices is None or "nargs" in call.kwargs or converter not in _OF_TEXTS:
        return None
    items, rest = call.services.iterate(choices)
    names = [constant(item) for item in items]
    if rest is not None or len(names) > MOST_CHOICES or _DEVICES.isdisjoint(names):
        return None
    names.sort(key="cuda".__ne__)  # the case that a reader is told of first
    others = [Const(name) for name in names if isinstance(name, str) and name != default.value]
    if not others or len(others) != len(names) - 1:
        return None
    found: Value = others[-1]
    for other in reversed(others[:-1]):
        chosen = f"{flag} {other.value} is given"
        atom = shared_atom(chosen, "flag", False, f"{flag} {other.value} is not given")
        found = _guard(atom, other, found)
    return found


MOST_CHOICES = 4
_DEVICES = frozenset({"cpu", "cuda", "mps", "xpu"})


def left_at_default(flag: str) -> Atom:
    """The atom "is this flag left at its default": one for all that declare a flag of that name,
    since a run has one command line."""
    text = f"{flag} is left at its default"
    return shared_atom(text, "flag", True, f"{flag} is given")


def unless_given(flag: str, default: Value, label: str) -> Value:
    """The default where a flag is left at it, else what was given: the other truth, or unknown."""
    truth = type(default) is Const and isinstance(default.value, bool)
    given = Const(not default.value) if truth else Unknown(label)
    return _guard(left_at_default(flag), default, given)


def _is_name(default: Value) -> bool:
    """Whether the default is a string, which argparse converts as if it were given."""
    return type(default) is Const and isinstance(default.value, str)


def _guard(atom: Atom, yes: Value, no: Value) -> Value:
    return choose(Guarded(atom, True, False), yes, no)


def set_defaults(call: Call) -> Value:
    """`parser.set_defaults(gpu=0)`."""
    parser = call.receiver
    if isinstance(parser, Instance):
        _add_flags(call, parser, tuple(call.kwargs.items()))
    return NONE


def parse_args(call: Call) -> Value:
    """What the flags of a parser are."""
    found = Instance(External(NAMESPACE), call.site.node)
    into = call.get(1, "namespace", NONE)
    if type(into) is Instance:
        found = into
    parser = call.receiver
    if isinstance(parser, Instance):
        words = given(call)
        for destination, value in parser.fields.get("<flags>", ()):
            if words is None:
                value = Unknown(f"args.{destination}")
            elif destination in found.fields and into is found:
                continue  # what it has is no default
            call.write(found.fields, destination, value)
        for destination, value in (words or {}).items():
            call.write(found.fields, destination, value)
    if call.name.endswith("parse_known_args"):
        rest = ListObject((), Unknown(), "list", call.site.node)
        return TupleValue((found, rest))
    return found


def _variable(name: str) -> Atom:
    """The atom "is this environment variable set": one for the whole program."""
    text = f"{name} is set in the environment"
    return shared_atom(text, "environment", False, f"{name} is not set")


def _getenv(call: Call) -> Value:
    name = constant(call.args[0]) if call.args else None
    default = call.get(1, "default", NONE)
    if not isinstance(name, str):
        return Unknown("an environment variable")
    return _guard(_variable(name), Unknown(name), default)


def _environment(call: Call) -> Value:
    return Instance(External("os.environ"), call.site.node)


def _environment_item(call: Call) -> Value:
    name = constant(call.args[0]) if call.args else None
    receiver = call.receiver
    if isinstance(receiver, Instance) and isinstance(name, str):
        return Unknown(name)
    return Unknown("an environment variable")


def _set_environment_item(call: Call) -> Value:
    return NONE


def register() -> None:
    models: dict[str, Model] = {
        PARSER: _parser,
        "configargparse.ArgumentParser": _parser_with_files,
        "configargparse.ArgParser": _parser_with_files,
        f"{PARSER}.add_argument": add_argument,
        f"{PARSER}.add_arg": add_argument,
        f"{PARSER}.add": add_argument,
        f"{PARSER}.add_argument_group": _group,
        f"{PARSER}.add_mutually_exclusive_group": _group,
        f"{PARSER}.add_subparsers": _commands,
        f"{COMMANDS}.add_parser": _command,
        f"{PARSER}.set_defaults": set_defaults,
        f"{PARSER}.parse_args": parse_args,
        f"{PARSER}.parse_known_args": parse_args,
        "os.getenv": _getenv,
        "os.environ.get": _getenv,
        "os.environ.setdefault": _getenv,
        "os.environ.__getitem__": _environment_item,
        "os.environ.__setitem__": _set_environment_item,
        "os.environ.update": _set_environment_item,
        "os.environ.__ior__": itself,
        "os.putenv": _set_environment_item,
    }
    registry.FUNCTIONS.update(models)
    registry.ATTRIBUTES["os.environ"] = _environment
