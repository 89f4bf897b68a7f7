"""`device-lens serve`: the language server."""

from __future__ import annotations

import argparse
import gc


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares what `device-lens serve` takes."""
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument(
        "--stdio", action="store_true", help="talk over standard input and output (the default)"
    )
    transport.add_argument(
        "--tcp", metavar="HOST:PORT", type=_address, help="wait for one client at an address"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serves until the client is gone."""
    gc.disable()  # imports make no garbage; the analysis turns the collector on once it is loaded
    from device_lens.lsp.server import serve_stdio, serve_tcp

    if arguments.tcp is not None:
        serve_tcp(*arguments.tcp)
    else:
        serve_stdio()
    return 0


def _address(text: str) -> tuple[str, int]:
    host, found, port = text.rpartition(":")
    if not found or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"not HOST:PORT: {text!r}")
    return host or "127.0.0.1", int(port)
