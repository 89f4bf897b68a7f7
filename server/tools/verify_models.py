"""Checks the models of PyTorch's callables against PyTorch.

Runs every function with samples in every placement of its tensors on the host and an accelerator,
compares devices, shapes, dtypes and errors with what the model says, and prints how many functions
are covered and verified by namespace.

    PYTHONPATH=server python server/tools/verify_models.py [--emulation FOLDER] [NAME...]

`--emulation` names a folder with a module `fakecuda` that emulates CUDA in a CPU build; without it,
a real GPU is used, or where there is none PyTorch's fake tensors, which know devices and shapes but
no values and cannot do everything.
"""

from __future__ import annotations

import sys

from model_check.command import options_of, parser_of


def main(argv: list[str]) -> int:
    parser = parser_of(__doc__, "functions")
    parser.add_argument("--verbose", action="store_true", help="every disagreement and gap")
    options = options_of(parser, argv)
    from model_check import report

    return report.run(options.names, options.verbose)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
