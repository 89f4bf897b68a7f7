"""`device-lens rule`: what a rule is about, or all rules at a glance."""

from __future__ import annotations

import argparse
import json
import sys
from difflib import get_close_matches

from device_lens.rules.registry import RULES
from device_lens.rules.rule import Rule


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares what `device-lens rule` takes."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="the rule to print")
    parser.add_argument("--all", action="store_true", help="print every rule in full")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Prints one rule, all in full, or the list."""
    name: str | None = arguments.name
    if name is not None and name not in RULES:
        close = get_close_matches(name, RULES, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        print(f"device-lens: no rule is named {name!r}{hint}", file=sys.stderr)
        return 2
    chosen = list(RULES.values()) if name is None else [RULES[name]]
    if arguments.output_format == "json":
        print(json.dumps({"version": 1, "rules": [_data(rule) for rule in chosen]}, indent=2))
    elif name is not None or arguments.all:
        print("\n".join(rule.page for rule in chosen), end="")
    else:
        width = max(len(rule.name) for rule in chosen)
        for rule in chosen:
            print(f"{rule.name:{width}}  {rule.severity.value:11}  {rule.summary}")
    return 0


def _data(rule: Rule) -> dict[str, str]:
    return {
        "name": rule.name,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "documentation": rule.documentation,
    }
