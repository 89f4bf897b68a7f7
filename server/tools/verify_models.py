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

import argparse
import sys
import warnings
from pathlib import Path


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these functions, in detail")
    parser.add_argument("--emulation", help="a folder with a module that emulates CUDA")
    parser.add_argument("--verbose", action="store_true", help="every disagreement and gap")
    options = parser.parse_args(argv)
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    if options.emulation:
        sys.path.insert(0, options.emulation)
        import fakecuda  # type: ignore[import-not-found]

        fakecuda.install(devices=2)
    warnings.simplefilter("ignore")
    from model_check import report

    return report.run(options.names, options.verbose)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
