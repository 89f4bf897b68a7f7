"""The command line of the checks: what is checked, and on what."""

from __future__ import annotations

import argparse
import sys
import warnings


def parser_of(description: str, what: str) -> argparse.ArgumentParser:
    """The options that every check has. `what` is what its names are those of."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"only these {what}, in detail")
    parser.add_argument("--emulation", help="a folder with a module that emulates CUDA")
    return parser


def options_of(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Reads the options, and emulates CUDA where they ask for it, before PyTorch is used."""
    options = parser.parse_args(argv)
    if options.emulation:
        sys.path.insert(0, options.emulation)
        import fakecuda  # type: ignore[import-not-found]

        fakecuda.install(devices=2)
    warnings.simplefilter("ignore")
    return options
