"""The command line: finds the command and hands over. A command's module is imported only when it
is the one that runs."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from device_lens import __version__

COMMANDS = {
    "check": "find wrong, lost and needless transfers, and fix them",
    "explain": "tell where every tensor and module of a file lives",
    "rule": "print what a rule is about",
    "bench": "measure this machine's transfers",
    "serve": "run the language server",
}
"""Each command is a module of this package with `add_arguments` and `run`."""

NOTHING_DONE = 2
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""What a disk says that takes no more of what is printed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command. 0: nothing found, 1: something found, 2: something could not be read."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="device-lens",
        description="Knows on which device every PyTorch tensor and module lives.",
    )
    parser.add_argument("--version", action="version", version=f"device-lens {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    wanted = next((each for each in given if not each.startswith("-")), None)
    module: ModuleType | None = None
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        if name == wanted:
            module = import_module(f"device_lens.cli.{name}")
            module.add_arguments(command)
    namespace = parser.parse_args(given)
    assert module is not None  # argparse has ended the run for any other word
    return _run(module, namespace)


def _run(module: ModuleType, namespace: argparse.Namespace) -> int:
    try:
        status: int = module.run(namespace)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("device-lens: interrupted", file=sys.stderr)
        return NOTHING_DONE
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        print(f"device-lens: {error.strerror}", file=sys.stderr)
        return NOTHING_DONE
    return status
