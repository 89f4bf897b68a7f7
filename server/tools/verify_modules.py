"""Checks the models of `torch.nn` modules against PyTorch: parts, devices, conflicts, shapes.

    PYTHONPATH=server python server/tools/verify_modules.py [--emulation FOLDER] [NAME...]

`--emulation` names a folder with a module `fakecuda` that emulates CUDA in a CPU build; without it
a real accelerator is needed.
"""

from __future__ import annotations

import sys

from model_check.command import options_of, parser_of


def main(argv: list[str]) -> int:
    options = options_of(parser_of(__doc__, "classes"), argv)
    from model_check import module_report

    return module_report.run(options.names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
