"""`optparse`: the options of older programs, which name the types of their values."""

from __future__ import annotations

from device_lens.domain.heap import Instance, ListObject
from device_lens.domain.values import NONE, External, TupleValue, Unknown
from device_lens.models import registry
from device_lens.models.call import Call, Model, Value, constant
from device_lens.models.python import configuration

PARSER = "optparse.OptionParser"
_TYPES = {"int": "int", "long": "int", "float": "float", "complex": "complex", "string": "str"}
"""The names of types, with Python's own."""
_LIKE_ARGPARSE = frozenset({"store", "store_true", "store_false"})


def _add_option(call: Call) -> Value:
    """`parser.add_option("-g", "--gpu", type="int", default="1")`: a default that is a text is
    converted as if it were given."""
    kwargs = dict(call.kwargs)
    named = constant(kwargs.pop("type", NONE))
    if isinstance(named, str) and named in _TYPES:
        kwargs["type"] = External(f"builtins.{_TYPES[named]}")
    action = constant(kwargs.get("action"))
    if isinstance(action, str) and action not in _LIKE_ARGPARSE:
        kwargs = {"default": Unknown("an option"), "dest": kwargs.get("dest", NONE)}
    like = Call(call.name, call.receiver, call.args, kwargs, call.site, call.services)
    return configuration.add_argument(like)


def _parse(call: Call) -> Value:
    """The options, and what else was given."""
    rest = ListObject((), Unknown("an argument"), "list", call.site.node)
    return TupleValue((configuration.parse_args(call), rest))


def _group(call: Call) -> Value:
    """`OptionGroup(parser, …)`: its options are the parser's."""
    parser = call.get(0, "parser")
    return parser if isinstance(parser, Instance) else call.unknown()


def _parser(call: Call) -> Value:
    found = Instance(External(PARSER), call.site.node)
    found.fields.update(configuration.parser_fields())
    return found


def register() -> None:
    models: dict[str, Model] = {
        PARSER: _parser,
        f"{PARSER}.add_option": _add_option,
        f"{PARSER}.add_option_group": lambda call: call.get(0, "opt_group", NONE),
        f"{PARSER}.set_defaults": configuration.set_defaults,
        f"{PARSER}.set_usage": lambda call: NONE,
        f"{PARSER}.parse_args": _parse,
        "optparse.OptionGroup": _group,
    }
    registry.FUNCTIONS.update(models)
