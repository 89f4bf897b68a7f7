"""The program: `device-lens`, or `python -m device_lens`."""

import os
import sys


def main() -> int:
    """Runs the command line, with the libraries that were installed for it."""
    _put_last(_foreign_folders())
    from device_lens.cli.main import main as run

    status = run()
    if not _WITHOUT_TRACE.isdisjoint(sys.argv[1:2]):
        _leave(status)
    return status


_WITHOUT_TRACE = frozenset({"check", "explain"})
"""Commands that have written what they have to write, and leave neither threads nor processes."""


def _leave(status: int) -> None:
    """Ends the process without taking everything apart first that it knows of a program, which
    takes a tenth of the time of the whole run. mypy's command line does the same (`hard_exit` in
    `mypy/util.py`)."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _foreign_folders() -> set[str]:
    """What is searched for modules because of where the program was started: the current folder,
    and `PYTHONPATH`, unless the program itself was found there."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return {os.path.abspath(folder) for folder in ["", *named]} - {own}


def _put_last(folders: set[str]) -> None:
    """An old package or a file named like one of Python's modules then stops nobody."""
    sys.path.sort(key=lambda each: os.path.abspath(each) in folders)


if __name__ == "__main__":
    sys.exit(main())
